#pragma once

// What stands in front of the libraries that make machine code: NVRTC (nvrtc.cpp) and nvJitLink
// (nvjitlink.cpp). Not in the archive, which may stand beside a static one: null there.

#include "wrapper/launch/exported.h"

namespace ptxasw::wrapper::launch {

/// Our function of that name; null if there is none.
__attribute__((weak)) void *our_compiler(const char *name);
/// What a program that looked up such a name and found `found` gets.
__attribute__((weak)) void *replace_compiler(const char *name, void *found);

/// The same two, of nvJitLink alone.
void *our_linker(const char *name);
void *replace_linker(const char *name, void *found);

} // namespace ptxasw::wrapper::launch

extern "C" {
PTXASW_EXPORT int nvrtcGetCUBIN(void *program, char *code);
}
