// What branches established, against all values: conditions over two numbers of four bits are
// assumed one after the other, and whatever is concluded must hold for every pair that satisfies
// them.

#include "emulator/symbolic/path.h"
#include "support.h"

#include <doctest/doctest.h>

#include <array>

using namespace ptxasw::test;
using namespace ptxasw::emulator_test;

namespace {

constexpr unsigned width = 4, wide = 6, pairs = 256;

/// Grows expressions and conditions over two symbols.
class Grower {
public:
  explicit Grower(std::uint64_t seed) : random_(seed) {}

  Expr number() {
    Expr result = random_.one_in(2) ? x : y;
    for (unsigned i = 0, n = random_.below(3); i < n; ++i)
      switch (random_.below(6)) {
      case 0:
        result = pool.add(result, pool.constant(width, random_.below(16)));
        break;
      case 1:
        result = pool.sub(result, random_.one_in(2) ? x : y);
        break;
      case 2:
        result = pool.mul(result, pool.constant(width, random_.below(4)));
        break;
      case 3:
        result = pool.ite(comparison(x, pool.constant(width, random_.below(16))), result, y);
        break;
      case 4:
        result = pool.bit_and(result, pool.constant(width, random_.below(16)));
        break;
      default:
        result = pool.lshr(result, pool.constant(width, random_.below(3)));
      }
    return result;
  }

  Expr condition(int depth = 1) {
    if (depth > 0 && random_.one_in(4)) {
      const Expr a = condition(depth - 1), b = condition(depth - 1);
      return random_.one_in(2) ? pool.bit_and(a, b) : pool.bit_or(a, b);
    }
    Expr a = number();
    Expr b = random_.one_in(2) ? pool.constant(width, random_.below(16)) : number();
    if (random_.one_in(3)) {
      const bool is_signed = random_.one_in(2);
      a = is_signed ? pool.sext(a, wide) : pool.zext(a, wide);
      b = is_signed ? pool.sext(b, wide) : pool.zext(b, wide);
      if (random_.one_in(2))
        a = pool.add(a, pool.constant(wide, random_.below(64)));
    }
    const Expr result = comparison(a, b);
    return random_.one_in(3) ? pool.bit_not(result) : result;
  }

  bool coin() { return random_.one_in(2); }
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }

  ExprPool pool;
  Expr x = pool.symbol("x", width), y = pool.symbol("y", width);

private:
  Expr comparison(Expr a, Expr b) {
    switch (random_.below(3)) {
    case 0:
      return pool.ult(a, b);
    case 1:
      return pool.slt(a, b);
    default:
      return pool.eq(a, b);
    }
  }

  Random random_;
};

} // namespace

TEST_CASE("what is concluded from assumptions holds for all that satisfies them") {
  const std::uint64_t rounds = from_environment("PTXASW_PATH_ROUNDS", 500);
  std::size_t concluded = 0, asked = 0, by_range = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Grower grow(round);
    PathKnowledge path(grow.pool);
    std::vector<Evaluator> values;
    for (unsigned pair = 0; pair < pairs; ++pair)
      values.emplace_back(std::vector<Bits>{{pair % 16, 0}, {pair / 16, 0}});
    std::array<bool, pairs> possible;
    possible.fill(true);
    const auto check = [&] {
      for (int question = 0; question < 4; ++question) {
        const Expr condition = grow.condition();
        const auto decided = path.decide(condition);
        const Expr number = grow.number();
        const Range range = path.range(number);
        ++asked;
        concluded += decided.has_value();
        by_range += decided && !path.assumed(condition);
        for (unsigned pair = 0; pair < pairs; ++pair) {
          if (!possible[pair])
            continue;
          const Bits holds = values[pair](condition), value = values[pair](number);
          const std::int64_t as_number = as_signed(value.low, width);
          REQUIRE_MESSAGE((!decided || *decided == !holds.is_zero()),
                          to_string(grow.pool, condition));
          REQUIRE(value.low >= range.low);
          REQUIRE(value.low <= range.high);
          REQUIRE(as_number >= range.signed_low);
          REQUIRE(as_number <= range.signed_high);
        }
      }
    };
    check();
    for (std::uint64_t i = 0, n = 1 + grow.below(4); i < n; ++i) {
      const Expr condition = grow.condition();
      const bool holds = grow.coin();
      path.assume(condition, holds);
      for (unsigned pair = 0; pair < pairs; ++pair)
        possible[pair] = possible[pair] && !values[pair](condition).is_zero() == holds;
      check();
    }
    // Forgotten is as never known.
    path.forget_since({});
    possible.fill(true);
    check();
  }
  MESSAGE("asked ", asked, ", decided ", concluded, ", of them by ranges ", by_range);
  CHECK(concluded > asked / 20);
  CHECK(by_range > asked / 50);
}

TEST_CASE("what follows from a comparison") {
  ExprPool pool;
  const Expr n = pool.symbol("n", 32), i = pool.symbol("i", 32);
  const auto number = [&](std::uint32_t value) { return pool.constant(32, value); };
  PathKnowledge path(pool);
  path.assume(pool.slt(i, n), true);
  const PathKnowledge::Mark mark = path.mark();
  CHECK(path.decide(pool.slt(n, i)) == false);
  CHECK(path.decide(pool.eq(i, n)) == false);
  CHECK(path.decide(pool.sle(i, n)) == true);
  CHECK(path.decide(pool.ult(i, n)) == std::nullopt);
  path.assume(pool.slt(i, number(10)), true);
  path.assume(pool.slt(i, number(3)), false);
  CHECK(path.decide(pool.slt(i, number(20))) == true);
  CHECK(path.decide(pool.slt(pool.add(i, number(1)), number(4))) == false);
  CHECK(path.decide(pool.ult(i, number(10))) == true); // not negative
  CHECK(path.decide(pool.eq(pool.zext(i, 64), pool.constant(64, 11))) == false);
  path.assume(pool.slt(i, pool.add(n, n)), true);
  CHECK(path.decide(pool.slt(pool.add(n, n), number(4))) == false); // above i
  path.forget_since(mark);
  CHECK(path.decide(pool.slt(i, number(20))) == std::nullopt);
  CHECK(path.decide(pool.slt(n, i)) == false);
}
