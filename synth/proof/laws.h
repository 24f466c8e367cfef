#pragma once

// The laws by which a load may have what others have read: soundness.md, rule by rule.

#include "emulator/symbolic/address.h"
#include "emulator/symbolic/solver.h"
#include "synth/between.h"
#include "synth/proof/in_step.h"
#include "synth/proof/obligation.h"
#include "synth/proof/original.h"
#include "synth/proof/values.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ptxasw::synth {

/// The laws, for one function. Where one fails NotProved is thrown.
class Laws {
public:
  /// `values` say what tests that the added code makes rest on.
  Laws(Original &original, const AddedValues &values)
      : original_(original), values_(values), emulation_(original.emulation),
        in_step_(original.module, original.function, emulation_),
        between_(original.module, original.function, emulation_) {}

  /// A load has what the sources have read in another lane or its own, of several the last that
  /// ran, where `known` holds.
  void serve(const std::vector<LoadedElement> &sources, LoadedElement load, SourceLane lane,
             const Known &known);
  /// A load may run earlier in its block, as if just before the instruction `from`.
  void check_move_up(std::uint32_t load, std::uint32_t from);

  unsigned solver_contexts() const { return solver_.contexts(); }
  unsigned solver_questions() const { return solver_.questions(); }

private:
  void serves(LoadedElement source, LoadedElement load, SourceLane lane, const Known &known);
  void precedes(std::uint32_t source, std::uint32_t load, SourceLane lane);
  void precede(const std::vector<LoadedElement> &sources, LoadedElement load, SourceLane lane,
               const Known &known);
  void equal_addresses(LoadedElement source, LoadedElement load, SourceLane lane,
                       const Known &known);
  bool in_row(SourceLane lane, const Known &known);
  bool same_address(Expr source, Expr load, SourceLane lane, const Known &known);
  bool holds(const std::vector<WrapCondition> &conditions, SourceLane lane, const Known &known);
  bool solved(Expr a, Expr b, const Known &known);
  bool apart(const MemoryAccess &store, BlockId source, const MemoryAccess &load,
             const Known &known);

  Behind behind(std::uint32_t source) const;
  BlockId block_of(std::uint32_t instruction) const {
    return original_.cfg().block_of(instruction);
  }
  bool reads_constants(std::uint32_t load) const {
    return reads_constant_memory(original_.opcode(load));
  }

  /// Effort for one question, in Z3's resource units.
  static constexpr unsigned solver_resource_limit = 100'000;

  Original &original_;
  const AddedValues &values_;
  Emulation &emulation_;
  LoopsInStep in_step_;
  Between between_;
  Solver solver_{solver_resource_limit};
  unsigned questions_ = 0;
  std::optional<bool> waits_;                       ///< facts::waits_at(), when first asked for
  std::unordered_map<std::uint32_t, bool> uniform_; ///< by source: its address except for the lane
};

} // namespace ptxasw::synth
