#pragma once

// The guided search for a faster kernel (COpPER, section 3): rewrites of one kernel in its place
// and their combinations, each with a bound, ranked. A beam instead of the published one step of
// each kind: what is best alone may be in the way of what is best together. At a launch the
// versions beside the kernel of the other families are candidates, too, of the best of these.
//   search(module, "kernel", {}).best // its index among the candidates

#include "analysis/bound.h"
#include "grammar/module.h"
#include "grammar/sibling_table.h"
#include "synth/prove/not_proved.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth {

/// What a version of a kernel costs.
struct SearchCost {
  std::shared_ptr<facts::AmountPool> amounts;
  Bound wsteps, divwarps;                ///< of the costliest warp
  std::vector<facts::Amount> conditions; ///< what must be at least 0 for the bounds to hold
  bool whole_rows = false;               ///< they hold for whole rows (KernelBounds)
  // At the launch that is asked about, if one is:
  std::string no_launch; ///< why a version beside the kernel is not launched there
  std::optional<facts::Rational> wsteps_there, divwarps_there; ///< the bounds
  std::string no_number;                                       ///< why they are not numbers
  std::optional<facts::Rational> all_warps; ///< of the launch, if each costs what is bounded
  std::string not_compared;                 ///< why the bound is no measure of a version
  std::optional<facts::Rational> counted;   ///< weighted steps of all warps, if they can be run
  std::string how_counted;                  ///< not in every block; or why they cannot
  std::optional<double> microseconds;       ///< predicted, if times were asked for
  std::string no_time;                      ///< why there is no prediction
  std::vector<std::string> guesses;         ///< that the prediction rests on
};

/// One version that was looked at.
struct SearchCandidate {
  /// What was done to the kernel: `meld:54:all`, `promote:9`, `shuffle:all`, `cache:nc`; of a
  /// version beside what became of it at last its family and variant: `retile:x4`.
  std::vector<std::string> steps;
  std::string sibling; ///< the name of a version beside the kernel; empty: it is in its place
  std::optional<proof::NotProved> withdrawn; ///< what is not proved; nothing: all is
  SearchCost cost;                           ///< if it is not withdrawn
  double milliseconds = 0;                   ///< to write, prove and bound it
  /// Loads were promoted: the cost is that of launches in which stores stay away from them.
  bool apart = false;
  /// With the version in place of the kernel; of one beside it, the module that it is added to.
  std::shared_ptr<const Module> module;
};

struct SearchOptions {
  BoundOptions bound;  ///< its metrics are ignored
  unsigned beam = 8;   ///< versions that are carried on from each round
  unsigned rounds = 8; ///< rewrites of a version at most
  double seconds = 60; ///< after that the best so far counts
  /// What a version costs at the launch asked about: sets what SearchCost says of it. The table's
  /// entry is that of a version beside the kernel, whose bounds are added, too (add_bounds());
  /// null: it is launched as the kernel is, and its bounds are there. Null: compare formulas.
  std::function<void(const Module &, const Function &, const Sibling *, SearchCost &)> at;
  bool by_time = false; ///< compare what versions take
  bool beside = false;  ///< the launch is known as a whole: try versions beside the kernel
};

/// Bounds a version; the metrics of the options are ignored.
void add_bounds(const Module &module, const Function &function, BoundOptions options,
                SearchCost &cost);

struct SearchResult {
  std::vector<SearchCandidate> candidates; ///< the kernel itself first, in the order of the search
  std::size_t best = 0;                    ///< what is chosen; 0: nothing is better
  bool budget_spent = false;
};

/// Looks for the best version of a kernel.
SearchResult search(const std::shared_ptr<const Module> &module, const std::string &kernel,
                    const SearchOptions &options);

} // namespace ptxasw::synth
