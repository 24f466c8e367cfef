#pragma once

// One instruction on expressions, for whoever has values for what it reads and needs no emulation
// of a function: by the same table as that.
//   LineEvaluator(pool, module)(instruction, [&](const Operand &operand, unsigned width) { ... })

#include "emulator/semantics/evaluator.h"
#include "emulator/symbolic/expr.h"

#include <cstdint>
#include <functional>
#include <unordered_map>

namespace ptxasw::emulator {

/// Evaluates instructions of one module that only compute. Both must outlive it.
class LineEvaluator {
public:
  LineEvaluator(ExprPool &pool, const Module &module) : pool_(pool), module_(module) {}

  /// What an operand is worth in so many bits; null: that is not known.
  using ValueOf = std::function<Expr(const Operand &operand, unsigned width)>;
  /// What an instruction gives its one destination where its guard holds, in the width of the
  /// result; null: it is none that the table describes, has two results or uses the carry flag, or
  /// an operand is not known.
  Expr operator()(const Instruction &instruction, const ValueOf &value) const;

private:
  ExprPool &pool_;
  const Module &module_;
  mutable std::unordered_map<std::uint32_t, const Line<ExprPool> *> lines_; ///< by opcode, once
};

} // namespace ptxasw::emulator
