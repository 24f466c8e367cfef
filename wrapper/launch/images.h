#pragma once

// The PTX of what a program hands to the driver, kept for `ptxasw faster`.

#include "wrapper/launch/kept_image.h"

namespace ptxasw::wrapper::launch {

/// Takes over what a program hands to cuModuleLoadData and the like: PTX that a NUL ends, a fat
/// binary, the wrapper of one, or machine code (compiled.h). Nothing of anything else is read but
/// its first bytes.
KeptImage keep_image(const void *image);

} // namespace ptxasw::wrapper::launch
