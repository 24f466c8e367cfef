#pragma once

#include "grammar/module.h"

#include <cstdint>

namespace ptxasw::analysis {

/// The toy analysis: how many instructions of a function are barriers of its block.
std::uint32_t count_barriers(const Module &module, const Function &function);

} // namespace ptxasw::analysis
