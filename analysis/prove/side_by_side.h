#pragma once

// Do two kernels leave the same in memory in every launch? The proof.

#include "analysis/prove/races.h"

#include <cstdint>
#include <string>

namespace ptxasw::analysis {

/// How much a proof may take.
struct SideBySideLimits {
  std::uint64_t instructions = 1'500'000; ///< that are followed
  unsigned resource_limit = 1'000'000;    ///< for one question, in the solver's units
  std::uint64_t effort = 16'000'000;      ///< for all of them, in the same units
  bool over_reals = false; ///< sums and products of real numbers, none of which round
};

struct SideBySideProof {
  bool is_proved = false;
  bool contradiction = false; ///< no launch keeps what is assumed
  /// What is in the way: of kernel 1 or 2, or, if that is 0, of neither.
  std::string reason;
  unsigned side = 0;
  std::uint32_t line = 0;
  std::uint64_t values = 0;                 ///< pairs that were compared and are equal
  std::uint64_t by_form = 0, by_solver = 0; ///< of these
  bool shares_variables = false;            ///< of global memory, by name
  SolverTally asked;
  std::uint64_t effort = 0; ///< that this took, in the solver's units
};

/// Both kernels have a body; assumptions name the parameters of the first one. What is proved rests
/// on what side_by_side.cpp says at its head.
SideBySideProof prove_side_by_side(const Module &first, const Function &first_kernel,
                                   const Module &second, const Function &second_kernel,
                                   const ProofAssumptions &assumptions,
                                   const SideBySideLimits &limits);

} // namespace ptxasw::analysis
