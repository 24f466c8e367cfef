#pragma once

// Keeps the registers of a coarsened kernel few. What runs again has the operands that it had
// before, so it gives what it gave (recompute.cpp).

#include "synth/kernel_context.h"

#include <map>
#include <vector>

namespace ptxasw::synth {

/// What a copy that leaves lockstep computes once more, so that lockstep need not keep it:
/// registers for all copies' addresses take those that loads in flight need.
class Recomputation {
public:
  /// `shared`: by register, as Sharing::by_some() gives it.
  Recomputation(const KernelContext &context, const std::vector<bool> &shared);

  /// Instructions, in the order in which they are to be done, that give registers of a copy what
  /// they hold before `position` anyway; from numbers that all copies share and special registers.
  std::vector<std::uint32_t> at(std::uint32_t position) const;
  /// The registers that are of use at a position: live_before(), and the shared ones that at()
  /// reads. Sorted.
  std::vector<RegisterId> needed(std::uint32_t position) const;

private:
  using Set = std::vector<bool>; ///< of candidates
  void find_candidates();
  void find_available();
  void pass(std::uint32_t instruction, Set &available) const;
  Set available_at(std::uint32_t position) const;

  const Module &module_;
  const Function &kernel_;
  const ControlFlowGraph &cfg_;
  const Liveness &liveness_;
  const std::vector<bool> &shared_;
  std::vector<std::uint32_t> candidates_;                      ///< instructions
  std::vector<RegisterId> results_;                            ///< by candidate
  std::map<std::uint32_t, std::uint32_t> candidate_of_;        ///< by instruction
  std::map<RegisterId, std::vector<std::uint32_t>> concerned_; ///< candidates that write or read it
  std::vector<Set> at_begin_;                                  ///< by block
};

} // namespace ptxasw::synth
