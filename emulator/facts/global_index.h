#pragma once

// Whether only the global index and the number of threads along an axis matter to a kernel, or it
// can tell how these threads are cut into blocks.
//   if (!block_shape_shows(module, kernel, 'x')) // blocks may be cut anew along x

#include "grammar/module.h"

#include <cstdint>
#include <optional>

namespace ptxasw::facts {

/// The line of the first instruction with a result or an effect that may depend on it; nothing:
/// there is none. It may depend on the global index and on the number of threads, if that is the
/// same. What is asked of the launch: fewer than 2^31 threads along the axis. Branches, accesses
/// and the like by other means than these registers are not looked at. `axis`: `x`, `y` or `z`.
std::optional<std::uint32_t> block_shape_shows(const Module &module, const Function &kernel,
                                               char axis = 'x');

} // namespace ptxasw::facts
