#pragma once

// Another block size (resizing; KLARAPTOR chooses it at launch): the kernel's threads cut into
// blocks of another extent along x. The body is the kernel's own; before it, threads that the last
// block has to spare leave. Where the kernel asks how many threads there are, none may be to spare,
// and the launch must have a multiple of the extent.
//
// Only for kernels in which nothing along x but the global index and the number of threads matters.
// Why it is right: prove.cpp.

#include "grammar/sibling_table.h"
#include "synth/family.h"
#include "synth/kernel_context.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Why a kernel gets no version with other code for blocks of another extent along x; nothing if it
/// may.
std::optional<Refusal> resize_obstacle(const KernelContext &context);

/// Returns true if a kernel asks for the number of blocks along x, and so for that of threads.
bool counts_threads(const Module &module, const Function &kernel);

/// What the table says of the version with blocks of an extent, except its name.
Sibling resized(std::uint32_t extent, bool counts);

/// The body of a version of a kernel that does not count its threads: before the kernel's own,
/// those that the last block has to spare end. The names are of the appended parameters.
std::string resized_body(const Module &module, const Function &kernel, std::string_view grid,
                         std::string_view block);
inline constexpr std::uint32_t resized_instructions = 9; ///< before the kernel's own

/// Family::prove.
proof::Proved prove_resize(const KernelContext &context, const Function &sibling,
                           const Proposal &proposal);

} // namespace ptxasw::synth
