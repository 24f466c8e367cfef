#pragma once

// The lemmas by which a load may have what others have read: soundness.md, rule by rule.

#include "emulator/facts/between.h"
#include "emulator/symbolic/address.h"
#include "emulator/symbolic/emulate.h"
#include "synth/proof/one_text.h"
#include "synth/proof/prove.h"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

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

/// The lemmas, for one function. Where one fails NotProved is thrown.
class Lemmas {
public:
  explicit Lemmas(OneText &text)
      : text_(text), emulation_(text.emulation), in_step_(text.module, text.function, emulation_),
        between_(text.module, text.function, emulation_) {}

  /// A load has what a source has read so many lanes up, where `known` holds. It stands at `place`.
  void serve(LoadedElement source, LoadedElement load, std::uint32_t place, int delta,
             const Known &known);
  /// A load may run where it does now and not just before the instruction `place` of its block.
  void check_move_up(std::uint32_t load, std::uint32_t place);

private:
  bool in_row(int delta, const Known &known);
  bool same_address(Expr source, Expr load, int delta, const Known &known);
  bool holds(const std::vector<WrapCondition> &conditions, int delta, const Known &known);
  bool apart(const MemoryAccess &store, BlockId source, const MemoryAccess &load,
             const Known &known);

  bool reads_constants(std::uint32_t load) const {
    return reads_constant_memory(text_.opcode(load));
  }

  OneText &text_;
  Emulation &emulation_;
  LoopsInStep in_step_;
  facts::Between between_;
  std::optional<bool> waits_; ///< facts::waits_at(), when first asked for
};

} // namespace ptxasw::synth
