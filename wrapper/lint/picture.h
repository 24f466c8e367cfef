#pragma once

// Pictures of which lane accesses what, for the pages of `ptxasw report`.

#include "emulator/facts/kernel_facts.h"

#include <string>

namespace ptxasw::wrapper {

/// A drawing of one execution by one warp: its lanes above, below the sectors (of global memory) or
/// banks (of shared memory) that they touch. SVG without colours of its own: classes `lane`,
/// `unit`, `wire`, `clash`. Empty where the lanes' distances are not known in numbers.
std::string access_picture(const facts::KernelFacts &facts, const facts::Access &access);

} // namespace ptxasw::wrapper
