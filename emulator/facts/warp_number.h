#pragma once

// What lanes of a warp have in common of their threads' numbers within the block.

#include "emulator/facts/polynomial.h"
#include "grammar/module.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::facts {

/// By instruction: is what it writes one value for all lanes of a warp, whenever each of them
/// executes it, as it is made of the number of the lane's warp alone? The thread's number within
/// the block is tid.x + ntid.x * (tid.y + ntid.y * tid.z), and a warp has 32 of them in a row, of
/// which the first is a multiple of 32 (CUDA C++ Programming Guide, "SIMT Architecture"). All
/// branches of the function must have a target.
///
/// `whole_rows`: the block's extent along x is a multiple of 32. Then the lanes of a warp are 32
/// threads of one row, tid.y and tid.z are one for all of them, and so is what is made of tid.x and
/// of multiples of 32 in the same way: of a thread's index in the grid along x, for instance.
std::vector<bool> made_of_warp_number(const Module &module, const Function &function,
                                      bool whole_rows = false);

} // namespace ptxasw::facts
