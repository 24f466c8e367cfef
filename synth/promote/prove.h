#pragma once

// What a proof knows of loads that loops repeat.

#include "synth/beside/same.h"

#include <memory>

namespace ptxasw::inline synth::promote {

/// What is known of loads that loops repeat: for beside::prove_same.
std::unique_ptr<beside::Omissions> repeated_loads(const beside::Side &kernel,
                                                  const beside::Side &other, std::size_t first);

} // namespace ptxasw::synth::promote
