// What branches on the path established. A condition that was assumed is known by its node; of a
// conjunction its parts are known, too; a comparison with a constant narrows the interval of what
// is compared, unsigned and signed. Intervals of expressions follow from those of their parts with
// wrap-around taken into account, so they may be wide and never too narrow. What is not found is
// unknown, never false.

#include "emulator/symbolic/path.h"

#include <algorithm>

namespace ptxasw::emulator {
namespace {

__extension__ typedef __int128 Wide; ///< holds sums of a few products of 32 by 64 bits

// Sums with more terms or larger factors are not looked into.
constexpr std::uint32_t path_terms_budget = 16;
constexpr std::int64_t largest_multiple = std::int64_t{1} << 32;

std::int64_t lowest(unsigned width) { return -static_cast<std::int64_t>(mask64(width) / 2) - 1; }
std::int64_t highest(unsigned width) { return static_cast<std::int64_t>(mask64(width) / 2); }

/// A condition without the negation around it.
struct Literal {
  Expr condition;
  bool holds;
};

bool is_negation(Expr condition) {
  return condition->kind == ExprKind::sum && condition->value.low == 1;
}

void intersect(Range &range, const Range &other) {
  range.low = std::max(range.low, other.low);
  range.high = std::min(range.high, other.high);
  range.signed_low = std::max(range.signed_low, other.signed_low);
  range.signed_high = std::min(range.signed_high, other.signed_high);
}

/// What each view says of the other: of numbers without sign bit both are the same.
void agree(Range &range, unsigned width) {
  if (range.signed_low >= 0 && range.signed_high >= range.signed_low) {
    range.low = std::max(range.low, static_cast<std::uint64_t>(range.signed_low));
    range.high = std::min(range.high, static_cast<std::uint64_t>(range.signed_high));
  }
  if (range.high <= mask64(width) / 2) {
    range.signed_low = std::max(range.signed_low, static_cast<std::int64_t>(range.low));
    range.signed_high = std::min(range.signed_high, static_cast<std::int64_t>(range.high));
  }
}

bool is_empty(const Range &range) {
  return range.low > range.high || range.signed_low > range.signed_high;
}

Range everything(unsigned width) { return {0, mask64(width), lowest(width), highest(width)}; }

} // namespace

void PathKnowledge::set(Expr condition, bool holds) {
  if (is_negation(condition)) {
    condition = pool_.bit_not(condition);
    holds = !holds;
  }
  if (condition->kind != ExprKind::constant && conditions_.emplace(condition, holds).second)
    conditions_undo_.push_back(condition);
}

void PathKnowledge::assume(Expr condition, bool holds) {
  std::vector<Literal> work{{condition, holds}};
  while (!work.empty()) {
    auto [literal, is] = work.back();
    work.pop_back();
    if (is_negation(literal)) {
      literal = pool_.bit_not(literal);
      is = !is;
    }
    if (literal->kind == ExprKind::constant || conditions_.contains(literal))
      continue;
    set(literal, is);
    const auto child = [children = literal->children](std::size_t i) { return children[i]; };
    switch (literal->kind) {
    case ExprKind::bit_and:
      if (is) {
        work.push_back({child(0), true});
        work.push_back({child(1), true});
      }
      break;
    case ExprKind::ult:
    case ExprKind::slt: {
      const bool is_signed = literal->kind == ExprKind::slt;
      if (is) { // neither reversed nor equal
        set(is_signed ? pool_.slt(child(1), child(0)) : pool_.ult(child(1), child(0)), false);
        set(pool_.eq(child(0), child(1)), false);
      }
      compare(child(0), child(1), is_signed, is);
      break;
    }
    case ExprKind::eq0: {
      // atom - number == 0, or number - atom == 0
      const Expr difference = child(0);
      const unsigned width = difference->width;
      if (!is || width > 64)
        break;
      std::uint64_t value = 0;
      Expr atom = difference;
      if (difference->kind == ExprKind::sum && difference->child_count == 1) {
        const std::uint64_t factor = difference->coefficients[0];
        if (factor != 1 && factor != mask64(width))
          break;
        atom = difference->children[0];
        value = (factor == 1 ? 0 - difference->value.low : difference->value.low) & mask64(width);
      } else if (difference->kind == ExprKind::sum) {
        break;
      }
      const std::int64_t signed_value = as_signed(value, width);
      narrow(atom, {value, value, signed_value, signed_value});
      break;
    }
    default:
      break;
    }
  }
}

void PathKnowledge::compare(Expr smaller, Expr larger, bool is_signed, bool holds) {
  if (smaller->width > 64)
    return;
  const unsigned width = smaller->width;
  const Range a = range(smaller), b = range(larger);
  if (is_empty(a) || is_empty(b))
    return;
  Range below = everything(width), above = below;
  if (is_signed && holds) {
    if (b.signed_high == lowest(width) || a.signed_low == highest(width))
      return;
    below.signed_high = b.signed_high - 1;
    above.signed_low = a.signed_low + 1;
  } else if (is_signed) { // smaller >= larger
    below.signed_low = b.signed_low;
    above.signed_high = a.signed_high;
  } else if (holds) {
    if (b.high == 0 || a.low == mask64(width))
      return;
    below.high = b.high - 1;
    above.low = a.low + 1;
  } else {
    below.low = b.low;
    above.high = a.high;
  }
  narrow(smaller, below);
  narrow(larger, above);
}

void PathKnowledge::narrow(Expr expr, const Range &bounds) {
  if (expr->kind == ExprKind::constant)
    return;
  Range narrowed = range(expr);
  const Range before = narrowed;
  intersect(narrowed, bounds);
  agree(narrowed, expr->width);
  if (narrowed == before || is_empty(narrowed))
    return;
  const auto [entry, is_new] = ranges_.try_emplace(expr, narrowed);
  ranges_undo_.emplace_back(expr, is_new ? std::nullopt : std::optional(entry->second));
  entry->second = narrowed;
  // What is extended is as large as its extension.
  if (expr->kind != ExprKind::zext && expr->kind != ExprKind::sext)
    return;
  const Expr inner = expr->children[0];
  Range within = everything(inner->width);
  if (expr->kind == ExprKind::zext) {
    within.low = std::max(within.low, narrowed.low);
    within.high = std::min(within.high, narrowed.high);
  } else {
    within.signed_low = std::max(within.signed_low, narrowed.signed_low);
    within.signed_high = std::min(within.signed_high, narrowed.signed_high);
  }
  if (!is_empty(within))
    narrow(inner, within);
}

Range PathKnowledge::range(Expr expr, int depth) const {
  const unsigned width = expr->width;
  Range result = everything(std::min(width, 64u));
  if (width > 64)
    return result;
  if (expr->kind == ExprKind::constant) {
    const std::int64_t value = as_signed(expr->value.low, width);
    return {expr->value.low, expr->value.low, value, value};
  }
  result.high = std::min(result.high, expr->maximum);
  if (const auto found = ranges_.find(expr); found != ranges_.end())
    intersect(result, found->second);
  if (depth > 0)
    switch (expr->kind) {
    case ExprKind::zext: {
      const Range inner = range(expr->children[0], depth - 1);
      result.low = std::max(result.low, inner.low);
      result.high = std::min(result.high, inner.high);
      break;
    }
    case ExprKind::sext: {
      const Range inner = range(expr->children[0], depth - 1);
      result.signed_low = std::max(result.signed_low, inner.signed_low);
      result.signed_high = std::min(result.signed_high, inner.signed_high);
      break;
    }
    case ExprKind::ite: {
      const Range yes = range(expr->children[1], depth - 1),
                  no = range(expr->children[2], depth - 1);
      intersect(result, {std::min(yes.low, no.low), std::max(yes.high, no.high),
                         std::min(yes.signed_low, no.signed_low),
                         std::max(yes.signed_high, no.signed_high)});
      break;
    }
    case ExprKind::sum: {
      if (expr->child_count > path_terms_budget)
        break;
      // As whole numbers; where the total fits the width, nothing wraps around.
      Wide low = as_signed(expr->value.low, width), high = low;
      Wide signed_low = low, signed_high = low;
      bool small = true;
      for (std::uint32_t i = 0; i < expr->child_count; ++i) {
        const std::int64_t factor = as_signed(expr->coefficients[i], width);
        small &= factor < largest_multiple && factor > -largest_multiple;
        const Range term = range(expr->children[i], depth - 1);
        low += Wide{factor} * (factor > 0 ? term.low : term.high);
        high += Wide{factor} * (factor > 0 ? term.high : term.low);
        signed_low += Wide{factor} * (factor > 0 ? term.signed_low : term.signed_high);
        signed_high += Wide{factor} * (factor > 0 ? term.signed_high : term.signed_low);
        if (!small || is_empty(term))
          break;
      }
      if (!small)
        break;
      if (low >= 0 && high <= Wide{mask64(width)}) {
        result.low = std::max(result.low, static_cast<std::uint64_t>(low));
        result.high = std::min(result.high, static_cast<std::uint64_t>(high));
      }
      if (signed_low >= lowest(width) && signed_high <= highest(width)) {
        result.signed_low = std::max(result.signed_low, static_cast<std::int64_t>(signed_low));
        result.signed_high = std::min(result.signed_high, static_cast<std::int64_t>(signed_high));
      }
      break;
    }
    default:
      break;
    }
  agree(result, width);
  return result;
}

std::optional<bool> PathKnowledge::assumed(Expr condition) const {
  if (condition->kind == ExprKind::constant)
    return !condition->value.is_zero();
  if (conditions_.empty())
    return std::nullopt;
  const bool negated = is_negation(condition);
  if (negated)
    condition = pool_.bit_not(condition);
  const auto found = conditions_.find(condition);
  return found == conditions_.end() ? std::nullopt : std::optional(found->second != negated);
}

std::optional<bool> PathKnowledge::decide(Expr condition) {
  if (const auto known = assumed(condition))
    return known;
  if (is_negation(condition)) {
    const auto opposite = decide(pool_.bit_not(condition));
    return opposite ? std::optional(!*opposite) : std::nullopt;
  }
  switch (condition->kind) {
  case ExprKind::bit_and: {
    const auto one = assumed(condition->children[0]), other = assumed(condition->children[1]);
    if ((one && !*one) || (other && !*other))
      return false;
    return one && other ? std::optional(true) : std::nullopt;
  }
  case ExprKind::ult:
  case ExprKind::slt: {
    if (condition->children[0]->width > 64)
      return std::nullopt;
    const Range a = range(condition->children[0]), b = range(condition->children[1]);
    if (is_empty(a) || is_empty(b))
      return std::nullopt;
    const bool is_signed = condition->kind == ExprKind::slt;
    if (is_signed ? a.signed_high < b.signed_low : a.high < b.low)
      return true;
    if (is_signed ? a.signed_low >= b.signed_high : a.low >= b.high)
      return false;
    return std::nullopt;
  }
  case ExprKind::eq0: {
    if (condition->children[0]->width > 64)
      return std::nullopt;
    const Range difference = range(condition->children[0]);
    if (is_empty(difference))
      return std::nullopt;
    if (difference.low > 0 || difference.signed_low > 0 || difference.signed_high < 0)
      return false;
    return difference.high == 0 ? std::optional(true) : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

void PathKnowledge::forget_since(Mark mark) {
  for (; conditions_undo_.size() > mark.conditions; conditions_undo_.pop_back())
    conditions_.erase(conditions_undo_.back());
  for (; ranges_undo_.size() > mark.ranges; ranges_undo_.pop_back()) {
    const auto &[expr, before] = ranges_undo_.back();
    if (before)
      ranges_[expr] = *before;
    else
      ranges_.erase(expr);
  }
}

} // namespace ptxasw::emulator
