#pragma once

#include "synth/family.h"

#include <cstdint>
#include <optional>

namespace ptxasw::inline synth {

/// What becomes of the kernel's blocks.
enum class Blocks : std::uint8_t {
  spread, ///< the work of their threads may be done by others, without any room of their own
  whole,  ///< they stay together, with shared memory of their own and in step at barriers
};

/// What keeps several blocks of a kernel from being run by one, in lockstep; nothing if nothing
/// does. The first in the text.
std::optional<Refusal> retile_obstacle(const Module &module, const Function &kernel,
                                       Blocks blocks = Blocks::spread);

} // namespace ptxasw::synth
