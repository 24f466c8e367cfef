// `(ctaid * ntid + tid) * pitch + x` is kept by the expressions' normal form as a sum of products,
// `ctaid*ntid*pitch + tid*pitch + x`. It is brought back into Horner's form over factors that both
// threads share: P = Q * pitch with Q = R + tid and R = ctaid * ntid. Each product becomes a
// symbol, and of any two multiples of the same number it is said what their factors' order says:
//
//   Q1 < Q2  and  w >= 0   imply   Q1*w + w <= Q2*w
//
// which is so where nothing wraps around. That is all that makes indices distinct: with 0 <= x < w
// the intervals [Q*w, Q*w + w) do not meet.
//
// `a == b` is kept as `a - b == 0`, and a difference may leave the range that a and b stay in. So
// what one thread has in it is parted from what the other has, each of which is a part of a sum
// that the program computes; where that is not possible, nothing is taken to stay in its range.

#include "analysis/prove/products.h"

#include "emulator/symbolic/path.h"

#include <algorithm>
#include <fmt/core.h>
#include <numeric>

namespace ptxasw::analysis {
namespace {

/// Multiples of one number that are compared with each other.
constexpr std::size_t most_products = 12;

__extension__ typedef __int128 Wide;

} // namespace

std::string ProductAbstraction::mark_of(Expr a, Expr b) {
  static constexpr const char *marks[] = {"", "'1", "'2", "'"};
  return marks[threads_(a) | threads_(b)];
}

Expr ProductAbstraction::operator()(Expr root) {
  std::vector<Expr> work{root};
  while (!work.empty()) {
    const Expr node = work.back();
    if (memo_.contains(node)) {
      work.pop_back();
      continue;
    }
    bool ready = true;
    const Expr inner = is_difference(node) ? node->children[0] : node;
    for (const Expr child : inner->operands())
      for (const Expr part : child->kind == ExprKind::product && inner != node
                                 ? child->operands()
                                 : std::span<const Expr>(&child, 1))
        if (!memo_.contains(part)) {
          work.push_back(part);
          ready = false;
        }
    if (!ready)
      continue;
    work.pop_back();
    memo_.emplace(node, rewrite(node));
  }
  return memo_.at(root);
}

bool ProductAbstraction::is_difference(Expr node) {
  return node->kind == ExprKind::eq0 && node->children[0]->kind == ExprKind::sum;
}

Expr ProductAbstraction::rewrite(Expr node) {
  const auto child = [&](std::size_t i) { return memo_.at(node->children[i]); };
  const auto factors_of = [&](Expr atom) {
    std::vector<Expr> factors;
    if (atom->kind == ExprKind::product)
      for (const Expr factor : atom->operands())
        factors.push_back(memo_.at(factor));
    else
      factors.push_back(memo_.at(atom));
    return factors;
  };
  if (node->child_count == 0)
    return node;
  if (is_difference(node)) {
    const Expr sum = node->children[0];
    std::vector<Monomial> of[4]; // by threads
    of[0].push_back({sum->value.low, {}});
    for (std::uint32_t i = 0; i < sum->child_count; ++i)
      of[threads_(sum->children[i])].push_back(
          {sum->coefficients[i], factors_of(sum->children[i])});
    const bool parted = !of[1].empty() && !of[2].empty() && of[3].empty();
    if (!parted) {
      for (int i = 1; i < 4; ++i)
        of[0].insert(of[0].end(), of[i].begin(), of[i].end());
      return pool_.eq(linear(sum->width, std::move(of[0]), false), pool_.constant(sum->width, 0));
    }
    const bool second_negative = as_signed(of[1][0].coefficient, sum->width) > 0;
    for (Monomial &monomial : of[second_negative ? 2 : 1])
      monomial.coefficient = -monomial.coefficient & mask64(sum->width);
    const Expr one = linear(sum->width, std::move(of[1]), is_computed(node));
    const Expr two = linear(sum->width, std::move(of[2]), is_computed(node));
    const Expr both = linear(sum->width, std::move(of[0]), false);
    return pool_.eq(second_negative ? pool_.add(one, both) : pool_.add(two, both),
                    second_negative ? two : one);
  }
  if (node->kind == ExprKind::product && node->width <= 64)
    return linear(node->width, {{1, factors_of(node)}}, is_computed(node));
  if (node->kind == ExprKind::sum) {
    std::vector<Monomial> monomials{{node->value.low, {}}};
    for (std::uint32_t i = 0; i < node->child_count; ++i)
      monomials.push_back({node->coefficients[i], factors_of(node->children[i])});
    return linear(node->width, std::move(monomials), is_computed(node));
  }
  const bool divides = node->kind == ExprKind::udiv || node->kind == ExprKind::urem ||
                       node->kind == ExprKind::sdiv || node->kind == ExprKind::srem;
  if (divides && child(1)->kind != ExprKind::constant && node->width <= 64)
    return divided(node, child(0), child(1));
  std::vector<Expr> children;
  bool changed = false;
  for (std::size_t i = 0; i < node->child_count; ++i) {
    children.push_back(child(i));
    changed |= children.back() != node->children[i];
  }
  return changed ? pool_.rebuild(node, children) : node;
}

// The sum, with one factor taken out of all monomials that have it, again and again.
Expr ProductAbstraction::linear(unsigned width, std::vector<Monomial> monomials, bool computed) {
  // A factor that is a constant now belongs to the coefficient.
  for (Monomial &monomial : monomials)
    std::erase_if(monomial.factors, [&](Expr factor) {
      if (factor->kind != ExprKind::constant)
        return false;
      monomial.coefficient = (monomial.coefficient * factor->value.low) & mask64(width);
      return true;
    });
  std::map<std::uint32_t, std::pair<unsigned, Expr>> uses; // common factors of products
  Expr any = nullptr;
  for (const Monomial &monomial : monomials)
    if (monomial.factors.size() > 1)
      for (const Expr factor : monomial.factors) {
        any = any ? any : factor;
        if (threads_(factor) == 0) {
          auto &use = uses[factor->id];
          ++use.first;
          use.second = factor;
        }
      }
  if (!any && numbers_ && width >= 32)
    return linear_by_numbers(width, std::move(monomials), computed);
  if (!any) {
    Expr sum = pool_.constant(width, 0);
    for (const Monomial &monomial : monomials) {
      const Expr coefficient = pool_.constant(width, monomial.coefficient);
      sum = pool_.add(sum, monomial.factors.empty() ? coefficient
                                                    : pool_.mul(coefficient, monomial.factors[0]));
    }
    return sum;
  }
  Expr by = any;
  unsigned most = 0;
  for (const auto &[id, use] : uses)
    if (use.first > most) {
      most = use.first;
      by = use.second;
    }
  std::vector<Monomial> quotient, rest;
  std::uint64_t common = 0;
  for (Monomial &monomial : monomials) {
    const auto at = std::find(monomial.factors.begin(), monomial.factors.end(), by);
    if (at == monomial.factors.end()) {
      rest.push_back(std::move(monomial));
      continue;
    }
    monomial.factors.erase(at);
    const std::int64_t coefficient = as_signed(monomial.coefficient, width);
    common =
        std::gcd(common, static_cast<std::uint64_t>(coefficient < 0 ? -coefficient : coefficient));
    quotient.push_back(std::move(monomial));
  }
  if (common == 0)
    return linear(width, std::move(rest), computed);
  for (Monomial &monomial : quotient)
    monomial.coefficient = static_cast<std::uint64_t>(as_signed(monomial.coefficient, width) /
                                                      static_cast<std::int64_t>(common)) &
                           mask64(width);
  const Expr product = multiple(linear(width, std::move(quotient), computed), by, computed);
  return pool_.add(pool_.mul(pool_.constant(width, common & mask64(width)), product),
                   linear(width, std::move(rest), computed));
}

// The same of `288*k + 96*b + t`, which is 96*(3*k + b) + t.
Expr ProductAbstraction::linear_by_numbers(unsigned width, std::vector<Monomial> monomials,
                                           bool computed) {
  std::int64_t least = 0;
  const auto coefficient_of = [&](const Monomial &monomial) {
    return as_signed(monomial.coefficient, width);
  };
  for (const Monomial &monomial : monomials)
    if (const std::int64_t c = coefficient_of(monomial);
        !monomial.factors.empty() && c > 1 && (least == 0 || c < least))
      least = c;
  Expr rest = pool_.constant(width, 0);
  std::vector<Monomial> quotient;
  for (Monomial &monomial : monomials) {
    const std::int64_t c = coefficient_of(monomial);
    if (least != 0 && !monomial.factors.empty() && c % least == 0) {
      monomial.coefficient = static_cast<std::uint64_t>(c / least) & mask64(width);
      quotient.push_back(std::move(monomial));
      continue;
    }
    const Expr coefficient = pool_.constant(width, monomial.coefficient);
    rest = pool_.add(rest, monomial.factors.empty() ? coefficient
                                                    : pool_.mul(coefficient, monomial.factors[0]));
  }
  if (quotient.empty())
    return rest;
  const Expr factor = linear_by_numbers(width, std::move(quotient), computed);
  const Expr by = pool_.constant(width, static_cast<std::uint64_t>(least));
  return pool_.add(multiple(factor, by, computed), rest);
}

// True if factor * by, and one more `by`, are signed numbers of the width whatever the two are.
bool ProductAbstraction::fits(Expr factor, Expr by) const {
  const PathKnowledge nothing(pool_);
  const Range a = nothing.range(factor), b = nothing.range(by);
  const Wide limit = Wide{1} << (factor->width - 1);
  for (const Wide x : {Wide{a.signed_low}, Wide{a.signed_high} + 1})
    for (const Wide y : {Wide{b.signed_low}, Wide{b.signed_high}})
      if (x * y >= limit || x * y < -limit)
        return false;
  return true;
}

Expr ProductAbstraction::multiple(Expr factor, Expr by, bool computed) {
  if (factor->kind == ExprKind::constant)
    return pool_.mul(factor, by);
  by_[by->id] = by;
  std::vector<Multiple> &known = multiples_[by->id]; // stays where it is
  // Narrower ones come from masks.
  const bool in_range = computed && (factor->width == 32 || factor->width == 64);
  const bool common = threads_(factor) == 0 && threads_(by) == 0;
  for (Multiple &other : known)
    if (other.factor == factor) {
      if (in_range)
        other.valid = pool_.constant(1, 1);
      return other.value;
    }
  const bool small = fits(factor, by);
  const Expr value = pool_.symbol(
      fmt::format("product({}, {}){}", factor->id, by->id, mark_of(factor, by)), factor->width);
  known.push_back({factor, value, pool_.constant(1, small || in_range), small});
  if (common && factor != by) { // it is as much a multiple of the other
    by_[factor->id] = factor;
    const bool swapped = fits(by, factor);
    multiples_[factor->id].push_back({by, value, pool_.constant(1, swapped || in_range), swapped});
  }
  return value;
}

// Of numbers that are not negative: dividend = quotient * divisor + remainder.
Expr ProductAbstraction::divided(Expr node, Expr dividend, Expr divisor) {
  auto &[quotient, remainder] = quotients_[{dividend->id, divisor->id}];
  const unsigned width = node->width;
  const Expr zero = pool_.constant(width, 0);
  if (!quotient) {
    const std::string thread = mark_of(dividend, divisor);
    quotient = pool_.symbol(fmt::format("quotient{}", thread), width);
    remainder = pool_.symbol(fmt::format("remainder{}", thread), width);
    const Expr valid = pool_.bit_and(pool_.sle(zero, dividend), pool_.slt(zero, divisor));
    const Expr value = pool_.symbol(fmt::format("multiple{}", thread), width);
    by_[divisor->id] = divisor;
    multiples_[divisor->id].push_back({quotient, value, valid, false});
    const Expr parts[] = {pool_.eq(dividend, pool_.add(value, remainder)),
                          pool_.sle(zero, remainder),
                          pool_.slt(remainder, divisor),
                          pool_.sle(zero, quotient),
                          pool_.sle(quotient, dividend),
                          pool_.sle(zero, value),
                          pool_.sle(value, dividend)};
    for (const Expr part : parts)
      more_axioms_.push_back(pool_.bit_or(pool_.bit_not(valid), part));
  }
  // Signed and unsigned division agree where both are not negative; elsewhere this is anything.
  const bool is_quotient = node->kind == ExprKind::udiv || node->kind == ExprKind::sdiv;
  const Expr valid = pool_.bit_and(pool_.sle(zero, dividend), pool_.slt(zero, divisor));
  const Expr otherwise = pool_.symbol("divided" + mark_of(dividend, divisor), width);
  return pool_.ite(valid, is_quotient ? quotient : remainder, otherwise);
}

std::vector<Expr> ProductAbstraction::axioms() {
  std::vector<Expr> axioms = more_axioms_;
  const auto implies = [&](Expr a, Expr b) { return pool_.bit_or(pool_.bit_not(a), b); };
  for (const auto &[id, all] : multiples_) {
    const Expr by = by_.at(id), zero = pool_.constant(by->width, 0);
    const Expr positive = pool_.sle(zero, by);
    for (std::size_t i = 0; i < all.size() && i < most_products; ++i) {
      const Multiple &a = all[i];
      const Expr holds = pool_.bit_and(a.valid, positive);
      axioms.push_back(implies(pool_.eq(a.factor, zero), pool_.eq(a.value, zero)));
      const Expr not_negative = pool_.bit_and(holds, pool_.sle(zero, a.factor));
      axioms.push_back(implies(not_negative, pool_.sle(zero, a.value)));
      if (a.has_room)
        axioms.push_back(implies(not_negative, pool_.sle(a.value, pool_.add(a.value, by))));
      axioms.push_back(
          implies(pool_.bit_and(holds, pool_.slt(zero, a.factor)), pool_.sle(by, a.value)));
      axioms.push_back(implies(pool_.bit_and(holds, pool_.slt(a.factor, zero)),
                               pool_.sle(a.value, pool_.neg(by))));
      for (std::size_t j = 0; j < i; ++j) {
        const Multiple &b = all[j];
        const Expr both = pool_.bit_and(holds, b.valid);
        axioms.push_back(
            implies(pool_.bit_and(a.valid, pool_.bit_and(b.valid, pool_.eq(a.factor, b.factor))),
                    pool_.eq(a.value, b.value)));
        for (const auto &[less, more] : {std::pair(a, b), std::pair(b, a)})
          // As less.value + by is at most more.value, it does not wrap around.
          axioms.push_back(
              implies(pool_.bit_and(both, pool_.slt(less.factor, more.factor)),
                      pool_.bit_and(pool_.sle(pool_.add(less.value, by), more.value),
                                    pool_.sle(less.value, pool_.add(less.value, by)))));
      }
    }
  }
  return axioms;
}

} // namespace ptxasw::analysis
