#pragma once

// What holds at the beginning of every iteration of a loop, whatever the iteration: candidates of a
// few forms, of which those that do not follow from each other are dropped (Flanagan and Leino,
// "Houdini, an annotation assistant for ESC/Java").

#include "analysis/prove/thread_copy.h"
#include "emulator/symbolic/solver.h"

#include <map>
#include <optional>
#include <vector>

namespace ptxasw::analysis {

class LoopInvariants {
public:
  /// `effort_left`: what the solver may still spend. Where that is nothing, nothing is found.
  LoopInvariants(KernelPaths &paths, const FixedLaunch &launch, Solver &solver,
                 std::function<std::uint64_t()> effort_left)
      : paths_(paths), launch_(launch), solver_(solver), effort_left_(std::move(effort_left)) {}

  /// Of one loop, in terms of the emulation's symbols, expanded.
  const LoopKnowledge &of(LoopId loop);

private:
  struct Candidate {
    Expr now, first, next;
  };
  std::vector<Candidate> candidates(LoopId loop);
  void find_states(LoopId loop, LoopKnowledge &known);
  std::optional<bool> told_by_states(Expr candidate, const LoopKnowledge &known);
  bool excluded(LoopId loop, std::vector<Expr> formulas, const std::vector<Candidate> &known);

  KernelPaths &paths_;
  const FixedLaunch &launch_;
  Solver &solver_;
  const std::function<std::uint64_t()> effort_left_;
  std::map<LoopId, LoopKnowledge> known_;
};

} // namespace ptxasw::analysis
