#pragma once

// Which numbers a thread has computed for certain, so that `no-wrap` says something of them: not
// those of code that it may have skipped.

#include "emulator/symbolic/expr.h"

#include <unordered_set>
#include <vector>

namespace ptxasw::analysis {

/// Factors of a product that count iterations of loops, and nothing else. A register that is
/// written out as `initial + step * rounds` computed the step only if there were any iterations.
std::vector<Expr> factors_of_rounds(const ExprPool &pool, Expr product);

/// Nodes of expressions. A formula is conditions of ways that a thread went, one of them for each
/// of its alternatives: what is in all of them was computed. Of what is chosen only the condition
/// was, if it is one comparison: conditions of joins are ways themselves.
class ComputedNodes {
public:
  explicit ComputedNodes(const ExprPool &pool) : pool_(pool) {}

  /// All that it compares where it is not one of several alternatives; it holds.
  void add_formula(Expr formula, bool holds = true);
  /// One comparison, true or not; of more than one nothing is noted.
  void add_choice(Expr choice);
  /// A number of a thread, as the address of an access that it does.
  void add_number(Expr number);
  bool contains(Expr node) const { return nodes_.contains(node); }

  /// True of one comparison, or its opposite.
  static bool is_comparison(Expr formula);

private:
  const ExprPool &pool_;
  std::unordered_set<Expr> nodes_;
};

} // namespace ptxasw::analysis
