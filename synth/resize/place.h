#pragma once

// Whether a kernel can tell how its threads along x are cut into blocks.

#include "grammar/module.h"

#include <cstdint>
#include <optional>

namespace ptxasw::inline synth::resize {

/// The line of the first instruction with a result or an effect that may depend on it; nothing:
/// there is none. It may depend on the global index and on the number of threads, if that is the
/// same. What is asked of the launch: fewer than 2^31 threads along x. Branches, accesses and the
/// like by other means than these registers are not looked at.
std::optional<std::uint32_t> place_shows(const Module &module, const Function &kernel);

} // namespace ptxasw::synth::resize
