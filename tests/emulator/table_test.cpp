// The table of instructions: numbers against the manual, expressions against numbers, and how many
// wrong tables the first of these would find.

#include "table.h"

#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <set>
#include <tuple>

using namespace ptxasw::test;
using namespace ptxasw::emulator_test;

namespace {

using Number = ConcreteDomain::Value;

std::string text_of(const std::vector<Number> &operands) {
  std::string result;
  for (const Number &operand : operands)
    result += (result.empty() ? "" : ", ") + to_text(operand.bits);
  return result;
}

/// What of a result disagrees with the manual; empty if nothing.
std::string disagreement(const Expected &expected, Number got) {
  // A carry stands on top of the result.
  if (got.width != expected.width + expected.carry.has_value())
    return fmt::format("{} bits, not {}", got.width, expected.width);
  const Bits value = ptxasw::emulator::truncate(got.bits, expected.width);
  if (value != Bits{expected.value})
    return fmt::format("{}, not {:#x}", to_text(value), expected.value);
  if (expected.carry && bits::extract(got.bits, expected.width, 1).low != *expected.carry)
    return fmt::format("carry {}", !*expected.carry);
  return {};
}

/// Numbers with one operation gone wrong: the one that comes `target`-th in an evaluation.
class MutantDomain : public ConcreteDomain {
public:
  using Value = ConcreteDomain::Value;
  static constexpr int variants = 3;

  int count = 0, target = -1, variant = 0;

  Value constant(unsigned width, Bits value) {
    if (!hit())
      return base().constant(width, value);
    return base().constant(width, variant == 0   ? bits::add(value, {1}, 128)
                                  : variant == 1 ? bits::sub(value, {1}, 128)
                                                 : bits::shl(value, {1}, 128));
  }
  // clang-format off
  Value add(Value a, Value b) { return hit() ? pick(base().sub(a, b), base().add(base().add(a, b), one(a)), a) : base().add(a, b); }
  Value sub(Value a, Value b) { return hit() ? pick(base().add(a, b), base().sub(b, a), a) : base().sub(a, b); }
  Value neg(Value a) { return hit() ? pick(a, base().bit_not(a), zero(a)) : base().neg(a); }
  Value mul(Value a, Value b) { return hit() ? pick(base().add(a, b), base().mul(a, a), base().neg(base().mul(a, b))) : base().mul(a, b); }
  Value bit_and(Value a, Value b) { return hit() ? pick(base().bit_or(a, b), a, b) : base().bit_and(a, b); }
  Value bit_or(Value a, Value b) { return hit() ? pick(base().bit_and(a, b), a, b) : base().bit_or(a, b); }
  Value bit_xor(Value a, Value b) { return hit() ? pick(base().bit_or(a, b), a, b) : base().bit_xor(a, b); }
  Value bit_not(Value a) { return hit() ? pick(a, zero(a), base().neg(a)) : base().bit_not(a); }
  Value shl(Value a, Value b) { return hit() ? pick(base().lshr(a, b), base().shl(a, base().add(b, one(b))), a) : base().shl(a, b); }
  Value lshr(Value a, Value b) { return hit() ? pick(base().ashr(a, b), base().lshr(a, base().add(b, one(b))), base().shl(a, b)) : base().lshr(a, b); }
  Value ashr(Value a, Value b) { return hit() ? pick(base().lshr(a, b), base().ashr(a, base().add(b, one(b))), a) : base().ashr(a, b); }
  Value udiv(Value a, Value b) { return hit() ? pick(base().sdiv(a, b), base().urem(a, b), a) : base().udiv(a, b); }
  Value sdiv(Value a, Value b) { return hit() ? pick(base().udiv(a, b), base().srem(a, b), a) : base().sdiv(a, b); }
  Value urem(Value a, Value b) { return hit() ? pick(base().srem(a, b), base().udiv(a, b), a) : base().urem(a, b); }
  Value srem(Value a, Value b) { return hit() ? pick(base().urem(a, b), base().sdiv(a, b), a) : base().srem(a, b); }
  Value eq(Value a, Value b) { return hit() ? pick(base().bit_not(base().eq(a, b)), base().ult(a, b), base().bit_not(base().ult(a, b))) : base().eq(a, b); }
  Value ult(Value a, Value b) { return hit() ? pick(base().slt(a, b), base().bit_not(base().ult(b, a)), base().ult(b, a)) : base().ult(a, b); }
  Value slt(Value a, Value b) { return hit() ? pick(base().ult(a, b), base().bit_not(base().slt(b, a)), base().slt(b, a)) : base().slt(a, b); }
  Value ite(Value c, Value a, Value b) { return hit() ? pick(base().ite(c, b, a), a, b) : base().ite(c, a, b); }
  Value zext(Value a, unsigned w) { return hit() ? pick(base().sext(a, w), base().zext(base().bit_not(a), w), base().constant(w, {})) : base().zext(a, w); }
  Value sext(Value a, unsigned w) { return hit() ? pick(base().zext(a, w), base().sext(base().bit_not(a), w), base().constant(w, {})) : base().sext(a, w); }
  Value extract(Value a, unsigned low, unsigned w) {
    if (!hit())
      return base().extract(a, low, w);
    const unsigned last = a.width - w; // the neighbours, and the other end
    return base().extract(a, pick(low < last ? low + 1 : 0, low > 0 ? low - 1 : last, low == 0 ? last : 0), w);
  }
  Value concat(Value a, Value b) {
    if (!hit())
      return base().concat(a, b);
    const unsigned w = a.width + b.width;
    return pick(base().concat(b, a), base().zext(b, w), base().constant(w, base().concat(b, base().bit_not(a)).bits));
  }
  // clang-format on

private:
  const ConcreteDomain &base() const { return *this; }
  bool hit() { return count++ == target; }
  template <class T> T pick(T first, T second, T third) const {
    return variant == 0 ? first : variant == 1 ? second : third;
  }
  Value one(Value a) const { return base().constant(a.width, {1}); }
  Value zero(Value a) const { return base().constant(a.width, {}); }
};

} // namespace

TEST_CASE("every line of the table can be spelled and is found") {
  std::set<std::size_t> lines;
  const auto table = instruction_table<ConcreteDomain>();
  for (const Spelling &s : spellings()) {
    const auto *line = find_line<ConcreteDomain>(*s.opcode);
    CHECK_MESSAGE(line == &table[s.line], s.text << " is not found in its line");
    if (line)
      lines.insert(static_cast<std::size_t>(line - table.data()));
  }
  for (std::size_t i = 0; i < table.size(); ++i)
    CHECK_MESSAGE(lines.contains(i), "nothing finds " << table[i].base << " [" << table[i].types
                                                      << "] [" << table[i].modifiers << "]");
  CHECK(spellings().size() > 500);
}

TEST_CASE("what the table computes is pure by the table of opcodes") {
  for (const auto &line : instruction_table<ConcreteDomain>())
    CHECK_MESSAGE(traits(base_opcode(line.base)).memory == MemoryUse::pure, line.base);
}

TEST_CASE("numbers: the table says what the manual says") {
  const auto rounds = from_environment("PTXASW_TABLE_ROUNDS", 400);
  ConcreteDomain domain;
  Random random(3);
  std::size_t without = 0;
  for (const Spelling &s : spellings()) {
    const Form form = decode(*s.opcode);
    const auto &line = instruction_table<ConcreteDomain>()[s.line];
    bool known = false;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const auto operands = random_operands(s, form, random);
      const auto expected = oracle(s, operands);
      if (!expected)
        continue;
      known = true;
      const Number got = line.evaluate(domain, form, operands);
      if (const std::string wrong = disagreement(*expected, got); !wrong.empty()) {
        FAIL_CHECK(s.text << " of " << text_of(operands) << " is " << wrong);
        break;
      }
    }
    without += !known;
  }
  // mov.b128, and conversions of addresses of spaces whose place does not matter
  CHECK(without < 20);
}

TEST_CASE("expressions: constants fold to the numbers, symbols evaluate to them") {
  const auto rounds = from_environment("PTXASW_TABLE_ROUNDS", 25);
  ConcreteDomain domain;
  Random random(4);
  for (const Spelling &s : spellings()) {
    ExprPool pool;
    const Form form = decode(*s.opcode);
    const auto &line = instruction_table<ConcreteDomain>()[s.line];
    const auto &symbolic = instruction_table<ExprPool>()[s.line];
    std::vector<Expr> symbols;
    for (const Number &operand : random_operands(s, form, random))
      symbols.push_back(pool.symbol(fmt::format("s{}", symbols.size()), operand.width));
    const Expr expr = symbolic.evaluate(pool, form, symbols);
    bool uninterpreted = false;
    for_each_node(expr, [&](Expr node) { uninterpreted |= node->kind == ExprKind::uf; });
    if (uninterpreted)
      continue;
    CHECK(!to_string(pool, expr).empty());
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const auto operands = random_operands(s, form, random);
      const Number expected = line.evaluate(domain, form, operands);
      std::vector<Bits> values;
      std::vector<Expr> constants;
      Substitution substitution(pool);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        values.push_back(operands[k].bits);
        constants.push_back(pool.constant(operands[k].width, operands[k].bits));
        substitution.map(symbols[k], constants[k]);
      }
      const Expr folded = symbolic.evaluate(pool, form, constants);
      const Expr substituted = substitution(expr);
      const bool by_zero = (s.base == "div" || s.base == "rem") && operands[1].bits.is_zero();
      // What a division by zero gives is left open: to the expression it is unknown.
      const bool right =
          expr->width == expected.width && folded == substituted &&
          (by_zero ? folded->kind != ExprKind::constant
                   : Evaluator(values)(expr) == expected.bits &&
                         folded->kind == ExprKind::constant && folded->value == expected.bits);
      if (!right) {
        FAIL_CHECK(s.text << " of " << text_of(operands) << " should be " << to_text(expected.bits)
                          << "; the expression\n  " << to_string(pool, expr) << "\nis "
                          << to_text(Evaluator(values)(expr)) << ", folded "
                          << to_string(pool, folded));
        break;
      }
    }
  }
}

// Every operation that a line's function performs is replaced by three wrong ones in turn, for the
// first spelling of each sign. Some of these are right after all: the low half of a product does
// not know how its factors were extended.
TEST_CASE("mutants of the table are told from it by the manual") {
  const bool list = from_environment("PTXASW_LIST_MUTANTS", 0) != 0;
  constexpr int most_operations = 10; // of one line, spread over it
  constexpr int tries = 8000;
  constexpr int equivalence_tries = 8000;
  Random random(5);
  std::set<std::tuple<std::size_t, bool, bool, bool, Comparison>> seen;
  std::set<std::size_t> caught_lines, tried_lines;
  int mutants = 0, killed = 0, equivalent = 0;
  for (const Spelling &s : spellings()) {
    const Form form = decode(*s.opcode);
    const bool narrows = form.source_width > form.width;
    if (!seen.emplace(s.line, form.is_signed, form.source_signed, narrows, form.comparison).second)
      continue;
    const auto &line = instruction_table<MutantDomain>()[s.line];
    if (!oracle(s, std::vector<Number>(8, Number{{1}, 1})))
      continue;
    MutantDomain whole;
    line.evaluate(whole, form, random_operands(s, form, random));
    const int operations = whole.count;
    const int step = std::max(1, (operations + most_operations - 1) / most_operations);
    for (int target = 0; target < operations; target += step)
      for (int variant = 0; variant < MutantDomain::variants; ++variant) {
        ++mutants;
        tried_lines.insert(s.line);
        MutantDomain mutant;
        mutant.target = target;
        mutant.variant = variant;
        bool dead = false;
        for (int i = 0; i < tries && !dead; ++i) {
          const auto operands = random_operands(s, form, random);
          const auto expected = oracle(s, operands);
          mutant.count = 0;
          dead =
              expected && !disagreement(*expected, line.evaluate(mutant, form, operands)).empty();
        }
        if (dead) {
          ++killed;
          caught_lines.insert(s.line);
          continue;
        }
        bool differs = false;
        for (int i = 0; i < equivalence_tries && !differs; ++i) {
          const auto operands = random_operands(s, form, random);
          if ((s.base == "div" || s.base == "rem") && operands[1].bits.is_zero())
            continue;
          mutant.count = 0;
          MutantDomain original;
          const Number a = line.evaluate(mutant, form, operands);
          const Number b = line.evaluate(original, form, operands);
          differs = a.width != b.width || a.bits != b.bits;
        }
        equivalent += !differs;
        if (list)
          MESSAGE(s.text << ": operation " << target << " of " << operations << ", variant "
                         << variant << std::string(differs ? " survives" : " is no mutant"));
      }
  }
  MESSAGE("mutants: " << mutants << ", killed: " << killed << ", equal to the original: "
                      << equivalent << ", surviving: " << mutants - killed - equivalent);
  CHECK(mutants >= 500);
  CHECK(mutants - killed - equivalent == 0);
  CHECK(killed * 100 >= mutants * 90);
  CHECK(caught_lines == tried_lines);
}
