#pragma once

// Writes a melded branch into the text of its module.

#include "synth/meld/align.h"

#include "grammar/liveness.h"

#include <optional>
#include <string>

namespace ptxasw::synth::meld {

/// The module's text with that branch melded; nothing if no edit fits. Every byte outside the two
/// arms and the branch stays, except for declarations at the head of the body and a label.
std::optional<std::string> write_melded(const Module &module, const Function &function,
                                        const ControlFlowGraph &cfg, const Liveness &liveness,
                                        const Site &site, const Alignment &alignment);

} // namespace ptxasw::synth::meld
