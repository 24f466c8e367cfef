#pragma once

#include "emulator/symbolic/emulate.h"
#include "grammar/module.h"
#include "synth/between.h"

namespace ptxasw::synth {

/// Returns true if the load `source` may run before the load `before` of the same block instead,
/// both indices in the trace: nothing it needs is computed in between, nothing uses its register in
/// between, and memory stays as it is.
bool may_move_up(const Module &module, const Function &function, Emulation &emulation,
                 Between &between, std::size_t source, std::size_t before);

} // namespace ptxasw::synth
