// Conditions of one place, and what follows from them by propagation alone. Proofs rest on it, so
// it knows few rules, each of them plain.

#include "emulator/symbolic/known.h"

#include <algorithm>

namespace ptxasw::emulator {
namespace {

// Budgets: what goes beyond is not known, which is always right.
constexpr std::size_t literals_budget = 256;
constexpr std::size_t decision_budget = 2'000;     ///< parts examined for one decision
constexpr std::size_t propagation_budget = 20'000; ///< for what follows from one assumption

/// The operand of a negation, which the pool writes as 1 + x; null if it is none.
Expr negated(Expr e) {
  return e->kind == ExprKind::sum && e->width == 1 && e->value.low == 1 && e->child_count == 1
             ? e->children[0]
             : nullptr;
}

bool is_number(Expr e) { return e->kind == ExprKind::constant; }

/// Returns true if value >= c follows from lesser >= c: the same, or the minimum of value and
/// another.
bool bounds_from_below(Expr lesser, Expr value, int depth = 8) {
  if (lesser == value)
    return true;
  if (depth == 0 || lesser->kind != ExprKind::ite || lesser->children[0]->kind != ExprKind::ult)
    return false;
  const Expr condition = lesser->children[0], yes = lesser->children[1], no = lesser->children[2];
  const bool is_minimum = condition->children[0] == yes && condition->children[1] == no;
  return is_minimum &&
         (bounds_from_below(yes, value, depth - 1) || bounds_from_below(no, value, depth - 1));
}

} // namespace

std::optional<bool> Known::find(Expr condition) const {
  for (const auto &[literal, holds] : literals_)
    if (literal == condition)
      return holds;
  return std::nullopt;
}

std::optional<bool> Known::decide(Expr condition) const {
  Memo memo;
  return decide(condition, memo);
}

// Conditions share their parts: each node is visited once.
std::optional<bool> Known::decide(Expr condition, Memo &memo) const {
  if (is_number(condition))
    return !condition->value.is_zero();
  if (const auto known = find(condition))
    return known;
  const auto [entry, is_new] = memo.try_emplace(condition);
  if (!is_new || memo.size() > decision_budget)
    return entry->second;
  std::optional<bool> result;
  if (const Expr inner = negated(condition)) {
    if (const auto known = decide(inner, memo))
      result = !*known;
  } else if (condition->kind == ExprKind::bit_and) {
    const auto a = decide(condition->children[0], memo);
    const auto b = a == false ? a : decide(condition->children[1], memo);
    if (a == false || b == false)
      result = false;
    else if (a && b)
      result = true;
  } else if (condition->kind == ExprKind::ite) {
    if (const auto chosen = decide(condition->children[0], memo)) {
      result = decide(condition->children[*chosen ? 1 : 2], memo);
    } else {
      const auto a = decide(condition->children[1], memo);
      if (a && a == decide(condition->children[2], memo))
        result = a;
    }
  }
  return memo[condition] = result;
}

void Known::add(Expr condition, bool holds) {
  std::vector<std::pair<Expr, bool>> work{{condition, holds}};
  while (!work.empty()) {
    const auto [literal, is] = work.back();
    work.pop_back();
    if (is_number(literal)) {
      contradictory_ |= is == literal->value.is_zero();
    } else if (const auto known = find(literal)) {
      contradictory_ |= *known != is;
    } else if (const Expr inner = negated(literal)) {
      work.emplace_back(inner, !is);
    } else if (literals_.size() < literals_budget) {
      literals_.emplace_back(literal, is);
      if (literal->kind == ExprKind::bit_and && is)
        for (std::uint32_t i = literal->child_count; i-- > 0;)
          work.emplace_back(literal->children[i], true);
    }
  }
}

void Known::assume(Expr condition, bool holds) {
  add(condition, holds);
  propagate();
}

void Known::assume_all(std::span<const std::pair<Expr, bool>> conditions) {
  for (const auto &[condition, holds] : conditions)
    add(condition, holds);
  propagate();
}

void Known::propagate() {
  // What was undecided may be decided now. What was found out holds for as long as nothing is
  // added.
  Memo memo;
  std::size_t known = 0, looked_at = 0;
  const auto now = [&](Expr part) {
    if (known != literals_.size()) {
      looked_at += memo.size();
      memo.clear();
      known = literals_.size();
    }
    return decide(part, memo);
  };
  for (std::size_t before = 0; before != literals_.size();) {
    before = literals_.size();
    for (std::size_t i = 0; i < literals_.size(); ++i) {
      if (looked_at + memo.size() > propagation_budget)
        return;
      const auto [literal, value] = literals_[i];
      if (literal->kind == ExprKind::bit_and && !value) {
        const Expr a = literal->children[0], b = literal->children[1];
        const auto known_a = now(a), known_b = now(b);
        contradictory_ |= known_a == true && known_b == true;
        if (known_a == true)
          add(b, false);
        if (known_b == true)
          add(a, false);
      } else if (literal->kind == ExprKind::ite) {
        if (const auto chosen = now(literal->children[0])) {
          add(literal->children[*chosen ? 1 : 2], value);
        } else {
          const auto yes = now(literal->children[1]), no = now(literal->children[2]);
          if (yes && *yes != value)
            add(literal->children[0], false);
          else if (no && *no != value)
            add(literal->children[0], true);
        }
      }
    }
  }
}

// True if something is shown by one known comparison: `larger` is at least `smaller`, or more than
// that by one.
template <class Shows> bool Known::any_order(Shows shows) const {
  return std::any_of(literals_.begin(), literals_.end(), [&](const auto &literal) {
    const auto &[order, holds] = literal;
    return order->kind == ExprKind::ult &&
           shows(order->children[holds ? 0 : 1], order->children[holds ? 1 : 0], holds ? 1u : 0u);
  });
}

bool Known::at_least(Expr value, std::uint64_t bound) const {
  if (bound == 0)
    return true;
  if (any_order([&](Expr smaller, Expr larger, unsigned by) {
        return is_number(smaller) && smaller->value.low >= bound - by &&
               bounds_from_below(larger, value);
      }))
    return true;
  // c - x >= bound, if x <= c - bound
  if (value->kind == ExprKind::sum && value->child_count == 1 &&
      value->coefficients[0] == mask64(value->width) && value->value.low >= bound)
    return at_most(value->children[0], value->value.low - bound);
  return false;
}

bool Known::at_most(Expr value, std::uint64_t bound) const {
  if (value->width <= 64 && value->maximum <= bound)
    return true;
  return any_order([&](Expr smaller, Expr larger, unsigned by) {
    return smaller == value && is_number(larger) && larger->value.low - by <= bound;
  });
}

bool Known::no_wrap(Expr value, bool is_signed, std::int64_t offset) const {
  const unsigned width = value->width;
  if (width > 64)
    return false;
  if (offset == 0)
    return true;
  // In the order of the comparison the numbers run from lowest to highest; the value must keep
  // `room` below the highest for a positive offset, above the lowest for a negative one.
  const std::uint64_t room =
      offset > 0 ? static_cast<std::uint64_t>(offset) : 0 - static_cast<std::uint64_t>(offset);
  const std::uint64_t flip = is_signed ? std::uint64_t{1} << (width - 1) : 0;
  const std::uint64_t top = mask64(width);
  if (room > top)
    return false;
  const auto rank = [&](Expr constant) { return (constant->value.low ^ flip) & top; };
  for (const auto &[literal, holds] : literals_) {
    if (literal->kind == ExprKind::eq0 && !holds && room == 1) {
      // not the one value that would wrap
      const Expr end = pool_->constant(width, (offset > 0 ? top : 0) ^ flip);
      if (literal == pool_->eq(value, end))
        return true;
      continue;
    }
    if (literal->kind != ExprKind::slt && literal->kind != ExprKind::ult)
      continue;
    const Expr a = literal->children[0], b = literal->children[1];
    // Of two numbers without sign bit the pool compares the unsigned order only.
    const bool in_order =
        (literal->kind == ExprKind::slt) == is_signed ||
        (is_signed && offset > 0 && a->maximum <= top / 2 && b->maximum <= top / 2);
    if (a->width != width || !in_order)
      continue;
    // a < b, or b <= a; what is less than anything is not the highest, nor the other the lowest.
    const Expr bound = a == value ? b : a;
    const bool is_below = (a == value) == holds; // the value, or it is the bound
    const std::uint64_t strictly = holds ? 1 : 0;
    if ((a != value && b != value) || (!holds && !is_number(bound)))
      continue;
    if (offset > 0 && is_below &&
        (is_number(bound) ? rank(bound) - strictly : top - 1) <= top - room)
      return true;
    if (offset < 0 && !is_below && (is_number(bound) ? rank(bound) + strictly : 1) >= room)
      return true;
  }
  return false;
}

Known known_on_path(Emulation &emulation, BlockId block) {
  std::vector<std::pair<Expr, bool>> conditions;
  for (const PathFact &fact : emulation.facts_in(block))
    conditions.emplace_back(emulation.expand(fact.condition), fact.holds);
  Known known(emulation.pool());
  known.assume_all(conditions);
  return known;
}

} // namespace ptxasw::emulator
