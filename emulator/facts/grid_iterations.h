#pragma once

// Loops over the grid that have one iteration in launches with a thread for each element, and what
// of a launch makes it so: `rounds_over_grid(context)`.

#include "emulator/facts/kernel_context.h"
#include "grammar/sibling_table.h"

#include <cstdint>
#include <vector>

namespace ptxasw::facts {

/// A branch that leads to another iteration of a loop over the grid, or to the test of that, and
/// what of a launch makes it one that may go on elsewhere, if there are no more than
/// `max_round_threads` threads along the axis.
struct GridIteration {
  std::uint32_t branch = 0;  ///< an instruction
  std::uint32_t instead = 0; ///< where a thread goes on from it: an instruction, or the end
  ArgumentCover need;
};
inline constexpr std::uint32_t max_round_threads = 1u << 29;

/// All of a kernel's, in the order of the text. In a launch that meets the needs of all, the kernel
/// does what it would if each of them led there, always.
const std::vector<GridIteration> &rounds_over_grid(const KernelContext &context);
/// What all need together, each once.
std::vector<ArgumentCover> needs_of_rounds(const std::vector<GridIteration> &rounds);

} // namespace ptxasw::facts
