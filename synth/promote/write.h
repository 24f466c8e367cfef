#pragma once

// Writes a loop with promoted loads, and the loop as it was, into the text of its module.

#include "synth/promote/sites.h"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::synth::promote {

/// What the predicate of a promotion's test is called: `%promote0_apart`, `%carry0_apart`.
constexpr std::string_view prefix_of(Wanted wanted) {
  return wanted == Wanted::repeated ? "promote" : "carry";
}
inline constexpr std::string_view predicate_suffix = "apart";

/// The module's text with loads of a loop promoted; nothing if the loop cannot be taken apart.
std::optional<std::string> write_promoted(const Module &module, const Function &function,
                                          const ControlFlowGraph &cfg, const Promotion &promotion,
                                          Atoms &atoms);

} // namespace ptxasw::synth::promote
