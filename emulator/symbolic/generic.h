#pragma once

#include "grammar/module.h"

namespace ptxasw::inline emulator {

/// True if every generic address that a kernel of the module can obtain is one of memory that all
/// lanes share and that only global or generic stores write: the module itself creates none of
/// another space (`cvta`, PTX ISA 5.1 and 9.7.9.20), and nothing external that it calls can create
/// one. A host has no other addresses to pass, and those in memory were created by someone.
bool generic_is_global(const Module &module);

} // namespace ptxasw::emulator
