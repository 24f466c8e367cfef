// Equality of addresses and what it hangs on: whenever it is claimed, numbers and Z3 must agree.

#include "emulator/symbolic/address.h"
#include "emulator/symbolic/solver.h"
#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;
using namespace ptxasw::emulator_test;

namespace {

/// True if value + offset stays in the range of value's type.
bool holds(const WrapCondition &condition, Bits value) {
  const unsigned width = condition.value->width;
  if (condition.is_signed) {
    const std::int64_t sum = as_signed(value.low, width) + condition.offset;
    return width == 64 || as_signed(static_cast<std::uint64_t>(sum) & mask64(width), width) == sum;
  }
  const std::uint64_t sum = value.low + static_cast<std::uint64_t>(condition.offset);
  return (sum & mask64(width)) == sum;
}

/// The same as a formula, by adding in more bits.
Expr formula(ExprPool &pool, const WrapCondition &condition) {
  const unsigned width = condition.value->width, wide = width + 8;
  const auto extend = [&](Expr e) {
    return condition.is_signed ? pool.sext(e, wide) : pool.zext(e, wide);
  };
  const auto offset = static_cast<std::uint64_t>(condition.offset);
  const Expr narrow = pool.add(condition.value, pool.constant(width, offset));
  return pool.eq(extend(narrow), pool.add(extend(condition.value), pool.constant(wide, offset)));
}

/// Two addresses made of the same extended pieces, each off by constants; more often than not by
/// amounts that cancel if nothing wraps.
class Pair {
public:
  Pair(ExprPool &pool, Random &random) : pool_(pool), random_(random) {
    const Expr base = pool.symbol("base", 64);
    a = b = base;
    std::uint64_t balance = 0;
    const auto pieces = 1 + random.below(3);
    for (std::uint64_t i = 0; i < pieces; ++i) {
      const unsigned width = random.one_in(4) ? 16 : 32;
      const bool bounded = random.one_in(3);
      Expr index = pool.symbol(fmt::format("i{}", i), width, bounded ? 1023 : ~std::uint64_t{0});
      if (random.one_in(3))
        index = pool.mul(index, pool.constant(width, {1 + random.below(9)}));
      if (random.one_in(4))
        index = pool.add(index, pool.symbol(fmt::format("j{}", i), width, 65535));
      const std::uint64_t in_a = offset(), in_b = random.one_in(2) ? 0 : offset();
      const bool is_signed = random.one_in(2);
      const std::uint64_t factor = random.one_in(6) ? random.next() : 4 * (1 + random.below(8));
      a = pool.add(a, piece(index, in_a, is_signed, factor));
      b = pool.add(b, piece(index, in_b, random.one_in(12) ? !is_signed : is_signed, factor));
      balance += factor * (in_b - in_a);
    }
    if (random.one_in(5))
      balance += random.one_in(2) ? 4 : random.next();
    a = pool.add(a, pool.constant(64, balance));
  }
  Expr a, b;

private:
  std::uint64_t offset() {
    const std::uint64_t amount = random_.one_in(8) ? random_.below(1u << 30) : random_.below(40);
    return random_.one_in(2) ? amount : 0 - amount;
  }
  Expr piece(Expr index, std::uint64_t amount, bool is_signed, std::uint64_t factor) {
    const Expr moved = pool_.add(index, pool_.constant(index->width, amount));
    const Expr wide = is_signed ? pool_.sext(moved, 64) : pool_.zext(moved, 64);
    return pool_.mul(wide, pool_.constant(64, factor));
  }
  ExprPool &pool_;
  Random &random_;
};

std::vector<Bits> random_symbols(const ExprPool &pool, Expr a, Expr b, Random &random) {
  std::vector<Bits> values(pool.symbols().size());
  const auto choose = [&](Expr node) {
    if (node->kind != ExprKind::symbol)
      return;
    values[node->index] = random.bits(node->width);
    if (node->maximum < mask64(node->width))
      values[node->index] = {random.one_in(4) ? node->maximum
                                              : values[node->index].low % (node->maximum + 1)};
  };
  for_each_node(a, choose);
  for_each_node(b, choose);
  return values;
}

} // namespace

TEST_CASE("addresses that are called equal are, wherever the conditions hold") {
  const auto rounds = from_environment("PTXASW_ADDRESS_ROUNDS", 6000);
  const auto questions = from_environment("PTXASW_ADDRESS_QUESTIONS", 40);
  Random random(6);
  std::uint64_t claims = 0, conditional = 0, always = 0, checked = 0, asked = 0, confirmed = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    ExprPool pool;
    const Pair pair(pool, random);
    const auto conditions = equal_unless_wrapped(pool, pair.a, pair.b);
    if (!conditions)
      continue;
    ++claims;
    conditional += !conditions->empty();
    const std::string text =
        fmt::format("{} and {}", to_string(pool, pair.a), to_string(pool, pair.b));
    for (int i = 0; i < 60; ++i) {
      Evaluator value(random_symbols(pool, pair.a, pair.b, random));
      bool all = true;
      for (const WrapCondition &condition : *conditions) {
        const bool here = holds(condition, value(condition.value));
        all = all && here;
        always += always_holds(condition);
        if (always_holds(condition) && !here)
          FAIL_CHECK(to_string(pool, condition.value)
                     << " + " << condition.offset << " does wrap, in " << text);
      }
      checked += all;
      if (all && value(pair.a) != value(pair.b))
        FAIL_CHECK(text << " differ");
    }
    if (asked < questions && !conditions->empty() && random.one_in(8)) {
      ++asked;
      Solver solver(200'000);
      std::vector<Expr> formulas{pool.bit_not(pool.eq(pair.a, pair.b))};
      for (const WrapCondition &condition : *conditions)
        formulas.push_back(formula(pool, condition));
      const SolverAnswer answer = solver.check("equal", formulas);
      confirmed += answer == SolverAnswer::unsat;
      CHECK_MESSAGE(answer != SolverAnswer::sat, text << " differ, says Z3");
    }
  }
  CHECK(claims > rounds / 4);
  CHECK(conditional > rounds / 8);
  CHECK(always > 0);
  CHECK(checked > rounds);
  CHECK(confirmed > asked / 4); // the others are too much for the solver
}

TEST_CASE("addresses that differ are not called equal") {
  ExprPool pool;
  const Expr base = pool.symbol("base", 64), i = pool.symbol("i", 32), j = pool.symbol("j", 32);
  const auto scaled = [&](Expr e, std::uint64_t by) { return pool.mul(e, pool.constant(64, by)); };
  const auto plus = [&](Expr e, std::uint64_t n) {
    return pool.add(e, pool.constant(e->width, n));
  };
  const auto equal = [&](Expr a, Expr b) {
    return equal_unless_wrapped(pool, pool.add(base, a), pool.add(base, b)).has_value();
  };
  const Expr s = pool.sext(i, 64), z = pool.zext(i, 64);
  CHECK(equal(plus(scaled(s, 4), 4), scaled(pool.sext(plus(i, 1), 64), 4)));
  CHECK_FALSE(equal(plus(scaled(s, 4), 8), scaled(pool.sext(plus(i, 1), 64), 4)));
  CHECK_FALSE(equal(plus(scaled(s, 4), 4), scaled(pool.zext(plus(i, 1), 64), 4)));
  CHECK_FALSE(equal(scaled(s, 4), scaled(z, 4)));
  CHECK_FALSE(equal(scaled(s, 4), scaled(pool.sext(j, 64), 4)));
  CHECK_FALSE(equal(scaled(s, 4), plus(scaled(s, 4), 4)));
  // The carry out of 32 bits is lost in one and not in the other.
  CHECK_FALSE(equal(pool.zext(pool.add(i, j), 64), pool.add(z, pool.zext(j, 64))));
}

TEST_CASE("a linear form is the address as long as nothing wraps") {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    ExprPool pool;
    const Expr lane = pool.symbol("%tid.x", 32, 1023), n = pool.symbol("n", 32),
               base = pool.symbol("base", 64);
    Expr index = pool.add(pool.mul(lane, pool.constant(32, {random.below(6)})),
                          pool.mul(n, pool.constant(32, {random.below(100)})));
    index = pool.add(index, pool.constant(32, {random.below(50)}));
    index = random.one_in(2) ? pool.sext(index, 64) : pool.zext(index, 64);
    const Expr address = pool.add(pool.mul(index, pool.constant(64, {4 * random.below(5)})),
                                  pool.sub(base, pool.constant(64, {random.below(64)})));
    const LinearForm form = linear_form(address, [&](Expr symbol) { return symbol == lane; });
    Evaluator value({Bits{random.below(1024)}, Bits{random.below(1000)}, Bits{random.next()}});
    std::uint64_t sum =
        form.constant + static_cast<std::uint64_t>(form.lane_stride) * value(lane).low;
    for (const auto &[atom, factor] : form.terms)
      sum += factor * value(atom).low;
    REQUIRE(sum == value(address).low);
  }
}

TEST_CASE("the solver: four answers, a bound on effort, no context without need") {
  ExprPool pool;
  const Expr x = pool.symbol("x", 32), y = pool.symbol("y", 32);
  const Expr zero = pool.constant(1, 0);
  Solver solver(2'000'000);
  const auto ask = [](Solver &s, std::vector<Expr> formulas) { return s.check("test", formulas); };
  CHECK(ask(solver, {pool.ult(x, y), zero}) == SolverAnswer::unsat);
  CHECK(solver.contexts() == 0);
  CHECK(ask(solver, {pool.ult(x, y)}) == SolverAnswer::sat);
  CHECK(solver.contexts() == 1);
  CHECK(ask(solver, {pool.ult(x, y), pool.ult(y, x)}) == SolverAnswer::unsat);
  CHECK(ask(solver, {pool.ult(x, y)}) == SolverAnswer::sat); // nothing is left of the last question
  const Expr arguments[] = {x}, others[] = {y};
  const Expr fx = pool.uninterpreted("f", 32, arguments), fy = pool.uninterpreted("f", 32, others);
  CHECK(ask(solver, {pool.eq(x, y), pool.bit_not(pool.eq(fx, fy))}) == SolverAnswer::unsat);
  CHECK(ask(solver, {pool.bit_not(pool.eq(fx, fy))}) == SolverAnswer::sat);
  CHECK(solver.contexts() == 1);
  const Expr nothing = pool.constant(32, 0), by_y = pool.udiv(x, y);
  CHECK(ask(solver, {pool.eq(y, nothing), pool.bit_not(pool.eq(by_y, pool.bit_not(nothing)))}) ==
        SolverAnswer::sat);
  CHECK(ask(solver, {pool.ult(nothing, y), pool.ult(x, by_y)}) == SolverAnswer::unsat);
  // Factors of a product of two primes take longer than this.
  const Expr a = pool.symbol("a", 64), b = pool.symbol("b", 64);
  const std::vector<Expr> hard{pool.eq(pool.mul(a, b), pool.constant(64, 4611685975477714963)),
                               pool.ult(a, pool.constant(64, std::uint64_t{1} << 32)),
                               pool.ult(b, pool.constant(64, std::uint64_t{1} << 32)),
                               pool.ult(pool.constant(64, 1), a),
                               pool.ult(pool.constant(64, 1), b)};
  Solver bounded(1000);
  CHECK(ask(bounded, hard) == SolverAnswer::unknown);
  CHECK(ask(bounded, hard) == SolverAnswer::unknown); // and every time
}

TEST_CASE("the solver reads every kind of expression as its name says") {
  Random random(8);
  ExprPool pool;
  Solver solver(20'000'000);
  std::vector<Bits> values;
  std::vector<Expr> symbols;
  for (const unsigned width : {8u, 33u, 128u}) {
    symbols.push_back(pool.symbol(fmt::format("s{}", width), width));
    symbols.push_back(pool.symbol(fmt::format("t{}", width), width));
  }
  using Binary = Expr (ExprPool::*)(Expr, Expr);
  const Binary operations[] = {
      &ExprPool::add,     &ExprPool::sub,   &ExprPool::mul,  &ExprPool::bit_and, &ExprPool::bit_or,
      &ExprPool::bit_xor, &ExprPool::shl,   &ExprPool::lshr, &ExprPool::ashr,    &ExprPool::udiv,
      &ExprPool::urem,    &ExprPool::sdiv,  &ExprPool::srem, &ExprPool::eq,      &ExprPool::ult,
      &ExprPool::slt,     &ExprPool::concat};
  const auto check = [&](Expr expr, std::vector<Bits> bits) {
    // With all symbols fixed the value follows, and no other one.
    std::vector<Expr> formulas;
    for (const Expr symbol : symbols)
      formulas.push_back(pool.eq(symbol, pool.constant(symbol->width, bits[symbol->index])));
    const Bits value = Evaluator(bits)(expr);
    formulas.push_back(pool.bit_not(pool.eq(expr, pool.constant(expr->width, value))));
    const SolverAnswer answer = solver.check("kinds", formulas);
    CHECK_MESSAGE(answer == SolverAnswer::unsat, to_string(pool, expr));
  };
  for (const Binary operation : operations)
    for (std::size_t i = 0; i < symbols.size(); i += 2) {
      if (operation == &ExprPool::concat && symbols[i]->width > 64)
        continue;
      std::vector<Bits> bits;
      for (const Expr symbol : symbols)
        bits.push_back(random.bits(symbol->width));
      if (operation == &ExprPool::shl || operation == &ExprPool::lshr ||
          operation == &ExprPool::ashr)
        bits[i + 1] = {random.below(symbols[i]->width + 2)};
      if (bits[i + 1].is_zero()) // what dividing by it gives is open
        bits[i + 1] = {3};
      check((pool.*operation)(symbols[i], symbols[i + 1]), bits);
      check(pool.sext(symbols[i], 128), bits);
      check(pool.zext(symbols[i], 128), bits);
      check(pool.extract(symbols[i], 3, 5), bits);
      check(pool.ite(pool.slt(symbols[i], symbols[i + 1]), symbols[i], symbols[i + 1]), bits);
    }
}

TEST_CASE("what differs between two addresses") {
  ExprPool pool;
  const Expr base = pool.symbol("base", 64), x = pool.symbol("x", 32), y = pool.symbol("y", 32);
  const auto at = [&](Expr index) {
    return pool.add(base, pool.mul(pool.zext(index, 64), pool.constant(64, 4)));
  };
  using Parts = std::pair<Expr, Expr>;
  const Parts found = what_differs(pool, at(x), at(y));
  CHECK((found == Parts(x, y) || found == Parts(y, x)));
  // Extended in different ways they may differ where the parts do not.
  const Expr negative = pool.add(base, pool.mul(pool.sext(y, 64), pool.constant(64, 4)));
  CHECK(what_differs(pool, at(x), negative).first->width == 64);
  // Neither are equal factors enough beside another offset, nor other factors.
  const Expr further = pool.add(at(y), pool.constant(64, 4));
  CHECK(what_differs(pool, at(x), further) == Parts(at(x), further));
  const Expr wider = pool.add(base, pool.mul(pool.zext(y, 64), pool.constant(64, 8)));
  CHECK(what_differs(pool, at(x), wider) == Parts(at(x), wider));
  CHECK(what_differs(pool, x, x) == Parts(x, x));
  CHECK(what_differs(pool, x, y) == Parts(x, y));
}
