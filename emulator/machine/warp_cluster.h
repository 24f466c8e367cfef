#pragma once

// The part of the warp emulator for mapa, getctarank (PTX ISA 9.7.9.22, 9.7.9.23) and
// clusterlaunchcontrol (9.7.13.16).

#include "emulator/machine/warp_async.h"

namespace ptxasw::emulator {

/// Blocks of a cluster among each other: whose shared memory an address is in, and clusters that
/// others take over before they start.
class ClusterUnit {
public:
  ClusterUnit(MachineRun &run, MemoryView &memory, AsyncUnit &async)
      : run_(run), memory_(memory), async_(async) {}

  /// mapa and getctarank.
  void map_address(WarpContext &context, LaneMask mask);
  /// clusterlaunchcontrol.
  void cancel_launch(WarpContext &context, LaneMask mask);

private:
  void query(const WarpContext &context, unsigned lane, WarpContext &to) const;

  MachineRun &run_;
  MemoryView &memory_;
  AsyncUnit &async_;
};

} // namespace ptxasw::emulator
