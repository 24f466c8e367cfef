#pragma once

// How a staged halo is written.

#include "synth/halo/sites.h"

#include <optional>
#include <string>

namespace ptxasw::inline synth::halo {

/// Begins the names of what is written, behind `%` or `$`.
inline constexpr std::string_view prefix = "halo";

/// The module's text with the halo of a kernel staged; nothing if the text has no place for it.
std::optional<std::string> write_halo(const Module &module, const Function &kernel,
                                      const ControlFlowGraph &cfg, const Halo &halo);

} // namespace ptxasw::synth::halo
