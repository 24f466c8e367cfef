#pragma once

#include "emulator/emulate.h"
#include "grammar/edits.h"
#include "grammar/module.h"
#include "synth/detect.h"

namespace ptxasw {

/// A prefix for register names that occurs nowhere in the module.
std::string fresh_prefix(const Module &module);

/// Writes the edits that carry a kernel's reuses out, in the form of the paper's listing 6.
void emit(const Module &module, const Function &function, const Detection &detection,
          const LaunchFacts &facts, Variant variant, const std::string &prefix, Edits &edits);

} // namespace ptxasw
