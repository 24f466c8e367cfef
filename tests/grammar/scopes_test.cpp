// Which declaration a name means. The rules are ptxas': each row below was tried on it.

#include "support.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

std::vector<std::string> describe_all(const std::string &text) {
  const auto module = parse_good(text);
  std::vector<std::string> lines;
  for (const Function &function : module->functions)
    for (const Instruction &instruction : function.instructions)
      lines.push_back(describe(*module, function, instruction));
  return lines;
}

using Lines = std::vector<std::string>;

std::string kernel(std::string_view body) {
  return ".version 8.8\n.target sm_90a\n.entry k(.param .u64 x){" + std::string(body) + "}";
}

} // namespace

TEST_CASE("the innermost declaration wins") {
  struct Row {
    const char *body;
    Lines operands;
  };
  const Row rows[] = {
      {".reg .u32 a; { .reg .u64 a; mov.u64 a, 1; } mov.u32 a, 1;", {"a:u64 1", "a:u32 1"}},
      {".reg .u32 a; { mov.u32 a, 1; .reg .u64 a; mov.u64 a, 1; }", {"a:u32 1", "a:u64 1"}},
      {"{ .reg .u32 a; mov.u32 a, 1; } { .reg .f32 a; mov.f32 a, 1.0; }",
       {"a:u32 1", "a:f32 f64:3ff0000000000000"}},
      {".reg .u32 a; { .local .u64 a; mov.u64 a, a; }", {"symbol(a) symbol(a)"}},
      {".local .u32 a; { .reg .u64 a; mov.u64 a, a; }", {"a:u64 a:u64"}},
      {"{ .reg .u64 x; mov.u64 x, 1; } ld.param.u64 q, [x];", {"x:u64 1", "symbol(q) [symbol(x)]"}},
      {".reg .u32 %tid; mov.u32 %tid, %ntid.x;", {"%tid:u32 special(%ntid.x)"}},
      {".reg .v4 .u32 %tid; mov.u32 %tid.x, %ctaid.x;", {"%tid:u32x4.x special(%ctaid.x)"}},
      // Ranges: all trailing digits are the index.
      {".reg .u32 %r<10>; mov.u32 %r0, %r9; mov.u32 %r10, 1;",
       {"%r0:u32 %r9:u32", "special(%r10) 1"}},
      {".reg .u32 %r<0x10>; mov.u32 %r15, 1;", {"%r15:u32 1"}},
      {".reg .u64 %r1<5>; { .reg .u32 %r<100>; mov.u32 %r12, 1; }", {"%r12:u32 1"}},
      {".reg .u32 %r<100>; .reg .u64 %r1<5>; mov.u32 %r12, 1;", {"%r12:u32 1"}},
      {".reg .u32 %r<100>; { .reg .u64 %r1<5>; mov.u32 %r12, 1; }", {"%r12:u32 1"}},
      {".reg .u32 %r<100>; { .reg .u64 %r<5>; mov.u64 %r3, 1; mov.u32 %r50, 1; }",
       {"%r3:u64 1", "%r50:u32 1"}},
      {".reg .u64 %r12; { .reg .u32 %r<100>; mov.u32 %r12, 1; }", {"%r12:u32 1"}},
      {".reg .u32 %r<100>; { .reg .u64 %r12; mov.u64 %r12, 1; } mov.u32 %r12, 1;",
       {"%r12:u64 1", "%r12:u32 1"}},
      {".reg .u64 %r<5>; { .local .u32 %r3; mov.u64 %r4, %r3; }", {"%r4:u64 symbol(%r3)"}},
      {".local .u32 %r3; { .reg .u32 %r<5>; mov.u32 %r3, 1; }", {"%r3:u32 1"}},
      {".reg .b32 a, b<3>, %c<2>; mov.b32 b2, a; mov.b32 %c1, b0;",
       {"b2:b32 a:b32", "%c1:b32 b0:b32"}},
      {".reg.u64 a;.reg.pred p<2>;@!p1 mov.u64 a,1;", {"@!p1:pred a:u64 1"}},
      {".reg .u32 %r<4000000000>; mov.u32 %r3999999999, %r4294967296;",
       {"%r3999999999:u32 special(%r4294967296)"}},
  };
  for (const Row &row : rows) {
    INFO(std::string(row.body));
    CHECK(describe_all(kernel(row.body)) == row.operands);
  }
}

TEST_CASE("one register, one id") {
  const auto module = parse_good(kernel(".reg .u32 %r<100>, a; mov.u32 %r1, %r01; mov.u32 a, %r001;"
                                        "{ .reg .u32 %r<100>, a; mov.u32 a, %r1; }"
                                        "{ .reg .u32 %r<100>; mov.u32 a, %r1; }"));
  const Function &function = module->functions[0];
  const auto reg = [&](std::size_t instruction, std::size_t operand) {
    return module->operands(function.instructions[instruction])[operand].reg;
  };
  CHECK(reg(0, 0) == reg(0, 1)); // ptxas: %r01 is %r1
  CHECK(reg(0, 0) == reg(1, 1));
  CHECK(reg(2, 1) != reg(0, 0));
  CHECK(reg(3, 1) != reg(0, 0));
  CHECK(reg(3, 1) != reg(2, 1));
  CHECK(reg(2, 0) != reg(1, 0));
  CHECK(reg(3, 0) == reg(1, 0));
  CHECK(function.registers.size() == 5);
  CHECK(function.scopes.size() == 3);
  CHECK(function.scopes[2].parent == 0);
}

TEST_CASE("registers do not outlive their function") {
  const auto lines = describe_all(".version 8.8\n.target sm_90a\n"
                                  ".entry a(){ .reg .u32 %r<5>; mov.u32 %r1, 1; }"
                                  ".entry b(){ .reg .u64 %r<5>; mov.u64 %r1, 1; }"
                                  ".entry c(){ mov.u64 %r1, 1; }");
  CHECK(lines == Lines{"%r1:u32 1", "%r1:u64 1", "special(%r1) 1"});
}

TEST_CASE("register parameters are registers of the body") {
  const auto module = parse_good(".version 8.8\n.target sm_90a\n"
                                 ".func (.reg .u32 %rv, .reg .pred q) f (.reg .u32 %ra<2>x, .reg "
                                 ".u32 %rb)\n{ add.u32 %rv, %rb, 1; ret; }");
  const Function &function = module->functions[0];
  CHECK(describe(*module, function, function.instructions[0]) == "%rv:u32 %rb:u32 1");
  REQUIRE(function.return_registers.size() == 2);
  CHECK(function.registers[function.return_registers[0]].name == "%rv");
  CHECK(function.registers[function.return_registers[1]].type == ScalarType::pred);
}

TEST_CASE("a register of module scope is a new one at every mention") {
  // Any function that is called may change it.
  const auto module = parse_good(".version 2.3\n.target sm_20\n.reg .u32 g; .reg .pred h<2>;\n"
                                 ".entry k(){ mov.u32 g, g; @h1 mov.u32 g, 1; @h1 exit;"
                                 " { .reg .u64 g; mov.u64 g, g; } }");
  const Function &function = module->functions[0];
  CHECK(function.registers.size() == 6);
  CHECK(function.instructions[1].guard != function.instructions[2].guard);
  CHECK(describe(*module, function, function.instructions[3]) == "g:u64 g:u64");
}

TEST_CASE("labels and target lists are found from the inside out") {
  const auto module = parse_good(kernel("L: { L: bra L; } { bra L; L: } { bra L; } bra M; "
                                        "{ { bra M; } M: } M: T: .branchtargets L, M;"
                                        "{ T: .branchtargets M; brx.idx r, T; } brx.idx r, T;"));
  const Function &function = module->functions[0];
  const auto target = [&](std::size_t instruction) {
    const Instruction &bra = function.instructions[instruction];
    const Label *label = function.find_label("L", bra.scope);
    return label ? std::pair(label->position, label->scope) : std::pair(no_index, no_index);
  };
  using Target = std::pair<std::uint32_t, std::uint32_t>;
  CHECK(target(0) == Target(0, 1));
  CHECK(target(1) == Target(2, 2)); // the one further down in its own scope
  CHECK(target(2) == Target(0, 0));
  CHECK(function.find_label("M", function.instructions[3].scope)->scope == 0);
  CHECK(function.find_label("M", function.instructions[4].scope)->scope == 4);
  CHECK(function.find_label("N", 0) == nullptr);
  CHECK(function.find_target_list("T", function.instructions[5].scope)->targets.size() == 1);
  CHECK(function.find_target_list("T", function.instructions[6].scope)->targets.size() == 2);
}

TEST_CASE("a name of several variables makes its instruction opaque") {
  struct Row {
    const char *body;
    Lines operands;
  };
  const Row rows[] = {
      {"ld.global.u32 r, [t]; { .global .u32 t; ld.global.u32 r, [t+4]; } ld.global.u32 r, [t];",
       {"r:u32 [symbol(t)]", "opaque r:u32 [symbol(t)+4]", "opaque r:u32 [symbol(t)]"}},
      {"{ .shared .u32 s; mov.u32 r, s; } { .shared .u32 s; mov.u32 r, s; }",
       {"r:u32 symbol(s)", "opaque r:u32 symbol(s)"}},
      {"{ .local .u64 x; ld.local.u32 r, [x]; }", {"opaque r:u32 [symbol(x)]"}},
      {"{ .param .u32 a; st.param.u32 [a], r; } { .param .u32 a; st.param.u32 [a], r; }",
       {"[symbol(a)] r:u32", "[symbol(a)] r:u32"}},
      {"{ .param .u32 a; st.param.u32 [a], r; } { .local .u32 a; st.local.u32 [a], r; }",
       {"[symbol(a)] r:u32", "opaque [symbol(a)] r:u32"}},
      {"{ .reg .u32 t; mov.u32 t, r; } mov.u32 r, t;", {"t:u32 r:u32", "r:u32 symbol(t)"}},
  };
  for (const Row &row : rows) {
    INFO(std::string(row.body));
    CHECK(describe_all(".version 8.8\n.target sm_90a\n.global .u32 t;\n.entry k(.param .u64 x){"
                       ".reg .u32 r;" +
                       std::string(row.body) + "}") == row.operands);
  }
  CHECK(describe_all(".version 8.8\n.target sm_90a\n.global .u32 t;\n"
                     ".entry a(.param .u32 t){ .reg .u32 r; ld.param.u32 r, [t]; }\n"
                     ".entry b(){ .reg .u32 r; ld.global.u32 r, [t]; }") ==
        Lines{"opaque r:u32 [symbol(t)]", "r:u32 [symbol(t)]"});
}

TEST_CASE("declarations of every kind") {
  const auto module = parse_good(
      ".version 8.8\n.target sm_90a, debug\n.address_size 64\n"
      ".global .align 8 .b8 a[4][(1<<2)|1], b = 3, c[] = {1,2,(3)};\n"
      ".extern .shared .align 16 .b8 s[];\n.common .global .u32 d;\n.weak .const .v2 .f32 e;\n"
      ".global .attribute(.managed) .u32 m;\n.tex .u32 t;\n"
      ".visible .entry k(.param .u64 .ptr .global .align 16 x, .param .align 4 .b8 y[12])\n"
      ".maxntid 8, 4\n.minnctapersm 2\n.pragma \"nounroll\"; .reqnctapercluster 2,1,1 {\n"
      ".local .align 4 .b32 l[3]; .param .b32 q; }");
  REQUIRE(module->variables.size() == 8);
  const auto &v = module->variables;
  CHECK(v[0].size() == 20);
  CHECK(v[0].alignment == 8);
  CHECK(module->text(v[1].initializer) == "3");
  CHECK(v[2].count == 0);
  CHECK(module->text(v[2].initializer) == "{1,2,(3)}");
  CHECK(v[3].linkage == Linkage::external);
  CHECK(v[3].space == StateSpace::shared);
  CHECK(v[5].vector == 2);
  CHECK(v[6].name == "m");
  CHECK(v[7].space == StateSpace::tex);
  const Function &k = module->functions[0];
  REQUIRE(k.parameters.size() == 2);
  CHECK(k.parameters[0].type == ScalarType::u64);
  CHECK(k.parameters[0].space == StateSpace::param);
  CHECK(k.parameters[1].size() == 12);
  CHECK(k.variables.size() == 2);
  REQUIRE(k.directive("maxntid") != nullptr);
  CHECK(k.directive("maxntid")->values[1] == 4);
  CHECK(k.directive("minnctapersm")->values[0] == 2);
  CHECK(k.directive("reqnctapercluster")->count == 3);
  CHECK(k.directive("reqntid") == nullptr);
  CHECK(k.has_body);
  CHECK(module->debug);
  CHECK(module->sm == 90);
  CHECK(module->version_major == 8);
  CHECK(module->version_minor == 8);
}
