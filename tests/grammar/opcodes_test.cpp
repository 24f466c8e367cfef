// The rows of opcodes.def and modifiers.def are found by their names and by nothing else, and an
// opcode taken apart says what its text says.

#include "grammar/module.h"

#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace ptxasw::test;

TEST_CASE("every row is found by its name") {
  const auto table = opcode_table();
  std::set<std::string_view> names;
  for (std::size_t i = 1; i < table.size(); ++i) {
    INFO(std::string(table[i].name));
    CHECK(base_opcode(table[i].name) == static_cast<Op>(i));
    CHECK(&traits(static_cast<Op>(i)) == &table[i]);
    CHECK(names.insert(table[i].name).second);
  }
  CHECK(table[0].name.empty());
  for (const char *name : {"", "novel", "and_", "ADD", "ad", "addd", "unknown"})
    CHECK(base_opcode(name) == Op::unknown);
  CHECK(base_opcode("and") == Op::and_);
}

TEST_CASE("what nobody has read about may do everything") {
  const OpcodeTraits &unknown = traits(Op::unknown);
  CHECK(unknown.first == FirstOperand::unknown);
  CHECK(unknown.memory == MemoryUse::any);
  CHECK(unknown.lanes == Lanes::together);
}

TEST_CASE("an opcode is taken apart") {
  const Opcode load = Opcode::of("ld.global.nc.L2::cache_hint.v4.f32");
  CHECK(load.op == Op::ld);
  CHECK(load.base == "ld");
  CHECK(load.space == StateSpace::global);
  CHECK(load.type == ScalarType::f32);
  CHECK(load.vector == 4);
  CHECK(load.has(Modifier::nc));
  CHECK(load.has(Modifier::L2_cache_hint));
  CHECK(load.has("L2::cache_hint"));
  CHECK_FALSE(load.has(Modifier::volatile_));
  CHECK_FALSE(load.has("ld"));
  const Opcode atomic = Opcode::of("atom.and.b32");
  CHECK(atomic.has(Modifier::and_));
  CHECK_FALSE(atomic.has(Modifier::add));
  const Opcode convert = Opcode::of("cvt.rn.f32.s64");
  CHECK(convert.type == ScalarType::f32);
  CHECK(convert.second_type == ScalarType::s64);
  CHECK(Opcode::of("").op == Op::unknown);
  CHECK(Opcode::of("ld..").op == Op::ld);
}
