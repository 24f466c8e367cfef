#pragma once

// Staging: what all threads of a block read in the rounds of a loop is brought to shared memory by
// all of them together, a tile at a time, and read from there.
//
// Which loops: sites.h. How it is written: write.h. Why it is right: prove.cpp.

#include "synth/family.h"

#include <string>
#include <string_view>

namespace ptxasw::synth {

/// Proves that in a kernel with a staged loop each thread does what it did but for loads of what
/// another one of its block has read, for the same launch. Both may be of one module.
proof::Proved prove_staged(const Module &before, const Function &kernel, const Module &after,
                           const Function &staged, std::string_view variant);

} // namespace ptxasw::synth
