#pragma once

// The part of the warp emulator for `bar`, `barrier` and `barrier.cluster` (PTX ISA 9.7.13). It
// also reports wrong uses of barriers that a GPU gets past.

#include "emulator/machine/warp_context.h"
#include "emulator/machine/warp_schedule.h"

namespace ptxasw::emulator {

/// The barriers of the blocks that run, whose states are theirs (BlockState).
class Barriers {
public:
  Barriers(MachineRun &run, WarpScheduler &scheduler) : run_(run), scheduler_(scheduler) {}

  /// bar and barrier, by the lanes of a fragment.
  NextStep arrive(WarpContext &context, std::size_t index, LaneMask mask);
  /// `bar.sync` of a barrier for all threads, by a warp that is whole.
  void arrive(WarpState &warp, unsigned id);
  /// barrier.cluster.
  NextStep arrive_at_cluster(WarpContext &context, std::size_t index, LaneMask mask);
  /// Releases who waits at barriers of the context's block that are complete by now.
  void complete(const WarpContext &context);
  /// The same for the barrier of its cluster.
  void complete_cluster(const WarpContext &context);
  /// Reports, of a block that has ended, arrivals that nobody waited for.
  void check_unused_arrivals(const BlockState &block);

private:
  static LaneMask waiting_lanes(const WarpState &warp, unsigned id);
  static bool all_wait(const BlockState &block, unsigned id);
  void release(BlockState &block, unsigned id);
  void leave_cluster(const WarpContext &context, LaneMask lanes);
  void check_arrival(const WarpContext &context, BarrierState &barrier, std::uint64_t id,
                     LaneMask mask, std::uint32_t expected);
  void check_release(const WarpContext &context, BlockState &block, unsigned id);
  void report(const WarpContext &context, FaultKind kind, unsigned lane, std::string message);

  MachineRun &run_;
  WarpScheduler &scheduler_;
};

} // namespace ptxasw::emulator
