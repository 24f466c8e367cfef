#pragma once

// What a proof knows of loads that loops repeat.

#include "synth/prove/walk.h"

#include <memory>

namespace ptxasw::inline synth::promote {

/// What is known of loads that loops repeat: for proof::prove_same.
std::unique_ptr<proof::Omissions> repeated_loads(const proof::Side &kernel,
                                                 const proof::Side &other, std::size_t first);

} // namespace ptxasw::synth::promote
