#pragma once

// The part of the warp emulator for `cp.async` and mbarriers (PTX ISA 9.7.9.25, 9.7.13.15). The
// copy engine, clusters and `tcgen05` tell their mbarriers through it.

#include "emulator/machine/memory_view.h"
#include "emulator/machine/warp_schedule.h"

namespace ptxasw::emulator {

/// What one instruction starts and another waits for: copies that the lanes of a warp have issued
/// (in WarpState), and mbarriers, which are words of shared memory.
class AsyncUnit {
public:
  AsyncUnit(MachineRun &run, MemoryView &memory, WarpScheduler &scheduler)
      : run_(run), memory_(memory), scheduler_(scheduler) {}

  void copy_async(WarpContext &context, LaneMask mask);
  void wait_for_copies(WarpContext &context, LaneMask mask);
  void mbarrier(WarpContext &context, LaneMask mask);
  /// Performs the copies of a lane that belong to groups before one.
  void complete_copies(const WarpContext &context, unsigned lane, std::uint32_t before_group);

  /// One arrival that nobody waits to hear of, perhaps in another block of the cluster.
  void arrive(const WarpContext &context, unsigned lane, std::uint64_t address) {
    arrive_at_mbarrier(context, lane, address, 1, 0, false, true);
  }
  /// Bytes have come that an mbarrier, perhaps of another block of the cluster, waits for.
  void complete_transactions(const WarpContext &context, unsigned lane, std::uint64_t address,
                             std::uint64_t bytes);

private:
  struct Mbarrier;
  void perform_copy(const WarpContext &here, unsigned lane, const PendingCopy &copy);
  Mbarrier read_mbarrier(const WarpContext &context, unsigned lane, std::uint64_t address);
  void write_mbarrier(const WarpContext &context, unsigned lane, std::uint64_t address,
                      Mbarrier barrier);
  std::uint64_t arrive_at_mbarrier(const WarpContext &context, unsigned lane, std::uint64_t address,
                                   std::uint32_t count, std::int32_t transactions, bool drops,
                                   bool completes);
  void order_by_mbarrier(const WarpContext &context, unsigned lane, std::uint64_t address,
                         bool releases, bool relaxed);
  RunOrder::Place place_of(const WarpContext &context, std::uint64_t address) const;

  MachineRun &run_;
  MemoryView &memory_;
  WarpScheduler &scheduler_;
};

} // namespace ptxasw::emulator
