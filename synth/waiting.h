#pragma once

#include "synth/family.h"

#include <optional>

namespace ptxasw::inline synth {

/// Why a kernel must have no versions: a thread of it may wait in a loop for what another thread,
/// another kernel or the host writes (facts::waits_at()). A version could do what the other one
/// waits for behind the loop, have other threads share a warp, a block or a thread, or need more
/// registers, so that fewer blocks run at a time.
std::optional<Refusal> waiting_obstacle(const Module &module, const Function &kernel);

} // namespace ptxasw::synth
