#pragma once

// The blocks through which lanes get to a load, for values that come from both arms of a branch.
// Detection and proof each ask if one of the sources has run on every way:
//   const auto ways = ways_since(emulation, blocks_of_sources, block, known); // nothing: not shown

#include "emulator/symbolic/emulate.h"
#include "synth/known.h"

#include <optional>
#include <span>
#include <vector>

namespace ptxasw::synth {

/// The ways on which lanes come from some blocks to another one.
struct Ways {
  std::vector<BlockId> from;    ///< those of the blocks that a way leads through, sorted
  std::vector<BlockId> between; ///< blocks behind them and before the other one
};

/// Shows that every lane that is in the block `to` has been in one of the blocks `from` in the same
/// iteration of the loop around `to`, and which blocks it has passed since it left the last of
/// them. Branches that contradict `known` were not taken. Nothing if a way is left that avoids them
/// all, if they are in different loops, or if there are too many blocks.
std::optional<Ways> ways_since(Emulation &emulation, std::span<const BlockId> from, BlockId to,
                               const Known &known);

/// Blocks on the ways to a block, those nearest first, up to the budget: `from` has to be among
/// them.
std::vector<BlockId> blocks_before(Emulation &emulation, BlockId to, const Known &known);

/// What the branches on every path to a block establish.
Known known_on_path(Emulation &emulation, BlockId block);

} // namespace ptxasw::synth
