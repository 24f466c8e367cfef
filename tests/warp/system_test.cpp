// printf, malloc, assertions, barriers that a GPU gets past, asynchronous copies, grids that wait
// for each other, and functions that stand in for lines of the tables.

#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

constexpr std::string_view externs = R"(
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 text[40] = {37, 53, 46, 49, 102, 32, 37, 45, 52, 100, 124, 37, 115, 32, 37, 108, 108, 120, 37, 37, 10, 0};
.global .align 1 .b8 word[4] = {97, 98, 99, 0};
)";

std::string call(std::string_view function, std::string_view result, std::string_view arguments,
                 std::string_view setup) {
  return fmt::format("{{\n{}\ncall.uni {}{}, ({});\n}}\n", setup,
                     result.empty() ? "" : fmt::format("({}), ", result), function, arguments);
}

WarpOptions barriers_checked() {
  WarpOptions options;
  options.check_barriers = true;
  return options;
}

} // namespace

TEST_CASE("printf has its text") {
  const std::string body =
      R"(
  .local .align 8 .b8 place[32];
  mov.u64 %d2, place;
  mov.f64 %g0, 0d400a000000000000;
  st.local.f64 [%d2], %g0;
  st.local.u32 [%d2+8], -7;
  mov.u64 %d3, word;
  st.local.u64 [%d2+16], %d3;
  st.local.u64 [%d2+24], 0x123456789a;
  mov.u64 %d1, text;
)" +
      call("vprintf", "back", "one, two",
           ".param .b64 one; .param .b64 two; .param .b32 back;\nst.param.b64 [one], %d1;\n"
           "st.param.b64 [two], %d2;") +
      "";
  const WarpRun run = run_warp(in_warp_kernel(body, externs), 2);
  CHECK(!run.outcome.fault);
  CHECK(run.outcome.output == "  3.2 -7  |abc 123456789a%\n  3.2 -7  |abc 123456789a%\n");
}

TEST_CASE("malloc and free") {
  const auto allocate = [](std::string_view size) {
    return call("malloc", "back", "one",
                fmt::format(".param .b64 one; .param .b64 back;\nst.param.b64 [one], {};", size));
  };
  std::string body = allocate("64");
  body.insert(body.rfind('}'), "ld.param.b64 %d1, [back];\n");
  const std::string free_it = call("free", "", "one", ".param .b64 one;\nst.param.b64 [one], %d1;");
  CHECK(
      !run_warp(in_warp_kernel(body + "st.u32 [%d1+60], %t;\n" + free_it, externs)).outcome.fault);
  auto fault = run_warp(in_warp_kernel(body + "st.u32 [%d1+64], %t;\n", externs)).outcome.fault;
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::out_of_bounds);
  fault = run_warp(in_warp_kernel(body + free_it + "st.u32 [%d1], %t;\n", externs)).outcome.fault;
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::out_of_bounds);
  fault = run_warp(in_warp_kernel(body + free_it + free_it, externs)).outcome.fault;
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::bad_free);
  // More than there is gives null.
  std::string large = allocate("0x7fffffffffffffff");
  large.insert(large.rfind('}'), "ld.param.b64 %d1, [back];\nst.global.u32 [%out], %t;\n");
  CHECK(!run_warp(in_warp_kernel(large, externs)).outcome.fault);
}

TEST_CASE("an assertion, a call of nothing, a store to constants") {
  auto fault = run_warp(in_warp_kernel(
                            "mov.u64 %d1, word;\n" +
                                call("__assertfail", "", "a, b, c, d, e",
                                     ".param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; "
                                     ".param .b64 e;\nst.param.b64 [a], %d1;\nst.param.b64 [b], "
                                     "%d1;\nst.param.b32 [c], 12;\nst.param.b64 [d], "
                                     "%d1;\nst.param.b64 [e], 1;"),
                            externs))
                   .outcome.fault;
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::assertion);
  CHECK(fault->message == "`abc` does not hold, abc:12 in abc");
  CHECK(fault->line > 0);
  fault = run_warp(in_warp_kernel("mov.u64 %d1, 0;\ncall %d1, (), p;\np: .callprototype _ ();\n",
                                  ".func f() { ret; }\n"))
              .outcome.fault;
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::bad_target);
  fault =
      run_warp(in_warp_kernel("mov.u64 %d1, numbers;\ncvta.const.u64 %d1, %d1;\nst.u32 [%d1], 1;\n",
                              ".const .u32 numbers[4];\n"))
          .outcome.fault;
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::read_only);
}

TEST_CASE("a race names both accesses") {
  WarpOptions options;
  options.check_races = true;
  const WarpRun run = run_warp(in_warp_kernel(R"(
  st.global.u32 [%base+8], %t;
  ld.global.u32 %r1, [%base+8];)"),
                               64, 0, options);
  REQUIRE(run.outcome.race);
  CHECK(run.outcome.race->kind == FaultKind::race);
  REQUIRE(run.outcome.race->others.size() == 1);
  const WarpFault &other = run.outcome.race->others[0];
  CHECK(other.line != 0);
  CHECK(other.message == "store");
  CHECK(run.outcome.race->message.find("not ordered") != std::string::npos);
  // Equal values are a class of their own, volatile accesses race only if they are asked to.
  const WarpRun same = run_warp(in_warp_kernel("st.global.u32 [%base], 0;"), 64, 0, options);
  CHECK(!same.outcome.race);
  CHECK(same.outcome.same_value_race);
  const std::string shouting = in_warp_kernel("st.volatile.global.u32 [%base], %t;");
  CHECK(!run_warp(shouting, 64, 0, options).outcome.race);
  options.volatile_races = true;
  CHECK(run_warp(shouting, 64, 0, options).outcome.race);
}

TEST_CASE("barriers that a GPU gets past") {
  const auto finding = [](std::string_view body, std::uint32_t block = 64) {
    const WarpRun run = run_warp(in_warp_kernel(body), block, 0, barriers_checked());
    CHECK(!run.outcome.fault);
    return run.outcome.barrier ? std::string(to_string(run.outcome.barrier->kind)) : "";
  };
  CHECK(finding("bar.sync 0;") == "");
  CHECK(finding("bar.sync 0;\nbar.sync 1, 64;\nbar.sync 0;", 40) == "");
  CHECK(finding("setp.lt.u32 %p0, %t, 7;\n@%p0 bar.sync 0;") == "divergent barrier");
  CHECK(finding("setp.lt.u32 %p0, %t, 7;\n@%p0 barrier.sync 0;") == "divergent barrier");
  CHECK(finding("setp.lt.u32 %p0, %t, 7;\n@%p0 barrier.sync 1, 32;", 32) == "");
  CHECK(
      finding(
          "setp.lt.u32 %p0, %t, 7;\n@%p0 bra two;\nbar.sync 0;\nbra on;\ntwo: bar.sync 0;\non:") ==
      "divergent barrier");
  CHECK(finding("setp.lt.u32 %p0, %t, 32;\n@%p0 bar.arrive 1, 64;\n@!%p0 bar.sync 1, 32;") ==
        "barrier mismatch");
  CHECK(finding("bar.sync 1, 40;", 40) == "barrier mismatch");
  CHECK(finding("setp.lt.u32 %p0, %t, 32;\n@%p0 bar.arrive 1, 64;") == "lonely arrival");
  CHECK(finding("bar.arrive 1, 64;") == "lonely arrival");
  CHECK(finding("setp.lt.u32 %p0, %t, 32;\n@%p0 bar.arrive 1, 64;\n@!%p0 bar.sync 1, 64;") == "");
}

TEST_CASE("barriers that a part of the block never reaches, whoever exits first") {
  const auto always = [](std::string_view body, FaultKind kind, std::uint32_t block = 64) {
    for (WarpOptions options : all_schedules()) {
      options.check_barriers = true;
      const WarpRun run = run_warp(in_warp_kernel(body), block, 0, options);
      CHECK(!run.outcome.fault);
      REQUIRE(run.outcome.barrier);
      CHECK(run.outcome.barrier->kind == kind);
    }
  };
  const auto never = [](std::string_view body, std::uint32_t block = 64) {
    for (WarpOptions options : all_schedules()) {
      options.check_barriers = true;
      CHECK(!run_warp(in_warp_kernel(body), block, 0, options).outcome.barrier);
    }
  };
  for (const std::string_view half : {"setp.lt.u32", "setp.ge.u32"})
    for (const std::string_view barrier : {"bar.sync 0;", "barrier.sync 0;"})
      for (const int first : {32, 16}) {
        const std::string exits = fmt::format("{} %p0, %t, {};\n@%p0 exit;\n", half, first);
        always(exits + std::string(barrier), FaultKind::divergent_barrier);
        always("bar.sync 0;\n" + exits + std::string(barrier), FaultKind::divergent_barrier);
        never(exits + "mov.u32 %r1, %t;");
      }
  // With a number it is for as many as come.
  never("setp.lt.u32 %p0, %t, 32;\n@%p0 exit;\nbar.sync 1, 32;");
  never("setp.lt.u32 %p0, %t, 32;\n@%p0 exit;\nbarrier.sync 1, 32;");
  never("bar.sync 0;\nbarrier.sync 0;", 40);
  // Lanes 4 to 7 take what lanes 8 to 11 have, which take no part.
  const std::string part = "setp.ge.u32 %p0, %t, 8;\n@%p0 exit;\n";
  always(part + "shfl.sync.down.b32 %r1, %t, 4, 31, 0xff;", FaultKind::missing_lane, 32);
  never(part + "shfl.sync.down.b32 %r1, %t, 4, 0x1807, 0xff;", 32);
}

TEST_CASE("a copy happens when it is waited for") {
  const auto copied = [](std::string_view wait) {
    return in_warp_kernel(fmt::format(R"(
  st.global.u32 [%out], %t;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %t, 4, %r1;
  st.shared.u32 [%r1], 99;
  cp.async.ca.shared.global [%r1], [%out], 4;
  cp.async.commit_group;
  {}
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%out], %r2;)",
                                      wait),
                          ".shared .align 4 .b8 tile[128];");
  };
  for (const WarpOptions &options : all_schedules()) {
    CHECK(run_warp(copied("cp.async.wait_group 0;"), 32, 0, options).words[5] == 5);
    CHECK(run_warp(copied("cp.async.wait_all;"), 32, 0, options).words[5] == 5);
  }
  CHECK(run_warp(copied("cp.async.wait_group 1;")).words[5] == 99);
  CHECK(run_warp(copied("")).words[5] == 99);
}

TEST_CASE("blocks of a cooperative grid wait for each other") {
  // A counter in the workspace; every block waits until all have come.
  const std::string text = in_warp_kernel(R"(
  mov.u32 %r1, %envreg2;
  mov.u32 %r2, %envreg1;
  mov.b64 %d1, {%r1, %r2};
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra done;
  atom.add.release.gpu.u32 %r3, [%d1+4], 1;
  mov.u32 %r5, %nctaid.x;
wait:
  ld.acquire.gpu.u32 %r4, [%d1+4];
  setp.lt.u32 %p1, %r4, %r5;
  @%p1 bra wait;
  mov.u32 %r6, %ctaid.x;
  mul.wide.u32 %d2, %r6, 4;
  add.u64 %d2, %d2, %base;
  st.global.u32 [%d2], %r4;
done:)");
  for (const WarpOptions &options : all_schedules()) {
    const WarpRun run = run_warp(text, 32, 0, options, 6);
    CHECK(!run.outcome.fault);
    CHECK(run.words[5] == 6);
  }
}

TEST_CASE("a matrix instruction wants the whole warp") {
  const std::string body =
      "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %t;\nst.global.u32 [%out], %r1;";
  const WarpRun run = run_warp(in_warp_kernel(body), 20);
  REQUIRE(run.outcome.fault);
  CHECK(run.outcome.fault->kind == FaultKind::missing_lane);
  // Lane 4 gets column 1 of rows 0 and 1: the upper halves of lanes 0 and 4.
  CHECK(run_warp(in_warp_kernel(body)).words[4] == 0);
  CHECK(run_warp(in_warp_kernel(body)).words[0] == 4 << 16);
}

TEST_CASE("fast functions compute what the tables say") {
  for (const char *opcode :
       {"add.s32", "sub.u32", "mul.lo.s32", "mad.lo.u32", "and.b32", "or.b32",    "xor.b32",
        "not.b32", "neg.s32", "shl.b32",    "shr.u32",    "shr.s32", "min.s32",   "min.u32",
        "max.s32", "max.u32", "add.f32",    "sub.rn.f32", "mul.f32", "fma.rn.f32"}) {
    const std::string_view name = opcode;
    const std::string more = name.starts_with("not") || name.starts_with("neg")   ? ""
                             : name.starts_with("mad") || name.starts_with("fma") ? ", %r2, %r3"
                                                                                  : ", %r2";
    const std::string text = in_warp_kernel(fmt::format(R"(
  mul.lo.u32 %r1, %t, 0x9e3779b1;
  mul.hi.u32 %r2, %r1, 0x85ebca6b;
  xor.b32 %r3, %r1, %r2;
  and.b32 %r4, %t, 3;
  setp.eq.u32 %p0, %r4, 0;
  @%p0 shr.u32 %r2, %r2, 27;
  {} %r5, %r1{};
  st.global.u32 [%out], %r5;)",
                                                        opcode, more));
    WarpOptions slow;
    slow.tables_only = true;
    CHECK_MESSAGE(run_warp(text, 1000).words == run_warp(text, 1000, 0, slow).words, opcode);
  }
}
