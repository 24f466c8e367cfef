// Bits against Boost's unbounded integers, computed by the textbook definition of each operation.

#include "support.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <doctest/doctest.h>

#include <functional>

using namespace ptxasw::test;
using namespace ptxasw::emulator_test;

namespace {

using Integer = boost::multiprecision::cpp_int; // signed, of any length

Integer power(unsigned n) { return Integer(1) << n; }
Integer number(Bits b) { return (Integer(b.high) << 64) + b.low; }
Integer signed_number(Bits b, unsigned width) {
  return number(b) >= power(width - 1) ? Integer(number(b) - power(width)) : number(b);
}
Bits pattern(Integer value, unsigned width) {
  value %= power(width);
  if (value < 0)
    value += power(width);
  return {static_cast<std::uint64_t>(value % power(64)), static_cast<std::uint64_t>(value >> 64)};
}
/// Towards minus infinity, as a shift to the right does.
Integer floor_divided(const Integer &a, const Integer &b) {
  Integer quotient = a / b;
  return a % b < 0 ? Integer(quotient - 1) : quotient;
}
Integer shift_distance(Bits amount) { return number(amount) > 200 ? Integer(200) : number(amount); }

struct Operation {
  const char *name;
  Bits (*tested)(Bits, Bits, unsigned);
  std::function<Integer(Bits, Bits, unsigned)> expected;
};

const Operation operations[] = {
    {"add", bits::add, [](Bits a, Bits b, unsigned) { return number(a) + number(b); }},
    {"sub", bits::sub, [](Bits a, Bits b, unsigned) { return number(a) - number(b); }},
    {"mul", bits::mul, [](Bits a, Bits b, unsigned) { return number(a) * number(b); }},
    {"shl", bits::shl,
     [](Bits a, Bits b, unsigned) {
       return number(a) * power(static_cast<unsigned>(shift_distance(b)));
     }},
    {"lshr", bits::lshr,
     [](Bits a, Bits b, unsigned) {
       return number(a) / power(static_cast<unsigned>(shift_distance(b)));
     }},
    {"ashr", bits::ashr,
     [](Bits a, Bits b, unsigned w) {
       return floor_divided(signed_number(a, w), power(static_cast<unsigned>(shift_distance(b))));
     }},
    {"udiv", bits::udiv,
     [](Bits a, Bits b, unsigned) {
       return b.is_zero() ? Integer(-1) : Integer(number(a) / number(b));
     }},
    {"urem", bits::urem,
     [](Bits a, Bits b, unsigned) {
       return b.is_zero() ? number(a) : Integer(number(a) % number(b));
     }},
    {"sdiv", bits::sdiv,
     [](Bits a, Bits b, unsigned w) { // of a negative number by zero: 1, as in SMT-LIB
       if (b.is_zero())
         return signed_number(a, w) < 0 ? Integer(1) : Integer(-1);
       return Integer(signed_number(a, w) / signed_number(b, w));
     }},
    {"srem", bits::srem,
     [](Bits a, Bits b, unsigned w) {
       return b.is_zero() ? signed_number(a, w)
                          : Integer(signed_number(a, w) % signed_number(b, w));
     }},
    {"ult", [](Bits a, Bits b, unsigned) { return Bits{bits::ult(a, b)}; },
     [](Bits a, Bits b, unsigned) { return Integer(number(a) < number(b) ? 1 : 0); }},
    {"slt", [](Bits a, Bits b, unsigned w) { return Bits{bits::slt(a, b, w)}; },
     [](Bits a, Bits b, unsigned w) {
       return Integer(signed_number(a, w) < signed_number(b, w) ? 1 : 0);
     }},
};

} // namespace

TEST_CASE("bits compute what unbounded integers do") {
  Random random(1);
  const auto rounds = from_environment("PTXASW_BITS_ROUNDS", 40);
  for (const Operation &operation : operations)
    for (unsigned width = 1; width <= 128; ++width)
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const Bits a = random.bits(width), b = random.bits(width);
        const Bits expected = pattern(operation.expected(a, b, width), width);
        const Bits got = operation.tested(a, b, width);
        if (got != expected)
          FAIL_CHECK(operation.name << width << '(' << to_text(a) << ", " << to_text(b) << ") is "
                                    << to_text(got) << ", not " << to_text(expected));
      }
}

TEST_CASE("bits are cut and joined") {
  Random random(2);
  for (int i = 0; i < 40000; ++i) {
    const auto width = 1 + static_cast<unsigned>(random.below(128));
    const Bits a = random.bits(width);
    const auto low = static_cast<unsigned>(random.below(width));
    const auto piece = 1 + static_cast<unsigned>(random.below(width - low));
    REQUIRE(bits::extract(a, low, piece) == pattern(number(a) / power(low), piece));
    REQUIRE(ptxasw::emulator::truncate(a, piece) == pattern(number(a), piece));
    const auto more = width + static_cast<unsigned>(random.below(129 - width));
    REQUIRE(bits::sext(a, width, more) == pattern(signed_number(a, width), more));
    if (more > width) {
      const Bits high = random.bits(more - width);
      REQUIRE(bits::concat(high, a, width) ==
              pattern(number(high) * power(width) + number(a), more));
    }
    if (width <= 64)
      REQUIRE(as_signed(a.low, width) == static_cast<std::int64_t>(signed_number(a, width)));
  }
}
