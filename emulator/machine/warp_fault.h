#pragma once

// What can go wrong in a run of a kernel, and how it is told: `ptxasw emulate` and the runtime
// without a GPU print format(fault).

#include "grammar/namespaces.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::emulator {

/// Why a run of the warp emulator ended early, or what a check found.
enum class FaultKind : std::uint8_t {
  unsupported,       ///< an instruction or operand that is not emulated
  out_of_bounds,     ///< an access outside of every allocation
  misaligned,        ///< an address that is not a multiple of the access's width (PTX ISA 6.4.1)
  uninitialized,     ///< a load of memory that was never written: shared, local, malloc's, or
                     ///< said to be so
  race,              ///< two weak accesses of different threads to one location, unordered
  same_value_race,   ///< the same, but the store leaves what is there
  divergent_barrier, ///< a barrier that not all reach together whom it is for: the lanes of a warp,
                     ///< or the whole block
  barrier_mismatch,  ///< a barrier whose threads disagree on how many there are
  lonely_arrival,    ///< threads arrive at a barrier where no thread ever waits
  missing_lane,      ///< a `.sync` instruction that can never have all its lanes, or that reads one
                     ///< that takes no part
  deadlock,          ///< every thread waits
  trap,              ///< `trap`
  assertion,         ///< an assertion of the program
  read_only,         ///< a store to read-only memory
  bad_target,        ///< a call or branch to where nothing is
  bad_free,          ///< a free of what malloc did not return
  step_limit,        ///< more thread-instructions than allowed
  memory_limit,      ///< more bytes touched than allowed
  bad_launch,        ///< the kernel cannot be launched like this
};

std::string_view to_string(FaultKind kind);

/// True if the run is not followed any further, and nothing is known of what comes: something is
/// not emulated, or a limit was reached.
bool is_incomplete(FaultKind kind);

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
  /// GlobalMemory::changes() at the access, if the run went on after it: what is told at its end
  /// may have been allocated or released since.
  std::uint64_t memory_changes = ~std::uint64_t{0};
  /// The other side of a fault between two: for a race, the earlier access; `message` says which.
  std::vector<WarpFault> others;
};

/// `kernel:line: lane 3 (block 0,0,0 thread 3,0,0): out of bounds: ...`
std::string format(const WarpFault &fault);
/// The place alone: `kernel: line 7: lane 3 (block 0,0,0 thread 3,0,0)`.
std::string format_place(const WarpFault &fault);

} // namespace ptxasw::emulator
