// When two 64-bit addresses are equal although their expressions are not: extensions of narrower
// indices agree unless an addition wraps. The answer is a list of no-wrap conditions, which is why
// it is right: each step replaces `extend(e + c)` by `extend(e) + c`, equal exactly where e + c
// stays in range. A remainder is written out by its quotient, equal exactly where the divisor is
// not zero.

#include "emulator/symbolic/address.h"

#include <algorithm>
#include <unordered_map>

namespace ptxasw::emulator {

void detail::normalize(LinearForm &form) {
  std::sort(form.terms.begin(), form.terms.end(),
            [](const auto &a, const auto &b) { return a.first->id < b.first->id; });
  std::vector<std::pair<Expr, std::uint64_t>> merged;
  for (const auto &[atom, factor] : form.terms) {
    if (!merged.empty() && merged.back().first == atom)
      merged.back().second += factor;
    else
      merged.emplace_back(atom, factor);
  }
  std::erase_if(merged, [](const auto &term) { return term.second == 0; });
  form.terms = std::move(merged);
}

std::size_t LinearForm::hash() const {
  std::size_t seed = static_cast<std::size_t>(lane_stride) * 0x9e3779b97f4a7c15;
  for (const auto &[atom, factor] : terms)
    seed = (seed ^ (atom->id * 0x100000001b3 + factor)) * 0x9e3779b97f4a7c15 + (seed >> 29);
  return seed;
}

namespace {

/// Writes x % y as x - x / y * y, which it is for every y except zero: what the two leave open
/// there need not fit together. The divisors are added to `divisors`.
Expr without_remainders(ExprPool &pool, Expr root, std::vector<Expr> &divisors) {
  std::unordered_map<Expr, Expr> made;
  const auto rewrite = [&](const auto &self, Expr node) -> Expr {
    if (const auto found = made.find(node); found != made.end())
      return found->second;
    std::vector<Expr> children;
    for (const Expr child : node->operands())
      children.push_back(self(self, child));
    Expr result = children.empty() ? node : pool.rebuild(node, children);
    if (result->kind == ExprKind::urem || result->kind == ExprKind::srem) {
      const Expr x = result->children[0], y = result->children[1];
      const Expr quotient = result->kind == ExprKind::urem ? pool.udiv(x, y) : pool.sdiv(x, y);
      if (std::find(divisors.begin(), divisors.end(), y) == divisors.end())
        divisors.push_back(y);
      result = pool.sub(x, pool.mul(quotient, y));
    }
    return made[node] = result;
  };
  return rewrite(rewrite, root);
}

/// Expressions deeper than this are not searched for remainders.
constexpr std::uint16_t remainder_depth = 64;

bool has_remainders(Expr expr) {
  bool result = false;
  if (expr->depth <= remainder_depth)
    for_each_node(expr, [&](Expr node) {
      result |= node->kind == ExprKind::urem || node->kind == ExprKind::srem;
    });
  return result;
}

std::optional<std::vector<WrapCondition>> equal_but_for_extensions(ExprPool &pool, Expr a, Expr b) {
  std::vector<WrapCondition> conditions;
  const Expr difference = pool.sub(a, b);
  if (difference->kind == ExprKind::constant)
    return difference->value.is_zero() ? std::optional(conditions) : std::nullopt;
  if (difference->kind != ExprKind::sum)
    return std::nullopt;
  // What is left are extensions, each of a's with a factor and b's counterpart with its negative.
  struct Extension {
    Expr node;
    std::uint64_t factor;
    bool used = false;
  };
  std::vector<Extension> left;
  for (std::uint32_t i = 0; i < difference->child_count; ++i) {
    const Expr node = difference->children[i];
    if (node->kind != ExprKind::sext && node->kind != ExprKind::zext)
      return std::nullopt;
    left.push_back({node, difference->coefficients[i]});
  }
  const auto occurs_in_b = [&](Expr node) {
    if (b == node)
      return true;
    return b->kind == ExprKind::sum && std::find(b->children, b->children + b->child_count, node) !=
                                           b->children + b->child_count;
  };
  std::uint64_t constant = difference->value.low;
  for (Extension &mine : left) {
    if (mine.used || !occurs_in_b(mine.node))
      continue;
    const Expr value = mine.node->children[0];
    bool found = false;
    for (Extension &other : left) {
      if (other.used || &other == &mine || other.node->kind != mine.node->kind ||
          other.factor != 0 - mine.factor)
        continue;
      const Expr inner = other.node->children[0];
      if (inner->width != value->width)
        continue;
      const Expr distance = pool.sub(inner, value);
      if (distance->kind != ExprKind::constant)
        continue;
      const std::int64_t offset = as_signed(distance->value.low, distance->width);
      // ext(value + offset) = ext(value) + offset, if value + offset does not wrap
      constant += other.factor * static_cast<std::uint64_t>(offset);
      conditions.push_back({value, mine.node->kind == ExprKind::sext, offset});
      mine.used = other.used = found = true;
      break;
    }
    if (!found)
      return std::nullopt;
  }
  const bool all_used =
      std::all_of(left.begin(), left.end(), [](const Extension &e) { return e.used; });
  if (!all_used || constant != 0)
    return std::nullopt;
  return conditions;
}

} // namespace

std::optional<std::vector<WrapCondition>> equal_unless_wrapped(ExprPool &pool, Expr a, Expr b) {
  auto conditions = equal_but_for_extensions(pool, a, b);
  if (conditions || (!has_remainders(a) && !has_remainders(b)) ||
      std::max(a->depth, b->depth) > remainder_depth)
    return conditions;
  std::vector<Expr> divisors;
  const Expr plain_a = without_remainders(pool, a, divisors);
  const Expr plain_b = without_remainders(pool, b, divisors);
  conditions = equal_but_for_extensions(pool, plain_a, plain_b);
  if (conditions)
    for (const Expr divisor : divisors)
      conditions->push_back({divisor, false, -1, true});
  return conditions;
}

std::pair<Expr, Expr> what_differs(ExprPool &pool, Expr a, Expr b) {
  while (a != b) {
    const bool extended = (a->kind == ExprKind::zext || a->kind == ExprKind::sext) &&
                          a->kind == b->kind && a->children[0]->width == b->children[0]->width;
    if (extended) {
      a = a->children[0];
      b = b->children[0];
      continue;
    }
    // f * x - f * y
    const Expr difference = a->width <= 64 ? pool.sub(a, b) : a;
    if (difference->kind != ExprKind::sum || difference->child_count != 2 ||
        !difference->value.is_zero() ||
        ((difference->coefficients[0] + difference->coefficients[1]) & mask64(a->width)) != 0 ||
        (difference->children[0] == a && difference->children[1] == b) ||
        (difference->children[0] == b && difference->children[1] == a))
      break;
    a = difference->children[0];
    b = difference->children[1];
  }
  return {a, b};
}

Expr within_access(ExprPool &pool, Expr address, std::uint64_t bytes) {
  if (address->kind != ExprKind::zext)
    return pool.add(address, pool.constant(address->width, bytes));
  const Expr inner = address->children[0];
  return pool.zext(pool.add(inner, pool.constant(inner->width, bytes)), address->width);
}

bool always_holds(const WrapCondition &condition) {
  if (condition.is_divisor)
    return condition.value->kind == ExprKind::constant && !condition.value->value.is_zero();
  const std::uint64_t most = condition.value->maximum;
  const unsigned width = condition.value->width;
  const std::uint64_t top = condition.is_signed ? mask64(width) / 2 : mask64(width);
  if (condition.offset >= 0)
    // Signed numbers of unknown sign may still be bounded from above by their bit pattern.
    return most <= top && static_cast<std::uint64_t>(condition.offset) <= top - most;
  // Non-negative numbers minus something small stay above the most negative one.
  return condition.is_signed && most <= top && static_cast<std::uint64_t>(-condition.offset) <= top;
}

std::vector<std::pair<Expr, std::uint64_t>> summands(Expr expr) {
  if (expr->kind == ExprKind::constant)
    return {};
  if (expr->kind != ExprKind::sum)
    return {{expr, 1}};
  std::vector<std::pair<Expr, std::uint64_t>> result;
  for (std::uint32_t i = 0; i < expr->child_count; ++i)
    result.emplace_back(expr->children[i], expr->coefficients[i]);
  return result;
}

} // namespace ptxasw::emulator
