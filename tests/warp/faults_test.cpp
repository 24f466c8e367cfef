// Planted faults: each is reported with its kind, kernel, line and lane.

#include "support.h"

#include "emulator/machine/warp_races.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw;
using namespace ptxasw::test;

namespace {

/// Runs code whose culprit stands after the line "// HERE".
WarpFault fault_of(const std::string &text, std::uint32_t block = 32, WarpOptions options = {}) {
  const WarpRun run = run_warp(text, block, 0, options);
  const auto &fault = run.outcome.fault ? run.outcome.fault : run.outcome.race;
  REQUIRE(fault.has_value());
  const auto at = text.find("// HERE");
  if (at != std::string::npos) {
    const auto line = 2 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    CHECK(fault->line == line);
  }
  CHECK(fault->kernel == "k");
  return *fault;
}

constexpr std::string_view tile = ".shared .align 4 .b8 tile[256];";

} // namespace

TEST_CASE("out of bounds") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    mul.wide.u32 %d1, %t, 256;
    add.s64 %d1, %d1, %base;
    // HERE
    ld.global.u32 %r0, [%d1];)"));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.lane == 16);
}

TEST_CASE("shared memory ends") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    mov.u32 %r1, tile;
    mad.lo.u32 %r1, %t, 16, %r1;
    // HERE
    st.shared.u32 [%r1], %t;)",
                                                  tile));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.lane == 16);
}

TEST_CASE("misaligned") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    // HERE
    ld.global.u32 %r0, [%out+2];)"));
  CHECK(fault.kind == FaultKind::misaligned);
  CHECK(fault.lane == 0);
}

TEST_CASE("uninitialized shared memory") {
  WarpOptions options;
  options.check_uninitialized = true;
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %t, 4, %r1;
    setp.ne.u32 %p0, %t, 7;
    @%p0 st.shared.u32 [%r2], %t;
    // HERE
    ld.shared.u32 %r0, [%r2];)",
                                                  tile),
                                   32, options);
  CHECK(fault.kind == FaultKind::uninitialized);
  CHECK(fault.lane == 7);
}

TEST_CASE("a race, and none with a barrier between") {
  WarpOptions options;
  options.check_races = true;
  const auto text = [](const std::string &between) {
    return in_warp_kernel(R"(
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %t, 4, %r1;
    st.shared.u32 [%r2], %t;
)" + between + R"(
    xor.b32 %r3, %t, 1;
    mad.lo.u32 %r3, %r3, 4, %r1;
    // HERE
    ld.shared.u32 %r0, [%r3];)",
                          tile);
  };
  CHECK(fault_of(text(""), 32, options).kind == FaultKind::race);
  for (const char *barrier : {"bar.sync 0;", "bar.warp.sync -1;"})
    CHECK(!run_warp(text(barrier), 32, 0, options).outcome.race);
  // A warp's barrier does not order warps.
  CHECK(!run_warp(text("bar.sync 0;"), 64, 0, options).outcome.race);
}

TEST_CASE("blocks race") {
  WarpOptions options;
  options.check_races = true;
  const std::string text = in_warp_kernel("mov.u32 %r1, %ctaid.x;\nst.global.u32 [%out], %r1;");
  CHECK(!run_warp(text, 32, 0, options, 1).outcome.race);
  CHECK(run_warp(text, 32, 0, options, 2).outcome.race);
  const std::string same = in_warp_kernel("st.global.u32 [%out], %t;");
  CHECK(!run_warp(same, 32, 0, options, 2).outcome.race);
  CHECK(run_warp(same, 32, 0, options, 2).outcome.same_value_race);
}

TEST_CASE("stores that overlap in part race where they change what is there") {
  WarpOptions options;
  options.check_races = true;
  // The second warp's 8 bytes begin with the 4 that the first has stored.
  const auto text = [](const std::string &second) {
    return in_warp_kernel(R"(
  setp.ge.u32 %p0, %t, 32;
  @%p0 bra SECOND;
  st.global.u32 [%base+8], 17;
  bra.uni DONE;
SECOND:
  mov.u32 %r0, )" + second +
                          R"(;
  mov.u32 %r1, 5;
  mov.b64 %d0, {%r0, %r1};
  st.global.u64 [%base+8], %d0;
DONE:)");
  };
  for (const bool allowed : {false, true}) {
    options.allow_same_value = allowed;
    CHECK(run_warp(text("18"), 64, 0, options).outcome.race);
  }
  CHECK(!run_warp(text("17"), 64, 0, options).outcome.race);
  options.allow_same_value = false;
  CHECK(run_warp(text("17"), 64, 0, options).outcome.race);
}

TEST_CASE("a lane is missing at shfl.sync: it waits elsewhere") {
  for (const WarpOptions &options : all_schedules()) {
    const WarpFault fault = fault_of(in_warp_kernel(R"(
    setp.eq.u32 %p0, %t, 5;
    @%p0 bra OTHER;
    shfl.sync.down.b32 %r0, %t, 1, 31, -1;
OTHER:
    bar.sync 0;)"),
                                     32, options);
    CHECK(fault.kind == FaultKind::missing_lane);
    CHECK(fault.lane == 5);
  }
}

TEST_CASE("a lane is missing at shfl.sync: it has exited") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    setp.eq.u32 %p0, %t, 5;
    @%p0 exit;
    // HERE
    shfl.sync.down.b32 %r0, %t, 1, 31, -1;)"));
  CHECK(fault.kind == FaultKind::missing_lane);
  CHECK(fault.lane == 4);
}

TEST_CASE("a lane that its own mask does not name") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    // HERE
    vote.sync.ballot.b32 %r0, 1, 0xffff;)"));
  CHECK(fault.kind == FaultKind::missing_lane);
  CHECK(fault.lane == 16);
}

TEST_CASE("a barrier that not all reach") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    setp.lt.u32 %p0, %t, 32;
    @%p0 bra ONE;
    bar.sync 2;
    bra END;
ONE:
    bar.sync 1;
END:)"),
                                   64);
  CHECK(fault.kind == FaultKind::deadlock);
}

TEST_CASE("what is not emulated is refused by name") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    // HERE
    mapa.shared::cluster.u32 %r0, %r1, 0;)"));
  CHECK(fault.kind == FaultKind::unsupported);
  CHECK(fault.message.find("mapa.shared::cluster") != std::string::npos);
}

TEST_CASE("so is everything else that only some GPUs can do, with its line") {
  for (const std::string instruction :
       {"mapa.shared::cluster.u32 %r0, %r1, 0;", "ld.shared::cluster.u32 %r0, [%r1];",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, "
        "%r2, %r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3}, %r8, 0;",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3}, [%d1], 16;",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r1];",
        "wgmma.fence.sync.aligned;", "tcgen05.wait::ld.sync.aligned;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r1], 16;",
        "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r0}];",
        "suld.b.1d.b32.trap %r0, [%d1, {%r1}];", "vadd.u32.u32.u32 %r0, %r1, %r2;",
        "discard.global.L2 [%d1], 128;", "call.uni free, (%d1);",
        "multimem.ld_reduce.global.add.u32 %r0, [%d1];", "stacksave.u64 %d0;",
        "griddepcontrol.launch_dependents; setmaxnreg.inc.sync.aligned.u32 32; "
        "redux.sync.min.f32 %f0, %f1, -1;"}) {
    const WarpFault fault = fault_of(in_warp_kernel("\n" + instruction + "\n"));
    CAPTURE(instruction);
    CHECK(fault.kind == FaultKind::unsupported);
    const std::string last = instruction.substr(instruction.rfind("; ") + 1); // npos + 1 is 0
    const std::size_t begin = last.find_first_not_of(' ');
    CHECK(fault.message.find(last.substr(begin, last.find_first_of(" ;", begin) - begin)) !=
          std::string::npos);
    CHECK(fault.line > 0);
  }
}

TEST_CASE("an endless loop ends") {
  CHECK(fault_of(in_warp_kernel("L: bra L;")).kind == FaultKind::step_limit);
}

TEST_CASE("profile: executions, lanes, sectors, bank conflicts") {
  WarpOptions options;
  options.profile = options.profile_memory = true;
  const WarpRun run = run_warp(in_warp_kernel(R"(
    mov.u32 %r1, tile;
    and.b32 %r2, %t, 1;
    mad.lo.u32 %r1, %r2, 128, %r1;
    ld.shared.u32 %r0, [%r1];
    setp.lt.u32 %p0, %t, 8;
    @%p0 st.global.u32 [%out], %r0;)",
                                              tile),
                               32, 0, options);
  const auto &profile = run.outcome.profile[0];
  const InstructionProfile &load = profile[8], &store = profile[10];
  CHECK(load.warps == 1);
  CHECK(load.bank_conflicts == 1);
  CHECK(store.lanes == 8);
  CHECK(store.sectors == 1);
}

TEST_CASE("where one race is looked for no other reader hides it") {
  const auto race = [](std::uint64_t focus) {
    RaceDetector races(true, focus);
    const auto access = [](std::uint32_t thread, std::uint64_t time) {
      RaceDetector::Access a;
      a.thread = thread;
      a.warp = thread / 32;
      a.lane = thread % 32;
      a.time = time;
      return a;
    };
    // One lane of another warp reads, then two of the warp that stores, which have met since.
    for (const std::uint32_t reader : {40u, 1u, 2u})
      CHECK(!races.note(0, 0x1000, 4, false, access(reader, reader == 40 ? 1 : 1 + reader)));
    races.order().warp_barrier(0, ~0u, 5);
    return races.note(0, 0x1000, 4, true, access(3, 6));
  };
  CHECK(!race(0));
  REQUIRE(race(0x1000));
  CHECK(race(0x1000)->thread == 40);
}

TEST_CASE("what barriers order, and what they do not") {
  const auto races = [](std::string_view body, std::uint32_t block = 128) {
    bool any = false;
    for (WarpOptions each : all_schedules()) {
      each.check_races = true;
      const WarpRun run =
          run_warp(in_warp_kernel("mov.u32 %r1, tile;\nshr.u32 %r9, %t, 5;\n" + std::string(body),
                                  ".shared .align 8 .b8 tile[512];"),
                   block, 0, each);
      REQUIRE(!run.outcome.fault);
      any |= run.outcome.race.has_value();
    }
    return any;
  };
  const std::string store = "setp.eq.u32 %p0, %t, 0;\n@%p0 st.shared.u32 [%r1], 42;\n";
  // A barrier of two warps says nothing to the other two.
  const auto halves = [&](int reader) {
    return store + "shr.u32 %r8, %t, 6;\nbar.sync %r8, 64;\nsetp.eq.u32 %p1, %t, " +
           std::to_string(reader) + ";\n@%p1 ld.shared.u32 %r0, [%r1];\n";
  };
  CHECK(!races(halves(32)));
  CHECK(races(halves(64)));
  CHECK(races(halves(96)));
  // Who only arrives has not waited.
  const std::string role = "setp.lt.u32 %p2, %t, 32;\n";
  CHECK(!races(role + store +
                   "@%p2 bar.arrive 1, 64;\n@!%p2 bar.sync 1, 64;\n"
                   "@!%p2 ld.shared.u32 %r0, [%r1];\n",
               64));
  CHECK(races(role +
                  "@!%p2 ld.shared.u32 %r0, [%r1];\n@%p2 bar.arrive 1, 64;\n"
                  "@!%p2 bar.sync 1, 64;\n" +
                  store,
              64));
  // What a thread knows it passes on, to those that wait for it.
  const std::string chain = "setp.eq.u32 %p1, %r9, 1;\nsetp.eq.u32 %p3, %r9, 2;\n" + role + store +
                            "@%p2 bar.arrive 1, 64;\n@%p1 bar.sync 1, 64;\n";
  CHECK(!races(chain +
                   "@%p1 bar.arrive 2, 64;\n@%p3 bar.sync 2, 64;\n@%p3 ld.shared.u32 %r0, [%r1];\n",
               96));
  CHECK(races(chain + "@%p3 ld.shared.u32 %r0, [%r1];\n", 96));
}

TEST_CASE("what fences order between blocks") {
  // The block whose number is drawn last reads what the others wrote.
  const auto races = [](std::string_view store, std::string_view released,
                        std::string_view acquired) {
    bool any = false;
    for (WarpOptions options : all_schedules()) {
      options.check_races = true;
      const WarpRun run = run_warp(in_warp_kernel(fmt::format(R"(
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %d1, %r1, 4;
  add.u64 %d1, %d1, %base;
  setp.eq.u32 %p0, %t, 0;
  {}
  {}
  @%p0 atom.global.add.u32 %r2, [%base+64], 1;
  {}
  setp.eq.and.u32 %p1, %r2, 2, %p0;
  @%p1 ld.global.u32 %r3, [%base];
  @%p1 ld.global.u32 %r3, [%base+4];
  @%p1 ld.global.u32 %r3, [%base+8];)",
                                                              store, released, acquired)),
                                   64, 0, options, 3);
      REQUIRE(!run.outcome.fault);
      any |= run.outcome.race.has_value();
    }
    return any;
  };
  const std::string_view own = "@%p0 st.global.u32 [%d1], %r1;",
                         others = "setp.eq.u32 %p2, %t, 40;\n@%p2 st.global.u32 [%d1], %r1;";
  CHECK(!races(own, "membar.gl;", "membar.gl;"));
  CHECK(!races(own, "membar.gl;", "bar.sync 0;"));
  CHECK(races(own, "", "membar.gl;"));
  CHECK(races(own, "bar.sync 0;", "membar.gl;"));
  CHECK(races(own, "membar.gl;", ""));
  CHECK(!races(others, "bar.sync 0;\nmembar.gl;", "membar.gl;"));
  CHECK(races(others, "membar.gl;", "membar.gl;"));
}
