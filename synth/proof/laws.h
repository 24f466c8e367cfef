#pragma once

// The laws by which a load may have what others have read: soundness.md, rule by rule.

#include "emulator/symbolic/address.h"
#include "synth/between.h"
#include "synth/proof/in_step.h"
#include "synth/proof/obligation.h"
#include "synth/proof/original.h"

#include <optional>

#include <vector>

namespace ptxasw::synth {

/// The laws, for one function. Where one fails NotProved is thrown.
class Laws {
public:
  explicit Laws(Original &original)
      : original_(original), emulation_(original.emulation),
        in_step_(original.module, original.function, emulation_),
        between_(original.module, original.function, emulation_) {}

  /// A load has what a source has read so many lanes up, where `known` holds.
  void serve(LoadedElement source, LoadedElement load, int delta, const Known &known);
  /// A load may run earlier in its block, as if just before the instruction `from`.
  void check_move_up(std::uint32_t load, std::uint32_t from);

private:
  bool in_row(int delta, const Known &known);
  bool same_address(Expr source, Expr load, int delta, const Known &known);
  bool holds(const std::vector<WrapCondition> &conditions, int delta, const Known &known);
  bool apart(const MemoryAccess &store, BlockId source, const MemoryAccess &load,
             const Known &known);

  Behind behind(std::uint32_t source) const;
  bool reads_constants(std::uint32_t load) const {
    return reads_constant_memory(original_.opcode(load));
  }

  Original &original_;
  Emulation &emulation_;
  LoopsInStep in_step_;
  Between between_;
  std::optional<bool> waits_; ///< facts::waits_at(), when first asked for
};

} // namespace ptxasw::synth
