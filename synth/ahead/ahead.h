#pragma once

// Loads ahead: of a loop, the loads of K iterations before any of what they read is used (loop
// unrolling with the loads first, as software pipelining has them), where it is known that all K
// iterations will run; the rest of the iterations by the loop as it was.
//
// Which loops: sites.h. How it is written, and an example: write.cpp. Why it is right: prove.cpp.

#include "synth/family.h"

#include <optional>
#include <string>

namespace ptxasw::synth {

/// The module's text with the loads of a kernel's loops ahead by that many iterations, 2 or more;
/// nothing if there is no such loop.
std::optional<std::string> loads_ahead(const KernelContext &context, unsigned iterations);

/// Proves that in a kernel whose loads were brought ahead each thread does what it did, in the same
/// order, for the same launch. Both may be of one module.
proof::Proved prove_loads_ahead(const Module &before, const Function &kernel, const Module &after,
                                const Function &changed);

} // namespace ptxasw::synth
