#pragma once

// Upper bounds of what a kernel costs, in its parameters and shape (Muller and Hoffmann, "Modeling
// and Analyzing Evaluation Cost of CUDA Kernels", POPL 2021).
//   bound_kernel(module, kernel, {}).metrics[0].warp // of the dearest warp, in n and ntid.x

#include "analysis/warp_costs.h"
#include "emulator/facts/amount.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::analysis {

/// What an event counts in a weighted sum.
using EventWeights = std::array<facts::Rational, counted_events>;

std::string_view to_string(CountedEvent event);

/// A sum of events to bound.
struct BoundMetric {
  std::string name;
  EventWeights weights;
};

/// sectors, conflicts, divwarps and steps, as docs/cost.md defines them.
std::vector<BoundMetric> usual_metrics();

/// COpPER's weighted steps (section 4.1): a sector of device memory counts five, a way of shared
/// memory beyond the first, a divergence and an instruction one each.
BoundMetric weighted_steps();

struct BoundOptions {
  std::optional<BlockShape> block; ///< of every launch without a `.reqntid`
  unsigned base_alignment = 1;     ///< bytes; of pointers among the parameters
  /// Extents of the grid of the launch that is asked about (facts::Assumptions::parameters); bounds
  /// then hold for it alone, though formulas keep the names.
  std::map<std::string, std::int64_t> grid = {};
  std::vector<BoundMetric> metrics = usual_metrics();
  /// Iterations of loops that cannot be counted get a variable each (LoopBound::variable), which
  /// bounds are then in; without, there is no bound of what is counted in such a loop.
  bool names_rounds = false;
};

/// A bound, or why there is none.
struct Bound {
  std::optional<facts::Amount> most;
  bool exact = false; ///< every launch under the conditions costs exactly that
  std::optional<Obstacle> obstacle;
  /// Branches of which it counts both ways, though lanes may part there and need not; of a version
  /// that keeps the code of its kernel for some lanes, that counts twice.
  unsigned both_ways = 0;
};

/// Bound::both_ways where every lane was counted by itself.
inline constexpr unsigned every_lane = ~0u;

/// How many branches or loops there are, and for how many it is known exactly what they do.
struct ExactShare {
  unsigned exact = 0, all = 0;
};

struct MetricBound {
  std::string name;
  Bound warp;   ///< of the dearest warp of a launch
  Bound block;  ///< of the dearest block
  Bound launch; ///< of all blocks
  /// Branches and loops at which what is counted does not depend on data: it is known exactly what
  /// they do (KernelBounds::branches, counted_loops), or nothing is counted whatever they do.
  ExactShare branches, loops;
};

/// What is known of one loop's iterations, for one thread.
struct LoopBound {
  std::uint32_t line = 0; ///< of the branch that is counted, or of the header
  unsigned depth = 1;
  std::optional<facts::Amount> rounds;
  bool exact = false;
  std::string reason; ///< why there is no count
  /// Bounds are in this variable, at least 1, where there is no count: how often a thread runs the
  /// loop's first instruction, at most, each time it gets there. Its name is `rounds_` and the line
  /// of that instruction. Empty: they are not.
  std::string variable;
};

/// All bounds of one kernel. Amounts are over `amounts`.
struct KernelBounds {
  std::string name;
  std::shared_ptr<facts::AmountPool> amounts;
  std::vector<MetricBound> metrics; ///< as in the options
  std::vector<LoopBound> loops;     ///< outer ones before those in them
  /// What must be at least 0 for the bounds to hold: that no index or counter wraps around.
  std::vector<facts::Amount> conditions;
  /// The bounds hold where a block is one row, or its rows are whole warps.
  bool whole_rows = false;
  ExactShare branches, counted_loops;
  std::vector<Obstacle> unknown_branches; ///< those that are not exact, and why, by block
};

KernelBounds bound_kernel(const Module &module, const Function &kernel,
                          const BoundOptions &options);

/// A condition as an inequality: `n + 3 <= 2147483647`.
std::string condition_text(const facts::AmountPool &amounts, const facts::Amount &condition,
                           const facts::AmountPool::Naming &name_of = {});

/// The degree to which an amount grows with its variables: the sum for a product, the difference
/// for a quotient, 0 for a logarithm.
unsigned degree(const facts::AmountPool &amounts, const facts::Amount &amount);

} // namespace ptxasw::analysis
