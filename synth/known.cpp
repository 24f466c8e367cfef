#include "synth/known.h"

namespace ptxasw {
namespace {

/// The operand of a negation, which the pool writes as 1 + x; null if it is none.
Expr negated(Expr e) {
  return e->kind == ExprKind::sum && e->width == 1 && e->value.low == 1 && e->child_count == 1
             ? e->children[0]
             : nullptr;
}

bool is_constant(Expr e) { return e->kind == ExprKind::constant; }

/// Whether value >= c follows from lesser >= c: the same, or the minimum of value and another.
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
  if (is_constant(condition))
    return !condition->value.is_zero();
  if (const auto known = find(condition))
    return known;
  if (const Expr inner = negated(condition)) {
    const auto known = decide(inner);
    return known ? std::optional(!*known) : std::nullopt;
  }
  if (condition->kind == ExprKind::bit_and) {
    const auto a = decide(condition->children[0]), b = decide(condition->children[1]);
    if ((a && !*a) || (b && !*b))
      return false;
    if (a && b)
      return true;
  } else if (condition->kind == ExprKind::ite) {
    if (const auto chosen = decide(condition->children[0]))
      return decide(condition->children[*chosen ? 1 : 2]);
    const auto a = decide(condition->children[1]), b = decide(condition->children[2]);
    if (a && a == b)
      return a;
  }
  return std::nullopt;
}

void Known::add(Expr condition, bool holds) {
  if (is_constant(condition)) {
    contradictory_ |= holds == condition->value.is_zero();
    return;
  }
  if (const auto known = find(condition)) {
    contradictory_ |= *known != holds;
    return;
  }
  if (const Expr inner = negated(condition)) {
    add(inner, !holds);
    return;
  }
  literals_.emplace_back(condition, holds);
  if (condition->kind == ExprKind::bit_and && holds)
    for (const Expr part : condition->operands())
      add(part, true);
}

void Known::assume(Expr condition, bool holds) {
  add(condition, holds);
  // What was undecided may be decided now.
  for (std::size_t before = 0; before != literals_.size();) {
    before = literals_.size();
    for (std::size_t i = 0; i < literals_.size(); ++i) {
      const auto [literal, value] = literals_[i];
      if (literal->kind == ExprKind::bit_and && !value) {
        const Expr a = literal->children[0], b = literal->children[1];
        const auto known_a = decide(a), known_b = decide(b);
        contradictory_ |= known_a == true && known_b == true;
        if (known_a == true)
          add(b, false);
        if (known_b == true)
          add(a, false);
      } else if (literal->kind == ExprKind::ite) {
        if (const auto chosen = decide(literal->children[0])) {
          add(literal->children[*chosen ? 1 : 2], value);
        } else {
          const auto yes = decide(literal->children[1]), no = decide(literal->children[2]);
          if (yes && *yes != value)
            add(literal->children[0], false);
          else if (no && *no != value)
            add(literal->children[0], true);
        }
      }
    }
  }
}

bool Known::at_least(Expr value, std::uint64_t bound) const {
  if (bound == 0)
    return true;
  for (const auto &[literal, holds] : literals_) {
    if (literal->kind != ExprKind::ult)
      continue;
    const Expr a = literal->children[0], b = literal->children[1];
    // not a < c; c < b
    if (!holds && is_constant(b) && b->value.low >= bound && bounds_from_below(a, value))
      return true;
    if (holds && is_constant(a) && a->value.low >= bound - 1 && bounds_from_below(b, value))
      return true;
  }
  // c - x >= bound, if x <= c - bound
  if (value->kind == ExprKind::sum && value->child_count == 1 &&
      value->coefficients[0] == mask64(value->width) && value->value.low >= bound)
    return at_most(value->children[0], value->value.low - bound);
  return false;
}

bool Known::at_most(Expr value, std::uint64_t bound) const {
  if (value->width <= 64 && value->maximum <= bound)
    return true;
  for (const auto &[literal, holds] : literals_) {
    if (literal->kind != ExprKind::ult)
      continue;
    const Expr a = literal->children[0], b = literal->children[1];
    if (holds && a == value && is_constant(b) && b->value.low - 1 <= bound)
      return true;
    if (!holds && b == value && is_constant(a) && a->value.low <= bound)
      return true;
  }
  return false;
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
    if (a->width != width)
      continue;
    if ((literal->kind == ExprKind::slt) != is_signed) {
      // Of two numbers without sign bit the pool compares the unsigned order only.
      if (is_signed && a->maximum <= top / 2 && b->maximum <= top / 2 && offset > 0 &&
          room <= top / 2 &&
          ((holds && a == value &&
            (is_constant(b) ? b->value.low - 1 <= top / 2 - room : room == 1)) ||
           (!holds && b == value && is_constant(a) && a->value.low <= top / 2 - room)))
        return true;
      continue;
    }
    // a < b, or b <= a
    if (offset > 0) {
      if (holds && a == value && (is_constant(b) ? rank(b) - 1 <= top - room : room == 1))
        return true;
      if (!holds && b == value && is_constant(a) && rank(a) <= top - room)
        return true;
    } else {
      if (holds && b == value && (is_constant(a) ? rank(a) + 1 >= room : room == 1))
        return true;
      if (!holds && a == value && is_constant(b) && rank(b) >= room)
        return true;
    }
  }
  return false;
}

} // namespace ptxasw
