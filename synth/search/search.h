#pragma once

// The guided search for a faster kernel (COpPER, section 3): rewrites of one kernel in its place
// and their combinations, each with a bound, ranked. A beam instead of the published one step of
// each kind: what is best alone may be in the way of what is best together. Where times are
// compared, versions beside the kernel are candidates, too, of all families.

#include "analysis/bound.h"
#include "grammar/module.h"
#include "synth/sibling_table.h"

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
  std::optional<double> microseconds;    ///< predicted, if times were asked for
  std::string no_time;                   ///< why there is no prediction
};

/// One version that was looked at.
struct SearchCandidate {
  /// What was done to the kernel: `meld:54:all`, `promote:9`, `shuffle`, `cache:nc`; of a version
  /// beside it the family and the variant: `retile:x4`.
  std::vector<std::string> steps;
  std::string sibling;     ///< the name of a version beside the kernel; empty: it is in its place
  std::string withdrawn;   ///< what is not proved; empty: all is
  SearchCost cost;         ///< if it is not withdrawn
  double milliseconds = 0; ///< to write, prove and bound it
  bool chosen = false;
  /// Loads were promoted: the cost is that of launches in which stores stay away from them.
  bool apart = false;
  /// With the version in place of the kernel; of one beside it, the module that it is for.
  std::shared_ptr<const Module> module;
};

struct SearchOptions {
  BoundOptions bound;  ///< its metrics are ignored
  unsigned beam = 8;   ///< versions that are carried on from each round
  unsigned rounds = 8; ///< rewrites of a version at most
  double seconds = 60; ///< after that the best so far counts
  /// The number that a bound is at the sizes asked about; it returns nothing where its conditions
  /// do not hold. Null: compare formulas.
  std::function<std::optional<facts::Rational>(const SearchCost &, const facts::Amount &)> at;
  /// What a version takes; then that is compared instead. Sets `microseconds` or `no_time`. The
  /// table's entry is that of a version beside the kernel; null: it is launched as the kernel is.
  std::function<void(const Module &, const Function &, const Sibling *, SearchCost &)> time;
};

struct SearchResult {
  std::vector<SearchCandidate> candidates; ///< the kernel itself first, in the order of the search
  std::size_t best = 0;                    ///< 0: nothing is better
  bool budget_spent = false;
};

/// Looks for the best version of a kernel.
SearchResult search(const std::shared_ptr<const Module> &module, const std::string &kernel,
                    const SearchOptions &options);

} // namespace ptxasw::synth
