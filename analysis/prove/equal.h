#pragma once

// Do two kernels leave the same in memory, for all contents of their buffers? In one launch, whose
// shape and arguments are given, or in all launches.
//   prove_equal(first, launch, second, launch, {}) // for all contents of the buffers

#include "analysis/prove/kernel_paths.h"
#include "analysis/prove/prove.h"
#include "emulator/machine/launch_description.h"
#include "emulator/machine/warp_program.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::analysis {

struct EqualityOptions {
  bool over_reals = false;              ///< sums and products of real numbers, none of which round
  std::uint64_t step_limit = 4'000'000; ///< thread-instructions of one kernel
  unsigned resource_limit = 3'000'000;  ///< for one question, in the solver's units
  unsigned questions = 200;             ///< to the solver at most
  unsigned unanswered = 3; ///< questions without an answer, after which no more is asked
  unsigned launches = 8;   ///< that are run to find a difference; 0: none
};

/// Two runs that differ.
struct EqualityWitness {
  LaunchDescription first, second; ///< the same buffers, with contents
};

struct EqualityAnswer {
  ProofVerdict verdict = ProofVerdict::unknown; ///< never not_asked
  std::optional<EqualityWitness> witness;       ///< then it is refuted
  /// What is in the way of a proof, or how the two runs differ.
  std::string reason;
  bool contradiction = false; ///< no launch keeps what is assumed
  unsigned side = 0;          ///< of `line`: 1 or 2; 0: neither
  std::uint32_t line = 0;     ///< 0: none
  std::vector<std::string> used;
  std::uint64_t elements = 0;               ///< that either kernel writes
  std::uint64_t by_form = 0, by_solver = 0; ///< of these, proved equal in two ways
  SolverTally asked;                        ///< of the solver
};

/// The answer for two launches that share their buffers by name. What they share, `is_compared`
/// excepted, has to be the same afterwards. Buffers whose contents are given (`bytes`) keep them;
/// all others, and variables without an initializer, may hold anything. If that cannot be proved,
/// those of which the launch says nothing hold zeros.
EqualityAnswer prove_equal(const WarpProgram &first, const LaunchDescription &first_launch,
                           const WarpProgram &second, const LaunchDescription &second_launch,
                           const EqualityOptions &options);

/// The answer for all launches that keep what is assumed, in which both kernels get the same
/// arguments; kernels are given by their index. Of `options` the limits on runs count. `elements`
/// are pairs of values that were compared.
EqualityAnswer prove_equal_always(const WarpProgram &first, std::uint32_t first_kernel,
                                  const WarpProgram &second, std::uint32_t second_kernel,
                                  const ProofAssumptions &assumptions,
                                  const EqualityOptions &options);

} // namespace ptxasw::analysis
