// Blocks of a cluster: each other's shared memory and mbarriers, copies to several blocks, clusters
// that are taken over before they start.

#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

/// A kernel whose blocks form clusters; %rank is the block's number in its cluster, %number that in
/// the grid, `tile` 2048 bytes of shared memory, `gate` an mbarrier.
std::string in_cluster(const std::string &body, const std::string &cluster = "2") {
  std::string text = in_warp_kernel(
      ".reg .b32 %rank, %number; .reg .b128 %q;\n"
      "mov.u32 %rank, %cluster_ctarank; mov.u32 %number, %ctaid.x;\n"
      "mad.lo.u32 %r39, %number, 128, 0; cvt.u64.u32 %d19, %r39; add.s64 %out, %out, %d19;\n" +
          body,
      ".shared .align 128 .b8 tile[2048];\n.shared .align 8 .b64 gate;\n");
  text.replace(text.find("8.0"), 3, "9.0");
  text.replace(text.find("sm_90"), 5, "sm_100a");
  const std::string entry = "\n{";
  text.replace(text.find(entry, text.find(".entry")), entry.size(),
               "\n.reqnctapercluster " + cluster + "\n{");
  return text;
}

constexpr const char *meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/// Runs on two clusters.
std::vector<std::uint32_t> run_clusters(const std::string &text, std::uint32_t grid = 4) {
  return equal_runs(text, 32, grid);
}

/// Cell of a thread in the own tile, and of the same thread in the other block's: %r1, %r2.
const std::string cells = "mov.u32 %r0, tile; mad.lo.u32 %r1, %t, 4, %r0; xor.b32 %r3, %rank, 1;\n"
                          "mapa.shared::cluster.u32 %r2, %r1, %r3;\n"
                          "mad.lo.u32 %r4, %number, 100, %t;\n";

} // namespace

TEST_CASE("a block reads and writes another one's shared memory") {
  const auto words = run_clusters(in_cluster(cells + "st.shared.u32 [%r1], %r4;\n" + meet +
                                             "ld.shared::cluster.u32 %r5, [%r2];\n"
                                             "st.global.u32 [%out], %r5;\n" +
                                             meet));
  for (std::uint32_t block = 0; block < 4; ++block)
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      CHECK(words[block * 32 + lane] == (block ^ 1) * 100 + lane);

  const auto written =
      run_clusters(in_cluster(cells + meet + "st.shared::cluster.u32 [%r2], %r4;\n" + meet +
                              "ld.shared.u32 %r5, [%r1];\n"
                              "atom.add.shared::cluster.u32 %r6, [%r2], 0;\n"
                              "st.global.u32 [%out], %r5;\n" +
                              meet));
  for (std::uint32_t block = 0; block < 4; ++block)
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      CHECK(written[block * 32 + lane] == (block ^ 1) * 100 + lane);
}

TEST_CASE("clusters of two axes: ranks go along x first, and getctarank inverts mapa") {
  // 4 x 1 blocks cannot be clusters of 2 x 2; a grid of 4 x 1 as clusters of 4.
  const auto words =
      run_clusters(in_cluster("mov.u32 %r0, tile; add.u32 %r5, %rank, 3; and.b32 %r5, "
                              "%r5, 3;\n"
                              "mapa.shared::cluster.u32 %r1, %r0, %r5;\n"
                              "getctarank.shared::cluster.u32 %r2, %r1;\n"
                              "cvt.u64.u32 %d1, %r0; cvta.shared.u64 %d1, %d1;\n"
                              "getctarank.u64 %r3, %d1; mapa.u64 %d2, %d1, %r5;\n"
                              "getctarank.u64 %r4, %d2;\n"
                              "isspacep.shared::cluster %p1, %d2; selp.u32 %r6, 1, 0, "
                              "%p1;\n"
                              "isspacep.shared::cta %p2, %d2; selp.u32 %r7, 1, 0, %p2;\n"
                              "isspacep.shared %p3, %d1; selp.u32 %r8, 1, 0, %p3;\n"
                              "mad.lo.u32 %r2, %r2, 10, %r3; mad.lo.u32 %r2, %r2, 10, "
                              "%r4;\n"
                              "mad.lo.u32 %r2, %r2, 10, %r6; mad.lo.u32 %r2, %r2, 10, "
                              "%r7;\n"
                              "mad.lo.u32 %r2, %r2, 10, %r8; st.global.u32 [%out], "
                              "%r2;\n",
                              "4"));
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::uint32_t other = (rank + 3) % 4;
    CHECK(words[rank * 32] == ((((other * 10 + rank) * 10 + other) * 10 + 1) * 10 + 0) * 10 + 1);
  }
}

TEST_CASE("accesses of another block's shared memory race, and end with it") {
  const auto run = [](const std::string &body) {
    WarpOptions options;
    options.check_races = true;
    return run_warp(in_cluster(cells + body), 32, 0, options, 2);
  };
  // The second meeting is missing: the other block may read before, or after.
  const WarpRun racy = run("st.shared.u32 [%r1], %r4;\n" + std::string(meet) +
                           "ld.shared::cluster.u32 %r5, [%r2]; st.shared.u32 [%r1], %r5;\n" + meet);
  CHECK(racy.outcome.race.has_value());
  const WarpRun ended = run(std::string(meet) + "setp.eq.u32 %p1, %rank, 1; @%p1 exit;\n"
                                                "L: ld.shared::cluster.u32 %r5, [%r2]; bra L;");
  REQUIRE(ended.outcome.fault.has_value());
  CHECK(ended.outcome.fault->kind == FaultKind::out_of_bounds);
  CHECK(ended.outcome.fault->message.find("has ended") != std::string::npos);
  const WarpRun beyond = run("mapa.shared::cluster.u32 %r2, %r1, 2;");
  REQUIRE(beyond.outcome.fault.has_value());
  CHECK(beyond.outcome.fault->message.find("block 2 of a cluster of 2") != std::string::npos);
  const WarpRun outside = run(std::string(meet) + "ld.shared::cluster.u32 %r5, [%r2+4000];" + meet);
  REQUIRE(outside.outcome.fault.has_value());
  CHECK(outside.outcome.fault->kind == FaultKind::out_of_bounds);
}

namespace {

/// `gate` for some arrivals, made by thread 0 of every block; all blocks know of it afterwards.
std::string gate_for(unsigned arrivals) {
  return fmt::format("setp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [gate], {};\n"
                     "fence.mbarrier_init.release.cluster;\n{}",
                     arrivals, meet);
}

constexpr const char *pass =
    "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p9, [gate], 0;\n@!%p9 bra W;\n";

} // namespace

TEST_CASE("threads arrive at an mbarrier of another block, and what they wrote is there") {
  const auto words = run_clusters(
      in_cluster(cells + gate_for(32) +
                 "st.shared::cluster.u32 [%r2], %r4;\nmov.u32 %r6, gate;\n"
                 "mapa.shared::cluster.u32 %r6, %r6, %r3;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n" +
                 pass + "ld.shared.u32 %r5, [%r1];\nst.global.u32 [%out], %r5;\n" + meet));
  for (std::uint32_t block = 0; block < 4; ++block)
    CHECK(words[block * 32 + 7] == (block ^ 1) * 100 + 7);
  // Relaxed, it orders nothing.
  WarpOptions options;
  options.check_races = true;
  const WarpRun relaxed =
      run_warp(in_cluster(cells + gate_for(32) +
                          "st.shared::cluster.u32 [%r2], %r4;\nmov.u32 %r6, gate;\n"
                          "mapa.shared::cluster.u32 %r6, %r6, %r3;\n"
                          "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r6];\n" +
                          pass + "ld.shared.u32 %r5, [%r1];\nst.global.u32 [%out], %r5;\n" + meet),
               32, 0, options, 2);
  CHECK(relaxed.outcome.race.has_value());
}

TEST_CASE("st.async and red.async tell the mbarrier of the block that they write to") {
  const auto words = run_clusters(in_cluster(
      cells + "st.shared.u32 [%r1], 5;\n" + gate_for(1) +
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 128;\nmov.u32 %r6, gate;\n"
      "mapa.shared::cluster.u32 %r6, %r6, %r3;\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r2], %r4, "
      "[%r6];\n" +
      pass + "ld.shared.u32 %r5, [%r1];\nst.global.u32 [%out], %r5;\n" + meet));
  CHECK(words[3] == 108);
  CHECK(words[32 + 3] == 8);
  const auto vectors = run_clusters(in_cluster(
      "mov.u32 %r0, tile; mad.lo.u32 %r1, %t, 16, %r0; xor.b32 %r3, %rank, 1;\n"
      "mapa.shared::cluster.u32 %r2, %r1, %r3;\n" +
      gate_for(1) +
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 512;\nmov.u32 %r6, gate;\n"
      "mapa.shared::cluster.u32 %r6, %r6, %r3;\nadd.u32 %r7, %t, %rank;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r2], {%t, %rank, %r7, 9}, "
      "[%r6];\n" +
      pass +
      "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r1];\n"
      "mad.lo.u32 %r8, %r8, 100, %r9; mad.lo.u32 %r8, %r8, 100, %r10;\n"
      "mad.lo.u32 %r8, %r8, 100, %r11; st.global.u32 [%out], %r8;\n" +
      meet));
  CHECK(vectors[5] == ((5 * 100 + 1) * 100 + 6) * 100 + 9);
  CHECK(vectors[32 + 5] == ((5 * 100 + 0) * 100 + 5) * 100 + 9);
}

TEST_CASE("a bulk copy to several blocks writes to each and tells each one's mbarrier") {
  const auto words = run_clusters(
      in_cluster(
          gate_for(1) + "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 64;\n" + meet +
          // Rank 0 brings 64 bytes of the buffer to all, twice as far on in the tile.
          "setp.eq.u32 %p1, %rank, 0; and.pred %p1, %p1, %p0; mov.u16 %h0, 3; add.s64 %d2, %base, "
          "2048;\n"
          "mad.lo.u32 %r5, %t, 7, 1; mul.wide.u32 %d3, %t, 4; add.s64 %d3, %d3, %d2;\n"
          "setp.eq.u32 %p4, %rank, 0; @%p4 st.global.u32 [%d3], %r5; fence.proxy.async; bar.sync "
          "0;\n"
          "@%p1 "
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[tile+128], [%d2], 64, [gate], %h0;\n" +
          pass +
          "and.b32 %r6, %t, 15; mul.lo.u32 %r6, %r6, 4; mov.u32 %r7, tile; add.u32 %r7, %r7, %r6;\n"
          "ld.shared.u32 %r8, [%r7+128]; add.u32 %r8, %r8, %rank; st.global.u32 [%out], %r8;\n" +
          meet),
      2);
  CHECK(words[5] == 36);
  CHECK(words[32 + 5] == 37);
}

TEST_CASE("bulk copies between blocks, masked, and zeros in bulk") {
  const auto words = run_clusters(in_cluster(
      cells + "st.shared.u32 [%r1], %r4;\nfence.proxy.async.shared::cta;\n" + gate_for(1) +
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 128;\nmov.u32 %r6, gate;\n" + meet +
      "mapa.shared::cluster.u32 %r6, %r6, %r3; mov.u32 %r7, tile; mapa.shared::cluster.u32 %r8, "
      "%r7, %r3;\n"
      "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8+256], "
      "[tile], 128, [%r6];\n" +
      pass + "ld.shared.u32 %r5, [%r1+256]; st.global.u32 [%out], %r5;\n" + meet +
      "mov.u64 %d4, 64; @%p0 st.bulk.weak.shared::cta [%r7], %d4, 0;\nbar.sync 0;\n"
      "ld.shared.u32 %r9, [%r1]; setp.lt.u32 %p2, %t, 16; setp.ne.u32 %p3, %r9, 0;\n"
      "and.pred %p2, %p2, %p3; @%p2 trap;\n"));
  CHECK(words[9] == 109);
  CHECK(words[32 + 9] == 9);

  // Of every 16 bytes the mask says which are written.
  const WarpRun masked = run_warp(
      in_cluster("mov.u32 %r0, tile; mad.lo.u32 %r1, %t, 4, %r0; mov.u32 %r5, 0x04030201;\n"
                 "st.shared.u32 [%r1], %r5;\n"
                 "fence.proxy.async.shared::cta;\nbar.sync 0; setp.eq.u32 %p0, %t, 0; "
                 "mov.u16 %h0, 0x8005;\n"
                 "@%p0 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%base], [tile], "
                 "32, %h0;\n"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
                 "1"),
      32, 0, {}, 1);
  if (masked.outcome.fault)
    FAIL(format(*masked.outcome.fault));
  CHECK(masked.words[0] == 0x00030001);
  CHECK(masked.words[3] == 0x04000000);
  CHECK(masked.words[4] == 0x00030001);
}

TEST_CASE("bulk reductions") {
  const auto reduced = [](const std::string &operation, std::uint32_t to, std::uint32_t from) {
    const WarpRun run = run_warp(
        in_cluster(
            fmt::format("mov.u32 %r0, tile; mad.lo.u32 %r1, %t, 4, %r0;\n"
                        "mov.u32 %r5, {}; mov.u32 %r6, {};\n"
                        "st.shared.u32 [%r1], %r6; st.global.u32 [%out], %r5;\n"
                        "fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p0, %t, 0;\n"
                        "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.{} [%base], "
                        "[tile], 64;\n"
                        "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n",
                        to, from, operation),
            "1"),
        32, 0, {}, 1);
    if (run.outcome.fault)
      FAIL(format(*run.outcome.fault));
    CHECK(run.words[14] == run.words[0]);
    CHECK(run.words[16] == to);
    return run.words[0];
  };
  CHECK(reduced("add.u32", 7, 5) == 12);
  CHECK(reduced("min.s32", 7, 0xfffffffb) == 0xfffffffb);
  CHECK(reduced("max.u32", 7, 0xfffffffb) == 0xfffffffb);
  CHECK(reduced("inc.u32", 7, 7) == 0);
  CHECK(reduced("dec.u32", 0, 9) == 9);
  CHECK(reduced("and.b32", 12, 10) == 8);
  CHECK(reduced("or.b32", 12, 10) == 14);
  CHECK(reduced("xor.b32", 12, 10) == 6);
  CHECK(reduced("add.f32", 0x3f800000, 0x40000000) == 0x40400000);
  CHECK(reduced("add.noftz.f16", 0x3c003c00, 0x40003c00) == 0x42004000);
  CHECK(reduced("max.bf16", 0x3f80bf80, 0x3f003f00) == 0x3f803f00);
  CHECK(reduced("add.u64", 0xffffffff, 1) == 0);
}

TEST_CASE("clusters that have not started are taken over, each once") {
  // Every cluster works on its own number, then on those that it takes.
  const std::string text = in_cluster(
      gate_for(1) +
      "mov.u32 %r10, %ctaid.x; mov.u32 %r20, 0;\n"
      "N:\n"
      // Work: the first block of a cluster counts its two blocks.
      "shr.u32 %r11, %r10, 1; mul.wide.u32 %d5, %r11, 4; add.s64 %d5, %d5, %base;\n"
      "setp.eq.u32 %p0, %t, 0; @%p0 red.global.add.u32 [%d5], 1;\n"
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 16;\n" +
      std::string(meet) +
      "setp.eq.u32 %p1, %rank, 0; and.pred %p1, %p1, %p0;\n"
      "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
      ".multicast::cluster::all.b128 [tile], [gate];\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p9, [gate], %r20;\n@!%p9 bra W;\n"
      "xor.b32 %r20, %r20, 1; ld.shared.b128 %q, [tile];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;\n"
      "@!%p2 bra E;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r12, %r13, %r14, _}, %q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r15, %q;\n"
      "setp.ne.u32 %p3, %r12, %r15; @%p3 trap; add.u32 %r10, %r12, %rank;\n" +
      meet + "bra N;\nE:\n" + meet);
  for (WarpOptions options : all_schedules()) {
    options.step_limit = 1'000'000;
    const WarpRun run = run_warp(text, 32, 0, options, 16);
    if (run.outcome.fault)
      FAIL(format(*run.outcome.fault));
    for (unsigned cluster = 0; cluster < 8; ++cluster)
      CHECK(run.words[cluster] == 2);
  }
}
