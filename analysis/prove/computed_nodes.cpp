// What holds is brought to negation normal form on the way down. Where ways join, what is computed
// on one of them alone is chosen, `flag ? x < n : false`, which the expressions' normal form writes
// as flag & (x < n): so nothing is said of parts of a conjunction that does not hold.

#include "analysis/prove/computed_nodes.h"

namespace ptxasw::analysis {
namespace {

/// The comparison that a formula, or its opposite, is; otherwise what it begins with.
Expr without_negation(Expr formula) {
  while (formula->width == 1 && formula->child_count == 1 && formula->children[0]->width == 1 &&
         (formula->kind == ExprKind::eq0 || formula->kind == ExprKind::sum))
    formula = formula->children[0];
  return formula;
}

} // namespace

std::vector<Expr> factors_of_rounds(const ExprPool &pool, Expr product) {
  std::vector<Expr> result;
  if (product->kind == ExprKind::product)
    for (const Expr factor : product->operands()) {
      bool counts = true;
      for_each_node(factor, [&](Expr node) {
        switch (node->kind) {
        case ExprKind::symbol:
          counts = counts && pool.symbols()[node->index].name.starts_with("trip");
          break;
        case ExprKind::constant:
        case ExprKind::sum:
        case ExprKind::extract:
        case ExprKind::sext:
        case ExprKind::zext:
          break;
        default:
          counts = false;
        }
      });
      if (counts && factor->kind != ExprKind::constant)
        result.push_back(factor);
    }
  return result;
}

bool ComputedNodes::is_comparison(Expr formula) {
  const ExprKind kind = without_negation(formula)->kind;
  return kind == ExprKind::eq0 || kind == ExprKind::slt || kind == ExprKind::ult;
}

void ComputedNodes::add_formula(Expr formula, bool holds) {
  if (is_comparison(formula))
    return add_choice(formula);
  if (formula->kind == ExprKind::eq0)
    return add_formula(formula->children[0], !holds);
  if (formula->kind == ExprKind::sum && formula->child_count == 1)
    return add_formula(formula->children[0], holds == formula->value.is_zero());
  const bool is_all = holds
                          ? formula->kind == ExprKind::bit_and || formula->kind == ExprKind::product
                          : formula->kind == ExprKind::bit_or;
  for (const Expr part : formula->operands())
    if (is_all)
      add_formula(part, holds);
}

void ComputedNodes::add_choice(Expr choice) {
  if (is_comparison(choice))
    add_number(without_negation(choice));
}

void ComputedNodes::add_number(Expr number) {
  if (!nodes_.insert(number).second)
    return;
  if (number->kind == ExprKind::ite) {
    add_choice(number->children[0]);
    return;
  }
  if (!factors_of_rounds(pool_, number).empty())
    return;
  for (const Expr part : number->operands())
    if (part->width > 1)
      add_number(part);
}

} // namespace ptxasw::analysis
