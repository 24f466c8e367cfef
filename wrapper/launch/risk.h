#pragma once

// What is known of a version's time before it has run.

#include "wrapper/launch/fit.h"

namespace ptxasw::inline wrapper::launch {

/// By what share of the original's time a launch of a sibling is feared to take longer: what a
/// trial must be able to pay, and the order in which siblings are tried. `own` is the kernel's
/// code, `limits` the sibling's.
double risk_of(const Launch &launch, const Sibling &sibling, const SiblingLimits &own,
               const SiblingLimits &limits);

} // namespace ptxasw::wrapper::launch
