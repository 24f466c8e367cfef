#pragma once

// What is written for a kernel's reuses, as data: where lanes agree on a mask, what each load tests
// there, and where each of its values comes from. Nothing here is text (emit.h), and nothing is
// decided behind it: the paper's other two variants are this plan with less in it.

#include "grammar/cfg.h"
#include "grammar/module.h"
#include "synth/rewrite.h"
#include "synth/shuffle/reuse.h"

#include <cstdint>
#include <vector>

namespace ptxasw::synth {

/// A straight piece of a basic block in which shuffles have one mask.
struct PlannedRegion {
  /// Each once, as their registers are known: all of its shuffles are off where one of them fails.
  std::vector<WrapTest> tests;
};

/// A load that is replaced.
struct PlannedLoad {
  std::uint32_t load = 0;            ///< instruction index
  std::vector<ElementSource> values; ///< one for each register that it writes
  std::uint32_t region = 0;          ///< index of its region, if it shuffles
  bool shuffles = false;             ///< a value comes from another lane
  // A lane for which one of these holds runs the load itself.
  bool has_corner = false; ///< a lane asked lies outside the row, or the region's tests fail
  unsigned below = 0;      ///< so many lanes of the row must lie below this one
  unsigned above = 0;      ///< and so many above
  std::vector<WrapTest> wrap_tests;         ///< that are none of the region's
  std::vector<DistanceTest> distance_tests; ///< see Reuse
  std::vector<std::uint32_t> store_tests;   ///< see Reuse
};

/// What is written for one kernel.
struct ShufflePlan {
  std::vector<Hoist> hoists;           ///< of sources that serve a load
  std::vector<PlannedRegion> regions;  ///< in the order of the text
  std::vector<PlannedLoad> loads;      ///< in the order of the text
  std::vector<WrapTest> tests_for_one; ///< of single loads, each once, in the order of the loads
};

/// Plans a kernel's reuses.
ShufflePlan plan_shuffles(const Module &module, const Function &function,
                          const ControlFlowGraph &cfg, const Detection &detection);

/// The plan of a variant (paper, section 6), which computes something else on purpose: `no_corner`
/// tests nothing, `no_load` asks no other lane either.
ShufflePlan restrict_to(Variant variant, ShufflePlan plan);

} // namespace ptxasw::synth
