#pragma once

// E1 of soundness.md, for the proof; detection has emulator/symbolic/convergence.h.

#include "emulator/symbolic/emulate.h"

#include <cstddef>
#include <map>

namespace ptxasw::synth {

/// Decides if lanes that are active together are in the same iteration.
class LoopsInStep {
public:
  LoopsInStep(const Module &module, const Function &function, Emulation &emulation)
      : module_(module), function_(function), emulation_(emulation), cfg_(emulation.cfg()) {}

  /// Returns true if lanes of a row that are active together in a block are in the same iteration
  /// of every loop around it.
  bool in_step(BlockId block);

private:
  bool comes_together_in_step(LoopId loop);
  bool meets_in_step(LoopId loop);
  bool parts(BlockId block) const;

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  const ControlFlowGraph &cfg_;
  std::size_t visited_ = 0;        ///< blocks
  std::map<LoopId, bool> in_step_; ///< those that were asked for
};

} // namespace ptxasw::synth
