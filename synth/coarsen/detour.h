#pragma once

#include "grammar/code_writer.h"
#include "synth/coarsen/coarsen.h"

namespace ptxasw::inline synth {

/// Writes the kernel's instructions of a detour for copy `copy`, from its branch on, those aside
/// that are done `first`. It ends at `end`, which the caller places behind what is written.
void write_detour(CodeWriter &out, const Module &module, const Function &kernel,
                  const Detour &detour, unsigned copy, const Renaming &names,
                  const std::vector<bool> &first, WrittenLabel end);

} // namespace ptxasw::synth
