// Products of groups of four warps, and the layouts of shared memory that they read.

#include "support.h"

#include "emulator/semantics/floating.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

/// Blocks of 128 threads; `cells` 16 KiB, aligned for every swizzle; %desc(o) etc. are the body's.
std::string in_group(const std::string &body) {
  std::string text = in_warp_kernel(".reg .b64 %a, %b; .reg .b32 %c<4>;\n" + body,
                                    ".shared .align 1024 .b8 cells[16384];\n");
  text.replace(text.find("sm_90"), 5, "sm_90a");
  return text;
}

/// Descriptor of a matrix some bytes into `cells`: register, offset, and the other bits.
std::string describe(const std::string &to, unsigned offset, std::uint64_t bits) {
  return fmt::format("mov.u32 %c0, cells; add.u32 %c0, %c0, {}; and.b32 %c0, %c0, 0x3ffff;\n"
                     "shr.u32 %c0, %c0, 4; cvt.u64.u32 {}, %c0; or.b64 {}, {}, {:#x};\n",
                     offset, to, to, to, bits);
}

std::uint64_t layout(unsigned leading, unsigned stride, unsigned mode) {
  return std::uint64_t{mode} << 62 | std::uint64_t{stride} >> 4 << 32 | leading >> 4 << 16;
}

/// Stores 16-bit `value` at byte `at` of the cells, all threads alike.
std::string set(unsigned at, unsigned value) {
  return fmt::format("mov.u32 %c1, cells; mov.u16 %h0, {:#x}; st.shared.u16 [%c1+{}], %h0;\n",
                     value, at);
}

const std::string zero_cells =
    "mov.u32 %c1, cells; mad.lo.u32 %c1, %t, 128, %c1; mov.u32 %c2, 0;\n"
    "Z: st.shared.v4.u32 [%c1], {0, 0, 0, 0}; add.u32 %c1, %c1, 16;\n"
    "add.u32 %c2, %c2, 1; setp.lt.u32 %p1, %c2, 8; @%p1 bra Z;\nbar.sync 0;\n";

std::string multiply8(bool a_columns, bool b_rows) {
  return fmt::format(
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %a, %b, %p0, 1, "
      "1, "
      "{}, {};\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
      a_columns ? 1 : 0, b_rows ? 1 : 0);
}

/// Threads' four sums, one behind the other: out[thread * 4 + i] as integers.
constexpr const char *leave = "mul.wide.u32 %d1, %t, 16; add.s64 %d1, %d1, %base;\n"
                              "cvt.rni.s32.f32 %r0, %f0; cvt.rni.s32.f32 %r1, %f1;\n"
                              "cvt.rni.s32.f32 %r2, %f2; cvt.rni.s32.f32 %r3, %f3;\n"
                              "st.global.v4.u32 [%d1], {%r0, %r1, %r2, %r3};\n";

/// d[row][column] of what `leave` wrote.
std::int32_t sum_at(const std::vector<std::uint32_t> &words, unsigned row, unsigned column) {
  const unsigned thread = row / 16 * 32 + row % 8 * 4 + column / 2;
  return static_cast<std::int32_t>(words[thread * 4 + row % 16 / 8 * 2 + column % 2]);
}

std::vector<std::uint32_t> run_group(const std::string &body) {
  return equal_runs(in_group(body), 128, 1);
}

} // namespace

namespace {

/// Where an element of 16 bits is, worked out by hand.
struct Place {
  unsigned row, k, byte;
};

/// One element of a, one of b: everything else is zero, so one sum is 2 * 3 + 1 and the others 1.
void check_places(unsigned mode, std::uint64_t a_bits, std::uint64_t b_bits, bool a_columns,
                  bool b_rows, const Place &a, const Place &b) {
  CAPTURE(mode);
  REQUIRE(a.k == b.k);
  const auto words =
      run_group(zero_cells + set(a.byte, 0x4000) + set(8192 + b.byte, 0x4200) +
                "fence.proxy.async; bar.sync 0; setp.ne.u32 %p0, %t, 1000;\n"
                "mov.f32 %f0, 0f3f800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n" +
                describe("%a", 0, a_bits) + describe("%b", 8192, b_bits) +
                multiply8(a_columns, b_rows) + leave);
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned column = 0; column < 8; ++column)
      CHECK(sum_at(words, row, column) == (row == a.row && column == b.row ? 7 : 1));
}

} // namespace

TEST_CASE("wgmma finds elements where the manual draws them, along k") {
  // Core matrices of 8 rows of 16 bytes, 128 bytes apart along k and 256 along rows.
  check_places(0, layout(128, 256, 0), layout(128, 256, 0), false, false,
               {19, 9, 2 * 256 + 128 + 3 * 16 + 2}, {5, 9, 128 + 5 * 16 + 2});
  // Rows of 128 bytes: piece 1 of row 3 is at place 1 ^ 3.
  check_places(1, layout(16, 1024, 1), layout(16, 1024, 1), false, false,
               {19, 9, 2 * 1024 + 3 * 128 + 2 * 16 + 2}, {5, 9, 5 * 128 + 4 * 16 + 2});
  // Rows of 64 bytes, two to a line: row 3 is in line 1, row 5 in line 2.
  check_places(2, layout(16, 512, 2), layout(16, 512, 2), false, false,
               {19, 9, 2 * 512 + 3 * 64 + 0 * 16 + 2}, {5, 9, 5 * 64 + 3 * 16 + 2});
  // Rows of 32 bytes, four to a line: row 3 is in line 0, row 5 in line 1.
  check_places(3, layout(16, 256, 3), layout(16, 256, 3), false, false,
               {19, 9, 2 * 256 + 3 * 32 + 1 * 16 + 2}, {5, 9, 5 * 32 + 0 * 16 + 2});
}

TEST_CASE("wgmma finds elements where the manual draws them, along m and n") {
  // Core matrices of 8 columns of 16 bytes: 128 bytes apart along m, 1024 (of b: 128) along k.
  check_places(0, layout(1024, 128, 0), layout(128, 128, 0), true, true,
               {19, 9, 1024 + 2 * 128 + 1 * 16 + 3 * 2}, {5, 9, 128 + 1 * 16 + 5 * 2});
  // Columns of 128 bytes, for 64 rows: of column 9, line 1 of the second eight, piece 2 is at 2
  // ^ 1.
  check_places(1, layout(1024, 1024, 1), layout(1024, 1024, 1), true, true,
               {19, 9, 1024 + 128 + 3 * 16 + 3 * 2}, {5, 9, 1024 + 128 + 1 * 16 + 5 * 2});
  // Columns of 64 bytes, for 32 rows: rows 32.. are `leading` further on. Column 9 is in line 0.
  check_places(2, layout(512, 1024, 2), layout(512, 512, 2), true, true,
               {43, 9, 1024 + 512 + 64 + 1 * 16 + 3 * 2}, {5, 9, 512 + 64 + 0 * 16 + 5 * 2});
  // Columns of 32 bytes, for 16 rows: column 12 is in line 1, which turns pieces 0 and 1 around.
  check_places(3, layout(256, 1024, 3), layout(256, 256, 3), true, true,
               {19, 12, 1024 + 256 + 4 * 32 + 1 * 16 + 3 * 2},
               {5, 12, 256 + 4 * 32 + 1 * 16 + 5 * 2});
}

TEST_CASE("wgmma in other types, from registers, with signs, without what was there") {
  // All of a is 2 and all of b 3, whatever the layout.
  const auto all = [](const std::string &form, const char *a, const char *b, bool registers,
                      const std::string &constants, bool adds, const char *before = "0f3f800000") {
    const bool whole = form.find(".s32") != std::string::npos;
    std::string body = fmt::format(
        "mov.u32 %c1, cells; mad.lo.u32 %c1, %t, 128, %c1; mov.u32 %c2, 0; mov.u32 %c3, {};\n"
        "setp.ge.u32 %p2, %t, 64; @%p2 mov.u32 %c3, {};\n"
        "Z: st.shared.v4.u32 [%c1], {{%c3, %c3, %c3, %c3}}; add.u32 %c1, %c1, 16;\n"
        "add.u32 %c2, %c2, 1; setp.lt.u32 %p1, %c2, 8; @%p1 bra Z;\nfence.proxy.async; bar.sync "
        "0;\n"
        "mov.u32 %r4, {}; mov.b32 %f0, {}; mov.b32 %f1, %f0; mov.b32 %f2, %f0; mov.b32 %f3, %f0;\n"
        "mov.b32 %r10, %f0; mov.b32 %r11, %f0; mov.b32 %r12, %f0; mov.b32 %r13, %f0;\n"
        "setp.eq.u32 %p0, %t, 1000; {}\n",
        a, b, a, before, adds ? "not.pred %p0, %p0;" : "");
    body += describe("%a", 0, layout(128, 256, 0)) + describe("%b", 8192, layout(128, 256, 0));
    body += fmt::format("wgmma.mma_async.sync.aligned.{} {}, {}, %b, %p0{};\n"
                        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
                        form, whole ? "{%r10, %r11, %r12, %r13}" : "{%f0, %f1, %f2, %f3}",
                        registers ? "{%r4, %r4, %r4, %r4}" : "%a", constants);
    body += whole ? "mul.wide.u32 %d1, %t, 16; add.s64 %d1, %d1, %base;\n"
                    "st.global.v4.u32 [%d1], {%r10, %r11, %r12, %r13};\n"
                  : leave;
    const auto words = run_group(body);
    for (unsigned i = 1; i < 512; ++i)
      CHECK(words[i] == words[0]);
    return static_cast<std::int32_t>(words[0]);
  };
  CHECK(all("m64n8k16.f32.f16.f16", "0x40004000", "0x42004200", false, ", 1, 1, 0, 0", true) == 97);
  CHECK(all("m64n8k16.f32.f16.f16", "0x40004000", "0x42004200", true, ", 1, 1, 0", true) == 97);
  CHECK(all("m64n8k16.f32.f16.f16", "0x40004000", "0x42004200", true, ", 1, 1, 0", false) == 96);
  CHECK(all("m64n8k16.f32.bf16.bf16", "0x40004000", "0x40404040", false, ", -1, 1, 0, 0", true) ==
        -95);
  CHECK(all("m64n8k16.f32.bf16.bf16", "0x40004000", "0x40404040", true, ", -1, -1, 0", true) == 97);
  CHECK(all("m64n8k8.f32.tf32.tf32", "0x40000000", "0x40400000", false, ", 1, 1", true) == 49);
  CHECK(all("m64n8k8.f32.tf32.tf32", "0x40000000", "0x40400000", true, ", 1, -1", true) == -47);
  CHECK(all("m64n8k32.f32.e4m3.e5m2", "0x40404040", "0x42424242", false, ", 1, 1", true) == 193);
  CHECK(all("m64n8k32.f32.e5m2.e4m3", "0x40404040", "0x44444444", true, ", 1, 1", true) == 193);
  CHECK(all("m64n8k32.s32.s8.u8", "0xfefefefe", "0x03030303", false, "", true, "5") == -187);
  CHECK(all("m64n8k32.s32.u8.s8", "0x02020202", "0xfdfdfdfd", true, "", false, "5") == -192);
  CHECK(all("m64n8k32.satfinite.s32.u8.u8", "0x02020202", "0x03030303", false, "", true,
            "0x7fffffff") == 0x7fffffff);
  CHECK(all("m64n8k256.s32.b1.b1.and.popc", "0xff00ff00", "0x0ff00ff0", false, "", true, "5") ==
        5 + 256 / 4);
}

TEST_CASE("wgmma: half sums in pairs, and many columns") {
  // a: row r is r % 4 everywhere; b: column c is c % 3; both of 16 bits without a swizzle.
  const auto words = run_group(
      "mov.u32 %c1, cells; mov.u32 %r0, %t;\n"
      // Thread r writes row r of a: pieces at r / 8 * 256 + r % 8 * 16, and 128 further on.
      "setp.ge.u32 %p1, %t, 64; @%p1 bra B;\n"
      "and.b32 %r1, %t, 3; cvt.rn.f16.u32 %h0, %r1; mov.b32 %r2, {%h0, %h0};\n"
      "shr.u32 %r3, %t, 3; mul.lo.u32 %r3, %r3, 256; and.b32 %r4, %t, 7; mad.lo.u32 %r3, %r4, 16, "
      "%r3; add.u32 %c1, %c1, %r3;\n"
      "st.shared.v4.u32 [%c1], {%r2, %r2, %r2, %r2}; st.shared.v4.u32 [%c1+128], {%r2, %r2, %r2, "
      "%r2}; bra J;\n"
      "B: sub.u32 %r0, %t, 64; rem.u32 %r1, %r0, 3; cvt.rn.f16.u32 %h0, %r1; mov.b32 %r2, {%h0, "
      "%h0};\n"
      "shr.u32 %r3, %r0, 3; mul.lo.u32 %r3, %r3, 256; and.b32 %r4, %r0, 7; mad.lo.u32 %r3, %r4, "
      "16, "
      "%r3; add.u32 %c1, %c1, %r3;\n"
      "st.shared.v4.u32 [%c1+8192], {%r2, %r2, %r2, %r2}; st.shared.v4.u32 [%c1+8320], {%r2, %r2, "
      "%r2, %r2};\n"
      "J: fence.proxy.async; bar.sync 0; setp.eq.u32 %p0, %t, 1000;\n" +
      describe("%a", 0, layout(128, 256, 0)) + describe("%b", 8192, layout(128, 256, 0)) +
      "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%r10, %r11, %r12, %r13, %r14, %r15, "
      "%r16, "
      "%r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25}, %a, %b, %p0, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
      // Registers 4 and 15: columns 16.. of the upper rows, 56.. of the lower.
      "mul.wide.u32 %d1, %t, 8; add.s64 %d1, %d1, %base; st.global.v2.u32 [%d1], {%r14, %r25};\n");
  const auto number = [](std::uint32_t word, unsigned i) {
    return floating::to_double(ScalarType::f16, word >> 16 * i & 0xffff);
  };
  for (unsigned thread = 0; thread < 128; ++thread) {
    const unsigned row = thread / 32 * 16 + thread % 32 / 4;
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned column = thread % 4 * 2 + i;
      CHECK(number(words[thread * 2], i) == 16 * (row % 4) * ((16 + column) % 3));
      CHECK(number(words[thread * 2 + 1], i) == 16 * ((row + 8) % 4) * ((56 + column) % 3));
    }
  }
}

TEST_CASE("a thread that has waited for a product may overwrite what all four warps have read") {
  // Without a barrier: b becomes something else as soon as the first thread has waited.
  const auto words =
      run_group(zero_cells + set(0, 0x4000) + set(8192, 0x4200) +
                "fence.proxy.async; bar.sync 0; setp.eq.u32 %p0, %t, 1000;\n" +
                describe("%a", 0, layout(128, 256, 0)) + describe("%b", 8192, layout(128, 256, 0)) +
                "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n" +
                multiply8(false, false) + "setp.ne.u32 %p2, %t, 5; @%p2 bra J;\n" +
                set(8192, 0x4400) + "J:\n" + leave);
  CHECK(sum_at(words, 0, 0) == 6);
  CHECK(sum_at(words, 16, 0) == 0);
}

TEST_CASE("wgmma: what is wrong") {
  const std::string prepared =
      zero_cells + "fence.proxy.async; bar.sync 0; setp.eq.u32 %p0, %t, 999;\n" +
      describe("%a", 0, layout(128, 256, 0)) + describe("%b", 8192, layout(128, 256, 0));
  const auto outcome = [&](const std::string &body, std::uint32_t threads = 128) {
    return run_warp(in_group(prepared + body), threads, 0, {}).outcome;
  };
  const auto fault = [&](const WarpOutcome &of) {
    REQUIRE(of.fault.has_value());
    return *of.fault;
  };
  CHECK(!outcome(multiply8(false, false)).fault);
  CHECK(fault(outcome("setp.lt.u32 %p1, %t, 32; @%p1 bra D;\n" + multiply8(false, false) + "D:"))
            .message.find("warp 0 of the group never executes") != std::string::npos);
  // Nobody waits, so it is only found when the block has ended.
  CHECK(fault(outcome(
                  "setp.lt.u32 %p1, %t, 32; @%p1 bra D;\n" +
                  multiply8(false, false)
                      .replace(multiply8(false, false).find("wgmma.wait"), std::string::npos, "") +
                  "D:"))
            .message.find("have not executed the same") != std::string::npos);
  CHECK(fault(outcome(multiply8(false, false), 64)).kind == FaultKind::missing_lane);
  CHECK(fault(outcome("setp.eq.u32 %p1, %t, 7; @%p1 exit;\n" + multiply8(false, false))).kind ==
        FaultKind::missing_lane);
  CHECK(fault(outcome("cvt.u64.u32 %d1, %t; and.b64 %d1, %d1, 1; add.s64 %b, %b, %d1;\n" +
                      multiply8(false, false)))
            .message.find("different descriptors") != std::string::npos);
  CHECK(fault(outcome("or.b64 %b, %b, 0x4002000000000000;\n" + multiply8(false, false)))
            .message.find("base offset") != std::string::npos);
  CHECK(fault(outcome("add.s64 %b, %b, 512;\n" + multiply8(false, false))).kind ==
        FaultKind::out_of_bounds);
  CHECK(fault(outcome("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
                      "%a, %b, %r0, 0, %p0, 1, 1, 0, 0;"))
            .message.find("sparse") != std::string::npos);
  // Shared memory that is written before the product has been waited for: found where it is late.
  bool found = false;
  for (WarpOptions options : all_schedules()) {
    options.check_races = true;
    const WarpRun run = run_warp(
        in_group(
            prepared +
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b, "
            "%p0, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\nbar.sync 0;\n" +
            set(8192, 0x3c00).replace(0, 0, "@%p0 bra S; setp.ne.u32 %p1, %t, 0; @%p1 bra S;\n") +
            "S: wgmma.wait_group.sync.aligned 0;\n"),
        128, 0, options);
    found |= run.outcome.race.has_value();
  }
  CHECK(found);
}
