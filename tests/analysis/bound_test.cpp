// Rounds of loops, one way of writing them per case.
//
// In every kernel %r9 is the parameter n, %r10 is m, both signed; %r1 is tid.x, %r3 the index of
// the thread in the grid, %r4 the number of threads in the grid along x. A loop is reported as its
// rounds and the conditions for them, or why they are not known.

#include "analysis/bound.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

std::string loops_of(const std::string &body) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m) {
  .reg .b16 %rs<8>; .reg .b32 %r<40>; .reg .b64 %rd<10>; .reg .pred %p<10>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r9, [n];
  ld.param.u32 %r10, [m];
  mov.u32 %r1, %tid.x;
  mov.u32 %r5, %ntid.x;
  mov.u32 %r6, %ctaid.x;
  mov.u32 %r7, %nctaid.x;
  mad.lo.u32 %r3, %r6, %r5, %r1;
  mul.lo.u32 %r4, %r5, %r7;
)" + body + "\nDONE: ret;\n}\n";
  const auto module = parse(text, "loops");
  REQUIRE(module);
  const KernelBounds bounds = bound_kernel(**module, (*module)->functions[0], {.metrics = {}});
  std::string result;
  for (const LoopBound &loop : bounds.loops)
    result += (loop.rounds ? fmt::format("{}{}", loop.exact ? "" : "at most ",
                                         bounds.amounts->to_string(*loop.rounds))
                           : "none: " + loop.reason) +
              "\n";
  for (const facts::Amount &condition : bounds.conditions)
    result += "if " + condition_text(*bounds.amounts, condition) + "\n";
  return result;
}

struct Case {
  const char *name, *body, *loops;
};

const Case cases[] = {
    {"a counter behind an unrolled loop's first part", R"(
  setp.ge.s32 %p1, %r1, %r9;
  @%p1 bra DONE;
  add.s32 %r21, %r1, 256;
  max.s32 %r22, %r9, %r21;
  not.b32 %r23, %r1;
  add.s32 %r24, %r22, %r23;
  shr.u32 %r25, %r24, 8;
  add.s32 %r26, %r25, 1;
  and.b32 %r27, %r26, 3;
  setp.eq.s32 %p2, %r27, 0;
  mov.u32 %r20, %r1;
  @%p2 bra M;
L: add.s32 %r20, %r20, 256;
  add.s32 %r27, %r27, -1;
  setp.ne.s32 %p2, %r27, 0;
  @%p2 bra L;
M: setp.lt.u32 %p3, %r24, 768;
  @%p3 bra DONE;
N: add.s32 %r20, %r20, 1024;
  setp.lt.s32 %p4, %r20, %r9;
  @%p4 bra N;)",
     "floor((n - tid.x + max(0, tid.x - n + 256) + 255)/256) - "
     "4*floor((n - tid.x + max(0, tid.x - n + 256) + 255)/1024)\n"
     "max(0, floor((n - tid.x + max(0, tid.x - n + 256) + 255)/1024) + "
     "ceil((n - tid.x - 256*floor((n - tid.x + max(0, tid.x - n + 256) + 255)/256))/1024) - 1) + "
     "1"},
    {"up to n, tested first", R"(
  mov.u32 %r20, 0;
L: setp.ge.s32 %p1, %r20, %r9;
  @%p1 bra DONE;
  add.s32 %r20, %r20, 1;
  bra L;)",
     "max(0, n) + 1\n"},
    {"up to n, tested last, behind a test of n", R"(
  setp.lt.s32 %p1, %r9, 1;
  @%p1 bra DONE;
  mov.u32 %r20, 0;
L: add.s32 %r20, %r20, 1;
  setp.lt.s32 %p1, %r20, %r9;
  @%p1 bra L;)",
     "max(0, n)\n"},
    {"up to n and n itself", R"(
  mov.u32 %r20, 0;
L: setp.gt.s32 %p1, %r20, %r9;
  @%p1 bra DONE;
  add.s32 %r20, %r20, 1;
  bra L;)",
     "max(0, n + 1) + 1\nif n <= 2147483646\n"},
    {"by threes", R"(
  mov.u32 %r20, 1;
L: setp.ge.s32 %p1, %r20, %r9;
  @%p1 bra DONE;
  add.s32 %r20, %r20, 3;
  bra L;)",
     "max(0, ceil((n + 2)/3) - 1) + 1\nif n <= 2147483645\n"},
    {"until it is n", R"(
  setp.lt.s32 %p1, %r9, 1;
  @%p1 bra DONE;
  mov.u32 %r20, 0;
L: add.s32 %r20, %r20, 1;
  setp.ne.s32 %p1, %r20, %r9;
  @%p1 bra L;)",
     "max(0, n)\n"},
    {"down to nothing", R"(
  setp.lt.s32 %p1, %r9, 1;
  @%p1 bra DONE;
  mov.u32 %r20, %r9;
L: add.s32 %r20, %r20, -1;
  setp.gt.s32 %p1, %r20, 0;
  @%p1 bra L;)",
     "max(0, n)\n"},
    {"down to nothing and once more, as nvcc unrolls it", R"(
  setp.lt.s32 %p1, %r9, 0;
  @%p1 bra DONE;
  not.b32 %r12, %r9;
  max.s32 %r13, %r12, -1;
  add.s32 %r11, %r13, %r9;
  add.s32 %r14, %r11, 2;
  and.b32 %r17, %r14, 3;
  mov.u32 %r18, %r9;
  setp.eq.s32 %p2, %r17, 0;
  @%p2 bra M;
L: add.s32 %r18, %r18, -1;
  add.s32 %r17, %r17, -1;
  setp.ne.s32 %p3, %r17, 0;
  @%p3 bra L;
M: add.s32 %r15, %r11, 1;
  setp.lt.u32 %p4, %r15, 3;
  @%p4 bra DONE;
  add.s32 %r19, %r18, 4;
N: add.s32 %r19, %r19, -4;
  setp.gt.s32 %p5, %r19, 3;
  @%p5 bra N;)",
     "n - 4*floor((n + 1)/4) + 1\nmax(0, floor((n + 1)/4))\n"},
    {"by fours to the multiple of 4 below n, then the rest, as nvcc writes it", R"(
  setp.lt.s32 %p1, %r9, 1;
  @%p1 bra DONE;
  add.s32 %r21, %r9, -1;
  and.b32 %r22, %r9, 3;
  setp.lt.u32 %p2, %r21, 3;
  @%p2 bra REST;
  sub.s32 %r23, %r9, %r22;
L: add.s32 %r23, %r23, -4;
  setp.ne.s32 %p3, %r23, 0;
  @%p3 bra L;
REST: setp.eq.s32 %p4, %r22, 0;
  @%p4 bra DONE;
M: add.s32 %r22, %r22, -1;
  setp.ne.s32 %p5, %r22, 0;
  @%p5 bra M;)",
     "max(0, floor(n/4))\nn - 4*floor(n/4)\n"},
    {"steps of 4 that may pass by", R"(
  mov.u32 %r20, %r9;
L: add.s32 %r20, %r20, -4;
  setp.ne.s32 %p3, %r20, 0;
  @%p3 bra L;)",
     "none: steps of 4 may pass by the value that ends it: nothing shows that they meet it\n"},
    {"doubling", R"(
  mov.u32 %r20, 1;
L: setp.ge.u32 %p1, %r20, %r5;
  @%p1 bra DONE;
  shl.b32 %r20, %r20, 1;
  bra L;)",
     "ceil(log2(ntid.x)) + 1\n"},
    {"halving", R"(
  shr.u32 %r20, %r5, 1;
L: setp.eq.s32 %p1, %r20, 0;
  @%p1 bra DONE;
  shr.u32 %r20, %r20, 1;
  bra L;)",
     "ceil(log2(floor(ntid.x/2) + 1)) + 1\n"},
    {"over the grid", R"(
  mov.u32 %r20, %r3;
L: setp.ge.s32 %p1, %r20, %r9;
  @%p1 bra DONE;
  add.s32 %r20, %r20, %r4;
  bra L;)",
     "max(0, ceil((n - ntid.x*ctaid.x - tid.x)/(nctaid.x*ntid.x))) + 1\n"
     "if nctaid.x*ntid.x <= 2147483648\nif nctaid.x*ntid.x + n <= 2147483648\n"},
    {"a triangle", R"(
  mov.u32 %r20, 0;
L: setp.ge.s32 %p1, %r20, %r9;
  @%p1 bra DONE;
  mov.u32 %r21, %r20;
M: setp.ge.s32 %p2, %r21, %r9;
  @%p2 bra N;
  add.s32 %r21, %r21, 1;
  bra M;
N: add.s32 %r20, %r20, 1;
  bra L;)",
     "max(0, n) + 1\nmax(0, n - trip0 + 1)\n"},
    {"a number of 16 bits", R"(
  ld.global.u16 %rs1, [%rd1];
  cvt.u32.u16 %r21, %rs1;
  mov.u32 %r20, 0;
L: setp.ge.u32 %p1, %r20, %r21;
  @%p1 bra DONE;
  add.s32 %r20, %r20, 1;
  bra L;)",
     "at most 65536\n"},
    {"a number that was loaded", R"(
  ld.global.u32 %r21, [%rd1];
  mov.u32 %r20, 0;
L: setp.ge.u32 %p1, %r20, %r21;
  @%p1 bra DONE;
  add.s32 %r20, %r20, 1;
  bra L;)",
     "none: "},
    {"away from its bound", R"(
  mov.u32 %r20, 0;
L: setp.ge.s32 %p1, %r20, %r9;
  @%p1 bra DONE;
  add.s32 %r20, %r20, -1;
  bra L;)",
     "none: its counter may wrap around, or go away from its bound\n"},
    {"left on data, or at n", R"(
  mov.u32 %r20, 0;
L: setp.ge.s32 %p1, %r20, %r9;
  @%p1 bra DONE;
  ld.global.u32 %r21, [%rd1];
  setp.eq.s32 %p2, %r21, 0;
  @%p2 bra DONE;
  add.s32 %r20, %r20, 1;
  bra L;)",
     "at most max(0, n) + 1\n"},
    {"for ever", "L: bra L;", "none: no branch that every round passes leaves it\n"},
};

} // namespace

TEST_CASE("rounds of loops") {
  for (const Case &one : cases) {
    CAPTURE(one.name);
    const std::string loops = loops_of(one.body);
    if (std::string_view(one.loops).ends_with('\n'))
      CHECK(loops == one.loops);
    else
      CHECK(loops.starts_with(one.loops));
  }
}

TEST_CASE("words of constant memory are numbers of the launch") {
  const auto module = parse(R"(.version 8.0
.target sm_90
.address_size 64
.const .align 4 .b8 table[16];
.visible .entry k() {
  .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.const.u32 %r1, [table+8];
  mov.u32 %r2, 0;
L: setp.ge.s32 %p1, %r2, %r1;
  @%p1 bra DONE;
  add.s32 %r2, %r2, 1;
  bra L;
DONE: ret;
})",
                            "constant");
  REQUIRE(module);
  const KernelBounds bounds = bound_kernel(**module, (*module)->functions[0], {.metrics = {}});
  REQUIRE(bounds.loops.size() == 1);
  CHECK(bounds.loops[0].exact);
  CHECK(bounds.amounts->to_string(*bounds.loops[0].rounds) == "max(0, table+8) + 1");
}

// i mod 32 of a row of 40 threads may begin anew twice within a warp.
TEST_CASE("a mask wraps around more than once") {
  const auto module = parse(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f1;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 41, %r1;
  and.b32 %r4, %r3, 31;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ret;
})",
                            "mask");
  REQUIRE(module);
  BoundOptions options;
  options.block = BlockShape{40, 3, 1};
  const KernelBounds bounds = bound_kernel(**module, (*module)->functions[0], options);
  REQUIRE(bounds.metrics[0].warp.most);
  CHECK_FALSE(bounds.metrics[0].warp.exact);
  CHECK(*bounds.metrics[0].warp.most == facts::Amount(5)); // all 128 bytes, from any start
}

TEST_CASE("remainders are never negative") {
  facts::AmountPool pool;
  using facts::Amount;
  const Amount n = pool.variable("n"), x = pool.variable("x", {facts::Rational(0), {}});
  const Amount rest = n - pool.floor_div(n, 4) * Amount(4);
  CHECK(pool.never_negative(rest));
  CHECK(pool.never_negative(Amount(3) - rest));
  CHECK_FALSE(pool.never_negative(Amount(2) - rest));
  CHECK(pool.never_negative(rest + x - 0));
  CHECK_FALSE(pool.never_negative(rest * Amount(-1) + x));
  CHECK(pool.never_negative(pool.floor_div(n, 4) - pool.floor_div(n, 16) * Amount(4)));
  CHECK_FALSE(pool.never_negative(pool.floor_div(n, 4) - pool.floor_div(n, 8) * Amount(4)));
  // max(c - x, 256) - 256, written as nvcc leaves it.
  CHECK(pool.never_negative(n - x + pool.positive_part(x - n + 256) - 256));
  CHECK_FALSE(pool.never_negative(n - x + pool.positive_part(x - n + 256) - 257));
  CHECK(pool.never_negative(x - pool.positive_part(x - 5)));
}

TEST_CASE("amounts") {
  facts::AmountPool pool;
  using facts::Amount;
  const Amount n = pool.variable("n"), k = pool.variable("k", {facts::Rational(0), {}});
  CHECK(pool.to_string((n + 1) * (n - 1)) == "n*n - 1");
  CHECK(pool.to_string(pool.ceil_div(n * Amount(8) + 3, 4)) == "2*n + 1");
  CHECK(pool.to_string(pool.floor_div(n * Amount(5), 4)) == "n + floor(n/4)");
  CHECK(pool.positive_part(k + 2) == k + 2);
  CHECK(pool.ceil_div(n * k, k) == n);
  // Sums over a counter: of squares, and of what is only positive for some of its values.
  bool exact = true;
  const facts::AtomId i = pool.atom_of(pool.variable("i", {facts::Rational(0), {}}));
  const auto squares =
      pool.sum(Amount::of(i) * Amount::of(i), i, pool.positive_part(n), n - 1, exact);
  REQUIRE(squares);
  CHECK(exact);
  const auto at = [&](const Amount &amount, int value) {
    return *pool.evaluate(amount, [&](const std::string &) { return facts::Rational(value); });
  };
  CHECK(at(*squares, 5) == 30);
  CHECK(at(*squares, -3) == 0);
  const auto triangle =
      pool.sum(pool.positive_part(n - Amount::of(i)), i, pool.positive_part(n), n - 1, exact);
  REQUIRE(triangle);
  CHECK(exact);
  CHECK(at(*triangle, 10) == 55);
  const auto half =
      pool.sum(pool.positive_part(k - Amount::of(i)), i, pool.positive_part(n), n - 1, exact);
  REQUIRE(half);
  CHECK_FALSE(exact);
  CHECK(at(*half, 4) >= 10);
  // Rounded the right way on both sides of 0.
  CHECK(at(pool.ceil_div(n, 4), -5) == -1);
  CHECK(at(pool.floor_div(n, 4), -5) == -2);
  CHECK(at(pool.ceil_log2(n), 9) == 4);
  CHECK(at(pool.ceil_log2(n), 8) == 3);
  CHECK(at(pool.ceil_log2(n), 0) == 0);
}

// Both ways cost something, and lanes may part: data decides. A guard is free on one side, a
// parameter sends all lanes one way, and of lanes that are known both do run.
TEST_CASE("branches that a bound counts both ways") {
  const auto both_ways = [](const std::string &test, const std::string &otherwise) {
    const std::string text = fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {{
  .reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r9, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  setp.lt.s32 %p1, {};
  @%p1 bra B;
{}
  bra DONE;
B: st.global.u32 [%rd3], %r1;
DONE: ret;
}})",
                                         test, otherwise);
    const auto module = parse(text, "ways");
    REQUIRE(module);
    BoundOptions options;
    options.block = BlockShape{64, 1, 1};
    const KernelBounds bounds = bound_kernel(**module, (*module)->functions[0], options);
    CHECK(bounds.metrics[3].name == "steps");
    return bounds.metrics[3].launch.both_ways;
  };
  const std::string work = "  st.global.u32 [%rd3], %r2;\n", none = "";
  CHECK(both_ways("%r2, 5", work) == 1);
  CHECK(both_ways("%r9, 5", work) == 0);
  CHECK(both_ways("%r1, 5", work) == 0);
  const std::string inner = "  setp.gt.s32 %p2, %r2, 9;\n  @%p2 bra C;\n" + work +
                            "  bra DONE;\nC: st.global.u32 [%rd3+4], %r2;\n";
  CHECK(both_ways("%r2, 5", inner) == 2);
  CHECK(both_ways("%r9, 5", inner) == 1);
  // Lanes wait for each other on one side: each counts by itself.
  CHECK(both_ways("%r2, 5", "  bar.warp.sync 0xffffffff;\n") == every_lane);
}

TEST_CASE("more branches behind each other than are followed") {
  std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
)";
  for (unsigned i = 0; i < 5'000; ++i)
    text += fmt::format("  setp.eq.s32 %p1, %r1, {0};\n  @%p1 bra L{0};\n  add.u32 %r2, %r2, {0};\n"
                        "L{0}:\n",
                        i);
  const auto module = parse(text + "  st.global.u32 [%rd1], %r2;\n  ret;\n}\n", "branches");
  REQUIRE(module);
  const KernelBounds bounds = bound_kernel(**module, (*module)->functions[0], {});
  REQUIRE(bounds.metrics[3].warp.obstacle);
  CHECK(bounds.metrics[3].warp.obstacle->reason == "too many ways");
}
