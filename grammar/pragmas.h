#pragma once

#include "grammar/module.h"

namespace ptxasw::inline ptx {

/// Returns true if a load may leave bytes of its result undefined, since nothing uses them
/// (`used_bytes_mask`, PTX ISA 12.2): a load of the same place must not take its value from it.
bool leaves_bytes_undefined(const Function &function, std::uint32_t load);

} // namespace ptxasw::ptx
