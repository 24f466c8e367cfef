#pragma once

// How the threads of a block lie in its warps (PTX ISA 2.2.1, 10.4: the thread with number
// tid.x + ntid.x * (tid.y + ntid.y * tid.z) is lane number % 32 of warp number / 32).

#include "emulator/semantics/launch.h"

#include <cstdint>
#include <vector>

namespace ptxasw::facts {

/// A thread's place in its block.
struct ThreadId {
  std::uint32_t x = 0, y = 0, z = 0;
};

/// One warp: its threads stand in Layout::threads, lane by lane, from `first` on. `count` is less
/// than 32 only in the last warp of a block (of a row of blocks, where there is only one).
struct WarpThreads {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// The warps of a block that differ for a kernel's addresses.
///
/// With `whole_rows` every warp lies in one row: tid.y and tid.z are the same in all its lanes, and
/// stand here as 0; the block has `copies` warps of each kind. This holds for blocks of one row and
/// for those whose rows are whole warps, and it is assumed where the shape of the block is not
/// known (`symbolic`): then the warps along x are those of the longest possible row.
struct Layout {
  bool symbolic = false;
  bool whole_rows = true;
  BlockShape shape;         ///< of the block; of a symbolic one the longest row
  std::uint64_t copies = 1; ///< warps of the block that each entry of `warps` stands for
  std::vector<ThreadId> threads;
  std::vector<WarpThreads> warps;
};

Layout layout_of(const LaunchFacts &launch);

} // namespace ptxasw::facts
