// What follows from conditions, held against all numbers: over a few short symbols every assignment
// is tried, and what is said to follow must hold in each that the conditions allow.

#include "emulator/symbolic/evaluation.h"
#include "emulator/symbolic/known.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace known_test {

using namespace ptxasw::test;

namespace {

/// Random conditions over two predicates and two numbers of four bits.
class Conditions {
public:
  Conditions(ExprPool &pool, std::uint64_t seed)
      : pool_(pool), random_(seed), predicates_{pool.symbol("p", 1), pool.symbol("q", 1)},
        numbers_{pool.symbol("x", 4), pool.symbol("y", 4)} {}

  Expr condition(unsigned depth = 2) {
    if (depth > 0 && below(2) == 0) {
      const Expr a = condition(depth - 1), b = condition(depth - 1);
      switch (below(4)) {
      case 0:
        return pool_.bit_and(a, b);
      case 1:
        return pool_.bit_or(a, b);
      case 2:
        return pool_.ite(a, b, condition(depth - 1));
      default:
        return pool_.bit_xor(a, b);
      }
    }
    const Expr a = number(), b = number();
    const Expr atoms[] = {predicates_[below(2)], pool_.eq(a, b), pool_.ult(a, b), pool_.slt(a, b)};
    const Expr atom = atoms[below(4)];
    return below(3) == 0 ? pool_.bit_not(atom) : atom;
  }
  Expr number() {
    const Expr x = numbers_[below(2)];
    return below(3) == 0   ? pool_.constant(4, {below(16)})
           : below(2) == 0 ? x
                           : pool_.add(x, pool_.constant(4, {below(16)}));
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// Calls a function with the values of some expressions, for each assignment.
  template <class Each> static void each_assignment(const std::vector<Expr> &list, Each each) {
    for (std::uint64_t bits = 0; bits < 1024; ++bits) {
      Evaluator evaluate({{bits & 1}, {bits >> 1 & 1}, {bits >> 2 & 15}, {bits >> 6 & 15}});
      std::vector<std::uint64_t> values;
      for (const Expr one : list)
        values.push_back(evaluate(one).low);
      each(values);
    }
  }

private:
  ExprPool &pool_;
  std::mt19937_64 random_;
  const Expr predicates_[2], numbers_[2]; // symbols 0 to 3
};

/// The assignments that some conditions allow, with the values of one more expression in them.
struct Allowed {
  unsigned count = 0;
  bool always = true, never = true;
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
};

Allowed allowed(const std::vector<std::pair<Expr, bool>> &conditions, Expr wanted) {
  std::vector<Expr> list{wanted};
  for (const auto &[condition, holds] : conditions)
    list.push_back(condition);
  Allowed result;
  Conditions::each_assignment(list, [&](const std::vector<std::uint64_t> &values) {
    for (std::size_t i = 0; i < conditions.size(); ++i)
      if ((values[i + 1] != 0) != conditions[i].second)
        return;
    ++result.count;
    (values[0] != 0 ? result.never : result.always) = false;
    result.least = std::min(result.least, values[0]);
    result.most = std::max(result.most, values[0]);
  });
  return result;
}

} // namespace

TEST_CASE("what is said to follow holds in every assignment, and nothing if there is none") {
  unsigned decided = 0, contradictions = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    ExprPool pool;
    Conditions draw(pool, seed);
    std::vector<std::pair<Expr, bool>> conditions;
    Known one_by_one(pool), at_once(pool);
    for (std::uint64_t i = 0, count = 1 + draw.below(4); i < count; ++i)
      conditions.emplace_back(draw.condition(), draw.below(3) != 0);
    for (const auto &[condition, holds] : conditions)
      one_by_one.assume(condition, holds);
    at_once.assume_all(conditions);
    for (unsigned i = 0; i < 6; ++i) {
      const Expr wanted = draw.condition();
      const Allowed truth = allowed(conditions, wanted);
      for (const Known *known : {&one_by_one, &at_once}) {
        CAPTURE(seed);
        contradictions += known->contradictory();
        if (known->contradictory()) {
          REQUIRE(truth.count == 0);
          continue;
        }
        const std::optional<bool> answer = known->decide(wanted);
        decided += answer.has_value();
        if (answer)
          REQUIRE((*answer ? truth.always : truth.never));
      }
    }
    for (const auto &[literal, holds] : at_once.literals())
      if (!at_once.contradictory())
        REQUIRE((holds ? allowed(conditions, literal).always : allowed(conditions, literal).never));
  }
  // It does answer.
  CHECK(decided > 200);
  CHECK(contradictions > 0);
}

TEST_CASE("bounds that are said to hold hold in every assignment") {
  unsigned lower = 0, upper = 0, kept = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    ExprPool pool;
    Conditions draw(pool, seed + 1000);
    std::vector<std::pair<Expr, bool>> conditions;
    const Expr value = draw.number();
    for (std::uint64_t i = 0, count = 1 + draw.below(4); i < count; ++i) {
      const Expr bound = draw.below(3) == 0 ? draw.number() : pool.constant(4, {draw.below(16)});
      const bool below = draw.below(2) == 0, is_signed = draw.below(3) == 0;
      const Expr &less = below ? value : bound, &more = below ? bound : value;
      conditions.emplace_back(is_signed ? pool.slt(less, more) : pool.ult(less, more),
                              draw.below(2) != 0);
    }
    conditions.emplace_back(draw.condition(1), draw.below(3) != 0);
    Known known(pool);
    known.assume_all(conditions);
    const Allowed truth = allowed(conditions, value);
    if (known.contradictory() || truth.count == 0)
      continue;
    CAPTURE(seed);
    for (std::uint64_t bound = 0; bound < 16; ++bound) {
      if (known.at_least(value, bound)) {
        lower += bound > 0;
        REQUIRE(truth.least >= bound);
      }
      if (known.at_most(value, bound)) {
        upper += bound < 15;
        REQUIRE(truth.most <= bound);
      }
    }
    for (const bool is_signed : {false, true}) {
      // The least number of the order is 0 here.
      const Allowed in_order =
          is_signed ? allowed(conditions, pool.bit_xor(value, pool.constant(4, {8}))) : truth;
      for (std::int64_t offset = -15; offset <= 15; ++offset)
        if (offset != 0 && known.no_wrap(value, is_signed, offset)) {
          ++kept;
          REQUIRE(static_cast<std::int64_t>(in_order.least) + offset >= 0);
          REQUIRE(static_cast<std::int64_t>(in_order.most) + offset <= 15);
        }
    }
  }
  CHECK(lower > 20);
  CHECK(upper > 20);
  CHECK(kept > 20);
}

} // namespace known_test
