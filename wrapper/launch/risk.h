#pragma once

// What is known of a version's time before it has run.

#include "wrapper/launch/chooser.h"
#include "wrapper/launch/fit.h"

namespace ptxasw::inline wrapper::launch {

/// Of a launch of a sibling. `own` is the kernel's code, `limits` the sibling's; `multiprocessors`:
/// of the GPU, 0 if that is not known.
Prior prior_of(const Launch &launch, const Sibling &sibling, const SiblingLimits &own,
               const SiblingLimits &limits, unsigned multiprocessors);

} // namespace ptxasw::wrapper::launch
