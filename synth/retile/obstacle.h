#pragma once

#include "synth/family.h"

#include <optional>

namespace ptxasw {

/// What is in the way of several blocks of a kernel being run by one, in lockstep and without any
/// room of their own; nothing if nothing is. The first in the text.
std::optional<Refusal> retile_obstacle(const Module &module, const Function &kernel);

} // namespace ptxasw
