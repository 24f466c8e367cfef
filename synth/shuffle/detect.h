#pragma once

// Finds the loads of a kernel whose value is in a register already. It is where a rewrite begins,
// and it only proposes: what is emitted is proved on its own (synth/proof/prove.h).

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "synth/proof/reuse.h"
#include "synth/rewrite.h"

namespace ptxasw::synth {

/// Finds, for every candidate, the sources with the smallest |N| that soundness.md allows.
/// `generic` are the addresses of the module.
Detection detect(const Module &module, const Function &function, Emulation &emulation,
                 const RewriteOptions &options, const GenericAddresses &generic);

} // namespace ptxasw::synth
