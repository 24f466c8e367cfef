#pragma once

// Volatile and relaxed accesses, and what lanes of a warp that run in step may exchange by them.

#include "grammar/module.h"

#include <vector>

namespace ptxasw::facts {

/// Returns true if an instruction is a load or store that is volatile or relaxed: it is done as
/// often as the text says and orders no other access (PTX ISA 8.4 and 8.8).
bool is_unordered_access(const Opcode &opcode);

/// By instruction: is it such an access by which lanes may count on running in step, as sums of the
/// time before `__syncwarp` do: one lane stores, another one then loads without a barrier between?
/// None is, if no such load is from an array to which a store of the kernel may go.
std::vector<bool> accesses_in_step(const Module &module, const Function &kernel);

} // namespace ptxasw::facts
