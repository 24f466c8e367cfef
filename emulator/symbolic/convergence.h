#pragma once

// A shuffle in a loop is right only if the lane that it asks is in the same iteration. Here are the
// loops of which that is certain, and convergence.cpp has the proof; Emulation::in_step() asks.

#include "grammar/cfg.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ptxasw::emulator {

/// What brings lanes of a warp together in a block, wherever they come from: `.sync` instructions,
/// barriers, calls of what is not known.
enum class ConvergencePoint : std::uint8_t {
  none,
  even,   ///< every lane that gets here takes part, and all name the same lanes
  uneven, ///< a lane may pass by, or name other lanes, or it is unknown
};

/// Finds the loops in which lanes that are active together are in the same iteration: soundness.md,
/// E1. What is assumed of the machine is stated there: lanes that a branch has separated come
/// together again at a post-dominator of that branch or at a meeting, and nowhere else.
class Convergence {
public:
  /// `parts(block)`: true if lanes of one row that execute the block's branch in the same
  /// iterations may leave it by different edges. `meetings` is by block.
  Convergence(const ControlFlowGraph &cfg, std::function<bool(BlockId)> parts,
              std::vector<ConvergencePoint> meetings);

  /// True if lanes of one row that are active together in the loop are in the same iteration of it.
  bool in_step(LoopId loop);

private:
  bool regroups_in_step(LoopId loop);
  bool meets_in_step(LoopId loop);
  bool parts(BlockId block);
  const std::vector<BlockId> &postdominators(std::size_t end);
  bool reaches(BlockId from, BlockId to, BlockId without);
  bool spend(std::size_t blocks);

  const ControlFlowGraph &cfg_;
  const std::function<bool(BlockId)> parts_branch_;
  const std::vector<ConvergencePoint> meetings_;
  std::vector<std::optional<bool>> parts_;   ///< by block
  std::vector<std::optional<bool>> in_step_; ///< by loop
  /// Ways in which an activity in a function may end: a thread leaves it by one block, or iterates
  /// one loop again.
  std::vector<std::vector<BlockEdge>> ends_;
  std::vector<std::vector<BlockId>> postdominators_; ///< by end; made when first asked for
  std::size_t visited_ = 0;
};

} // namespace ptxasw::emulator
