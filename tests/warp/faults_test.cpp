// Planted faults: each is reported with its kind, kernel, line and lane.

#include "support.h"

#include "emulator/machine/warp_races.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/core.h>

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

TEST_CASE("shared memory is what the kernel has, to the byte") {
  // What it and what it calls declare or name; what others have is not there.
  constexpr std::string_view declarations = R"(
.shared .align 4 .b8 tile[256];
.shared .align 4 .b8 others[40000];
.shared .align 4 .b8 odd[5];
.extern .shared .align 16 .b8 dynamic[];
.visible .entry other() {
  .shared .align 4 .b8 own[4096];
  .reg .b32 %r<2>;
  mov.u32 %r1, others;
  st.shared.u32 [%r1], 1;
  mov.u32 %r1, own;
  st.shared.u32 [%r1], 1;
  ret;
}
.func f() {
  .shared .align 4 .b8 of_function[16];
  .reg .b32 %r<2>;
  mov.u32 %r1, of_function;
  st.shared.u32 [%r1+12], 1;
  ret;
})";
  const auto ends_well = [&](const std::string &body) {
    const WarpRun run = run_warp(in_warp_kernel(body, declarations));
    CHECK((!run.outcome.fault || run.outcome.fault->kind == FaultKind::out_of_bounds));
    return !run.outcome.fault;
  };
  const auto access = [](std::string_view of, int at, std::string_view type = "u32") {
    return fmt::format("mov.u32 %r1, {};\nst.shared.{} [%r1+{}], %r1;\n", of, type, at);
  };
  CHECK(ends_well(access("tile", 252)));
  CHECK(!ends_well(access("tile", 256)));
  CHECK(!ends_well(access("tile", 768)));
  CHECK(!ends_well(access("tile", -4)));
  CHECK(ends_well(access("odd", 4, "u8")));
  CHECK(!ends_well(access("odd", 5, "u8")));
  CHECK(!ends_well(access("odd", 4)));
  CHECK(!ends_well(access("dynamic", 0)));
  CHECK(ends_well("call f;\n"));
  // From one variable of the kernel into its neighbour.
  CHECK(!ends_well(access("odd", 0) + access("tile", 256)));
  // The whole room of another kernel, and none for those that do not name it.
  for (int at = 0; at < 48000; at += 512)
    CHECK(ends_well(access("tile", at)) == (at < 256));
}

TEST_CASE("shared memory that the system keeps") {
  const auto ends_well = [](std::string_view from, int at) {
    return !run_warp(in_warp_kernel(
                         fmt::format("mov.u32 %r1, %reserved_smem_offset_{};\nst.shared.u32 "
                                     "[%r1+{}], 1;\nmov.u32 %r2, tile;\nst.shared.u32 [%r2], 1;",
                                     from, at),
                         tile))
                .outcome.fault;
  };
  CHECK(ends_well("begin", 0));
  CHECK(ends_well("0", 0));
  CHECK(ends_well("1", 284));
  CHECK(ends_well("end", -4));
  CHECK(!ends_well("end", 0));
  CHECK(!ends_well("begin", -4));
  CHECK(run_warp(in_warp_kernel("mov.u32 %r1, %reserved_smem_offset_cap;\nst.global.u32 [%out], "
                                "%r1;"))
            .words[0] == 1024);
}

TEST_CASE("dynamic shared memory is as large as the launch says") {
  const auto module = parse_module(
      in_warp_kernel("mov.u32 %r1, dynamic;\nadd.u32 %r1, %r1, %n;\nst.shared.u8 [%r1], 1;",
                     ".shared .align 4 .b8 tile[20];\n.extern .shared .align 256 .b8 dynamic[];"));
  const WarpProgram program(*module);
  const auto ends_well = [&](std::uint32_t at) {
    WarpLaunch launch;
    launch.dynamic_shared = 100;
    launch.parameters.resize(12);
    std::memcpy(launch.parameters.data() + 8, &at, 4);
    GlobalMemory memory;
    return !run_kernel(program, *program.find_kernel("k"), launch, memory, {}).fault;
  };
  CHECK(ends_well(0));
  CHECK(ends_well(99));
  CHECK(!ends_well(100));
  CHECK(!ends_well(~0u));
  WarpLaunch launch;
  launch.dynamic_shared = ~0u;
  launch.parameters.resize(12);
  GlobalMemory memory;
  const WarpOutcome refused = run_kernel(program, *program.find_kernel("k"), launch, memory, {});
  REQUIRE(refused.fault);
  CHECK(refused.fault->kind == FaultKind::bad_launch);
  CHECK(program.dynamic_shared_offset() % 256 == 0);
}

TEST_CASE("more memory than any device has") {
  const auto kind_of = [](const std::string &declared, int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += fmt::format("{}{}[{}];\n", declared, i, 1 << 23);
    const WarpRun run = run_warp(in_warp_kernel(all));
    return run.outcome.fault ? run.outcome.fault->kind : FaultKind::unsupported;
  };
  CHECK(kind_of(".shared .b8 s", 1) == FaultKind::unsupported);
  for (const int count : {3, 511, 513})
    CHECK(kind_of(".shared .b8 s", count) == FaultKind::bad_launch);
  CHECK(kind_of(".local .b8 s", 1) == FaultKind::bad_launch);
}

TEST_CASE("parameters of calls are as large as they are declared") {
  constexpr std::string_view declarations = R"(
.func (.param .b32 r) f(.param .align 8 .b8 a[8]) {
  .reg .b32 %r<2>;
  ld.param.b32 %r1, [a+4];
  st.param.b32 [r], %r1;
  ret;
})";
  const auto ends_well = [&](std::string_view to, std::string_view from) {
    const WarpRun run =
        run_warp(in_warp_kernel(fmt::format(".param .align 8 .b8 a[8];\n.param .b32 r;\n"
                                            "st.param.b32 [a+{}], 1;\ncall (r), f, (a);\n"
                                            "ld.param.b32 %r1, [r+{}];",
                                            to, from),
                                declarations));
    CHECK((!run.outcome.fault || run.outcome.fault->kind == FaultKind::unsupported));
    return !run.outcome.fault;
  };
  CHECK(ends_well("0", "0"));
  CHECK(ends_well("4", "0"));
  for (const std::string_view beyond : {"5", "8", "-1", "4294967295", "-9223372036854775808"}) {
    CHECK(!ends_well(beyond, "0"));
    CHECK(!ends_well("0", beyond));
  }
}

TEST_CASE("local memory is what the function has, to the byte") {
  constexpr std::string_view declarations = R"(
.func f(.param .b64 at) {
  .local .align 4 .b8 large[4000];
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [at];
  st.u32 [%d0], 1;
  mov.u64 %d1, large;
  st.local.u32 [%d1+3996], 7;
  ret;
})";
  const auto ends_well = [&](std::string_view body) {
    const WarpRun run = run_warp(in_warp_kernel(
        ".local .align 4 .b8 own[12];\nmov.u64 %d1, own;\n" + std::string(body), declarations));
    return !run.outcome.fault;
  };
  CHECK(ends_well("st.local.u32 [%d1+8], 1;"));
  CHECK(!ends_well("st.local.u32 [%d1+12], 1;"));
  CHECK(!ends_well("st.local.u32 [%d1-4], 1;"));
  CHECK(!ends_well("st.local.u32 [%d1+512], 1;"));
  // A pointer to the caller's variable is as good as it was there.
  const auto call = [](int at) {
    return fmt::format("cvta.local.u64 %d1, %d1;\nadd.u64 %d1, %d1, {};\n.param .b64 a;\n"
                       "st.param.b64 [a], %d1;\ncall f, (a);",
                       at);
  };
  CHECK(ends_well(call(8)));
  CHECK(!ends_well(call(12)));
  CHECK(!ends_well(call(1024)));
}

TEST_CASE("misaligned") {
  const WarpFault fault = fault_of(in_warp_kernel(R"(
    // HERE
    ld.global.u32 %r0, [%out+2];)"));
  CHECK(fault.kind == FaultKind::misaligned);
  CHECK(fault.lane == 0);
}

TEST_CASE("a run that goes on does so after misaligned accesses, which do nothing") {
  WarpOptions options;
  options.go_on = true;
  // Lane 1 alone is not aligned: what it reads is 0, and memory stays.
  const auto words = [&](std::string_view access, std::size_t findings = 1) {
    const WarpRun run = run_warp(in_warp_kernel(fmt::format(R"(
    mov.u32 %r0, tile;
    mad.lo.u32 %r0, %t, 16, %r0;
    mad.lo.u32 %r1, %t, 16, 0;
    cvt.u64.u32 %d1, %r1;
    add.u64 %d1, %d1, %base;
    add.u64 %d1, %d1, 512;
    mov.u32 %r7, 7;
    st.global.v4.u32 [%d1], {{%r7, %r7, %r7, %r7}};
    st.shared.v4.u32 [%r0], {{%r7, %r7, %r7, %r7}};
    setp.eq.u32 %p1, %t, 1;
    @%p1 add.u64 %d1, %d1, 2;
    @%p1 add.u32 %r0, %r0, 2;
    mov.u32 %r3, 5;
    mov.u32 %r4, 5;
    {}
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%out], %r3;)",
                                                            access),
                                                ".shared .align 16 .b8 tile[512];"),
                                 32, 0, options);
    CHECK(!run.outcome.fault);
    CHECK(run.outcome.findings.size() == findings);
    for (const WarpFinding &finding : run.outcome.findings)
      CHECK(finding.first.kind == FaultKind::misaligned);
    return run.words;
  };
  const auto results = [&](std::string_view access) {
    const auto all = words(access);
    return std::pair{all[0], all[1]};
  };
  CHECK(results("ld.global.u32 %r3, [%d1];") == std::pair{12u, 5u});
  CHECK(results("ld.global.v2.u32 {%r3, %r4}, [%d1];") == std::pair{14u, 0u});
  CHECK(results("@%p1 add.u64 %d1, %d1, 2; ld.global.v2.u32 {%r3, %r4}, [%d1];") ==
        std::pair{14u, 0u});
  CHECK(results("atom.global.add.u32 %r3, [%d1], 1;") == std::pair{12u, 5u});
  const auto stored = [&](std::string_view access) {
    const auto all = words(access);
    return std::pair{all[128], all[132]}; // lane 0's, lane 1's
  };
  CHECK(stored("st.global.u32 [%d1], 9;") == std::pair{9u, 7u});
  CHECK(stored("st.global.v2.u32 [%d1], {%r3, %r4};") == std::pair{5u, 7u});
  CHECK(stored("red.global.add.u32 [%d1], 1;") == std::pair{8u, 7u});
  CHECK(stored("@!%p1 st.shared.u32 [%r0], 9; fence.proxy.async.shared::cta;"
               "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r0], 16;"
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;") == std::pair{9u, 7u});
  CHECK(stored("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r0], 16;"
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;") == std::pair{14u, 7u});
  // From here and to there; nothing that follows waits for it.
  const std::string copy = "cp.async.ca.shared.global [%r0], [%d1], 4; cp.async.wait_all;";
  CHECK(words(copy)[1] == 10);
  // A row of a matrix is lane 1's.
  const auto rows = words("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r0];");
  CHECK(std::pair{rows[0], rows[4]} == std::pair{12u, 5u});
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

TEST_CASE("uninitialized memory of malloc, of a call, and of a buffer that is said to be so") {
  WarpOptions options;
  options.check_uninitialized = true;
  const auto finds = [&](const std::string &text) {
    const WarpRun run = run_warp(text, 1, 0, options);
    CHECK((!run.outcome.fault || run.outcome.fault->kind == FaultKind::uninitialized));
    return run.outcome.fault.has_value();
  };
  const auto heap = [&](std::string_view body) {
    return in_warp_kernel(fmt::format(R"(
  .param .b64 size;
  .param .b64 result;
  st.param.b64 [size], 64;
  call.uni (result), malloc, (size);
  ld.param.b64 %d1, [result];
  {})",
                                      body),
                          ".extern .func (.param .b64 result) malloc (.param .b64 size);");
  };
  CHECK(finds(heap("ld.u32 %r1, [%d1];")));
  CHECK(!finds(heap("st.u32 [%d1], 1;\nld.u32 %r1, [%d1];")));
  CHECK(finds(heap("st.u32 [%d1], 1;\nld.u32 %r1, [%d1+4];")));
  CHECK(finds(heap("st.u8 [%d1], 1;\nld.u16 %r1, [%d1];")));
  CHECK(finds(heap("atom.add.u32 %r1, [%d1], 1;")));
  // The second call reads what the first has written there.
  CHECK(finds(in_warp_kernel("call f;\ncall f;", R"(.global .u32 turn;
.func f() {
  .local .align 4 .b8 own[4];
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  .reg .pred %p;
  mov.u64 %d1, own;
  ld.global.u32 %r1, [turn];
  setp.eq.u32 %p, %r1, 0;
  @%p st.local.u32 [%d1], 1;
  ld.local.u32 %r1, [%d1];
  st.global.u32 [turn], 1;
  ret;
}
)")));
  GlobalMemory memory;
  const std::size_t index = memory.allocate("a", 8192, GlobalMemory::Fill::uninitialized, 1);
  const std::uint64_t base = memory.allocations()[index].base;
  const std::uint8_t bytes[] = {1, 2, 3};
  memory.write(base + 4095, bytes);
  CHECK(memory.is_defined(base + 4095, 1));
  CHECK(memory.is_defined(base + 4096, 2));
  CHECK(!memory.is_defined(base + 4094, 2));
  CHECK(!memory.is_defined(base + 4096, 4));
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
    suld.b.1d.b32.trap %r0, [%d1, {%r1}];)"));
  CHECK(fault.kind == FaultKind::unsupported);
  CHECK(fault.message.find("suld.b.1d.b32.trap") != std::string::npos);
}

TEST_CASE("so is everything else that only some GPUs can do, with its line") {
  for (const std::string instruction :
       {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
        "[%d1, {%r1, %r2, %r3}], [%r1], {%h1};",
        "cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%r1], [%d1, {%r1}], [%r1];",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, "
        "%r2, %r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3}, %r8, 0;",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3}, [%d1], 16;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d1, %d2, %r0, "
        "0, %p0, 1, 1, 0, 0;",
        "tcgen05.mma.cta_group::2.kind::f16 [%r1], %d1, %d2, %r2, %p0;",
        "tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%f0, %f1}, %f2, [%r1];",
        "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r0}];",
        "suld.b.1d.b32.trap %r0, [%d1, {%r1}];", "vadd.u32.u32.u32 %r0, %r1, %r2;",
        "discard.global.L2 [%d1], 128;", "call.uni free, (%d1);",
        "multimem.red.relaxed.sys.global.add.e4m3x4 [%d1], %r0;", "stacksave.u64 %d0;",
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

TEST_CASE("no other reader hides a race") {
  RaceDetector races(true);
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
    CHECK(!races.note(0, 0x1000, 4, access(reader, reader == 40 ? 1 : 1 + reader)));
  races.order().warp_barrier(access(0, 5), ~0u);
  RaceDetector::Access store = access(3, 6);
  store.is_store = true;
  const auto race = races.note(0, 0x1000, 4, store);
  REQUIRE(race);
  CHECK(race->thread == 40);
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

TEST_CASE("who has exited has neither waited nor arrived") {
  for (WarpOptions options : all_schedules()) {
    options.check_races = true;
    const auto races = [&](std::string_view body, std::uint32_t block = 64) {
      const WarpRun run = run_warp(in_warp_kernel(fmt::format(R"(
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %t, 63;
  mad.lo.u32 %r3, %r3, 4, %r1;
  setp.lt.u32 %p0, %t, 32;
  @!%p0 bra WAITS;
  {}
WAITS:
  {}
  ld.shared.u32 %r4, [%r3];)",
                                                              body.substr(0, body.find('|')),
                                                              body.substr(body.find('|') + 1)),
                                                  ".shared .align 4 .b8 tile[256];"),
                                   block, 0, options);
      REQUIRE(!run.outcome.fault);
      return run.outcome.race.has_value();
    };
    CHECK(races("bar.arrive 1, 64; st.shared.u32 [%r2], %t; exit;|bar.sync 1, 64;"));
    CHECK(!races("st.shared.u32 [%r2], %t; bar.arrive 1, 64; exit;|bar.sync 1, 64;"));
    CHECK(races("st.shared.u32 [%r2], %t; exit;|bar.sync 0;"));
    CHECK(!races("st.shared.u32 [%r2], %t; bar.sync 0; exit;|bar.sync 0;"));
    // Nor later, at the barriers of those that are left.
    CHECK(races("st.shared.u32 [%r2], %t; exit;|bar.sync 0; bar.sync 0;"));
    CHECK(races("bar.sync 0; st.shared.u32 [%r2], %t; exit;|bar.sync 0; bar.sync 0;"));
    // What it did before it came the last time is known to all who came.
    CHECK(!races("st.shared.u32 [%r2], %t; bar.sync 0; exit;|bar.sync 0; bar.sync 0;"));
  }
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
