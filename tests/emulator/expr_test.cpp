// Whatever the normal form does to an expression, its value stays what the operations say.
//
// Expressions are grown one random operation at a time next to the numbers that they must have
// under some assignments of the symbols, so a failure is always the fault of the last operation;
// the smallest one of a run is shown.

#include "emulator/semantics/concrete.h"
#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <array>

using namespace ptxasw::test;
using namespace ptxasw::emulator_test;

namespace {

constexpr std::array<unsigned, 10> widths{1, 8, 16, 24, 32, 33, 64, 65, 96, 128};
constexpr std::size_t assignments = 6;

using Number = ConcreteDomain::Value;

/// Numbers as expressions have them: a division by zero is SMT-LIB's, not a GPU's.
class Numbers : public ConcreteDomain {
public:
  // clang-format off
  Number udiv(Number a, Number b) const { return {bits::udiv(a.bits, b.bits, a.width), a.width}; }
  Number urem(Number a, Number b) const { return {bits::urem(a.bits, b.bits, a.width), a.width}; }
  Number sdiv(Number a, Number b) const { return {bits::sdiv(a.bits, b.bits, a.width), a.width}; }
  Number srem(Number a, Number b) const { return {bits::srem(a.bits, b.bits, a.width), a.width}; }
  // clang-format on
};

/// An expression and the values it must have.
struct Grown {
  Expr expr;
  std::array<Bits, assignments> values;
};

enum class Operation : std::uint8_t {
  // clang-format off
  add, sub, neg, mul, bit_and, bit_or, bit_xor, bit_not, shl, lshr, ashr, udiv, urem, sdiv, srem,
  eq, ult, slt, ule, sle, ite, zext, sext, extract, concat, truncate, scale_and_add, mask, count
  // clang-format on
};
constexpr std::string_view names[] = {
    "add",     "sub",  "neg",     "mul",    "bit_and",  "bit_or",        "bit_xor",
    "bit_not", "shl",  "lshr",    "ashr",   "udiv",     "urem",          "sdiv",
    "srem",    "eq",   "ult",     "slt",    "ule",      "sle",           "ite",
    "zext",    "sext", "extract", "concat", "truncate", "scale_and_add", "mask"};
static_assert(std::size(names) == static_cast<std::size_t>(Operation::count));

/// The one place that says how an operation is called, for expressions and for numbers.
template <class D>
typename D::Value apply(D &d, Operation operation, typename D::Value a, typename D::Value b,
                        typename D::Value condition, unsigned low, unsigned width, Bits constant) {
  switch (operation) {
  case Operation::add:
    return d.add(a, b);
  case Operation::sub:
    return d.sub(a, b);
  case Operation::neg:
    return d.neg(a);
  case Operation::mul:
    return d.mul(a, b);
  case Operation::bit_and:
    return d.bit_and(a, b);
  case Operation::bit_or:
    return d.bit_or(a, b);
  case Operation::bit_xor:
    return d.bit_xor(a, b);
  case Operation::bit_not:
    return d.bit_not(a);
  case Operation::shl:
    return d.shl(a, b);
  case Operation::lshr:
    return d.lshr(a, b);
  case Operation::ashr:
    return d.ashr(a, b);
  case Operation::udiv:
    return d.udiv(a, b);
  case Operation::urem:
    return d.urem(a, b);
  case Operation::sdiv:
    return d.sdiv(a, b);
  case Operation::srem:
    return d.srem(a, b);
  case Operation::eq:
    return d.eq(a, b);
  case Operation::ult:
    return d.ult(a, b);
  case Operation::slt:
    return d.slt(a, b);
  case Operation::ule:
    return d.bit_not(d.ult(b, a));
  case Operation::sle:
    return d.bit_not(d.slt(b, a));
  case Operation::ite:
    return d.ite(condition, a, b);
  case Operation::zext:
    return d.zext(a, width);
  case Operation::sext:
    return d.sext(a, width);
  case Operation::extract:
    return d.extract(a, low, width);
  case Operation::truncate:
    return d.extract(a, 0, width);
  case Operation::concat:
    return d.concat(a, b);
  case Operation::scale_and_add:
    return d.add(d.mul(a, d.constant(d.width(a), constant)), b);
  case Operation::mask:
    return d.bit_and(a, d.constant(d.width(a), constant));
  case Operation::count:
    break;
  }
  return a;
}

struct Failure {
  std::size_t size = ~std::size_t{0};
  std::string text;
};

/// One random growth.
class Garden {
public:
  Garden(std::uint64_t seed, Failure &smallest) : random_(seed), smallest_(smallest) {
    for (auto &symbols : symbols_)
      symbols.clear();
    for (int i = 0; i < 7; ++i)
      plant_symbol(random_.pick(widths));
    plant_symbol(32, 31);
    plant_symbol(32, 1023);
  }

  void grow(int operations) {
    for (int i = 0; i < operations && !failed_; ++i)
      step();
  }

  // Replacing symbols and evaluating must commute.
  void substitute() {
    Substitution substitution(pool_);
    std::vector<Expr> images(pool_.symbols().size(), nullptr);
    for (const Grown &grown : plants_)
      if (grown.expr->kind == ExprKind::symbol && random_.one_in(2)) {
        Expr image = of_width(grown.expr->width).expr;
        if (grown.expr->maximum < mask64(std::min<unsigned>(grown.expr->width, 64)))
          image = pool_.urem(image, pool_.constant(32, grown.expr->maximum + 1));
        images[grown.expr->index] = image;
        substitution.map(grown.expr, image);
      }
    for (std::size_t k = 0; k < assignments; ++k) {
      Evaluator before(symbols_[k]);
      std::vector<Bits> replaced = symbols_[k];
      for (std::size_t s = 0; s < images.size(); ++s)
        if (images[s])
          replaced[s] = before(images[s]);
      Evaluator after(replaced);
      for (std::size_t i = 0; i < plants_.size(); i += 5) {
        const Expr expr = plants_[i].expr, result = substitution(expr);
        const Bits expected = after(expr), got = before(result);
        if (got != expected)
          fail(expr, fmt::format("substituted into {}\n  gives {}\n  which is {}, not {}",
                                 to_string(pool_, expr), to_string(pool_, result), to_text(got),
                                 to_text(expected)));
      }
    }
  }

private:
  void plant_symbol(unsigned width, std::uint64_t maximum = ~std::uint64_t{0}) {
    Grown grown{pool_.symbol(fmt::format("s{}", pool_.symbols().size()), width, maximum), {}};
    for (std::size_t k = 0; k < assignments; ++k) {
      Bits value = random_.bits(width);
      if (maximum < mask64(std::min(width, 64u)))
        value = {value.low % (maximum + 1)};
      grown.values[k] = value;
      symbols_[k].push_back(value);
    }
    plants_.push_back(grown);
  }

  Grown constant(unsigned width, Bits value) {
    Grown grown{pool_.constant(width, value), {}};
    grown.values.fill(ptxasw::emulator::truncate(value, width));
    return grown;
  }

  /// Some earlier expression brought to a width, or a constant.
  Grown of_width(unsigned width) {
    if (random_.one_in(5))
      return constant(width, random_.bits(width));
    for (int attempt = 0; attempt < 12; ++attempt) {
      const Grown &grown = random_.pick(plants_);
      if (grown.expr->width == width)
        return grown;
    }
    const Grown grown = random_.pick(plants_);
    const unsigned have = grown.expr->width;
    const Operation how = width < have        ? Operation::truncate
                          : random_.one_in(2) ? Operation::sext
                                              : Operation::zext;
    return make(how, grown, grown, grown, 0, width, {});
  }

  Grown make(Operation operation, const Grown &a, const Grown &b, const Grown &condition,
             unsigned low, unsigned width, Bits constant_part) {
    Grown result{apply(pool_, operation, a.expr, b.expr, condition.expr, low, width, constant_part),
                 {}};
    for (std::size_t k = 0; k < assignments; ++k) {
      const auto number = [&](const Grown &g) { return Number{g.values[k], g.expr->width}; };
      const Number expected = apply(domain_, operation, number(a), number(b), number(condition),
                                    low, width, constant_part);
      result.values[k] = expected.bits;
      check(operation, a, b, result, expected, k);
    }
    return result;
  }

  void check(Operation operation, const Grown &a, const Grown &b, const Grown &result,
             const Number &expected, std::size_t k) {
    const Expr expr = result.expr;
    const Bits got = Evaluator(symbols_[k])(expr);
    CHECK(ExprProgram(expr)([&](Expr symbol) { return symbols_[k].at(symbol->index); }) == got);
    std::string wrong;
    if (expr->width != expected.width)
      wrong = fmt::format("has width {}, not {}", expr->width, expected.width);
    else if (got != expected.bits)
      wrong = fmt::format("is {}, not {}", to_text(got), to_text(expected.bits));
    else if (expr->width <= 64 && got.low > expr->maximum)
      wrong = fmt::format("is {}, beyond its maximum {:#x}", to_text(got), expr->maximum);
    else if (bits::extract(got, 0, std::max<unsigned>(expr->trailing_zeros, 1)) !=
                 (expr->trailing_zeros ? Bits{} : Bits{got.low & 1}) ||
             expr->trailing_zeros > expr->width)
      wrong = fmt::format("is {}, but {} zeros are promised", to_text(got), expr->trailing_zeros);
    else
      return;
    fail(expr, fmt::format("{} of\n  {} ({}) and\n  {} ({})\n  is {}\n  which {}",
                           names[static_cast<std::size_t>(operation)], to_string(pool_, a.expr),
                           to_text(a.values[k]), to_string(pool_, b.expr), to_text(b.values[k]),
                           to_string(pool_, expr), wrong));
  }

  void fail(Expr expr, std::string text) {
    failed_ = true;
    if (const std::size_t size = size_of(expr); size < smallest_.size)
      smallest_ = {size, std::move(text)};
  }

  void step() {
    const auto operation =
        static_cast<Operation>(random_.below(static_cast<std::uint64_t>(Operation::count)));
    const unsigned width = random_.pick(widths);
    const Grown a = of_width(width);
    unsigned other = width, low = 0, result = width;
    switch (operation) {
    case Operation::zext:
    case Operation::sext:
      while ((result = random_.pick(widths)) < width) {
      }
      break;
    case Operation::truncate:
    case Operation::extract:
      low = static_cast<unsigned>(random_.below(width));
      result = 1 + static_cast<unsigned>(random_.below(width - low));
      break;
    case Operation::concat:
      other = std::max(1u, std::min(128 - width, random_.pick(widths)));
      if (width == 128)
        return;
      break;
    default:
      break;
    }
    Grown b = of_width(other);
    if (operation >= Operation::shl && operation <= Operation::ashr && random_.one_in(2))
      b = constant(width, {random_.below(width + 2)});
    const Grown condition = of_width(1);
    plants_.push_back(make(operation, a, b, condition, low, result, random_.bits(width)));
    if (random_.one_in(16))
      CHECK(!to_string(pool_, plants_.back().expr).empty());
  }

  Random random_;
  ExprPool pool_;
  Numbers domain_;
  Failure &smallest_;
  bool failed_ = false;
  std::vector<Grown> plants_;
  std::array<std::vector<Bits>, assignments> symbols_;
};

} // namespace

TEST_CASE("expressions keep their value, bounds are bounds, substitution commutes") {
  const auto rounds = from_environment("PTXASW_EXPR_ROUNDS", 1500);
  const auto first = from_environment("PTXASW_EXPR_SEED", 0);
  Failure smallest;
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Garden garden(seed, smallest);
    garden.grow(60);
    garden.substitute();
  }
  CHECK_MESSAGE(smallest.text.empty(), smallest.text);
}

TEST_CASE("equal expressions are one node") {
  ExprPool pool;
  const Expr x = pool.symbol("x", 32), y = pool.symbol("y", 32), four = pool.constant(32, 4);
  CHECK(pool.mul(pool.add(x, y), four) ==
        pool.add(pool.mul(y, four), pool.shl(x, pool.constant(32, 2))));
  CHECK(pool.sub(pool.add(x, y), x) == y);
  CHECK(pool.truncate(pool.mul(pool.zext(x, 64), pool.sext(y, 64)), 32) == pool.mul(x, y));
  CHECK(pool.eq(pool.add(x, four), pool.add(four, x)) == pool.constant(1, 1));
  CHECK(pool.sext(pool.add(x, four), 64) != pool.add(pool.sext(x, 64), pool.constant(64, 4)));
  CHECK(pool.concat(pool.extract(x, 16, 16), pool.extract(x, 0, 16)) == x);
}
