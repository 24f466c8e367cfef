#pragma once

// The kernel's own code in blocks of another shape, in up to three dimensions: a version that needs
// no code of its own. Along each axis that changes the launch has as many threads as before, no
// more and no fewer. Why it is right, and which shapes are offered: reshape.cpp.

#include "grammar/sibling_table.h"
#include "synth/kernel_context.h"

#include <cstddef>
#include <vector>

namespace ptxasw::synth {

/// Axes along which a kernel's blocks may have any extent that divides the threads of the launch.
struct FreeAxes {
  bool x = false, y = false, z = false;
};
FreeAxes free_axes(const KernelContext &context);

/// What the table says of a kernel in blocks of these extents, 0 where they stay as they are.
Sibling reshaped(const KernelContext &context, const std::array<std::uint32_t, 3> &extent);

/// Shapes that are worth a trial, the most promising first, `most` at most. None if the kernel's
/// blocks must have the shape that the program gives them, or if nothing is known of what it would
/// do to memory.
std::vector<Sibling> reshapes(const KernelContext &context, std::size_t most);

/// Each of these versions of a kernel in blocks of these shapes of its own, as far as that can be
/// said of both; `most` at most. Those of the first shape come first.
std::vector<Sibling> in_other_blocks(const std::vector<Sibling> &versions,
                                     const std::vector<Sibling> &shapes, std::size_t most);

/// Those of the versions whose blocks may have several rows, and whose threads have several points
/// along x, in such blocks.
std::vector<Sibling> in_tall_blocks(const std::vector<Sibling> &versions);

} // namespace ptxasw::synth
