#pragma once

#include "wrapper/launch/exported.h"

namespace ptxasw::inline wrapper::launch {

/// What a program that looked up nvrtcGetCUBIN and found `found` gets. Not in the archive: null
/// there.
__attribute__((weak)) void *replace_nvrtc(void *found);

} // namespace ptxasw::wrapper::launch

extern "C" {
PTXASW_EXPORT int nvrtcGetCUBIN(void *program, char *code);
}
