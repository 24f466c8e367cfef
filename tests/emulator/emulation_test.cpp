// What the emulator finds in small kernels: addresses, who shares them, what is known where.
//
// In every kernel p (%rd1) points to global memory, n (%r9) is a number, %r1 is %tid.x and %r8 is a
// number that each lane has read itself. The accesses that follow are written one per line: what it
// does, its address with loops written out, and whether all lanes of a row that are there together
// have that address (uniform), or have it except for their lane (lane), or may not (varying).

#include "emulator/symbolic/emulate.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>

using namespace ptxasw::test;

namespace {

struct Kernel {
  const char *name;
  const char *body;
  const char *accesses;
  const char *directives = "";
};

struct Emulated {
  std::unique_ptr<Module> module;
  std::unique_ptr<Emulation> emulation;
};

// What the kernels may call, besides f, about which nothing is known.
const char functions[] = R"(
.func (.param .b32 r) row(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];
  mad.lo.s32 %r3, %r1, %r2, %r1; st.param.b32 [r], %r3; ret; }
.func (.param .b64 r) pair(.param .b64 a, .param .align 4 .b8 b[8])
{ .reg .b32 %r<5>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [a]; ld.param.v2.u32 {%r1, %r2}, [b];
  mov.u32 %r3, %ctaid.x; add.s32 %r1, %r1, %r3; sub.s32 %r2, %r2, %r1;
  mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.param.b64 [r], %rd3; ret; }
.func (.param .b32 r) branching(.param .b32 a)
{ .reg .b32 %r<4>; .reg .pred %p; ld.param.u32 %r1, [a]; mov.u32 %r2, 4;
  setp.eq.s32 %p, %r1, 0; @%p bra A; mov.u32 %r2, 8; A: add.s32 %r3, %r1, %r2;
  st.param.b32 [r], %r3; ret; }
.func (.param .b32 r) looping(.param .b32 a)
{ .reg .b32 %r<4>; .reg .pred %p; ld.param.u32 %r1, [a]; A: add.s32 %r1, %r1, 3;
  setp.lt.s32 %p, %r1, 9; @%p bra A; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) returning(.param .b32 a)
{ .reg .b32 %r<4>; .reg .pred %p; ld.param.u32 %r1, [a]; setp.eq.s32 %p, %r1, 0;
  st.param.b32 [r], %r1; @%p ret; st.param.b32 [r], 7; ret; }
.func (.param .b32 r) storing(.param .b32 a)
{ .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u32 %r1, [a]; cvt.u64.u32 %rd1, %r1;
  st.global.u32 [%rd1], %r1; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) nested(.param .b32 a)
{ .reg .b32 %r<4>; .param .b32 x; .param .b32 y; ld.param.u32 %r1, [a];
  st.param.b32 [x], %r1; call (y), branching, (x); ld.param.b32 %r2, [y];
  st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) recursive(.param .b32 a)
{ .reg .b32 %r<4>; .param .b32 x; .param .b32 y; ld.param.u32 %r1, [a];
  st.param.b32 [x], %r1; call (y), recursive, (x); ld.param.b32 %r2, [y];
  st.param.b32 [r], %r2; ret; }
.weak .func (.param .b32 r) replaceable(.param .b32 a)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) leaving(.param .b32 a)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; exit; }
.func (.param .b32 r) scratching(.param .b32 a)
{ .reg .b32 %r<4>; .local .b32 v; ld.param.u32 %r1, [a]; st.local.u32 [v], %r1;
  ld.local.u32 %r2, [v]; add.s32 %r2, %r2, %r1; st.param.b32 [r], %r2; ret; }
)";

const Function &kernel_of(const Module &module) {
  return *std::find_if(module.functions.begin(), module.functions.end(),
                       [](const Function &function) { return function.is_entry; });
}

Emulated emulate(const Kernel &kernel) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n"
                     ".extern .func f(.param .b32 x);\n"
                     ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m)\n";
  text += kernel.directives;
  text += "{\n.reg .b16 %h<8>;\n.reg .b64 %rd<32>;\n.reg .b32 %r<32>;\n.reg .pred %p<8>;\n"
          "ld.param.u64 %rd1, [p];\nld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\n"
          "mul.wide.u32 %rd31, %r1, 4; add.s64 %rd31, %rd1, %rd31; ld.global.u32 %r8, [%rd31];\n";
  text += kernel.body;
  text += "\nret;\n}\n";
  text += functions; // behind it, so that the kernel's lines stay what they are
  auto module = parse(text, kernel.name);
  REQUIRE_MESSAGE(module, kernel.name);
  const Function &function = kernel_of(**module);
  auto emulation = std::make_unique<Emulation>(**module, function, launch_facts(function));
  return {std::move(*module), std::move(emulation)};
}

std::string accesses_of(Emulation &emulation) {
  std::string result;
  for (std::size_t i = 1; i < emulation.trace().size(); ++i) {
    const MemoryAccess &access = emulation.trace()[i];
    if (access.effect == Effect::sync) {
      result += "sync\n";
      continue;
    }
    const Expr address = access.address ? emulation.expand(access.address) : nullptr;
    const char *shared = !address                                            ? ""
                         : emulation.uniform(address, access.block)          ? ", uniform"
                         : emulation.uniform_but_lane(address, access.block) ? ", lane"
                                                                             : ", varying";
    result += fmt::format("{}{} {}{}\n", access.guard ? "guarded " : "",
                          access.effect == Effect::load ? "load" : "store",
                          address ? to_string(emulation.pool(), address) : "?", shared);
  }
  return result;
}

/// Trims the blank lines and indentation of a raw string.
std::string lines_of(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty())
      result += std::string(line) + '\n';
  }
  return result;
}

// clang-format off
const Kernel kernels[] = {
#include "kernels.inc"
};
// clang-format on

} // namespace

TEST_CASE("addresses and who shares them") {
  for (const Kernel &kernel : kernels) {
    const Emulated emulated = emulate(kernel);
    CHECK_MESSAGE(emulated.emulation->complete(), std::string(kernel.name));
    const std::string got = accesses_of(*emulated.emulation);
    CHECK_MESSAGE(got == lines_of(kernel.accesses), std::string(kernel.name) << " gives\n" << got);
  }
}

TEST_CASE("what branches on the way established") {
  struct {
    const char *body;
    const char *facts; // where the last access is, the nearest branch first
  } cases[] = {
      {"setp.lt.s32 %p1, %r1, %r9; @%p1 bra A; ret; A: ld.global.u32 %r5, [%rd1];",
       "%tid.x <s n is 1\n"},
      {"setp.lt.s32 %p1, %r1, %r9; @!%p1 bra A; ld.global.u32 %r5, [%rd1]; A:", // a negation
       "-0x1 + (%tid.x <s n) is 0\n"},
      {"setp.lt.s32 %p1, %r1, %r9; @%p1 bra A; A: ld.global.u32 %r5, [%rd1];", ""},
      {"setp.lt.s32 %p1, %r1, %r9; @%p1 bra A; mov.u32 %r2, 0; A: ld.global.u32 %r5, [%rd1];", ""},
      {"setp.lt.s32 %p1, %r1, %r9; @%p1 ret; ld.global.u32 %r5, [%rd1];", "%tid.x <s n is 0\n"},
      {"T: .branchtargets A, B; brx.idx %r9, T; A: ret; B: ld.global.u32 %r5, [%rd1];", ""},
      {"L: setp.lt.s32 %p1, %r2, %r9; @!%p1 bra E; add.s32 %r2, %r2, 1; bra L;"
       "E: ld.global.u32 %r5, [%rd1];",
       "-0x1 + (loop(0, %r2) <s n) is 1\n"},
  };
  for (const auto &[text, expected] : cases) {
    const char *const body = text; // clang 14 captures no binding
    const Emulated emulated = emulate({"facts", body, ""});
    Emulation &emulation = *emulated.emulation;
    std::string got;
    for (const PathFact &fact : emulation.facts_in(emulation.trace().back().block))
      got += to_string(emulation.pool(), fact.condition) + (fact.holds ? " is 1" : " is 0") + '\n';
    CHECK_MESSAGE(got == std::string(expected), std::string(body) << " gives " << got);
  }
}

TEST_CASE("registers are read where an instruction extends them, as they are then") {
  const Emulated emulated = emulate({"reads", R"(
    add.s32 %r2, %r1, %r9;
    mul.wide.s32 %rd2, %r2, 4; ld.global.u32 %r5, [%rd2];
    add.s32 %r2, %r2, 1;
    cvt.s64.s32 %rd3, %r2; ld.global.u32 %r5, [%rd3];
    sub.s32 %r2, %r2, 1;
    mul.wide.s32 %rd4, %r2, 8; ld.global.u32 %r5, [%rd4];)",
                                     ""});
  Emulation &emulation = *emulated.emulation;
  const Expr tid = emulation.pool().symbol("unrelated", 32);
  CHECK(emulation.reads_of(tid) == nullptr);
  const auto extended = [&](std::size_t access) {
    Expr address = emulation.expand(emulation.trace()[access].address);
    while (address->kind != ExprKind::sext)
      address = address->children[0];
    return address->children[0];
  };
  REQUIRE(extended(1) == extended(3));
  const auto *first = emulation.reads_of(extended(1));
  REQUIRE(first);
  CHECK(first->size() == 2); // the first and the last, not the one in between
  const auto *second = emulation.reads_of(extended(2));
  REQUIRE(second);
  CHECK(second->size() == 1);
  CHECK(second->front().instruction > first->front().instruction);
  CHECK(second->front().instruction < first->back().instruction);
}

TEST_CASE("what varies in a loop is not invariant in it") {
  const Emulated emulated = emulate({"invariants", R"(
    mov.u32 %r2, 0;
  O: mov.u32 %r3, 0;
  I: cvt.u64.u32 %rd2, %r3; ld.global.u32 %r5, [%rd2];
    cvt.u64.u32 %rd3, %r2; ld.global.u32 %r5, [%rd3];
    cvt.u64.u32 %rd4, %r9; ld.global.u32 %r5, [%rd4];
    cvt.u64.u32 %rd4, %r5; ld.global.u32 %r6, [%rd4];
    add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r9; @%p1 bra I;
    add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r9; @%p2 bra O;)",
                                     ""});
  Emulation &emulation = *emulated.emulation;
  const bool invariant[][2] = {{false, false}, {false, true}, {true, true}, {false, false}};
  for (std::size_t access = 0; access < 4; ++access)
    for (LoopId loop = 0; loop < 2; ++loop) { // the outer one has the smaller number
      CHECK(emulation.invariant(emulation.trace()[access + 1].address, loop) ==
            invariant[access][loop]);
      CHECK(emulation.invariant(emulation.expand(emulation.trace()[access + 1].address), loop) ==
            invariant[access][loop]);
    }
}

TEST_CASE("launch facts") {
  struct {
    const char *directives;
    bool one_dimensional;
    std::uint32_t max_block_x;
  } cases[] = {{"", false, 1024},
               {".reqntid 64\n", true, 64},
               {".reqntid 64, 1, 1\n", true, 64},
               {".reqntid 16, 16\n", false, 16},
               {".reqntid 8, 1, 2\n", false, 8},
               {".maxntid 64\n", false, 64},
               {".maxntid 16, 16, 1\n", false, 256},
               {".maxntid 1024, 1024, 64\n", false, 1024}};
  for (const auto &[text, one_dimensional, max_block_x] : cases) {
    const char *const directives = text; // clang 14 captures no binding
    const Emulated emulated = emulate({"facts", "", "", directives});
    const LaunchFacts facts = launch_facts(kernel_of(*emulated.module));
    CHECK_MESSAGE(facts.one_dimensional == one_dimensional, std::string(directives));
    CHECK_MESSAGE(facts.max_block_x == max_block_x, std::string(directives));
  }
}

TEST_CASE("warps that lie in one row, by a directive or by the user's word") {
  struct {
    const char *directives;
    std::optional<BlockShape> assumed;
    std::optional<BlockShape> block;
    bool whole_warps, block_assumed;
  } cases[] = {
      {"", {}, {}, false, false},
      {".maxntid 64\n", {}, {}, false, false},
      {".reqntid 33\n", {}, BlockShape{33}, true, false},
      {".reqntid 64, 4, 2\n", {}, BlockShape{64, 4, 2}, true, false},
      {".reqntid 48, 2\n", {}, BlockShape{48, 2}, false, false},
      {"", BlockShape{32, 8}, BlockShape{32, 8}, true, true},
      {"", BlockShape{16, 16}, BlockShape{16, 16}, false, true},
      {".maxntid 256\n", BlockShape{100}, BlockShape{100}, true, true},
      {".reqntid 48, 2\n", BlockShape{32, 8}, BlockShape{48, 2}, false, false},
  };
  for (const auto &expected : cases) {
    const Emulated emulated = emulate({"facts", "", "", expected.directives});
    const LaunchFacts facts = launch_facts(kernel_of(*emulated.module), expected.assumed);
    CAPTURE(std::string(expected.directives));
    CHECK(facts.block == expected.block);
    CHECK(facts.whole_warps() == expected.whole_warps);
    CHECK(facts.block_assumed == expected.block_assumed);
  }
}
