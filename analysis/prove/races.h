#pragma once

// Proofs of a kernel's memory safety for every launch: no data race, barriers that all threads of a
// block reach, accesses inside what they are to. Two threads stand for all (GPUVerify; Li and
// Gopalakrishnan, "Scalable SMT-based verification of GPU kernel functions").

#include "analysis/prove/given_parameters.h"
#include "analysis/prove/kernel_paths.h"
#include "emulator/symbolic/solver.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::analysis {

/// left OP right, of sums of products of whole numbers; names as facts::parameter_name() has them,
/// and `ntid.x`, `nctaid.x`.
struct LaunchRelation {
  struct Product {
    std::int64_t coefficient = 1;
    std::vector<std::string> names;
  };
  std::string text; ///< as it was given
  std::vector<Product> left, right;
  enum class Kind : std::uint8_t { less, less_equal, equal, not_equal } kind = Kind::equal;
  std::uint64_t modulus = 0; ///< with `equal`: left is a multiple of it, and right is 0
};

/// What such a sum is in 64 bits, of what `named` says its names are; null: one is not known, or
/// the sum may not fit.
Expr value_of(ExprPool &pool, const std::vector<LaunchRelation::Product> &sum,
              const std::function<Expr(const std::string &)> &named);

/// What a proof may take for granted.
struct ProofAssumptions {
  std::optional<BlockShape> block;
  std::optional<Extents> grid;
  GivenParameters parameters;
  std::vector<LaunchRelation> relations;
  bool disjoint = false; ///< no two pointer parameters or variables lead to the same memory
  bool no_wrap = false;  ///< arithmetic on indices does not leave the range of signed numbers
  /// Bytes behind pointer parameters, by name; of dynamic shared memory.
  std::map<std::string, std::uint64_t> sizes;
  std::optional<std::uint64_t> dynamic_shared;
};

struct ProofOptions {
  bool volatile_races = false;         ///< volatile accesses race, as weak ones do
  unsigned resource_limit = 3'000'000; ///< for one question, in the solver's units
  unsigned questions = 1500;           ///< to the solver at most
  std::uint64_t effort = 17'000'000;   ///< for all of them, in the same units
  unsigned unanswered = 3; ///< questions without an answer, after which no more is asked
  bool explains = true;    ///< of accesses that are alike it is found out which are in the way
};

enum class ProofVerdict : std::uint8_t {
  proved,
  unknown,
  not_asked, ///< nothing was told of what it is about
};

/// What is found out about one property.
struct PropertyProof {
  ProofVerdict verdict = ProofVerdict::unknown;
  std::uint32_t line = 0, other_line = 0; ///< of what is in the way; 0: none
  std::string reason;                     ///< empty if it is proved
  std::vector<std::string> used;          ///< assumptions that it rests on
  /// Where a model contradicts: numbers of the launch in it, by name (`ntid.x`, `param_0`).
  std::map<std::string, std::uint64_t> model;
};

struct KernelProof {
  PropertyProof races, barriers, bounds;
  SolverTally asked;          ///< of the solver
  std::uint64_t effort = 0;   ///< that this took, in the solver's units
  bool contradiction = false; ///< no launch keeps what is assumed: nothing is proved by that
};

/// Looks for proofs for one kernel with a body.
KernelProof prove_safety(const Module &module, const Function &kernel,
                         const ProofAssumptions &assumptions, const ProofOptions &options = {});

} // namespace ptxasw::analysis
