// Lanes together: divergence, shuffles, votes, barriers, under every scheduling policy.

#include "support.h"

#include <bit>
#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

/// Runs under all policies; what they leave must be equal. Returns it.
std::vector<std::uint32_t> same_everywhere(const std::string &text, std::uint32_t block = 32,
                                           std::uint32_t n = 0) {
  std::vector<std::uint32_t> first;
  for (const WarpOptions &options : all_schedules()) {
    const WarpRun run = run_warp(text, block, n, options);
    if (run.outcome.fault)
      FAIL(format(*run.outcome.fault));
    if (first.empty())
      first = run.words;
    CHECK(run.words == first);
  }
  return first;
}

} // namespace

TEST_CASE("shfl.sync in all modes with its predicate") {
  const auto shuffle = [](const std::string &form) {
    return same_everywhere(in_warp_kernel("shfl.sync." + form +
                                          ", -1;\n"
                                          "selp.u32 %r2, 100, 0, %p0;\n"
                                          "add.u32 %r0, %r0, %r2;\nst.global.u32 [%out], %r0;"));
  };
  const auto up = shuffle("up.b32 %r0|%p0, %t, 3, 0");
  CHECK(up[2] == 2);
  CHECK(up[3] == 100);
  CHECK(up[31] == 128);
  const auto down = shuffle("down.b32 %r0|%p0, %t, 1, 31");
  CHECK(down[30] == 131);
  CHECK(down[31] == 31);
  const auto segments = shuffle("down.b32 %r0|%p0, %t, 1, 0x181f"); // segments of 8
  CHECK(segments[6] == 107);
  CHECK(segments[7] == 7);
  CHECK(shuffle("bfly.b32 %r0|%p0, %t, 1, 31")[4] == 105);
  CHECK(shuffle("idx.b32 %r0|%p0, %t, 5, 31")[9] == 105);
}

TEST_CASE("a shuffle waits for the lanes it names, wherever they are") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p0, %r1, 0;
    mov.u32 %r2, %t;
    @%p0 bra EVEN;
    add.u32 %r2, %r2, 1000;
    mul.lo.u32 %r2, %r2, 3;
EVEN:
    shfl.sync.bfly.b32 %r0, %r2, 1, 31, 0xffffffff;
    st.global.u32 [%out], %r0;)"));
  CHECK(words[0] == 3003);
  CHECK(words[1] == 0);
}

TEST_CASE("votes, match, redux") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    setp.lt.u32 %p0, %t, 5;
    vote.sync.ballot.b32 %r0, %p0, -1;
    vote.sync.any.pred %p1, %p0, -1;
    selp.u32 %r1, 0x1000, 0, %p1;
    add.u32 %r0, %r0, %r1;
    shr.u32 %r2, %t, 2;
    match.any.sync.b32 %r3, %r2, -1;
    popc.b32 %r3, %r3;
    redux.sync.max.u32 %r4, %t, -1;
    mad.lo.u32 %r0, %r3, 0x10000, %r0;
    mad.lo.u32 %r0, %r4, 0x1000000, %r0;
    st.global.u32 [%out], %r0;)"));
  CHECK(words[7] == 0x1f04101f);
}

TEST_CASE("lanes that have ended have no vote") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    setp.ge.u32 %p0, %t, 8;
    setp.lt.u32 %p1, %t, 40;
    @%p0 ret;
    setp.eq.u32 %p0, %t, %t;
    vote.sync.ballot.b32 %r0, %p1, -1;
    vote.sync.all.pred %p2, %p0, -1;
    selp.u32 %r1, 0x1000, 0, %p2;
    vote.sync.uni.pred %p2, %p0, -1;
    selp.u32 %r2, 0x2000, 0, %p2;
    add.u32 %r0, %r0, %r1;
    add.u32 %r0, %r0, %r2;
    st.global.u32 [%out], %r0;)"));
  CHECK(words[0] == 0x30ff);
  CHECK(words[7] == 0x30ff);
}

TEST_CASE("activemask follows the schedule") {
  const std::string text = in_warp_kernel(R"(
    setp.lt.u32 %p0, %t, 16;
    @%p0 bra THEN;
    mov.u32 %r1, 1;
THEN:
    activemask.b32 %r0;
    st.global.u32 [%out], %r0;)");
  WarpOptions options;
  CHECK(run_warp(text, 32, 0, options).words[0] == 0xffffffff);
  options.schedule = WarpSchedule::apart;
  CHECK(run_warp(text, 32, 0, options).words[0] == 0x0000ffff);
}

TEST_CASE("lanes that leave a loop at different trips meet after it") {
  const std::string text = in_warp_kernel(R"(
    mov.u32 %r1, 0;
LOOP:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, %t;
    @%p0 bra LOOP;
    activemask.b32 %r0;
    st.global.u32 [%out], %r0;)");
  CHECK(run_warp(text).words[3] == 0xffffffff);
}

// E1 of soundness.md: lanes at one place inside a loop act together only in the same iteration.
TEST_CASE("lanes merge only within one iteration of every loop around them") {
  const std::string text = in_warp_kernel(R"(
    mov.u32 %r1, 0;
OUTER:
    mov.u32 %r2, 0;
INNER:
    and.b32 %r3, %t, 1;
    setp.eq.u32 %p0, %r3, 0;
    @%p0 bra SKIP;
    mov.u32 %r9, 0;
SKIP:
    activemask.b32 %r4;
    shl.b32 %r5, %r1, 8;
    add.u32 %r5, %r5, %r2;
    match.any.sync.b32 %r6, %r5, %r4;
    setp.ne.u32 %p1, %r6, %r4;
    @%p1 st.global.u32 [%out], 1;
    add.u32 %r2, %r2, 1;
    and.b32 %r7, %t, 3;
    setp.le.u32 %p2, %r2, %r7;
    @%p2 bra INNER;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p3, %r1, 3;
    @%p3 bra OUTER;)");
  for (const std::uint32_t word : same_everywhere(text))
    CHECK(word == 0);
}

TEST_CASE("barriers order shared memory; bar.red counts") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %t, 4, %r1;
    st.shared.u32 [%r2], %t;
    bar.sync 0;
    xor.b32 %r3, %t, 63;
    mad.lo.u32 %r3, %r3, 4, %r1;
    ld.shared.u32 %r0, [%r3];
    setp.lt.u32 %p0, %t, 10;
    bar.red.popc.u32 %r4, 0, %p0;
    mad.lo.u32 %r0, %r4, 1000, %r0;
    st.global.u32 [%out], %r0;)",
                                                    ".shared .align 4 .b8 tile[512];"),
                                     64);
  CHECK(words[0] == 10063);
  CHECK(words[63] == 10000);
}

TEST_CASE("producer and consumer with named barriers") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    mov.u32 %r1, tile;
    setp.lt.u32 %p0, %t, 32;
    @%p0 bra PRODUCE;
    bar.sync 1, 64;
    ld.shared.u32 %r0, [%r1];
    st.global.u32 [%out], %r0;
    bra END;
PRODUCE:
    setp.eq.u32 %p1, %t, 0;
    @%p1 st.shared.u32 [%r1], 42;
    bar.arrive 1, 64;
END:)",
                                                    ".shared .align 4 .b8 tile[512];"),
                                     64);
  CHECK(words[32] == 42);
}

TEST_CASE("atomics") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    red.global.add.u32 [%base], 1;
    atom.global.max.s32 %r0, [%base+4], %t;
    red.global.or.b32 [%base+8], 4;
    atom.global.cas.b32 %r0, [%base+12], 0, 7;)"));
  CHECK(words[0] == 32);
  CHECK(words[1] == 31);
  CHECK(words[2] == 4);
  CHECK(words[3] == 7);
}

TEST_CASE("calls pass parameters and results, also when lanes diverge") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p0, %r1, 0;
    mov.u32 %r0, 5;
    @%p0 bra DONE;
    { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %t;
      call.uni (y), twice, (x);
      ld.param.b32 %r0, [y]; }
DONE:
    st.global.u32 [%out], %r0;)",
                                                    R"(
.func (.param .b32 result) twice(.param .b32 value)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [value];
	add.u32 %r2, %r1, %r1;
	st.param.b32 [result], %r2;
	ret;
})"));
  CHECK(words[3] == 6);
  CHECK(words[4] == 5);
}

TEST_CASE("calls through pointers take every lane where it wants") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    and.b32 %r1, %t, 1;
    setp.eq.u32 %p0, %r1, 0;
    mov.u64 %d1, twice;
    ld.global.u64 %d2, [table+8];
    selp.b64 %d3, %d1, %d2, %p0;
    { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %t;
      shape: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (y), %d3, (x), shape;
      ld.param.b32 %r0, [y]; }
    st.global.u32 [%out], %r0;)",
                                                    R"(
.func (.param .b32 result) twice(.param .b32 value)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [value];
	add.u32 %r2, %r1, %r1;
	st.param.b32 [result], %r2;
	ret;
}
.func (.param .b32 result) squared(.param .b32 value)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [value];
	mul.lo.u32 %r2, %r1, %r1;
	st.param.b32 [result], %r2;
	ret;
}
.global .align 8 .u64 table[2] = {0, squared};)"));
  CHECK(words[6] == 12);
  CHECK(words[7] == 49);
}

TEST_CASE("local memory belongs to the thread; vectors; const") {
  const auto words =
      same_everywhere(in_warp_kernel(R"(
    .local .align 8 .b8 depot[64];
    mov.u64 %d1, depot;
    st.local.u32 [%d1+4], %t;
    cvta.local.u64 %d2, %d1;
    ld.u32 %r0, [%d2+4];
    ld.const.v2.u32 {%r1, %r2}, [table+8];
    mad.lo.u32 %r0, %r2, 100, %r0;
    st.global.u32 [%out], %r0;)",
                                     ".const .align 8 .u32 table[4] = {1, 2, 3, 4};"));
  CHECK(words[9] == 409);
}

TEST_CASE("brx.idx and predicated exits") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    setp.gt.u32 %p0, %t, 20;
    @%p0 exit;
    and.b32 %r1, %t, 1;
    mov.u32 %r0, 1;
table: .branchtargets A, B;
    brx.idx %r1, table;
A:  add.u32 %r0, %r0, 10;
B:  add.u32 %r0, %r0, 100;
    st.global.u32 [%out], %r0;)"));
  CHECK(words[2] == 111);
  CHECK(words[3] == 101);
  CHECK(words[21] == 0);
}

TEST_CASE("clusters: where a block is, and its barrier") {
  const auto kernel = [](std::string_view body) {
    std::string text = in_warp_kernel(body);
    const std::string entry = "\n{";
    text.replace(text.find(entry, text.find(".entry")), entry.size(), "\n.reqnctapercluster 2\n{");
    return text;
  };
  // Block 2c + r of cluster c, rank r; each stores, meets the other and reads what it stored.
  const std::string text = kernel(R"(
    mov.u32 %r0, %ctaid.x; shl.b32 %r1, %r0, 7; cvt.u64.u32 %d1, %r1; add.s64 %d2, %base, %d1;
    mov.u32 %r2, %clusterid.x; mov.u32 %r3, %cluster_ctarank; mad.lo.u32 %r2, %r2, 10, %r3;
    add.u32 %r2, %r2, 1; mul.wide.u32 %d3, %t, 4; add.s64 %d2, %d2, %d3;
    st.global.u32 [%d2], %r2;
    fence.proxy.alias;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    xor.b32 %r1, %r1, 128; cvt.u64.u32 %d1, %r1; add.s64 %d4, %base, %d1; add.s64 %d4, %d4, %d3;
    ld.global.u32 %r4, [%d4];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    st.global.u32 [%d2], %r4;)");
  for (const WarpOptions &options : all_schedules()) {
    const WarpRun run = run_warp(text, 32, 0, options, 4);
    if (run.outcome.fault)
      FAIL(format(*run.outcome.fault));
    CHECK(run.words[0] == 2);
    CHECK(run.words[32 + 31] == 1);
    CHECK(run.words[64] == 12);
    CHECK(run.words[96 + 5] == 11);
  }
  // A block that ends does not keep the others waiting; one that waits without arriving is
  // reported.
  const WarpRun gone = run_warp(kernel("mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 1;"
                                       "@%p0 exit; barrier.cluster.arrive; barrier.cluster.wait;"),
                                32, 0, {}, 2);
  CHECK(!gone.outcome.fault);
  const WarpRun alone = run_warp(kernel("barrier.cluster.wait;"), 32, 0, {}, 2);
  REQUIRE(alone.outcome.fault);
  CHECK(alone.outcome.fault->kind == FaultKind::deadlock);
  const WarpRun odd = run_warp(kernel("barrier.cluster.arrive;"), 32, 0, {}, 3);
  REQUIRE(odd.outcome.fault);
  CHECK(odd.outcome.fault->kind == FaultKind::bad_launch);
}

TEST_CASE("registers of 128 bits are moved, loaded and stored in halves") {
  const auto words = same_everywhere(in_warp_kernel(R"(
    .reg .b128 %q, %s;
    mov.u64 %d1, 0x1111222233334444; mov.u64 %d2, 0x5555666677778888;
    mov.b128 %q, {%d1, %d2};
    mov.b128 %s, %q;
    setp.ne.u32 %p0, %t, 0;
    @%p0 exit;
    st.global.b128 [%base], %s;
    ld.global.b128 %q, [%base];
    mov.b128 {%d3, %d4}, %q;
    st.global.u64 [%base+16], %d4;
    st.global.u64 [%base+24], %d3;)"));
  CHECK(words[0] == 0x33334444);
  CHECK(words[3] == 0x55556666);
  CHECK(words[4] == 0x77778888);
  CHECK(words[7] == 0x11112222);
}
