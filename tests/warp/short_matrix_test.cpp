// Matrices of elements of 8 bits and less, by the manual: no GPU that has these forms was compared.

#include "support.h"

#include "emulator/semantics/floating.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

std::vector<std::uint32_t> run_matrix(const std::string &body,
                                      const std::string &declarations = "") {
  std::string text = in_warp_kernel(body, declarations);
  text.replace(text.find("8.0"), 3, "8.8");
  text.replace(text.find("sm_90"), 5, "sm_120a");
  const WarpRun run = run_warp(text);
  if (run.outcome.fault)
    FAIL(format(*run.outcome.fault));
  return run.words;
}

/// The sums of a 16 x 8 product whose operands all threads have alike, but for the scales.
std::vector<double> product(const std::string &form, std::uint32_t a, std::uint32_t b,
                            const std::string &scales = "", const std::string &before = "") {
  const auto words = run_matrix(
      before +
      fmt::format("mov.u32 %r0, {:#x}; mov.u32 %r1, {:#x}; mov.f32 %f0, 0f3f800000;\n"
                  "mma.sync.aligned.{} {{%f1, %f2, %f3, %f4}}, {{%r0, %r0, %r0, %r0}}, {{%r1, "
                  "%r1}}, {{%f0, %f0, %f0, %f0}}{};\n"
                  "mul.wide.u32 %d1, %t, 16; add.s64 %d1, %d1, %base;\n"
                  "st.global.v4.f32 [%d1], {{%f1, %f2, %f3, %f4}};\n",
                  a, b, form, scales));
  std::vector<double> sums;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column)
      sums.push_back(floating::to_double(
          ScalarType::f32, words[(row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2]));
  return sums;
}

} // namespace

TEST_CASE("mma of numbers of 6 and 4 bits, a byte each") {
  // 1.0 is 0b001100 in e3m2, 0b001000 in e2m3, 0b0010 in e2m1, which is in the middle of the byte.
  for (const auto &[types, a, b] : {std::tuple{"f32.e2m1.e3m2.f32", 0x08080808u, 0x0c0c0c0cu},
                                    {"f32.e2m3.e2m1.f32", 0x08080808u, 0x08080808u},
                                    {"f32.e4m3.e5m2.f32", 0x38383838u, 0x3c3c3c3cu}})
    for (const double sum : product(fmt::format("m16n8k32.row.col.kind::f8f6f4.{}", types), a, b))
      CHECK(sum == 33);
}

TEST_CASE("mma with scaled blocks: which lane and which byte has whose scale") {
  // Rows 2^row, columns 2^-column: row r of a in the lanes of r % 8, the first or second of a pair.
  const std::string scales =
      "shr.u32 %r2, %t, 2; and.b32 %r3, %t, 1; mad.lo.u32 %r4, %r3, 8, %r2; add.u32 %r4, %r4, "
      "127;\n"
      "shl.b32 %r4, %r4, {0}; sub.u32 %r5, 127, %r2; shl.b32 %r5, %r5, {1};\n"
      // The lanes that are not asked have others.
      "and.b32 %r6, %t, 2; setp.ne.u32 %p0, %r6, {2}; @%p0 mov.u32 %r4, 0x77777777;\n"
      "and.b32 %r6, %t, 3; setp.ne.u32 %p0, %r6, {3}; @%p0 mov.u32 %r5, 0x77777777;\n";
  for (const unsigned byte : {0u, 1u, 3u})
    for (const unsigned lanes : {0u, 1u}) {
      const auto sums = product(
          "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
          0x38383838, 0x38383838,
          fmt::format(", %r4, {{{}, {}}}, %r5, {{{}, {}}}", byte, lanes, 3 - byte, lanes + 2),
          fmt::format(fmt::runtime(scales), 8 * byte, 8 * (3 - byte), 2 * lanes, lanes + 2));
      for (unsigned row = 0; row < 16; ++row)
        for (unsigned column = 0; column < 8; ++column)
          CHECK(sums[row * 8 + column] ==
                1 + std::ldexp(32.0, static_cast<int>(row) - static_cast<int>(column)));
    }
}

TEST_CASE("mma with two and four scales a row") {
  const auto all = [](const std::string &form, const char *a, const char *b) {
    const auto sums = product("m16n8k64.row.col.kind::" + form, 0x22222222, 0x22222222,
                              ", {%r4}, {0, 0}, {%r5}, {0, 0}",
                              fmt::format("mov.u32 %r4, {}; mov.u32 %r5, {};\n", a, b));
    for (const double sum : sums)
      CHECK(sum == sums[0]);
    return sums[0];
  };
  // 32 elements by 1 (127) and 32 by 4 (129); b by 2 and 1.
  CHECK(all("mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "0x817f", "0x7f80") ==
        1 + 32 * 2 + 32 * 4);
  CHECK(all("mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "0x817f", "0x7f7f") ==
        1 + 32 + 32 * 4);
  // 16 each by 1, 2, 4 and 8; and by 1.5.
  CHECK(all("mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "0x50484038",
            "0x3c3c3c3c") == 1 + 16 * 15 * 1.5);
}

TEST_CASE("ldmatrix and stmatrix of elements of 8 bits") {
  // Byte c of row r is 16 * r + c.
  const std::string fill =
      "mov.u32 %r0, tile; mad.lo.u32 %r1, %t, 16, %r0; mul.lo.u32 %r2, %t, 16; and.b32 %r2, %r2, "
      "255; mul.lo.u32 %r2, %r2, 0x01010101;\n"
      "add.u32 %r3, %r2, 0x03020100; add.u32 %r4, %r2, 0x07060504; add.u32 %r5, %r2, 0x0b0a0908;\n"
      "add.u32 %r6, %r2, 0x0f0e0d0c; st.shared.v4.u32 [%r1], {%r3, %r4, %r5, %r6}; bar.warp.sync "
      "-1;\n";
  const std::string leave = "mul.wide.u32 %d1, %t, 8; add.s64 %d1, %d1, %base;\n"
                            "st.global.v2.u32 [%d1], {%r10, %r11};\n";
  const char *tile = ".shared .align 16 .b8 tile[512];\n";
  const auto turned = run_matrix(
      fill + "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r1];\n" + leave,
      tile);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned e = 0; e < 4; ++e) {
        const unsigned row = lane % 4 * 4 + 2 * r + e % 2, column = lane / 4 + e / 2 * 8;
        CHECK((turned[lane * 2 + r] >> 8 * e & 0xff) == 16 * row + column);
      }
  const auto widened = run_matrix(
      fill + "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%r10, %r11}, [%r1];\n" + leave,
      tile);
  const auto six = run_matrix(
      fill +
          "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r10}, [%r1]; mov.u32 %r11, "
          "0;\n" +
          leave,
      tile);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned e = 0; e < 4; ++e) {
      const unsigned at = lane % 4 * 4 + e;
      for (unsigned r = 0; r < 2; ++r) {
        const unsigned byte = (16 * (lane / 4 + 8 * r) + at / 2) & 0xff;
        CHECK((widened[lane * 2 + r] >> 8 * e & 0xff) == (byte >> at % 2 * 4 & 15));
      }
      // Bits 6 * at.. of the row's 16 bytes.
      unsigned bits = 0;
      for (unsigned i = 0; i < 6; ++i)
        bits |= ((16 * (lane / 4) + (6 * at + i) / 8) >> (6 * at + i) % 8 & 1) << i;
      CHECK((six[lane * 2] >> 8 * e & 0xff) == bits);
    }
  // What is stored comes back where the registers' bytes belong: lane and byte as numbers.
  const auto stored = run_matrix(
      fill +
          "mul.lo.u32 %r7, %t, 4; mul.lo.u32 %r7, %r7, 0x01010101; add.u32 %r7, %r7, 0x03020100;\n"
          "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r7}; bar.warp.sync -1;\n"
          "ld.shared.v2.u32 {%r10, %r11}, [%r1];\n" +
          leave,
      tile);
  for (unsigned row = 0; row < 8; ++row) // of memory: a column; bytes are rows 0 to 7
    for (unsigned byte = 0; byte < 8; ++byte)
      CHECK((stored[row * 2 + byte / 4] >> byte % 4 * 8 & 0xff) ==
            ((byte * 4 + row / 2) * 4 + row % 2));
}
