#pragma once

#include "synth/rewrite.h"

#include <string>

namespace ptxasw {

/// The decision to shuffle for a target or not, and why.
struct Decision {
  bool shuffle = false;
  Widths widths; ///< which loads, where the user does not say
  std::string reason;
};

/// The decision for a compute capability times ten (90 for sm_90). What `automatic` means is
/// decided here and nowhere else.
Decision decide(ShuffleMode mode, unsigned sm);

} // namespace ptxasw
