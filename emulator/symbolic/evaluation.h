#pragma once

// Expressions as numbers, once each symbol has a value. The search for launches evaluates its
// conditions by it, and detection the addresses of a few lanes, to guess which are equal:
//   Evaluator evaluate([&](Expr symbol) { return value_of(symbol); }); // then evaluate(expr)

#include "emulator/symbolic/expr.h"

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptxasw::emulator {

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

/// An expression in the order in which it is computed, for who asks for its value again and again.
class ExprProgram {
public:
  explicit ExprProgram(Expr root);

  /// What Evaluator says where `symbol(Expr)` is the value of each symbol.
  template <class Symbol> Bits operator()(Symbol symbol) {
    const std::uint32_t *operand = operands_.data();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Expr node = nodes_[i];
      for (std::uint32_t k = 0; k < node->child_count; ++k)
        gathered_[k] = values_[*operand++];
      values_[i] = node->kind == ExprKind::symbol
                       ? symbol(node)
                       : evaluate_node(node, {gathered_.data(), node->child_count});
    }
    return values_.back();
  }
  std::size_t size() const { return nodes_.size(); }

private:
  std::vector<Expr> nodes_;             ///< operands before who has them; the root is the last
  std::vector<std::uint32_t> operands_; ///< of one node after the other: places in `nodes_`
  std::vector<Bits> values_;            ///< by node
  std::vector<Bits> gathered_;          ///< of the node being evaluated
};

} // namespace ptxasw::emulator
