// Instructions on numbers: one line per expectation, through the whole emulator.

#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

/// Lane 0's result of code that leaves it in %r0.
std::uint32_t result(std::string_view code) {
  const WarpRun run = run_warp(in_warp_kernel(fmt::format("{}\nst.global.u32 [%out], %r0;", code)));
  if (run.outcome.fault)
    FAIL(format(*run.outcome.fault));
  return run.words[0];
}

std::uint32_t real(std::string_view code) {
  return result(fmt::format("{}\nmov.b32 %r0, %f0;", code));
}

std::uint32_t half(std::string_view code) {
  return result(fmt::format("{}\ncvt.u32.u16 %r0, %h0;", code));
}

} // namespace

TEST_CASE("integers") {
  CHECK(result("mov.u32 %r1, -7; div.s32 %r0, %r1, 2;") == 0xfffffffd);
  CHECK(result("mov.u32 %r1, -7; mul.hi.s32 %r0, %r1, 3;") == 0xffffffff);
  CHECK(result("mov.u32 %r1, 0x80000000; shr.s32 %r0, %r1, 40;") == 0xffffffff);
  CHECK(result("mov.u32 %r1, 0xff00ff; popc.b32 %r0, %r1;") == 16);
  CHECK(result("mov.u32 %r1, 1; brev.b32 %r0, %r1;") == 0x80000000);
  CHECK(result("mov.u32 %r1, 0x12345678; prmt.b32 %r0, %r1, 0, 0x0123;") == 0x78563412);
  CHECK(result("mov.u32 %r1, -1; add.cc.u32 %r2, %r1, 1; addc.u32 %r0, 5, 0;") == 6);
  CHECK(result("mov.u64 %d0, 0x100000000; mov.b64 {%r1, %r0}, %d0;") == 1);
  CHECK(result("mov.u32 %r1, 200; cvt.s8.u32 %r2, %r1; mov.b32 %r0, %r2;") == 0xffffffc8);
  CHECK(result("mov.u32 %r1, 5; setp.lt.and.s32 %p0|%p1, %r1, 3, 1; selp.u32 %r0, 1, 0, %p1;") ==
        1);
}

TEST_CASE("f32 rounds as asked") {
  CHECK(real("mov.f32 %f1, 0f3F800000; add.rn.f32 %f0, %f1, 0f33000000;") == 0x3f800000);
  CHECK(real("mov.f32 %f1, 0f3F800000; add.rp.f32 %f0, %f1, 0f33000000;") == 0x3f800001);
  CHECK(real("mov.f32 %f1, 0fBF800000; sub.rm.f32 %f0, %f1, 0f00000001;") == 0xbf800001);
  CHECK(real("mov.f32 %f1, 0f3F800000; sub.rz.f32 %f0, %f1, 0f00000001;") == 0x3f7fffff);
  CHECK(real("mov.f32 %f1, 0f3F800000; div.rn.f32 %f0, %f1, 0f40400000;") == 0x3eaaaaab);
  CHECK(real("mov.f32 %f1, 0f3F800000; div.rz.f32 %f0, %f1, 0f40400000;") == 0x3eaaaaaa);
  CHECK(real("mov.f32 %f1, 0f40000000; sqrt.rn.f32 %f0, %f1;") == 0x3fb504f3);
  CHECK(real("mov.f32 %f1, 0f40000000; sqrt.rp.f32 %f0, %f1;") == 0x3fb504f4);
  // 1 + 2^-12 squared, minus its rounded square: fma does not round between.
  CHECK(real("mov.f32 %f1, 0f3F800800; fma.rn.f32 %f0, %f1, %f1, 0fBF801000;") == 0x33800000);
}

TEST_CASE("subnormals, saturation, NaN") {
  CHECK(real("mov.f32 %f1, 0f00000003; add.f32 %f0, %f1, 0f00000001;") == 4);
  CHECK(real("mov.f32 %f1, 0f00000003; add.ftz.f32 %f0, %f1, 0f00000001;") == 0);
  CHECK(real("mov.f32 %f1, 0f80000003; mul.ftz.f32 %f0, %f1, 0f3F800000;") == 0x80000000);
  CHECK(real("mov.f32 %f1, 0f40000000; add.sat.f32 %f0, %f1, %f1;") == 0x3f800000);
  CHECK(real("mov.f32 %f1, 0f7F800000; sub.f32 %f0, %f1, %f1;") == 0x7fffffff);
  CHECK(real("mov.f32 %f1, 0f7F800000; sub.sat.f32 %f0, %f1, %f1;") == 0);
  CHECK(real("mov.f32 %f1, 0f7FC00000; min.f32 %f0, %f1, 0f3F800000;") == 0x3f800000);
  CHECK(real("mov.f32 %f1, 0f7FC00000; min.NaN.f32 %f0, %f1, 0f3F800000;") == 0x7fffffff);
  CHECK(real("mov.f32 %f1, 0f00000000; min.f32 %f0, %f1, 0f80000000;") == 0x80000000);
  CHECK(result("mov.f32 %f1, 0f7FC00000; setp.ltu.f32 %p0, %f1, %f1; selp.u32 %r0, 1, 0, %p0;") ==
        1);
  CHECK(result("mov.f32 %f1, 0f7FC00000; setp.ne.f32 %p0, %f1, %f1; selp.u32 %r0, 1, 0, %p0;") ==
        0);
}

TEST_CASE("conversions") {
  CHECK(result("mov.f32 %f1, 0f40200000; cvt.rni.s32.f32 %r0, %f1;") == 2);
  CHECK(result("mov.f32 %f1, 0fC0200000; cvt.rmi.s32.f32 %r0, %f1;") == 0xfffffffd);
  CHECK(result("mov.f32 %f1, 0fBF800000; cvt.rzi.u32.f32 %r0, %f1;") == 0);
  CHECK(result("mov.f32 %f1, 0f7F800000; cvt.rzi.s32.f32 %r0, %f1;") == 0x7fffffff);
  CHECK(real("mov.u32 %r1, 0x01000001; cvt.rn.f32.u32 %f0, %r1;") == 0x4b800000);
  CHECK(real("mov.u32 %r1, 0x01000001; cvt.rp.f32.u32 %f0, %r1;") == 0x4b800001);
  CHECK(real("mov.f64 %g1, 0d3FF0000010000001; cvt.rn.f32.f64 %f0, %g1;") == 0x3f800001);
  CHECK(half("mov.f32 %f1, 0f3F801000; cvt.rn.f16.f32 %h0, %f1;") == 0x3c00);
  CHECK(half("mov.f32 %f1, 0f3F803000; cvt.rn.f16.f32 %h0, %f1;") == 0x3c02);
  CHECK(half("mov.f32 %f1, 0f477FF000; cvt.rn.f16.f32 %h0, %f1;") == 0x7c00);
  CHECK(half("mov.f32 %f1, 0f477FF000; cvt.rz.f16.f32 %h0, %f1;") == 0x7bff);
  CHECK(half("mov.f32 %f1, 0f3F818000; cvt.rn.bf16.f32 %h0, %f1;") == 0x3f82);
  CHECK(real("mov.b16 %h1, 0x0001; cvt.f32.f16 %f0, %h1;") == 0x33800000);
}

TEST_CASE("f16 arithmetic rounds once") {
  CHECK(half("mov.b16 %h1, 0x3c01; mul.rn.f16 %h0, %h1, %h1;") == 0x3c02);
  CHECK(half("mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x0001; fma.rn.f16 %h0, %h1, %h2, %h1;") == 0x3c00);
  CHECK(result("mov.b32 %r1, 0x3c004000; add.rn.f16x2 %r0, %r1, %r1;") == 0x40004400);
}

TEST_CASE("f64") {
  const auto low = [](std::string_view code) {
    return result(fmt::format("{}\nmov.b64 {{%r0, %r1}}, %g0;", code));
  };
  CHECK(low("mov.f64 %g1, 0d3FF0000000000000; add.rp.f64 %g0, %g1, 0d3C00000000000000;") == 1);
  CHECK(low("mov.f64 %g1, 0d3FF0000000000000; div.rn.f64 %g0, %g1, 0d4008000000000000;") ==
        0x55555555);
  CHECK(low("mov.f64 %g1, 0d3FF0000000000000; div.rp.f64 %g0, %g1, 0d4008000000000000;") ==
        0x55555556);
}

TEST_CASE("approximations stay within the documented error") {
  CHECK(real("mov.f32 %f1, 0f40000000; ex2.approx.f32 %f0, %f1;") == 0x40800000);
  CHECK(real("mov.f32 %f1, 0f40800000; lg2.approx.f32 %f0, %f1;") == 0x40000000);
  CHECK(real("mov.f32 %f1, 0f40800000; rsqrt.approx.f32 %f0, %f1;") == 0x3f000000);
  CHECK(real("mov.f32 %f1, 0f40800000; rcp.approx.ftz.f32 %f0, %f1;") == 0x3e800000);
}
