#pragma once

// Where lanes of a warp may part.

#include "emulator/facts/lane_values.h"

#include <optional>

namespace ptxasw::facts {

/// What is known about the lanes at a branch.
enum class Parting : std::uint8_t {
  never,     ///< all lanes that get here go the same way
  by_lane,   ///< the lane alone decides, and in some warp two lanes go different ways: `lanes`
  at_edge,   ///< tid, or a quotient of it, against what all lanes share: few warps are cut
  by_launch, ///< lane and what all lanes share decide in another way; of a loop's exit also: lanes
             ///< leave one after the other
  by_data,   ///< something private to each lane decides, or it is unknown what
};

std::string_view to_string(Parting parting);

/// A branch with a guard or an index, or an exit with a guard.
struct Branch {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  BlockId block = 0;
  Expr condition = nullptr; ///< what decides it, expanded; null: not understood
  Parting parting = Parting::by_data;
  std::uint32_t lanes[2] = {}; ///< by_lane: one that goes each way
  std::uint32_t warp = 0;      ///< of the layout, where they are
  LoopId loop = no_index;      ///< the innermost loop around it
  /// The outermost loop that one of its edges leaves; none: it leaves no loop.
  LoopId leaves = no_index;
};

/// What is known about the branch that ends a block. `condition`: what decides it, expanded; null:
/// it is not understood. `active`: by thread of the layout, true if it can get here; null: every
/// one.
Branch branch_at(Emulation &emulation, LaneValues &lanes, BlockId block, Expr condition,
                 const std::vector<bool> *active);

} // namespace ptxasw::facts
