// Tensor memory and what reads and writes it, by the manual: no GPU that has it was compared.

#include "support.h"

#include "emulator/semantics/floating.h"

#include <array>
#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

/// Blocks of 128 threads that have 64 columns, whose address is %tm, and this warp's part %own.
std::string with_columns(const std::string &body) {
  std::string text = in_warp_kernel(
      ".reg .b32 %tm, %own, %w, %l, %c<8>; .reg .b64 %a, %b;\n"
      "shr.u32 %w, %t, 5; and.b32 %l, %t, 31; setp.eq.u32 %p9, %w, 0;\n"
      "@%p9 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 64;\n"
      "bar.sync 0; ld.shared.u32 %tm, [place]; shl.b32 %own, %w, 21; add.u32 %own, %own, %tm;\n" +
          body +
          "bar.sync 0;\n@%p9 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
          "@%p9 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 64;\n",
      ".shared .align 1024 .b8 cells[16384];\n.shared .align 4 .b32 place;\n"
      ".shared .align 8 .b64 gate;\n");
  text.replace(text.find("8.0"), 3, "8.6");
  text.replace(text.find("sm_90"), 5, "sm_100a");
  return text;
}

std::vector<std::uint32_t> run_tensor(const std::string &body) {
  return equal_runs(with_columns(body), 128, 1, 2); // products take their time
}

/// Cell (lane, column) holds lane * 1000 + column, of the first 8 columns.
const std::string numbered =
    "mul.lo.u32 %r0, %t, 1000; add.u32 %r1, %r0, 1; add.u32 %r2, %r0, 2; add.u32 %r3, %r0, 3;\n"
    "add.u32 %r4, %r0, 4; add.u32 %r5, %r0, 5; add.u32 %r6, %r0, 6; add.u32 %r7, %r0, 7;\n"
    "tcgen05.st.sync.aligned.32x32b.x8.b32 [%own], {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};\n"
    "tcgen05.wait::st.sync.aligned;\n";

/// Leaves %r10 to %r13, thread by thread.
const std::string leave_four =
    "tcgen05.wait::ld.sync.aligned;\nmul.wide.u32 %d1, %t, 16; add.s64 %d1, "
    "%d1, %base; st.global.v4.u32 [%d1], {%r10, %r11, %r12, %r13};\n";

} // namespace

TEST_CASE("tcgen05.ld and st: which cell a register is, by shape") {
  const auto cell = [](unsigned lane, unsigned column) { return lane * 1000 + column; };
  const auto whole = run_tensor(
      numbered + "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, %r13}, [%own+2];\n" +
      leave_four);
  const auto wide = run_tensor(
      numbered + "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r10, %r11, %r12, %r13}, [%own];\n" +
      leave_four);
  const auto half = run_tensor(
      numbered + "tcgen05.ld.sync.aligned.16x128b.x2.b32 {%r10, %r11, %r12, %r13}, [%own];\n" +
      leave_four);
  const auto narrow =
      run_tensor(numbered +
                 "add.u32 %c0, %own, 0x100000;\n" // the other 16 lanes
                 "tcgen05.ld.sync.aligned.16x64b.x4.b32 {%r10, %r11, %r12, %r13}, [%c0];\n" +
                 leave_four);
  const auto split = run_tensor(
      numbered + "tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%r10, %r11, %r12, %r13}, [%own], 4;\n" +
      leave_four);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned r = 0; r < 4; ++r) {
      CAPTURE(thread);
      CAPTURE(r);
      const unsigned own = thread / 32 * 32, lane = thread % 32;
      CHECK(whole[thread * 4 + r] == cell(thread, 2 + r));
      CHECK(wide[thread * 4 + r] == cell(own + lane / 4 + 8 * (r / 2), lane % 4 * 2 + r % 2));
      CHECK(half[thread * 4 + r] == cell(own + lane / 4 + 8 * (r % 2), lane % 4 + 4 * (r / 2)));
      CHECK(narrow[thread * 4 + r] ==
            cell(own + 16 + lane / 4 + 8 * (lane % 2), lane / 2 % 2 + 2 * r));
      CHECK(split[thread * 4 + r] == cell(own + lane % 16, lane / 16 * 4 + r));
    }
}

TEST_CASE("tcgen05.ld and st pack halves of neighbouring columns") {
  const auto packed =
      run_tensor(numbered +
                 "tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {%r10, %r11, %r12, %r13}, "
                 "[%own];\n" +
                 leave_four);
  const auto unpacked =
      run_tensor("mov.u32 %r0, 0x00020001; mov.u32 %r1, 0x00040003;\n"
                 "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%own], {%r0, %r1};\n"
                 "tcgen05.wait::st.sync.aligned;\n"
                 "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, %r13}, [%own];\n" +
                 leave_four);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned r = 0; r < 4; ++r) {
      const std::uint32_t low = thread * 1000 + 2 * r;
      CHECK(packed[thread * 4 + r] == ((low & 0xffff) | (low + 1) << 16));
      CHECK(unpacked[thread * 4 + r] == r + 1);
    }
}

namespace {

constexpr const char *zeros = "mov.u32 %c1, cells; mad.lo.u32 %c1, %t, 128, %c1; mov.u32 %c2, 0;\n"
                              "Z: st.shared.v4.u32 [%c1], {0, 0, 0, 0}; add.u32 %c1, %c1, 16;\n"
                              "add.u32 %c2, %c2, 1; setp.lt.u32 %p1, %c2, 8; @%p1 bra Z;\n"
                              "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [gate], 1;\n"
                              "bar.sync 0;\n";

/// A descriptor without a swizzle: columns of 8 rows of 16 bytes lie 128 bytes apart, rows of
/// such 256 (or as told).
std::string describe_tensor(const std::string &to, unsigned offset, std::uint64_t swizzle = 0,
                            unsigned stride = 256) {
  return fmt::format("mov.u32 %c0, cells; add.u32 %c0, %c0, {}; and.b32 %c0, %c0, 0x3ffff;\n"
                     "shr.u32 %c0, %c0, 4; cvt.u64.u32 {}, %c0; or.b64 {}, {}, {:#x};\n",
                     offset, to, to, to,
                     swizzle << 61 | std::uint64_t{1} << 46 | std::uint64_t{stride} >> 4 << 32 |
                         128u >> 4 << 16);
}

std::string put_half(unsigned at, unsigned value) {
  return fmt::format("mov.u32 %c1, cells; mov.u16 %h0, {:#x}; @%p0 st.shared.u16 [%c1+{}], %h0;\n",
                     value, at);
}

/// Issues a product by one thread and waits for it.
std::string multiply(const std::string &kind, std::uint32_t how, const std::string &a = "%a",
                     const std::string &more = "%p2") {
  return fmt::format(
      "fence.proxy.async.shared::cta; tcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
      "tcgen05.fence::after_thread_sync; mov.u32 %c3, {:#x};\n"
      "@%p0 tcgen05.mma.cta_group::1.kind::{} [%tm], {}, %b, %c3, {};\n"
      "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
      "[gate];\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [gate], 0; @!%p3 bra W;\n"
      "tcgen05.fence::after_thread_sync;\n",
      how, kind, a, more);
}

constexpr std::uint32_t f32_sums = 1 << 4, m128 = 8u << 24, m64 = 4u << 24, n16 = 2 << 17;

} // namespace

TEST_CASE("tcgen05.mma: one element of a and one of b, with and without a swizzle") {
  // Element (37, 9) of a: row group 4, row 5, second column of pieces; (5, 9) of b.
  for (const bool swizzled : {false, true}) {
    const unsigned a = swizzled ? 4 * 1024 + 5 * 128 + (1 ^ 5) * 16 + 2
                                : 4 * 256 + 128 + 5 * 16 + 2,
                   b = swizzled ? 5 * 128 + (1 ^ 5) * 16 + 2 : 128 + 5 * 16 + 2;
    // b lies behind the 16 row groups of a; with the swizzle only the 4 that matter fit beside it.
    const auto words = run_tensor(
        std::string(zeros) + put_half(a, 0x4000) + put_half((swizzled ? 8192 : 8192) + b, 0x4200) +
        (swizzled ? describe_tensor("%a", 0, 2, 1024) : describe_tensor("%a", 0)) +
        (swizzled ? describe_tensor("%b", 8192, 2, 1024) : describe_tensor("%b", 8192)) +
        "setp.eq.u32 %p2, %t, 1000;\n" + multiply("f16", f32_sums | m64 | n16) +
        "and.b32 %c4, %l, 15; setp.ge.u32 %p4, %l, 16;\n"
        "tcgen05.ld.sync.aligned.16x256b.x2.b32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, "
        "[%own];\n" +
        leave_four);
    // 64 rows: 16 of them in every 32 lanes. Row 37 is row 5 of the third warp's.
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned r = 0; r < 4; ++r) {
        const unsigned row = thread / 32 * 16 + thread % 32 / 4 + 8 * (r / 2),
                       column = thread % 4 * 2 + r % 2;
        CHECK(words[thread * 4 + r] == (row == 37 && column == 5 ? 0x40c00000 : 0)); // 6
      }
  }
}

TEST_CASE("tcgen05.mma: kinds, sums that are added to, masked lanes, a in tensor memory") {
  const auto all = [](const std::string &kind, std::uint32_t how, std::uint32_t a, std::uint32_t b,
                      bool adds, const std::string &from = "%a", const std::string &more = "%p2",
                      const std::string &before = "") {
    const auto words = run_tensor(
        std::string(zeros) +
        fmt::format(
            "mov.u32 %c1, cells; mad.lo.u32 %c1, %t, 128, %c1; mov.u32 %c2, 0;\n"
            "mov.u32 %c3, {:#x}; setp.ge.u32 %p1, %t, 64; @%p1 mov.u32 %c3, {:#x};\n"
            "F: st.shared.v4.u32 [%c1], {{%c3, %c3, %c3, %c3}}; add.u32 %c1, %c1, 16;\n"
            "add.u32 %c2, %c2, 1; setp.lt.u32 %p1, %c2, 8; @%p1 bra F;\n"
            "mov.u32 %r0, 0x3f800000; mov.u32 %r20, {:#x};\n"
            "tcgen05.st.sync.aligned.32x32b.x4.b32 [%own], {{%r0, %r0, %r0, %r0}};\n"
            "tcgen05.st.sync.aligned.32x32b.x4.b32 [%own+4], {{%r0, %r0, %r0, %r0}};\n"
            "tcgen05.st.sync.aligned.32x32b.x8.b32 [%own+8], {{%r0, %r0, %r0, %r0, %r0, %r0, "
            "%r0, %r0}};\n"
            "tcgen05.st.sync.aligned.32x32b.x8.b32 [%own+32], {{%r20, %r20, %r20, %r20, %r20, "
            "%r20, %r20, %r20}};\ntcgen05.wait::st.sync.aligned;\n"
            "setp.{}.u32 %p2, %t, 1000; add.u32 %r21, %tm, 32; mov.u32 %r22, 0;\n"
            "mov.u32 %r23, 0xfffffffe;\n",
            a, b, a, adds ? "ne" : "eq") +
        before + describe_tensor("%a", 0) + describe_tensor("%b", 8192) +
        multiply(kind, how, from, more) +
        "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, %r13}, [%own+12];\n" +
        leave_four);
    return std::array{words[0], words[4], words[4 * 37]}; // of lanes 0, 1 and 37
  };
  const auto f32 = [](double number) {
    return static_cast<std::uint32_t>(
        floating::from_double(ScalarType::f32, number, FloatRounding::nearest_even));
  };
  const std::uint32_t base = f32_sums | m128 | n16;
  CHECK(all("f16", base, 0x40004000, 0x42004200, false)[2] == f32(96));
  CHECK(all("f16", base, 0x40004000, 0x42004200, true)[2] == f32(97));
  CHECK(all("f16", base | 1 << 7 | 1 << 10 | 1 << 13, 0x40004000, 0x40404040, true)[2] ==
        f32(-95)); // bf16, -a
  CHECK(all("tf32", base | 2 << 7 | 2 << 10, 0x40000000, 0x40400000, true)[2] == f32(49));
  CHECK(all("f8f6f4", base | 1 << 10, 0x40404040, 0x42424242, true)[2] == f32(193));
  // e2m1: 16 numbers of 4 bits in the first 8 of every 16 bytes: 1.5 and 3.
  CHECK(all("f8f6f4", base | 5 << 7 | 5 << 10, 0x33333333, 0x55555555, false)[2] == f32(144));
  CHECK(all("i8", 2 << 4 | m128 | n16 | 1 << 7, 0xfefefefe, 0x03030303, false)[2] ==
        static_cast<std::uint32_t>(-192));
  CHECK(all("f16", base, 0x40004000, 0x42004200, true, "[%r21]")[2] == f32(97));
  // Lanes whose bit is set stay as they are: all of warp 0's but the first.
  const auto masked =
      all("f16", base, 0x40004000, 0x42004200, true, "%a", "{%r23, %r22, %r22, %r22}, %p2");
  CHECK(masked[0] == f32(97));
  CHECK(masked[1] == f32(1));
  CHECK(masked[2] == f32(97));
  CHECK(all("f16", m128 | n16, 0x40004000, 0x42004200, false)[2] == 0x5600); // 96 in f16
}

TEST_CASE("tcgen05.cp and shift") {
  // Row r of shared memory holds r in its first 16 bytes.
  const std::string rows =
      std::string(zeros) +
      "shr.u32 %r0, %t, 3; mul.lo.u32 %r0, %r0, 256; and.b32 %r1, %t, 7; mad.lo.u32 %r0, %r1, 16, "
      "%r0; mov.u32 %c1, cells; add.u32 %c1, %c1, %r0; add.u32 %r2, %t, 100;\n"
      "st.shared.v4.u32 [%c1], {%t, %r2, %t, %r2};\nfence.proxy.async.shared::cta; bar.sync 0;\n" +
      describe_tensor("%b", 0);
  const std::string done = "bar.sync 0; tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, "
                           "%r13}, [%own+4];\n" +
                           leave_four;
  const auto copied = run_tensor(
      rows + "add.u32 %c4, %tm, 4; @%p0 tcgen05.cp.cta_group::1.128x128b [%c4], %b;\n" + done);
  const auto spread = run_tensor(
      rows + "add.u32 %c4, %tm, 4; @%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%c4], %b;\n" +
      done);
  const auto pairs = run_tensor(
      rows +
      "add.u32 %c4, %tm, 4; @%p0 tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%c4], %b;\n" +
      done);
  const auto others = run_tensor(
      rows +
      "add.u32 %c4, %tm, 4; @%p0 tcgen05.cp.cta_group::1.64x128b.warpx2::01_23 [%c4], %b;\n" +
      done);
  for (unsigned lane = 0; lane < 128; ++lane) {
    CHECK(copied[lane * 4] == lane);
    CHECK(copied[lane * 4 + 3] == lane + 100);
    CHECK(spread[lane * 4 + 1] == lane % 32 + 100);
    CHECK(pairs[lane * 4] == lane % 64);
    CHECK(others[lane * 4] == lane / 64 * 32 + lane % 32);
  }
  const auto shifted =
      run_tensor(numbered +
                 "setp.eq.u32 %p0, %t, 0; bar.sync 0; @%p0 tcgen05.shift.cta_group::1.down [%tm];\n"
                 "bar.sync 0; tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, %r13}, "
                 "[%own];\n" +
                 leave_four);
  CHECK(shifted[4 * 5] == 6000);
  CHECK(shifted[4 * 127 + 1] == 127001);
}

TEST_CASE("tcgen05: what is wrong") {
  const auto fault = [](const std::string &body, bool uninitialized = false) {
    WarpOptions options;
    options.check_uninitialized = uninitialized;
    const WarpRun run = run_warp(with_columns(body), 128, 0, options);
    REQUIRE(run.outcome.fault.has_value());
    return *run.outcome.fault;
  };
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, ";
  CHECK(fault(load + "[%own+64];").message.find("not allocated") != std::string::npos);
  CHECK(fault(load + "[%tm];").message.find("from lane 0 on") != std::string::npos);
  CHECK(fault(load + "[%own];", true).kind == FaultKind::uninitialized);
  CHECK(fault("@%p9 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;").kind ==
        FaultKind::deadlock);
  CHECK(fault("@%p9 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 48;")
            .message.find("48 columns") != std::string::npos);
  CHECK(fault("add.u32 %r1, %tm, 32; @%p9 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;")
            .kind == FaultKind::bad_free);
  CHECK(fault("setp.eq.u32 %p1, %t, 3; @%p1 exit; " + load + "[%own];").kind ==
        FaultKind::missing_lane);
  const std::string product =
      std::string(zeros) + describe_tensor("%a", 0) + describe_tensor("%b", 8192);
  CHECK(fault(product + multiply("f16", f32_sums | m128 | n16 | 1 << 2)).message.find("sparse") !=
        std::string::npos);
  CHECK(fault(product + multiply("f16", f32_sums | n16 | 2u << 24)).message.find("32 rows") !=
        std::string::npos);
  for (const char *refused : {"tcgen05.mma.cta_group::2.kind::f16 [%tm], %a, %b, %r1, %p1;",
                              "tcgen05.mma.ws.cta_group::1.kind::f16 [%tm], %a, %b, %r1, %p1;",
                              "tcgen05.cp.cta_group::1.4x256b [%tm], %a;",
                              "tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%tm], %a;"}) {
    CAPTURE(refused);
    CHECK(fault(refused).kind == FaultKind::unsupported);
  }
}
