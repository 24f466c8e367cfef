#pragma once

#include "grammar/namespaces.h"

#include <cstdint>
#include <string>

namespace ptxasw::test {

/// Functions that the kernels call: text for the top of a module.
extern const char *const loop_functions;

/// A kernel of loops in whose middle a lane could take a neighbour's value: `continue`, `break`,
/// two latches, nested loops, switches, calls, irreducible entries, early exits, and instructions
/// that bring the lanes of a warp together. Lanes part by their number, by iteration and by data.
/// Every loop ends. Takes `a` (numbers to read), `out` (a word per lane) and `flag` (another).
struct LoopKernel {
  std::string original;
  /// The same; where the loads were, a full mask of active lanes that are not all in the same
  /// iteration of the loops around them leaves 1 in `flag`.
  std::string trap;
};

/// The same seed gives the same kernel, called `name`.
LoopKernel loop_kernel(std::uint64_t seed, const std::string &name);

/// Bytes behind `a`, and what may lie in them.
constexpr std::uint64_t loop_kernel_input = 1 << 17;

} // namespace ptxasw::test
