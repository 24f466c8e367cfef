#pragma once

// The part of the warp emulator for what lanes of a warp do together: shuffles, votes, `match`,
// `redux`, `bar.warp.sync`, and what all 32 of them have to do, like products of matrices.

#include "emulator/machine/memory_view.h"
#include "emulator/machine/warp_schedule.h"
#include "emulator/machine/warp_tensor.h"

namespace ptxasw::emulator {

/// Instructions in which lanes of a warp take part together.
class Collectives {
public:
  Collectives(MachineRun &run, MemoryView &memory, WarpScheduler &scheduler, TensorUnit &tensor)
      : run_(run), memory_(memory), scheduler_(scheduler), tensor_(tensor) {}

  /// The lanes of a fragment wait at such an instruction, or act, if all whom they name are there.
  NextStep arrive(WarpContext &context, std::size_t index, LaneMask mask);
  /// Lets all act whom nobody keeps waiting anymore: after lanes have arrived, or exited.
  void complete(WarpState &warp);
  /// The lanes that a lane which waits at one names as those who take part.
  static LaneMask named_lanes(const WarpContext &context, unsigned lane);

private:
  bool complete_one(WarpState &warp);
  LaneMask waiting_with(const WarpContext &here, LaneMask named) const;
  void let_go(WarpState &warp, LaneMask group);
  void perform(WarpContext &context, LaneMask group, LaneMask named);
  void order_lanes(const WarpContext &context, LaneMask group, std::uint64_t time);
  void shuffle(WarpContext &context, LaneMask group, LaneMask named);
  static void vote(WarpContext &context, LaneMask group);
  static void match(WarpContext &context, LaneMask group);
  static void reduce(WarpContext &context, LaneMask group);

  MachineRun &run_;
  MemoryView &memory_;
  WarpScheduler &scheduler_;
  TensorUnit &tensor_;
};

} // namespace ptxasw::emulator
