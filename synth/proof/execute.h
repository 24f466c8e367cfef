#pragma once

// Added instructions, run on expressions.

#include "emulator/semantics/evaluator.h"
#include "emulator/symbolic/line_evaluator.h"
#include "synth/proof/match.h"
#include "synth/proof/obligation.h"
#include "synth/proof/original.h"
#include "synth/proof/replacement.h"
#include "synth/proof/values.h"

#include <cstdint>
#include <map>
#include <utility>

namespace ptxasw::synth {

/// Where original registers that added code reads were probed, by rewritten instruction and
/// original register: indices of the probes.
using ProbeIndex = std::map<std::pair<std::uint32_t, RegisterId>, std::uint32_t>;

/// Runs added instructions one by one, where the walk over the replaced loads stands. Each throws
/// what is missing (Missing) where it is not understood, or does what it must not.
class AddedCode {
public:
  /// Of the rewritten function `after`. All must outlive it.
  AddedCode(Original &original, AddedValues &values, Replacements &replacements,
            const Module &rewritten, const Function &after, const FunctionMatch &match,
            const ProbeIndex &probes)
      : original_(original), values_(values), replacements_(replacements), module_(rewritten),
        function_(after), match_(match), probes_(probes), evaluate_(original.pool(), rewritten) {}

  /// From here on shuffles have another mask: lanes may have come or gone.
  void begin_region() { ++region_; }
  void execute(std::uint32_t instruction);

private:
  void shuffle(const Instruction &instruction, Expr guard);
  void load(const Instruction &instruction, Expr guard);
  void move(const MoveOperands &operands, Expr guard);
  void compute(const Instruction &instruction, Expr guard);

  Expr guard_of(const Instruction &instruction);
  void check_members(Expr members, Expr guard);
  Expr address_of(const Operand &operand);
  bool reads_what(std::uint32_t load, const Instruction &instruction, Expr guard) const;
  std::uint64_t distance(Expr address, std::uint32_t load, const Operand &operand) const;

  Expr known_value(const Operand &operand, unsigned width);
  Expr value_of(const Operand &operand, unsigned width);
  Expr read(RegisterId reg);
  Expr read_original(RegisterId reg, unsigned width);
  void write(const Operand &destination, Expr value, bool is_signed, Expr guard);
  unsigned width_of(RegisterId reg) const { return bit_width(function_.registers[reg].type); }

  Original &original_;
  AddedValues &values_;
  Replacements &replacements_;
  const Module &module_;
  const Function &function_;
  const FunctionMatch &match_;
  const ProbeIndex &probes_;
  const LineEvaluator evaluate_;
  unsigned region_ = 0;
  std::uint32_t at_ = 0; ///< the instruction
};

} // namespace ptxasw::synth
