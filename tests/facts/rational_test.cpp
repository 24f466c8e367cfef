// Rationals of words and of Boost.Multiprecision, held against Boost.Multiprecision alone: sums,
// products, quotients, orders and texts of numbers around the limits of a word.

#include "emulator/facts/rational.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <doctest/doctest.h>
#include <random>
#include <vector>

namespace rational_test {

using namespace ptxasw::test;
using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;
using facts::Rational;

namespace {

struct Pair {
  Rational own;
  cpp_rational boost;
};

void is_same(const Rational &own, const cpp_rational &boost) {
  REQUIRE(own.str() == boost.str());
  REQUIRE(own.is_whole() == (denominator(boost) == 1));
  REQUIRE(own.numerator().str() == numerator(boost).str());
  REQUIRE(own.denominator().str() == denominator(boost).str());
  REQUIRE(static_cast<double>(own) == boost.convert_to<double>());
  const cpp_int n = numerator(boost), d = denominator(boost), q = n / d;
  const cpp_int down = n < 0 && q * d != n ? cpp_int(q - 1) : q;
  REQUIRE(floor_of(own).str() == down.str());
  REQUIRE(ceil_of(own).str() == cpp_int(q * d == n ? q : down + 1).str());
  if (down >= 0)
    REQUIRE(floor_of(own).bits() == (down == 0 ? 0 : msb(down) + 1));
  if (down >= 0 && down <= ~std::uint64_t{0})
    REQUIRE(static_cast<std::uint64_t>(floor_of(own)) == static_cast<std::uint64_t>(down));
  if (down >= std::numeric_limits<std::int64_t>::min() &&
      down <= std::numeric_limits<std::int64_t>::max())
    REQUIRE(static_cast<std::int64_t>(floor_of(own)) == static_cast<std::int64_t>(down));
}

std::vector<Pair> numbers() {
  std::vector<std::int64_t> words{0, 1, -1, 2, -3, 6, 1 << 16, -(1 << 30), 0x7fffffff};
  for (const int shift : {31, 32, 33, 61, 62})
    for (const int more : {-1, 0, 1})
      words.push_back((std::int64_t{1} << shift) + more);
  words.push_back(std::numeric_limits<std::int64_t>::max());
  words.push_back(std::numeric_limits<std::int64_t>::min());
  words.push_back(std::numeric_limits<std::int64_t>::min() + 1);
  std::vector<Pair> result;
  for (const std::int64_t top : words) {
    result.push_back({top, cpp_int(top)});
    for (const std::int64_t bottom : {std::int64_t{2}, std::int64_t{-9}, words.back(), words[20]})
      if (bottom != 0)
        result.push_back({Rational(top, bottom), cpp_rational(cpp_int(top)) / cpp_int(bottom)});
  }
  result.push_back({~std::uint64_t{0}, cpp_int(~std::uint64_t{0})});
  for (const unsigned power : {62u, 63u, 64u, 65u, 200u})
    result.push_back({Rational::power_of_two(power), cpp_int(cpp_int(1) << power)});
  return result;
}

} // namespace

TEST_CASE("rationals of words and larger ones are those of Boost.Multiprecision") {
  const std::vector<Pair> all = numbers();
  for (const Pair &a : all) {
    is_same(a.own, a.boost);
    is_same(-a.own, -a.boost);
    for (const Pair &b : all) {
      is_same(a.own + b.own, a.boost + b.boost);
      is_same(a.own - b.own, a.boost - b.boost);
      is_same(a.own * b.own, a.boost * b.boost);
      if (b.own == 0)
        CHECK_THROWS_AS(a.own / b.own, std::overflow_error);
      else
        is_same(a.own / b.own, a.boost / b.boost);
      REQUIRE((a.own == b.own) == (a.boost == b.boost));
      REQUIRE((a.own < b.own) == (a.boost < b.boost));
      REQUIRE((a.own >= b.own) == (a.boost >= b.boost));
    }
  }
}

TEST_CASE("what comes back into a word is what it was") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto word = [&] { return static_cast<std::int64_t>(random()) >> (random() % 64); };
    const Rational a(word()), b(word()), large = Rational::power_of_two(70);
    REQUIRE(a + large * b - large * b == a);
    if (b != 0) {
      REQUIRE(a / b * b == a);
      REQUIRE(a * large / b / large * b == a);
    }
    Rational changed = a;
    changed -= changed;
    REQUIRE(changed == 0);
    Rational copy = large * b;
    copy = a;
    REQUIRE(copy.str() == a.str());
  }
}

TEST_CASE("rationals are read as C++ writes whole numbers") {
  CHECK(Rational("18446744073709551616") == Rational::power_of_two(64));
  CHECK(Rational("-12") == -12);
  CHECK(Rational("0x10") == 16);
  CHECK_THROWS_AS(Rational("x"), std::runtime_error);
  CHECK(Rational(~std::uint64_t{0}) == Rational::power_of_two(64) - 1);
}

} // namespace rational_test
