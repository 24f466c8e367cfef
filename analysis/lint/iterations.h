#pragma once

// Accesses to shared memory in a loop that changes how far lanes are apart, as a reduction does
// whose stride doubles.

#include "emulator/facts/kernel_facts.h"

#include <optional>

namespace ptxasw::analysis::lint {

/// What an access costs a warp in the iterations of its loop.
struct IterationCosts {
  std::uint32_t most = 0, ideal = 0;    ///< wavefronts in the costliest iteration
  std::uint64_t sum = 0, ideal_sum = 0; ///< of all iterations
  std::optional<BankClash> clash = {};  ///< in the costliest iteration
};

/// Of an access whose lanes' distances a register of the loop decides that begins with a number and
/// takes numbers that follow from it. A loop whose end is not known ends where the lanes' words do
/// not fit into shared memory. Nothing if it is no such access.
std::optional<IterationCosts> costs_of_rounds(const facts::KernelFacts &facts,
                                              const facts::Access &access);

} // namespace ptxasw::analysis::lint
