// Sums of products, of words and of rational numbers.

#include "emulator/facts/word_atoms.h"

#include <doctest/doctest.h>

using namespace ptxasw::facts;

TEST_CASE("sums of products are equal however they were added up") {
  Atoms atoms;
  const Polynomial x = atoms.narrow(1), y = atoms.narrow(2), word = atoms.word(3);
  CHECK((x + y) * (x - y) == x * x - y * y);
  CHECK((x - x).is_zero());
  CHECK((x * Polynomial(2) + Polynomial(3) - x * Polynomial(2)).number() == 3);
  CHECK(narrow(Polynomial(0xffffffff)).number() == -1);
  CHECK(atoms.magnitude(x * y) == 4611686018427387904.0);
  CHECK(atoms.magnitude(word) > 1e300);
  CHECK(atoms.rounds(Polynomial(-7), 2).is_zero());
  CHECK(atoms.rounds(Polynomial(7), 2).number() == 3);
  CHECK(atoms.rounds(x, 2) == atoms.rounds(x, 2));
  CHECK_FALSE(atoms.rounds(x, 2) == atoms.rounds(x, 3));
}

TEST_CASE("words wrap around and rational numbers do not") {
  const Polynomial x = Polynomial::of(0);
  const Polynomial half = Polynomial(std::int64_t{1} << 32) * x;
  CHECK((half * half).is_zero()); // 2^64 is 0
  CHECK((half + half).constant() == 0);
  const Amount y = Amount::of(0);
  const Amount large = Amount(Rational("4294967296")) * y;
  CHECK((large * large).terms().size() == 1);
  CHECK((y * Amount(Rational(1, 2)) + y * Amount(Rational(1, 2))) == y);
  CHECK_FALSE(is_whole(y * Amount(Rational(1, 2))));
  Amount twice = y;
  twice += twice;
  CHECK(twice == y + y);
}

TEST_CASE("low bits of a sum are those of its coefficients") {
  const Polynomial x = Polynomial::of(0), y = Polynomial::of(1);
  CHECK(low_bits_of(Polynomial(128) * x + Polynomial(129) * y, 7) == y);
  CHECK(low_bits_of(Polynomial(-1), 7).number() == 127);
  CHECK(narrow(Polynomial(std::int64_t{1} << 32) * x).is_zero());
}
