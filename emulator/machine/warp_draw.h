#pragma once

// Launches drawn at random, for kernels that nobody has described a launch of. verify() runs a
// kernel and its rewritten form on them, and `ptxasw prove` looks among them for one that refutes.
// draw_candidate() begins a launch, finish_launch() draws the rest, place_buffers() puts it in
// memory.

#include "emulator/machine/launch_description.h"
#include "emulator/machine/launch_search.h"
#include "emulator/machine/warp_launch.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::emulator {

/// One drawn launch: all that a run depends on, in a readable form.
struct DrawnLaunch {
  WarpLaunch launch;
  std::uint64_t seed = 0;        ///< of the buffers' contents
  std::vector<std::string> text; ///< one line per slot
  bool searched = false;         ///< it was searched for: most of these do not run to the end
  /// A pointer. Its buffer lies around it, in sparse memory.
  struct Buffer {
    GlobalMemory::Fill fill = GlobalMemory::Fill::zeros;
    std::uint32_t slot_offset = 0;
    std::size_t of = 0;     ///< index of the buffer that it points into; its own or another's
    std::int64_t shift = 0; ///< bytes, from the middle of the buffer
  };
  std::vector<Buffer> buffers;
};

/// What the launch should be like.
struct DrawHints {
  bool one_block = false;
  bool flat = false;    ///< a one-dimensional block
  bool apart = false;   ///< no pointer into another's buffer
  bool small = false;   ///< small integers, few threads
  bool alone = false;   ///< one thread, if the kernel's directives allow it: it races with no other
  bool large = false;   ///< as many threads per block as allowed
  bool no_wrap = false; ///< numbers and grids of a size with which no sane index wraps around
  std::optional<Extents> block; ///< of just this shape, if the kernel's directives allow it
  Extents groups{1, 1, 1}; ///< blocks that another kernel does at once: mostly one group or two
};

/// A place to start from: a block shape (1-D, 2-D, 3-D, partial warps, up to 1,024 threads; what
/// .reqntid and .maxntid allow), a grid, integers that look like dimensions. Pointers sometimes
/// point into one buffer.
LaunchCandidate draw_candidate(const Function &kernel, const std::vector<ParameterSlot> &slots,
                               const DrawHints &hints, WarpRandom &random);

/// Shapes of blocks that kernels are written for, often for one alone.
std::span<const Extents> usual_blocks();

/// Threads that a kernel lets a block have.
std::uint64_t most_threads(const Function &kernel);

/// Makes the grid larger than the thread asks for, mostly large enough to cover extents among the
/// parameters: loops that stride by the grid then end soon, and few blocks of a large grid are run.
void widen_grid(const std::vector<ParameterSlot> &slots, WarpRandom &random,
                LaunchCandidate &candidate);

/// Mostly makes parameters by which loops go on as large as extents among the parameters, or
/// something else: the loops then end soon.
void lengthen_steps(const std::vector<ParameterSlot> &slots, WarpRandom &random,
                    LaunchCandidate &candidate);

/// What a search for a launch of this kind may change.
SearchLimits search_limits(const Function &kernel, const DrawHints &hints);

/// Makes a launch of a candidate: draws contents for the buffers, the size of dynamic shared memory
/// if the module has any, and everything else. `moderate`: no floating-point numbers whose sums
/// overflow.
DrawnLaunch finish_launch(const Function &kernel, const std::vector<ParameterSlot> &slots,
                          const LaunchCandidate &candidate, bool dynamic_shared, bool moderate,
                          WarpRandom &random);

/// Allocates the launch's buffers and fills its pointers in. The same launch gives the same memory.
void place_buffers(const DrawnLaunch &drawn, GlobalMemory &memory, WarpLaunch &launch);

/// The launch in a form that can be written down; without steps and schedule.
LaunchDescription to_description(const DrawnLaunch &drawn, const Function &kernel);

/// The launch in lines, for a counter-example.
std::string describe(const DrawnLaunch &drawn);

} // namespace ptxasw::emulator
