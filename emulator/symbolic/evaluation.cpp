// Expressions on numbers: straight from the names of SMT-LIB, on bits.h. Symbolic results are
// tested with it, and launches that take a branch one way or the other are searched for with it.

#include "emulator/symbolic/evaluation.h"

#include "emulator/semantics/scramble.h"

#include <algorithm>

namespace ptxasw::emulator {

namespace {

/// Calls `visit` for what an expression is made of and for itself, operands before who has them,
/// but for what is known.
template <class Known, class Visit>
void visit_unknown(Expr root, const Known &is_known, const Visit &visit) {
  std::vector<Expr> work{root};
  while (!work.empty()) {
    const Expr expr = work.back();
    const std::size_t before = work.size();
    for (const Expr child : expr->operands())
      if (!is_known(child))
        work.push_back(child);
    if (work.size() != before)
      continue;
    work.pop_back();
    if (!is_known(expr))
      visit(expr);
  }
}

} // namespace

Bits Evaluator::operator()(Expr root) {
  visit_unknown(
      root, [&](Expr expr) { return memo_.contains(expr); },
      [&](Expr expr) { memo_.emplace(expr, node(expr)); });
  return memo_.at(root);
}

Bits Evaluator::node(Expr e) {
  if (e->kind == ExprKind::symbol)
    return symbol_(e);
  operands_.clear();
  for (const Expr child : e->operands())
    operands_.push_back(memo_.at(child));
  return evaluate_node(e, operands_);
}

ExprProgram::ExprProgram(Expr root) {
  std::unordered_map<Expr, std::uint32_t> places;
  visit_unknown(
      root, [&](Expr expr) { return places.contains(expr); },
      [&](Expr expr) {
        places.emplace(expr, static_cast<std::uint32_t>(nodes_.size()));
        for (const Expr child : expr->operands())
          operands_.push_back(places.at(child));
        nodes_.push_back(expr);
        gathered_.resize(std::max<std::size_t>(gathered_.size(), expr->child_count));
      });
  values_.resize(nodes_.size());
}

Bits evaluate_node(Expr e, std::span<const Bits> operands) {
  const unsigned width = e->width;
  const auto child = [&](std::size_t i) { return operands[i]; };
  const auto child_width = [&](std::size_t i) { return unsigned{e->children[i]->width}; };
  switch (e->kind) {
  case ExprKind::constant:
    return e->value;
  case ExprKind::symbol: // has no operands to be computed from
    return {};
  case ExprKind::sum: {
    Bits total = e->value;
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      total = bits::add(total, bits::mul({e->coefficients[i]}, child(i), width), width);
    return total;
  }
  case ExprKind::product: {
    Bits total{1};
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      total = bits::mul(total, child(i), width);
    return total;
  }
  case ExprKind::zext:
    return child(0);
  case ExprKind::sext:
    return bits::sext(child(0), child_width(0), width);
  case ExprKind::extract:
    return bits::extract(child(0), e->index, width);
  case ExprKind::concat:
    return bits::concat(child(0), child(1), child_width(1));
  case ExprKind::bit_and:
    return {child(0).low & child(1).low, child(0).high & child(1).high};
  case ExprKind::bit_or:
    return {child(0).low | child(1).low, child(0).high | child(1).high};
  case ExprKind::bit_xor:
    return {child(0).low ^ child(1).low, child(0).high ^ child(1).high};
  case ExprKind::shl:
    return bits::shl(child(0), child(1), width);
  case ExprKind::lshr:
    return bits::lshr(child(0), child(1), width);
  case ExprKind::ashr:
    return bits::ashr(child(0), child(1), width);
  case ExprKind::udiv:
    return bits::udiv(child(0), child(1), width);
  case ExprKind::urem:
    return bits::urem(child(0), child(1), width);
  case ExprKind::sdiv:
    return bits::sdiv(child(0), child(1), width);
  case ExprKind::srem:
    return bits::srem(child(0), child(1), width);
  case ExprKind::eq0:
    return {child(0).is_zero()};
  case ExprKind::ult:
    return {bits::ult(child(0), child(1))};
  case ExprKind::slt:
    return {bits::slt(child(0), child(1), child_width(0))};
  case ExprKind::ite:
    return child(0).is_zero() ? child(2) : child(1);
  case ExprKind::uf: {
    std::uint64_t hash = scramble(e->index);
    for (std::uint32_t i = 0; i < e->child_count; ++i)
      hash = scramble(hash ^ child(i).low ^ child(i).high * 3);
    return truncate({scramble(hash), scramble(hash + 1)}, width);
  }
  case ExprKind::add2:
    return bits::add(child(0), child(1), width);
  }
  return {};
}

} // namespace ptxasw::emulator
