#pragma once

#include "grammar/cfg.h"
#include "grammar/edits.h"
#include "grammar/module.h"
#include "synth/detect.h"

namespace ptxasw {

/// A prefix for register names that occurs nowhere in the module.
std::string fresh_prefix(const Module &module);

/// Writes the edits that carry out a kernel's reuses (paper, section 5.2).
void emit(const Module &module, const Function &function, const ControlFlowGraph &cfg,
          const Detection &detection, const LaunchFacts &facts, Variant variant,
          const std::string &prefix, Edits &edits);

} // namespace ptxasw
