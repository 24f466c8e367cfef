#pragma once

#include "emulator/symbolic/expr.h"

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptxasw::inline emulator {

/// The values of expressions in which every symbol has a value. Uninterpreted functions are some
/// fixed function of their name and arguments; a division by zero gives what bits::udiv says.
class Evaluator {
public:
  explicit Evaluator(std::function<Bits(Expr)> symbol) : symbol_(std::move(symbol)) {}
  /// Values by index of symbol.
  explicit Evaluator(std::vector<Bits> symbols)
      : symbol_([values = std::move(symbols)](Expr symbol) { return values.at(symbol->index); }) {}
  Bits operator()(Expr expr);

private:
  Bits node(Expr expr);
  std::function<Bits(Expr)> symbol_;
  std::unordered_map<Expr, Bits> memo_;
  std::vector<Bits> operands_; ///< of the node being evaluated
};

/// The value of one node, not a symbol, from those of its operands.
Bits evaluate_node(Expr node, std::span<const Bits> operands);

} // namespace ptxasw::emulator
