// Whole numbers in the place of bits, held against numbers: what holds of some numbers with which
// no index overflows that is computed can hold together in the question, too. Random formulas, true
// of numbers that were drawn before: a question that cannot hold would prove what is wrong.

#include "analysis/prove/integers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <unordered_map>

using namespace ptxasw::test;

namespace {

/// Formulas over symbols that have values.
class KnownNumbers {
public:
  explicit KnownNumbers(unsigned seed) : random_(seed), numbers_(pool_) {
    for (const char *name : {"%tid.x'1", "%tid.x'2", "n", "m", "a'1", "b'2"}) {
      const bool is_index = name[0] == '%';
      const unsigned width = is_index || chance(2) ? 32 : 64;
      const std::uint64_t value =
          is_index ? below(64) : (near_power() - (chance(4) ? near_power() : 0)) & mask64(width);
      const Expr symbol = is_index ? pool_.symbol(name, width, 1023) : pool_.symbol(name, width);
      numbers_.map(symbol, pool_.constant(width, value));
      terms_.push_back(symbol);
    }
    for (int i = 0; i < 12; ++i)
      terms_.push_back(next());
  }

  /// True of the numbers; with nothing that overflows in what makes them true.
  std::vector<Expr> formulas() {
    std::vector<Expr> result;
    for (int i = 0; i < 6; ++i)
      if (const Expr formula = true_formula(); does_not_wrap(formula))
        result.push_back(formula);
    return result;
  }

  ExprPool &pool() { return pool_; }

private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(unsigned of) { return below(of) == 0; }
  std::uint64_t near_power() {
    return (std::uint64_t{1} << below(chance(3) ? 34 : 9)) + below(5) - 2;
  }
  Expr any() { return terms_[below(terms_.size())]; }
  Expr any(unsigned width) {
    const Expr term = any();
    return term->width == width  ? term
           : term->width > width ? pool_.extract(term, below(term->width - width + 1), width)
           : chance(2)           ? pool_.sext(term, width)
                                 : pool_.zext(term, width);
  }
  Expr constant(unsigned width) {
    return pool_.constant(width, (chance(3) ? 0 - near_power() : near_power()) & mask64(width));
  }
  std::int64_t number(Expr expr) { return as_signed(numbers_(expr)->value.low, expr->width); }

  Expr next() {
    const unsigned width = chance(4) ? 2 + below(30) : chance(2) ? 32 : 64;
    const Expr a = any(width), b = any(width);
    const Expr small = pool_.constant(width, below(20) & mask64(width));
    const Expr shift = pool_.constant(width, below(std::min(width, 12U)) & mask64(width));
    const Expr divisor = chance(2) ? pool_.constant(width, 1 + below(3)) : b;
    const bool divides = !numbers_(divisor)->value.is_zero();
    switch (below(14)) {
    case 0:
    case 1:
      return pool_.add(a, b);
    case 2:
      return pool_.sub(a, b);
    case 3:
      return pool_.add(a, constant(width));
    case 4:
      return pool_.mul(a, small);
    case 5:
      return pool_.mul(a, b);
    case 6:
      return pool_.bit_and(
          a, pool_.constant(width, ((std::uint64_t{2} << below(width)) - 1) & mask64(width)));
    case 7:
      return pool_.lshr(a, shift);
    case 8:
      return chance(2) ? pool_.shl(a, shift) : pool_.ashr(a, shift);
    case 9:
      return divides ? pool_.udiv(a, divisor) : a;
    case 10:
      return divides ? pool_.urem(a, divisor) : a;
    case 11:
      return !divides ? a : chance(2) ? pool_.sdiv(a, divisor) : pool_.srem(a, divisor);
    case 12:
      return pool_.ite(comparison(), a, b);
    default:
      return pool_.sub(small, a);
    }
  }

  /// Of two numbers, or of one with a constant that is close to it.
  Expr comparison() {
    const Expr left = any();
    const unsigned width = left->width;
    const Expr close = pool_.constant(
        width, (static_cast<std::uint64_t>(number(left)) + below(5) - 2) & mask64(width));
    const Expr right = chance(3) ? any(width) : chance(4) ? constant(width) : close;
    const Expr a = chance(2) ? left : right, b = a == left ? right : left;
    return width == 1  ? left
           : chance(3) ? pool_.eq(a, b)
           : chance(2) ? pool_.ult(a, b)
                       : pool_.slt(a, b);
  }

  Expr true_formula() {
    Expr formula = comparison();
    if (chance(3)) {
      const Expr other = comparison();
      formula = chance(2) ? pool_.bit_and(formula, other) : pool_.bit_or(formula, other);
    }
    return numbers_(formula)->value.is_zero() ? pool_.bit_not(formula) : formula;
  }

  /// Every sum and product of 32 and 64 bits is what it is in whole numbers, except those that are
  /// taken modulo 2^32 (with large coefficients or constants) and those that need not be computed:
  /// what is not chosen, and alternatives beside one that is enough.
  bool does_not_wrap(Expr node) {
    const auto [known, is_new] = does_not_wrap_.try_emplace(node, true);
    if (is_new)
      does_not_wrap_[node] = parts_do_not_wrap(node) && fits(node);
    return does_not_wrap_[node];
  }

  bool parts_do_not_wrap(Expr node) {
    const auto parts = node->operands();
    const auto is_fine = [&](Expr part) { return does_not_wrap(part); };
    if (node->kind == ExprKind::ite)
      return is_fine(parts[0]) && is_fine(parts[numbers_(parts[0])->value.is_zero() ? 2 : 1]);
    const bool is_or = node->kind == ExprKind::bit_or;
    if (node->width != 1 ||
        (!is_or && node->kind != ExprKind::bit_and && node->kind != ExprKind::product))
      return std::all_of(parts.begin(), parts.end(), is_fine);
    const auto decides = [&](Expr part) { return numbers_(part)->value.is_zero() != is_or; };
    return std::any_of(parts.begin(), parts.end(),
                       [&](Expr part) { return decides(part) && is_fine(part); }) ||
           (std::none_of(parts.begin(), parts.end(), decides) &&
            std::all_of(parts.begin(), parts.end(), is_fine));
  }

  bool fits(Expr node) {
    __extension__ typedef __int128 Wide;
    const bool is_sum = node->kind == ExprKind::sum;
    if ((node->width != 32 && node->width != 64) || (!is_sum && node->kind != ExprKind::product))
      return true;
    constexpr std::int64_t far = 1 << 30, largest = 1 << 20;
    const std::int64_t constant = is_sum ? as_signed(node->value.low, node->width) : 0;
    bool result = true, is_modular = node->width == 32 && (constant >= far || constant <= -far);
    Wide whole = is_sum ? constant : 1;
    for (std::uint32_t i = 0; i < node->child_count; ++i) {
      const std::int64_t by = is_sum ? as_signed(node->coefficients[i], node->width) : 1;
      const Wide child = number(node->children[i]);
      is_modular |= is_sum && node->width == 32 && (by > largest || by < -largest);
      whole = is_sum ? whole + by * child : whole * child;
      result &= is_modular || (whole < (Wide{1} << 64) && whole > -(Wide{1} << 64));
    }
    return result && (is_modular || whole == number(node));
  }

  ExprPool pool_;
  std::mt19937_64 random_;
  Substitution numbers_;
  std::vector<Expr> terms_;
  std::unordered_map<Expr, bool> does_not_wrap_;
};

} // namespace

TEST_CASE("what holds of numbers holds of whole numbers") {
  const char *const wanted = std::getenv("PTXASW_INTEGER_ROUNDS");
  const auto rounds = wanted ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 80;
  unsigned asked = 0, holds = 0;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    KnownNumbers known(seed);
    const auto question = IntegerFormulas(known.pool()).question({known.formulas(), {}, {}});
    if (!question)
      continue;
    ++asked;
    const SolverAnswer answer = Solver(30'000).check("test", *question);
    INFO("seed ", seed);
    CHECK(answer != SolverAnswer::unsat);
    holds += answer == SolverAnswer::sat ? 1 : 0;
  }
  CHECK(asked > rounds / 2);
  CHECK(holds > asked / 2);
}
