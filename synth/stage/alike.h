#pragma once

// Whether all threads of a block come to a place in a loop equally often, without a look at what
// they have in registers.

#include "grammar/cfg.h"

namespace ptxasw::synth::stage {

/// Returns true if all threads of a block that go around a loop as often as the others come to one
/// of its blocks equally often, and in the same rounds. `end` is the block that the loop is left
/// from; `block` is the header of a loop that is in this one and in none within.
bool come_alike(const Module &module, const Function &kernel, const ControlFlowGraph &cfg,
                LoopId loop, BlockId end, BlockId block);

} // namespace ptxasw::synth::stage
