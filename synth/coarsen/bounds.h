#pragma once

// How large an index of 32 bits may become in a launch: where that is below 2^31, it does not wrap
// around, and neither do those beside it.

#include "synth/coarsen/copies.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::synth {

/// What `number + least` to `number + most`, of 32 bits and as a copy has it in lockstep, are at
/// most. If that is below 2^31 in a launch, they are sums in whole numbers, and not negative unless
/// they have a sign. Nothing if that is not found.
std::optional<IndexBound> bound_of(CopyViews &views, const KernelContext &context,
                                   const CoarsenForm &form, Expr number, std::int64_t least,
                                   std::int64_t most, bool is_signed);

/// Adds one from which what it says follows: a new one, or one that is as large as this and as that
/// which is there, if they are sums of the same products.
void add_bound(std::vector<IndexBound> &all, const IndexBound &bound);

} // namespace ptxasw::synth
