#pragma once

#include "synth/family.h"

#include <optional>

namespace ptxasw::inline synth {

/// What keeps several blocks of a kernel from being run by one, in lockstep and without any room of
/// their own; nothing if nothing does. The first in the text.
std::optional<Refusal> retile_obstacle(const Module &module, const Function &kernel);

} // namespace ptxasw::synth
