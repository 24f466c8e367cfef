// Whole functions: clones are the instruction's own text with other registers, however these are
// spelled; what is declared is typed and what is printed parses.

#include "grammar/code_writer.h"
#include "support.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

const char *const whole_function = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .align 8 .b8 /* ) */ rest[8])
.maxntid 32
{
  .reg .b32 %r<12>;
  .reg .b64 %d;
  .reg .pred %p, %q;
  @!%p mad.lo.s32 %r1, %ctaid.x, %r01, -4;
  setp.lt.or.u32 %p|%q, %r1, %r11, !%q;
  ld.global.v2.u32 {%r2, _}, [%d+16];
  { .reg .b32 %r1; mov.b32 %r1, {%r2.h0, %r2.h1}; }
  ret;
}
.entry bare { ret; }
)";

std::unique_ptr<Module> parsed(const std::string &what) {
  auto module = parse(what, "test.ptx");
  REQUIRE(module.has_value());
  return std::move(*module);
}

/// Each register `%rN` as `%x_rN`, by its place.
Renaming renaming_of(const Function &function) {
  Renaming renaming;
  for (RegisterId reg = 0; reg < function.registers.size(); ++reg)
    renaming.registers.push_back("%x" + std::to_string(reg));
  renaming.specials = {{"%ctaid.x", "%block"}};
  return renaming;
}

} // namespace

TEST_CASE("a clone has other registers and is the same otherwise") {
  const auto module = parsed(whole_function);
  const Function &kernel = module->functions[0];
  const Renaming renaming = renaming_of(kernel);
  std::vector<std::string> clones;
  for (const Instruction &instruction : kernel.instructions)
    clones.push_back(renamed(*module, instruction, renaming));
  const auto name = [&](std::string_view reg, unsigned nth = 0) {
    for (RegisterId id = 0; id < kernel.registers.size(); ++id)
      if (kernel.registers[id].name == reg && nth-- == 0)
        return renaming.registers[id];
    FAIL("no such register");
    return std::string();
  };
  const std::string p = name("%p"), q = name("%q"), r1 = name("%r1"), r2 = name("%r2");
  CHECK(clones[0] == "@!" + p + " mad.lo.s32 " + r1 + ", %block, " + r1 + ", -4;");
  CHECK(clones[1] ==
        "setp.lt.or.u32 " + p + "|" + q + ", " + r1 + ", " + name("%r11") + ", !" + q + ";");
  CHECK(clones[2] == "ld.global.v2.u32 {" + r2 + ", _}, [" + name("%d") + "+16];");
  CHECK(clones[3] == "mov.b32 " + name("%r1", 1) + ", {" + r2 + ".h0, " + r2 + ".h1};");
  CHECK(clones[4] == "ret;");
}

TEST_CASE("a header is taken apart") {
  const auto module = parsed(whole_function);
  const FunctionHeader header = header_of(*module, module->functions[0]);
  CHECK(header.before_name == ".visible .entry ");
  CHECK(header.parameters == ".param .u64 p, .param .align 8 .b8 /* ) */ rest[8]");
  const FunctionHeader bare = header_of(*module, module->functions[1]);
  CHECK(bare.before_name == ".entry ");
  CHECK(bare.parameters.empty());
}

TEST_CASE("what is written parses, in its order") {
  CodeWriter out;
  out.declare("%a", ScalarType::b32);
  out.declare("%p", ScalarType::pred);
  out.write("mov.u32 {}, %tid.x", "%a");
  out.pragma("nounroll");
  out.write("setp.eq.u32 %p, %a, {}", 7);
  out.write("@!%p bra {}", "END");
  out.write("add.u32 {0}, {0}, 1", "%a");
  out.place("END");
  out.write("ret");
  CHECK(out.instructions() == 5);
  const auto module =
      parsed(".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n" + out.body());
  const Function &function = module->functions.at(0);
  REQUIRE(function.instructions.size() == 5);
  CHECK(module->text(function.instructions[2].span) == "@!%p bra END;");
  REQUIRE(function.labels.size() == 1);
  CHECK(function.labels[0].position == 4);
  CHECK(function.pragmas.at(0).position == 1);
  CHECK(function.registers.size() == 2);
}

TEST_CASE("a clone may have other variables") {
  const auto module = parsed(".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{\n"
                             "\t.shared .b32 s[4];\n\t.shared .b32 st[4];\n\t.reg .b32 %s;\n"
                             "\tmov.u32 %s, s;\n\tld.shared.u32 %s, [ s + 8 ];\n"
                             "\tst.shared.u32 [st+4], %s;\n}\n");
  const Function &kernel = module->functions.at(0);
  Renaming renaming{{"%x"}, {}, {}};
  const Operand &source = module->operands(kernel.instructions[0])[1];
  renaming.symbols.emplace_back(module->symbol(source), "other");
  CodeWriter out;
  out.declare_variable("shared", "other", 24, 8);
  out.declare_variable("shared", "st", 16, 4);
  out.declare("%x", ScalarType::b32);
  for (const Instruction &instruction : kernel.instructions)
    out.clone(*module, instruction, renaming);
  const auto written =
      parsed(".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n" + out.body());
  const Function &clone = written->functions.at(0);
  REQUIRE(clone.variables.size() == 2);
  CHECK(clone.variables[0].size() == 24);
  CHECK(clone.variables[0].alignment == 8);
  CHECK(clone.variables[0].space == StateSpace::shared);
  CHECK(written->text(clone.instructions[0].span) == "mov.u32 %x, other;");
  CHECK(written->text(clone.instructions[1].span) == "ld.shared.u32 %x, [ other + 8 ];");
  CHECK(written->text(clone.instructions[2].span) == "st.shared.u32 [st+4], %x;");
}

TEST_CASE("a piece stands in the place of an instruction, and lines of several follow each other") {
  CodeWriter first, second;
  CHECK(first.piece().empty());
  first.write("mov.u32 %a, {}", 1);
  first.add("ret;");
  CHECK(first.lines() == "\tmov.u32 %a, 1;\n\tret;\n");
  CHECK(first.piece() == "mov.u32 %a, 1;\n\tret;");
  second.place("$end");
  second.append(first);
  CHECK(second.piece() == "$end:\n\tmov.u32 %a, 1;\n\tret;");
  CHECK(second.instructions() == 2);
}
