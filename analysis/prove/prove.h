#pragma once

// What `ptxasw prove` answers: a proof, or a launch that refutes it, or neither; and which
// assumptions would do.
//   answer_safety(program, 0, {}) // of the first kernel, for all launches

#include "analysis/prove/races.h"
#include "emulator/machine/launch_description.h"
#include "emulator/machine/warp_program.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::analysis {

/// A launch in which the emulator has seen what must not happen.
struct SafetyWitness {
  LaunchDescription launch; ///< with schedule and steps, to be run again
  WarpFault fault;
};

struct SafetyAnswer {
  std::string kernel;
  KernelProof proof;
  std::vector<std::string> used; ///< assumptions that proved properties rest on
  std::optional<SafetyWitness> race, barrier;
  /// The least of a fixed list that would make what is neither proved nor told provable; empty:
  /// none of them does. Where the launch is refuted it holds for others.
  std::vector<std::string> would_do;
};

struct SafetyOptions {
  ProofOptions proof;
  unsigned launches = 24;             ///< that are tried for a refutation; 0: none
  std::uint64_t step_limit = 500'000; ///< thread-instructions of one
  std::uint64_t work = 8'000'000;     ///< and of all together
  std::uint64_t seed = 1;
  bool propose = true;
  unsigned unanswered = 12; ///< questions to the solver after which nothing more is proposed
  /// What is spent on all proofs for one answer, in the solver's units; on one that is only to say
  /// that less would have done.
  std::uint64_t effort = 14'000'000, effort_on_less = 2'000'000;
  /// Where the launch itself is given.
  std::optional<LaunchDescription> launch;
};

/// Proves, refutes or proposes, for one kernel with a body; `number` is its index in the program.
SafetyAnswer answer_safety(const WarpProgram &program, std::uint32_t number,
                           const ProofAssumptions &assumptions, const SafetyOptions &options = {});

/// What a proof with these assumptions rests on, in words.
std::vector<std::string> texts_of(const ProofAssumptions &given);

/// Adds what one word says: `disjoint`, `no-wrap`, `1d` (blocks and grids have one dimension),
/// `2d`, or a relation. False: it is none of these.
bool assume(const std::string &word, ProofAssumptions &assumptions);
/// Reads `LEFT OP RIGHT`: sums of products of numbers and names; OP is one of < <= == != >= >; or
/// `NAME % NUMBER == 0`. `blockDim.x` and `gridDim.x` are `ntid.x` and `nctaid.x`. Nothing: it is
/// none.
std::optional<LaunchRelation> read_relation(const std::string &text);
/// True if numbers of a launch, by name, have it; a name without a number counts as fulfilling it.
bool holds(const LaunchRelation &relation, const std::map<std::string, std::int64_t> &numbers);

} // namespace ptxasw::analysis
