#pragma once

// Does it pay to replace loads by shuffles on this target? Measurements decide (decide.cpp).
// Rewriting and the drop-in ask: `decide(options.shuffle, 90).shuffle`.

#include "synth/rewrite.h"

#include <string>

namespace ptxasw::synth {

/// What was found in a kernel, and proved.
struct ReuseCounts {
  unsigned shuffles = 0, copies = 0;
  double mean_delta = 0; ///< mean |N| over both
};

/// The decision to shuffle for a target or not, and why.
struct Decision {
  bool shuffle = false; ///< if not, whatever is found
  Widths widths;        ///< which loads, where the user does not say
  std::string reason;
  double most_mean_delta = 31; ///< a kernel in which sources lie further away stays as it is

  /// Returns true if what was found in a kernel is applied.
  bool applies(const ReuseCounts &found) const {
    return shuffle && found.mean_delta <= most_mean_delta;
  }
};

/// The decision for a compute capability times ten (90 for sm_90). What `automatic` means is
/// decided here and nowhere else. It stands behind the proposals, and sees their counts
/// (Decision::applies); where the answer is no for all of them, nobody needs to look for any.
Decision decide(ShuffleMode mode, unsigned sm);

} // namespace ptxasw::synth
