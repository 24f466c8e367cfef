#pragma once

// Loads that a coarsened kernel can leave out, as a neighbouring row has the value. Writer and
// proof both ask for them; merge.cpp says when the value is certain to be the same.

#include "synth/coarsen/coarsen.h"

#include <vector>

namespace ptxasw::synth {

/// A load whose value another copy, or the same one, has in a register already.
struct MergedLoad {
  std::uint32_t load = 0; ///< index in Function::instructions
  unsigned copy = 0;
  std::uint32_t from = 0; ///< the load before it, in lockstep
  unsigned from_copy = 0;
  bool operator==(const MergedLoad &) const = default;
};

/// The loads that are not needed when the copies of a form go in lockstep, none unless it merges;
/// by load, then by copy. Found once.
const std::vector<MergedLoad> &merged_loads(const KernelContext &context, const CoarsenForm &form);

} // namespace ptxasw::synth
