#pragma once

// Writes loops with loads ahead into the text of their module.

#include "synth/ahead/sites.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth::ahead {

/// The module's text with the loads of these loops of a function ahead by `iterations`, 2 or more.
std::optional<std::string> write_ahead_loops(const Module &module, const Function &function,
                                             const std::vector<AheadLoop> &loops,
                                             unsigned iterations);

} // namespace ptxasw::synth::ahead
