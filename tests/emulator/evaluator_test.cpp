// What both emulators make of an instruction's operands: which of them a line's values are, what
// constants are worth, vectors, carry flags and second predicates, over expressions and numbers.

#include "support.h"

#include "emulator/semantics/concrete.h"
#include "emulator/semantics/evaluator.h"

#include <doctest/doctest.h>

#include <fmt/core.h>
#include <memory>

using namespace ptxasw::test;

static_assert(Domain<ExprPool> && Domain<ConcreteDomain>);
static_assert(FloatDomain<ConcreteDomain> && !FloatDomain<ExprPool>);

namespace {

/// A kernel of one instruction.
struct One {
  explicit One(const std::string &text) {
    auto parsed = parse(".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                        ".reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
                        ".reg .f32 %f<9>;\n.reg .pred %p<9>;\n" +
                            text + "\n}\n",
                        text);
    REQUIRE_MESSAGE(parsed, text);
    module = std::move(*parsed);
  }
  const Instruction &instruction() const { return module->functions.at(0).instructions.at(0); }
  const Opcode &opcode() const { return module->opcode(instruction()); }
  const Operand &operand(std::size_t index) const { return module->operands(instruction())[index]; }
  std::unique_ptr<Module> module;
};

tl::expected<LineOperands, std::string_view> sorted(const One &one) {
  const auto *line = find_line<ExprPool>(one.opcode());
  REQUIRE_MESSAGE(line, one.opcode().text);
  return line_operands(*one.module, one.instruction(), line->shape, decode(one.opcode()));
}

/// p and q of an instruction with sources of the types of its line, over a domain.
template <Domain D>
std::pair<std::uint64_t, std::uint64_t> both(D &d, const One &one,
                                             std::initializer_list<std::uint64_t> numbers,
                                             std::uint64_t (*bits)(Value<D>)) {
  const auto *line = find_line<D>(one.opcode());
  const Form form = decode(one.opcode());
  const auto in = sorted(one);
  REQUIRE(in);
  REQUIRE(in->destinations.size() == 2);
  std::vector<Value<D>> sources;
  for (const std::uint64_t number : numbers)
    sources.push_back(d.constant(shape_width(in->letters[sources.size()], form), number));
  const auto compute = [&](Args<D> list) { return line->evaluate(d, form, list); };
  const Value<D> first = compute(sources);
  return {bits(first),
          bits(semantics::second_of(d, one.opcode(), first, Args<D>(sources), compute))};
}

/// The same over numbers and over expressions, which must agree.
std::pair<std::uint64_t, std::uint64_t> both(const std::string &text,
                                             std::initializer_list<std::uint64_t> numbers) {
  const One one(text);
  ConcreteDomain concrete;
  ExprPool pool;
  const auto result = both<ConcreteDomain>(
      concrete, one, numbers, [](ConcreteDomain::Value value) { return value.bits.low; });
  const auto symbolic = both<ExprPool>(pool, one, numbers, [](Expr value) {
    REQUIRE(value->kind == ExprKind::constant);
    return value->value.low;
  });
  CHECK(result == symbolic);
  return result;
}

Bits worth(const std::string &constant, const char *opcode, ScalarType type) {
  const One one(fmt::format("{} {};", opcode, constant));
  const auto bits = literal(one.operand(1), type);
  REQUIRE(bits);
  return *bits;
}

} // namespace

TEST_CASE("operands are sorted by the shape of the line") {
  const One add("addc.cc.u32 %r1, %r2, %r3;");
  const auto in = sorted(add);
  REQUIRE(in);
  CHECK(in->destinations.size() == 1);
  CHECK(in->sources.size() == 2);
  CHECK(in->letters == "TT");
  CHECK(in->takes_carry);
  CHECK(in->gives_carry);
  CHECK(in->width == 32);
  const auto wide = sorted(One("mul.wide.u32 %d1, %r2, %r3;"));
  REQUIRE(wide);
  CHECK(wide->width == 64);
  CHECK_FALSE(wide->gives_carry);
}

TEST_CASE("operands that do not fit are refused in words") {
  CHECK(sorted(One("add.u32 %r1, %r2;")).error() == "too few operands");
  CHECK(sorted(One("add.u32 %r1, %r2, %r3, %r4;")).error() == "too many operands");
  CHECK(sorted(One("add.u32 %r1|%p1, %r2, %r3;")).error() == "this form");
  CHECK(sorted(One("lop3.b32 %r1|%p1, %r2, %r3, %r4, 1;")).error() == "this form");
}

TEST_CASE("constants are worth what their place asks for") {
  CHECK(worth("%r1, -1", "mov.b32", ScalarType::b32) == Bits{~std::uint64_t{0}, ~std::uint64_t{0}});
  CHECK(worth("%r1, 7", "mov.b32", ScalarType::none) == Bits{7});
  CHECK(worth("%f1, 0f3F800000", "mov.f32", ScalarType::f32) == Bits{0x3f800000});
  CHECK(worth("%f1, 0d3FF0000000000000", "mov.f32", ScalarType::f32) == Bits{0x3f800000});
  CHECK(worth("%f1, 1.0", "mov.f32", ScalarType::f32) == Bits{0x3f800000});
  CHECK(worth("%d1, 0f3F800000", "mov.f64", ScalarType::f64) == Bits{0x3ff0000000000000});
  // As they are written.
  CHECK(worth("%f1, 1.0", "mov.f32", ScalarType::none) == Bits{0x3ff0000000000000});
  CHECK_FALSE(literal(One("mov.b32 %r1, %r2;").operand(1), ScalarType::b32));
}

TEST_CASE("vectors are packed and unpacked lowest part first") {
  const One pack("mov.b64 %d1, {%r1, %r2};");
  const auto move = vector_move(*pack.module, pack.instruction());
  REQUIRE(move);
  CHECK(move->fits());
  CHECK(move->source_width() == 32);
  CHECK(move->destination_width() == 64);
  const One plain("mov.b64 %d1, %d2;");
  CHECK_FALSE(vector_move(*plain.module, plain.instruction()));
  ConcreteDomain d;
  const ConcreteDomain::Value parts[] = {
      {{0x1111}, 16}, {{0x2222}, 16}, {{0x3333}, 16}, {{0x4444}, 16}};
  const auto whole = semantics::pack(d, Args<ConcreteDomain>(parts));
  CHECK(whole.bits == Bits{0x4444333322221111});
  CHECK(whole.width == 64);
  CHECK(semantics::unpack(d, whole, 1, 32).bits == Bits{0x44443333});
  CHECK(semantics::unpack(d, whole, 2, 16).bits == Bits{0x3333});
}

TEST_CASE("the carry flag lies on top of a result") {
  ConcreteDomain d;
  const ConcreteDomain::Value narrow{{0x1'0000'0005}, 33};
  CHECK(semantics::carry_of(d, narrow, 32).bits == Bits{1});
  const ConcreteDomain::Value wide{{5, 1}, 65};
  CHECK(semantics::carry_of(d, wide, 64).bits == Bits{1});
}

TEST_CASE("the second predicate is the opposite comparison, combined alike") {
  for (const std::uint64_t a : {1, 2})
    for (const std::uint64_t c : {0, 1}) {
      const std::uint64_t holds = a == 2, fails = a != 2;
      CHECK(both("setp.eq.u32 %p1|%p2, %r1, %r2;", {a, 2}) == std::pair(holds, fails));
      CHECK(both("setp.eq.and.u32 %p1|%p2, %r1, %r2, %p3;", {a, 2, c}) ==
            std::pair(holds & c, fails & c));
      CHECK(both("setp.eq.or.u32 %p1|%p2, %r1, %r2, %p3;", {a, 2, c}) ==
            std::pair(holds | c, fails | c));
      CHECK(both("setp.eq.xor.u32 %p1|%p2, %r1, %r2, %p3;", {a, 2, c}) ==
            std::pair(holds ^ c, fails ^ c));
    }
}

TEST_CASE("lop3 says if any bit of its result is set") {
  for (const std::uint64_t a : {0, 12})
    for (const std::uint64_t c : {0, 1}) {
      const std::uint64_t any = a != 0; // the table of the first operand alone
      CHECK(both("lop3.and.b32 %r1|%p1, %r2, %r3, %r4, 0xf0, %p2;", {a, 3, 5, 0xf0, c}) ==
            std::pair(a, any & c));
      CHECK(both("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0xf0, %p2;", {a, 3, 5, 0xf0, c}) ==
            std::pair(a, any | c));
    }
}
