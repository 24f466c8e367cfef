// Indices as people think of them. `4 * b * w + t >= n` and `4 * b * w + 3 * w + t < n`, compared
// as 32-bit numbers, hold together only if the second sum wraps around; compared as whole numbers
// they never do.
//
// Sums are written out again in 64 bits, over the same symbols, and stay between the bounds of
// their width. A product becomes a number of its own between those bounds, the same one wherever
// the product occurs: all that is wanted of it is its sign. Whatever else is compared (what is
// loaded, divided, shifted) may be any number. So more holds of the formulas than of the
// conditions, and only that they contradict each other says anything.
//
// `a < b` is that b - a is 1 or more. What two conditions say of their differences is said of the
// sum of these as well: what both compare drops out of it, and the solver need not find that bit by
// bit.

#include "emulator/machine/unbounded.h"

#include <algorithm>
#include <map>

namespace ptxasw::emulator {
namespace {

/// Factors and constants beyond these may be meant to wrap around (`+ 0xfffffff0` is -16, but
/// 0x80000000 may be either); sums of few terms with smaller ones stay far within 64 bits.
constexpr std::int64_t largest_factor = 1 << 20, largest_constant = 1 << 30;
constexpr std::uint32_t most_terms = 64;
constexpr std::size_t most_differences = 8;

class Unbounded {
public:
  explicit Unbounded(ExprPool &pool) : pool_(pool) {}

  Expr condition(Expr e) {
    const auto part = [&](std::size_t i) { return condition(e->children[i]); };
    switch (e->kind) {
    case ExprKind::constant:
    case ExprKind::symbol:
      return e;
    case ExprKind::slt:
      return compared(e, true);
    case ExprKind::ult:
      return compared(e, false);
    case ExprKind::bit_and:
      return pool_.bit_and(part(0), part(1));
    case ExprKind::bit_or:
      return pool_.bit_or(part(0), part(1));
    case ExprKind::bit_xor:
      return pool_.bit_xor(part(0), part(1));
    case ExprKind::ite:
      return pool_.ite(part(0), part(1), part(2));
    case ExprKind::sum: { // of bits: exclusive or
      Expr result = pool_.constant(1, e->value);
      for (std::size_t i = 0; i < e->child_count; ++i)
        result = pool_.bit_xor(result, part(i));
      return result;
    }
    default:
      return anything(e, 1, false);
    }
  }

  std::vector<Expr> take_bounds() { return std::move(bounds_); }

  /// Of what conditions, each a comparison or the contrary of one, say together in pairs.
  void add_sums(const std::vector<PathFact> &conditions) {
    std::vector<std::pair<Expr, std::int64_t>> differences; // and how large they are at least
    for (const auto &[condition, holds] : conditions) {
      const bool is_not = condition->kind == ExprKind::sum && condition->value.low == 1 &&
                          condition->child_count == 1;
      const Expr e = is_not ? condition->children[0] : condition;
      if ((e->kind != ExprKind::slt && e->kind != ExprKind::ult) || e->children[0]->width != 32)
        continue;
      const bool is_signed = e->kind == ExprKind::slt;
      const Expr left = whole(e->children[0], is_signed), right = whole(e->children[1], is_signed);
      if (left && right)
        differences.push_back(holds != is_not ? std::pair(pool_.sub(right, left), 1)
                                              : std::pair(pool_.sub(left, right), 0));
    }
    for (std::size_t i = 0; i < differences.size() && differences.size() <= most_differences; ++i)
      for (std::size_t j = 0; j < i; ++j)
        bounds_.push_back(pool_.sle(number(differences[i].second + differences[j].second),
                                    pool_.add(differences[i].first, differences[j].first)));
  }

private:
  /// A number of its own for an expression, the same each time.
  Expr anything(Expr e, unsigned width, bool is_signed) {
    Expr &known = numbers_[{e->id, is_signed}];
    if (!known)
      known = pool_.symbol("any number", width);
    return known;
  }

  Expr number(std::int64_t value) { return pool_.constant(64, static_cast<std::uint64_t>(value)); }

  void bound(Expr value, unsigned width, bool is_signed, bool is_natural) {
    const std::int64_t end = std::int64_t{1} << (is_signed ? width - 1 : width);
    bounds_.push_back(pool_.slt(value, number(end)));
    bounds_.push_back(pool_.sle(number(is_signed && !is_natural ? -end : 0), value));
  }

  Expr compared(Expr e, bool is_signed) {
    if (e->children[0]->width != 32)
      return anything(e, 1, false);
    const Expr left = whole(e->children[0], is_signed), right = whole(e->children[1], is_signed);
    return left && right ? pool_.slt(left, right) : anything(e, 1, false);
  }

  /// The number that a 32-bit expression stands for, in 64 bits; null if that is not clear.
  Expr whole(Expr e, bool is_signed) {
    const auto as_number = [&](std::uint64_t bits) { return as_signed(bits, 32); };
    if (e->kind == ExprKind::constant)
      return is_signed ? pool_.sext(e, 64) : pool_.zext(e, 64);
    if (e->kind != ExprKind::sum)
      return term(e, is_signed);
    const std::int64_t constant = as_number(e->value.low);
    if (std::abs(constant) > largest_constant || e->child_count > most_terms)
      return nullptr;
    Expr total = number(constant);
    for (std::size_t i = 0; i < e->child_count; ++i) {
      const std::int64_t factor = as_number(e->coefficients[i]);
      if (std::abs(factor) > largest_factor)
        return nullptr;
      total = pool_.add(total, pool_.mul(number(factor), term(e->children[i], is_signed)));
    }
    bound(total, 32, is_signed, false);
    return total;
  }

  Expr term(Expr e, bool is_signed) {
    const auto is_natural = [](Expr factor) { return factor->maximum <= 0x7fffffff; };
    if (e->kind != ExprKind::product) {
      const Expr same = e->kind == ExprKind::symbol ? e : anything(e, 32, false);
      return is_signed ? pool_.sext(same, 64) : pool_.zext(same, 64);
    }
    const Expr product = anything(e, 64, is_signed);
    const auto factors = e->operands();
    bound(product, 32, is_signed, std::all_of(factors.begin(), factors.end(), is_natural));
    return product;
  }

  ExprPool &pool_;
  std::map<std::pair<std::uint32_t, bool>, Expr> numbers_;
  std::vector<Expr> bounds_;
};

} // namespace

std::vector<Expr> as_unbounded(ExprPool &pool, const std::vector<PathFact> &conditions) {
  Unbounded unbounded(pool);
  std::vector<Expr> formulas;
  for (const PathFact &fact : conditions) {
    const Expr condition = unbounded.condition(fact.condition);
    formulas.push_back(fact.holds ? condition : pool.bit_not(condition));
  }
  unbounded.add_sums(conditions);
  for (const Expr bound : unbounded.take_bounds())
    formulas.push_back(bound);
  return formulas;
}

} // namespace ptxasw::emulator
