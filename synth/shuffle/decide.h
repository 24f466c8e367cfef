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

/// True if loads from shared memory are replaced too, where loads are. `automatic` is false on all
/// targets.
bool decide_shared(ShuffleMode mode);

/// The decision for a compute capability times ten (90 for sm_90). What `automatic` means is
/// decided here and nowhere else.
Decision decide(ShuffleMode mode, unsigned sm);

} // namespace ptxasw
