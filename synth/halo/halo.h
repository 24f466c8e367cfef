#pragma once

// What neighbours of a block read at an offset from each other, as stencils do, is brought to
// shared memory once by the block, and read from there.
//
// Which loads: sites.h. Who brings what: group.h. How it is written: write.h. Why it is right:
// prove.cpp.

#include "synth/family.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::inline synth {

/// What is not proved of a kernel whose halo is staged, for the same launch; empty: each thread
/// does what it did but for loads of what another one of its block has read. Both may be of one
/// module.
std::string prove_halo_of(const Module &before, const Function &kernel, const Module &after,
                          const Function &staged, std::string_view variant);

/// All variants: `b256`, `b32x8`, `b8x8x8`, ..., the shape of blocks.
const std::vector<std::string> &halo_variants();

FamilyAnswer propose_halo(const Module &module, const Function &kernel);
std::string write_halo(const Module &module, const Function &kernel, const Proposal &proposal);
std::string prove_halo(const Module &written, const Function &kernel, const Function &sibling,
                       const Proposal &proposal);

} // namespace ptxasw::synth
