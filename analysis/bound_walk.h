#pragma once

// Adds up what blocks cost along the paths that a warp can take.

#include "analysis/bound.h"
#include "analysis/warp_costs.h"
#include "emulator/facts/loops.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ptxasw::analysis {

/// An upper bound, or why there is none.
struct WalkResult {
  facts::Amount most;
  bool exact = true;
  std::optional<Obstacle> obstacle;
  unsigned both_ways = 0; ///< Bound::both_ways
};

/// What all walks over one kernel share.
struct WalkContext {
  const facts::KernelFacts &facts;
  facts::AmountPool &amounts;
  facts::IntegerReader &reader;
  const std::vector<facts::TripCount> &trips;
  WarpCosts &costs;
  /// By block, where the ways out of it meet (WarpFunction::postdominators).
  const std::vector<BlockId> &postdominators;
  LoopState &nothing_known;
  /// By loop, the variable of its iterations where they cannot be counted; nothing: then there is
  /// no bound.
  const std::vector<std::optional<facts::Amount>> &uncounted;
};

/// The weighted events of one warp from its first instruction to its last.
///
/// Lanes that a branch parts are taken to come together at its post-dominator, as the warp
/// emulator's schedule `reconverge` has it; both sides are added up. Where that cannot be relied on
/// (a barrier in between, paths that leave a loop at the wrong place) every lane counts by itself.
WalkResult walk_warp(const WalkContext &context, const EventWeights &weights, std::size_t warp);

} // namespace ptxasw::analysis
