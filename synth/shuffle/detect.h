#pragma once

#include "emulator/symbolic/emulate.h"
#include "synth/rewrite.h"
#include "synth/shuffle/reuse.h"

namespace ptxasw::inline synth {

/// Finds, for every candidate, the sources with the smallest |N| that soundness.md allows.
/// `generic_is_global` is what the function of that name says of the module.
Detection detect(const Module &module, const Function &function, Emulation &emulation,
                 const RewriteOptions &options, bool generic_is_global);

} // namespace ptxasw::synth
