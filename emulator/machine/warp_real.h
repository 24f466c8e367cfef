#pragma once

// The real numbers behind what the context's instruction gives; nothing where they are not
// followed. They are ExactReal, kept beside the bits that the instruction computes.

#include "emulator/machine/warp_context.h"

namespace ptxasw::emulator {

/// Behind a number in memory, or the number that its bits are.
ExactReal real_in_memory(const WarpContext &context, unsigned lane, std::uint64_t address,
                         ScalarType type, std::uint64_t bits);
/// Behind the result of a line of the tables.
ExactReal compute_real(const WarpContext &context, unsigned lane, Args<ConcreteDomain> list,
                       std::uint64_t result);
/// Behind what a vector of registers makes: a bf16 above zeros is the f32 of the same number.
ExactReal real_of_pack(const WarpContext &context, unsigned lane);
/// Behind what an atomic writes; `index` of its elements.
ExactReal atomic_real(const WarpContext &context, ExactReal old, std::size_t index, unsigned lane);
/// Behind the elements of a product of matrices, row by row.
std::vector<ExactReal> multiply_reals(const WarpContext &context);

} // namespace ptxasw::emulator
