#pragma once

// Whether a thread may wait in a loop for what one of its loads reads.

#include "grammar/cfg.h"
#include "grammar/module.h"

namespace ptxasw::inline synth::promote {

/// Returns true if the end of a loop, or of one in it that has the load, may depend on what the
/// load reads: the loop must have nothing in it that synchronises.
bool decides_end(const Module &module, const Function &function, const ControlFlowGraph &cfg,
                 LoopId loop, std::uint32_t load);

} // namespace ptxasw::synth::promote
