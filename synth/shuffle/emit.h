#pragma once

// Writes shuffles into the text: from a plan (plan.h) to edits. It decides nothing; emit.cpp shows
// the code that comes of it. The names it uses are in no part of the module: fresh_prefix(module).

#include "emulator/semantics/launch.h"
#include "grammar/edits.h"
#include "grammar/module.h"
#include "synth/shuffle/plan.h"

#include <string>

namespace ptxasw::synth {

/// A prefix for register names that occurs nowhere in the module.
std::string fresh_prefix(const Module &module);

/// True if `emit` wrote shuffles into the function: one has a register of such a prefix.
bool is_shuffled(const Module &module, const Function &function);

/// Writes the edits that carry out a kernel's plan (paper, section 5.2).
void emit(const Module &module, const Function &function, const ShufflePlan &plan,
          const LaunchFacts &facts, const std::string &prefix, Edits &edits);

} // namespace ptxasw::synth
