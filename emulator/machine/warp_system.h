#pragma once

// The part of the warp emulator for vprintf, malloc, free and __assertfail, and for the workspace
// of cooperative grids.

#include "emulator/machine/memory_view.h"

#include <string>

namespace ptxasw::emulator {

/// Functions that have no body because the driver provides them, and what it keeps for them.
class DriverCalls {
public:
  DriverCalls(MachineRun &run, MemoryView &memory) : run_(run), memory_(memory) {}

  void call(WarpContext &context, LaneMask mask);
  /// Allocates the workspace of a cooperative grid; returns its address.
  std::uint64_t make_workspace();

private:
  unsigned print_formatted(const WarpContext &context, unsigned lane, std::uint64_t format,
                           std::uint64_t arguments);
  std::string read_text(const WarpContext &context, unsigned lane, std::uint64_t address);

  MachineRun &run_;
  MemoryView &memory_;
  DeviceHeap own_heap_;
  DeviceHeap &heap_{run_.options.heap ? *run_.options.heap : own_heap_};
};

} // namespace ptxasw::emulator
