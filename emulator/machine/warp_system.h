#pragma once

#include "emulator/machine/memory_view.h"

#include <string>
#include <unordered_map>

namespace ptxasw::inline emulator {

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
  std::unordered_map<std::uint64_t, std::uint64_t> heap_; ///< bytes by address, of malloc
  std::uint64_t heap_bytes_ = 0;
};

} // namespace ptxasw::emulator
