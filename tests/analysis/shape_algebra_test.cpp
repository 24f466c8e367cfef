// The arithmetic behind the independence of a block's shape, held against numbers: what is added
// and multiplied is what the numbers are, for every shape; and what may not vanish does not.

#include "analysis/shape_algebra.h"

#include <algorithm>
#include <doctest/doctest.h>

#include <random>

using namespace ptxasw::analysis::shape_algebra;

namespace {

/// One thread of one launch: what the five atoms are there.
struct Place {
  std::int64_t ctaid, ntid, nctaid, tid;
  std::int64_t value(AtomId atom) const {
    switch (atom) {
    case global_index:
      return ctaid * ntid + tid;
    case thread_count:
      return nctaid * ntid;
    case block_index:
      return ctaid;
    case block_extent:
      return ntid;
    default:
      return nctaid;
    }
  }
};

std::int64_t value(const Polynomial &p, const Place &place) {
  std::uint64_t sum = 0;
  for (const auto &[monomial, coefficient] : p) {
    auto product = static_cast<std::uint64_t>(coefficient);
    for (const AtomId atom : monomial)
      product *= static_cast<std::uint64_t>(place.value(atom));
    sum += product;
  }
  return static_cast<std::int64_t>(sum);
}

Place draw_place(std::mt19937_64 &random) {
  Place place{};
  place.ntid = 1 + static_cast<std::int64_t>(random() % 1024);
  place.nctaid = 1 + static_cast<std::int64_t>(random() % 5000);
  place.tid = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(place.ntid));
  place.ctaid = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(place.nctaid));
  return place;
}

Polynomial draw(std::mt19937_64 &random) {
  Polynomial p;
  for (unsigned i = 0, terms = random() % 4; i < terms; ++i) {
    Monomial monomial;
    for (unsigned j = 0, degree = random() % 3; j < degree; ++j)
      monomial.push_back(static_cast<AtomId>(random() % first_free));
    std::sort(monomial.begin(), monomial.end());
    p[monomial] = random() % 2 == 0 ? 7 : -3;
  }
  return p;
}

} // namespace

TEST_CASE("sums and products of polynomials are those of numbers, in every thread") {
  const Algebra algebra;
  std::mt19937_64 random(5);
  unsigned products = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    const Polynomial a = draw(random), b = draw(random);
    const Place place = draw_place(random);
    const std::int64_t factor = static_cast<std::int64_t>(random() % 9) - 4;
    CHECK(value(algebra.add(a, b, factor), place) == value(a, place) + factor * value(b, place));
    if (const auto product = algebra.mul(a, b)) {
      ++products;
      CHECK(value(*product, place) ==
            static_cast<std::int64_t>(static_cast<std::uint64_t>(value(a, place)) *
                                      static_cast<std::uint64_t>(value(b, place))));
    }
  }
  CHECK(products > 1000);
}

TEST_CASE("ctaid * ntid + tid is the global index, and nctaid * ntid the number of threads") {
  const Algebra algebra;
  const Polynomial tid = Algebra::thread_index();
  CHECK_FALSE(algebra.is_clean(tid));
  CHECK(algebra.stain_of(tid).certain);
  const auto before = algebra.mul(Algebra::of(block_index), Algebra::of(block_extent));
  REQUIRE(before);
  CHECK(algebra.add(tid, *before) == Algebra::of(global_index));
  CHECK(algebra.is_clean(Algebra::of(global_index)));
  CHECK(algebra.mul(Algebra::of(grid_extent), Algebra::of(block_extent)) ==
        Algebra::of(thread_count));
  CHECK_FALSE(algebra.is_clean(Algebra::of(block_extent)));
  CHECK_FALSE(algebra.is_clean(algebra.add(tid, *before, 2)));
}

TEST_CASE("what may have changed in between does not vanish") {
  Algebra algebra;
  const Polynomial read = algebra.tainted(12, "a load", false);
  const Polynomial difference = algebra.add(read, read, -1);
  CHECK_FALSE(algebra.is_clean(difference));
  CHECK(algebra.stain_of(difference).line == 12);
  // What is the same whenever it is read does.
  CHECK(algebra.add(Algebra::of(block_extent), Algebra::of(block_extent), -1).empty());
  // Nor is it multiplied by what may be zero at another time.
  CHECK_FALSE(algebra.mul(read, algebra.tainted(13, "a load", false)));
}

TEST_CASE("what gets too large is not claimed") {
  Algebra algebra;
  Polynomial power = Algebra::of(block_index);
  for (unsigned i = 0; i < 3; ++i)
    power = algebra.mul(power, Algebra::of(block_index)).value();
  CHECK_FALSE(algebra.mul(power, Algebra::of(block_index)));
  Polynomial clean, unclean;
  for (unsigned i = 0; i < 40; ++i) {
    clean = algebra.add(clean, Algebra::of(algebra.new_atom(true, true, -1)));
    unclean = algebra.add(unclean, algebra.tainted(i + 1, "a load", false));
  }
  CHECK(algebra.bounded(clean).size() == 1);
  CHECK(algebra.is_clean(algebra.bounded(clean)));
  CHECK(algebra.bounded(unclean).size() == 1);
  CHECK_FALSE(algebra.is_clean(algebra.bounded(unclean)));
  CHECK_FALSE(algebra.is_clean(algebra.bounded(algebra.add(clean, unclean))));
}

TEST_CASE("forgetting keeps the five atoms and the taints that are asked for") {
  Algebra algebra;
  const Polynomial first = algebra.tainted(1, "a load", false);
  algebra.tainted(2, "an atomic", true);
  CHECK(algebra.taints() == 2);
  algebra.forget(1);
  CHECK(algebra.taints() == 1);
  CHECK(algebra.new_atom(true, true, -1) == first_free);
}
