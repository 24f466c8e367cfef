#pragma once

// What holds at the beginning of every round of a loop, whatever the round: candidates of a few
// forms, of which those that do not follow from each other are dropped (Flanagan and Leino,
// "Houdini, an annotation assistant for ESC/Java").

#include "analysis/prove/thread_copy.h"
#include "emulator/symbolic/solver.h"

#include <map>
#include <vector>

namespace ptxasw::inline analysis {

class LoopInvariants {
public:
  /// Where the solver has spent `effort` nothing more is asked, and nothing found.
  LoopInvariants(KernelPaths &paths, const FixedLaunch &launch, Solver &solver,
                 std::uint64_t effort)
      : paths_(paths), launch_(launch), solver_(solver), effort_(effort) {}

  /// Of one loop, in terms of the emulation's symbols, expanded.
  const LoopKnowledge &of(LoopId loop);

private:
  struct Candidate {
    Expr now, first, next;
  };
  std::vector<Candidate> candidates(LoopId loop);
  void find_states(LoopId loop, LoopKnowledge &known);
  bool excluded(LoopId loop, std::vector<Expr> formulas, const std::vector<Candidate> &known);

  KernelPaths &paths_;
  const FixedLaunch &launch_;
  Solver &solver_;
  const std::uint64_t effort_;
  std::map<LoopId, LoopKnowledge> known_;
};

} // namespace ptxasw::analysis
