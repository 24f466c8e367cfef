#pragma once

#include <cstdint>
#include <string>

namespace ptxasw {

/// Why a run of the warp emulator ended early, or what a check found.
enum class FaultKind : std::uint8_t {
  unsupported,   ///< an instruction or operand that is not emulated
  out_of_bounds, ///< an access outside of every allocation
  misaligned,    ///< an address that is not a multiple of the access's width (PTX ISA 6.4.1)
  uninitialized, ///< a load of shared or local memory that nobody wrote
  race,          ///< two weak accesses of different threads to one location, unordered
  missing_lane,  ///< a `.sync` instruction that can never have all its lanes
  deadlock,      ///< every thread waits
  trap,          ///< `trap`
  step_limit,    ///< more thread-instructions than allowed
  memory_limit,  ///< more bytes touched than allowed
  bad_launch,    ///< the kernel cannot be launched so
};

std::string_view to_string(FaultKind kind);

/// Something that went wrong, and where.
struct WarpFault {
  FaultKind kind = FaultKind::unsupported;
  std::string message;    ///< what, without the place
  std::string kernel;     ///< kernel or function
  std::uint32_t line = 0; ///< of the module's text, 1-based; 0: none
  std::uint32_t block[3] = {};
  std::uint32_t thread[3] = {};
  unsigned lane = 0;
  std::uint64_t address = 0; ///< of memory faults
};

/// `kernel:line: lane 3 (block 0,0,0 thread 3,0,0): out of bounds: ...`
std::string format(const WarpFault &fault);
/// The place alone: `kernel: line 7: lane 3 (block 0,0,0 thread 3,0,0)`.
std::string format_place(const WarpFault &fault);

} // namespace ptxasw
