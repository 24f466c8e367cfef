// --reassociate: results that differ only by rounding are the same, and no others.

#include "support.h"

#include "emulator/machine/exact_real.h"
#include "emulator/semantics/floating.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

using Kind = KernelVerdict::Kind;

ExactReal real(double number) {
  return ExactReal::of(ScalarType::f64,
                       floating::from_double(ScalarType::f64, number, FloatRounding::nearest_even));
}

/// A kernel that leaves in out[t] what it makes of %f0 to %f3, four numbers of its own.
std::string kernel_of_four(std::string_view body, std::string_view functions = "") {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
{}
.visible .entry k(.param .u64 in, .param .u64 out) .reqntid 32, 1, 1
{{
  .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<12>; .reg .f64 %g<8>; .reg .b16 %h<4>;
  .reg .pred %p<4>;
  .shared .align 16 .b8 tile[512];
  .local .align 16 .b8 own[64];
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %r0;
  mul.wide.u32 %d2, %r1, 16; add.u64 %d0, %d0, %d2; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%d0];
  {}
  st.global.f32 [%d1], %f9;
  ret;
}})",
                     functions, body);
}

Kind compared_reals(std::string_view first, std::string_view second, bool reassociate = true,
                    std::string_view functions = "") {
  const auto a = parse_module(kernel_of_four(first, functions)),
             b = parse_module(kernel_of_four(second, functions));
  VerifyOptions options;
  options.reassociate = reassociate;
  options.runs = 6;
  options.search = 20;
  return verify(*a, *b, options)[0].kind;
}

const std::string sum_of_four =
    "add.f32 %f9, %f0, %f1; add.f32 %f9, %f9, %f2; add.f32 %f9, %f9, %f3;";
const std::string backwards =
    "add.f32 %f9, %f3, %f2; add.f32 %f9, %f9, %f1; add.f32 %f9, %f9, %f0;";

} // namespace

TEST_CASE("exact real numbers") {
  CHECK((real(0.1) + real(0.2)).equals(real(0.2) + real(0.1)));
  CHECK(!(real(0.1) + real(0.2)).equals(real(0.3)));
  CHECK((real(1) * real(3).inverse() * real(3)).equals(real(1)));
  CHECK((real(1e300) * real(1e300) * real(1e300).inverse()).equals(real(1e300)));
  CHECK((real(1e300) + real(1) + -real(1e300)).equals(real(1)));
  CHECK(real(-0.0).equals(real(0)));
  CHECK(real(-2).equals(ExactReal::of_integer(2, true)));
  for (int exponent = -1074; exponent <= 1023; ++exponent) // no power of two is another one
    CHECK(real(std::ldexp(1.0, exponent)).equals(real(1)) == (exponent == 0));
  CHECK(!real(INFINITY).known());
  CHECK(!real(NAN).known());
  CHECK(!real(0).inverse().known());
  CHECK(!(real(1) + ExactReal()).known());
  CHECK(real(2).function("sqrt").equals((real(1) + real(1)).function("sqrt")));
  CHECK(!real(2).function("sqrt").equals(real(2).function("ex2")));
}

TEST_CASE("memory keeps the real number of what was stored as a whole") {
  ExactMemory memory;
  const ExactReal third = (real(1) * real(3).inverse()).as(ScalarType::f32);
  memory.store(0, 64, 4, third);
  CHECK(memory.load(0, 64, 4).equals(third));
  CHECK(!memory.load(1, 64, 4).known());
  CHECK(!memory.load(0, 64, 8).known());
  CHECK(!memory.load(0, 62, 4).known());
  memory.store(0, 66, 2, {}); // a part of it
  CHECK(!memory.load(0, 64, 4).known());
  memory.store(0, 64, 8, third); // not the size of its type
  CHECK(!memory.load(0, 64, 8).known());
  memory.store(0, 64, 4, third);
  memory.copy(0, 60, 3, 160, 8);
  CHECK(memory.load(3, 164, 4).equals(third));
  memory.copy(0, 60, 3, 160, 6);
  CHECK(!memory.load(3, 164, 4).known());
}

TEST_CASE("sums in another order, and wrong ones") {
  CHECK(compared_reals(sum_of_four, sum_of_four, false) == Kind::agree);
  CHECK(compared_reals(sum_of_four, backwards, false) == Kind::differ);
  CHECK(compared_reals(sum_of_four, backwards) == Kind::agree);
  for (const char *wrong :
       {"add.f32 %f9, %f0, %f1; add.f32 %f9, %f9, %f2;",                        // a term too few
        "add.f32 %f9, %f0, %f1; add.f32 %f9, %f9, %f2; add.f32 %f9, %f9, %f2;", // one twice
        "add.f32 %f9, %f0, %f1; add.f32 %f9, %f9, %f2; sub.f32 %f9, %f9, %f3;", // a sign
        "add.f32 %f9, %f0, %f1; fma.rn.f32 %f8, %f3, 0f3F800001, %f2; add.f32 %f9, %f9, %f8;",
        "add.f32 %f9, %f0, %f1; add.f32 %f9, %f9, %f2; add.f32 %f9, %f9, %f3;"
        "add.f32 %f9, %f9, 0f358637BD;", // a millionth
        "add.f32 %f9, %f0, %f1; add.f32 %f9, %f9, %f2; add.f32 %f9, %f9, %f3; mul.f32 %f9, %f9, "
        "0f5E000000;"}) { // 2^61
    INFO(wrong);
    CHECK(compared_reals(sum_of_four, wrong) == Kind::differ);
  }
}

TEST_CASE("products, quotients and functions of sums") {
  const auto both = [](std::string_view first, std::string_view second) {
    return compared_reals(first, second);
  };
  CHECK(both("add.f32 %f9, %f0, %f1; mul.f32 %f9, %f9, %f2;",
             "mul.f32 %f9, %f0, %f2; fma.rn.f32 %f9, %f1, %f2, %f9;") == Kind::agree);
  CHECK(both("add.f32 %f9, %f0, %f1; div.rn.f32 %f9, %f9, 0f40400000;",
             "div.approx.f32 %f9, %f0, 0f40400000; rcp.rn.f32 %f8, 0f40400000;"
             "fma.rn.f32 %f9, %f1, %f8, %f9;") == Kind::agree);
  CHECK(both("add.f32 %f9, %f0, %f1; div.rn.f32 %f9, %f9, 0f40400000;",
             "div.rn.f32 %f9, %f0, 0f40400000; add.f32 %f9, %f9, %f1;") == Kind::differ);
  const std::string root = "abs.f32 %f9, %f9; sqrt.approx.f32 %f9, %f9; ex2.approx.f32 %f9, %f9;";
  CHECK(both(sum_of_four + root, backwards + root) == Kind::agree);
  CHECK(both(sum_of_four + root, backwards + "abs.f32 %f9, %f9; ex2.approx.f32 %f9, %f9;") ==
        Kind::differ);
  CHECK(both("max.f32 %f9, %f0, %f1; max.f32 %f9, %f9, %f2;" + std::string("neg.f32 %f9, %f9;"),
             "neg.f32 %f7, %f0; neg.f32 %f8, %f1; min.f32 %f9, %f7, %f8; neg.f32 %f8, %f2;"
             "min.f32 %f9, %f9, %f8;") == Kind::agree);
  CHECK(both(sum_of_four, "cvt.f64.f32 %g0, %f3; cvt.f64.f32 %g1, %f2; cvt.f64.f32 %g2, %f1;"
                          "cvt.f64.f32 %g3, %f0; add.f64 %g0, %g0, %g1; add.f64 %g0, %g0, %g2;"
                          "add.f64 %g0, %g0, %g3; cvt.rn.f32.f64 %f9, %g0;") == Kind::agree);
}

TEST_CASE("real numbers go where numbers go") {
  // Each leaves the sum in %f9, by another way.
  const std::string begun = "add.f32 %f8, %f3, %f2; add.f32 %f8, %f8, %f1;";
  for (const char *way :
       {"mov.u32 %r2, tile; mad.lo.u32 %r2, %r0, 16, %r2; st.shared.f32 [%r2+4], %f8;"
        "ld.shared.v2.f32 {%f7, %f8}, [%r2];",
        "st.local.f32 [own+8], %f8; ld.local.b32 %r2, [own+8]; mov.b32 %f8, %r2;",
        "setp.gt.f32 %p0, %f0, 0f00000000; selp.f32 %f7, %f8, %f8, %p0; mov.f32 %f8, %f7;",
        "mov.b32 %r2, %f8; xor.b32 %r3, %r0, 0; shfl.sync.idx.b32 %r2, %r2, %r3, 31, -1;"
        "mov.b32 %f8, %r2;",
        "mov.u32 %r2, tile; mad.lo.u32 %r2, %r0, 4, %r2; mov.f32 %f7, 0f00000000;"
        "st.shared.f32 [%r2], %f7; atom.shared.add.f32 %f7, [%r2], %f8; ld.shared.f32 %f8, [%r2];",
        "{ .param .b32 a; .param .b32 b; st.param.f32 [a], %f8; call (b), same, (a);"
        "ld.param.f32 %f8, [b]; }"}) {
    INFO(way);
    const std::string second = begun + way + "add.f32 %f9, %f8, %f0;";
    const char *same = ".func (.param .b32 y) same(.param .b32 x) { .reg .f32 %v;"
                       "ld.param.f32 %v, [x]; st.param.f32 [y], %v; ret; }";
    CHECK(compared_reals(sum_of_four, second, true, same) == Kind::agree);
    CHECK(compared_reals(sum_of_four, second + "add.f32 %f9, %f9, %f0;", true, same) ==
          Kind::differ);
  }
}

// All blocks add to the same place. Whether that changes anything, so that they race, is about real
// numbers here, as everything is.
TEST_CASE("stores of the same real number do not race, and others do") {
  const auto verdict_of = [](std::string_view first, std::string_view second, bool reassociate) {
    const auto module_of = [](std::string_view added) {
      return parse_module(fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %r<2>; .reg .b64 %d<4>; .reg .f32 %f<8>;
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2;
  ld.global.f32 %f0, [%d0]; ld.global.f32 %f1, [%d0+4];
  ld.global.f32 %f7, [%d1];
  {}
  add.f32 %f7, %f7, %f6;
  st.global.f32 [%d1], %f7;
  ret;
}})",
                                      added));
    };
    VerifyOptions options;
    options.reassociate = reassociate;
    options.no_alias = true;
    options.runs = 12;
    options.search = 20;
    const auto a = module_of(first), b = module_of(second);
    return verify(*a, *b, options)[0];
  };
  const auto races = [](const KernelVerdict &verdict) {
    return std::any_of(verdict.unusable.begin(), verdict.unusable.end(), [](const auto &one) {
      return one.first.starts_with("race in the original");
    });
  };
  // 0 in any order; rounded, what the second adds is none.
  const std::string nothing =
      "add.f32 %f2, %f0, %f1; add.f32 %f3, %f1, %f0; sub.f32 %f6, %f2, %f3;";
  const std::string rounded =
      "add.f32 %f2, %f0, %f1; sub.f32 %f3, %f2, %f1; sub.f32 %f6, %f3, %f0;";
  KernelVerdict verdict = verdict_of(nothing, rounded, true);
  CHECK(verdict.kind == Kind::agree);
  CHECK_FALSE(races(verdict));
  CHECK(verdict_of(rounded, nothing, true).kind == Kind::agree);
  CHECK(verdict_of(nothing, rounded, false).kind == Kind::differ);
  // A part of 2^-100 is lost at once, and is there all the same: launches of several blocks are
  // left out.
  const std::string little = "mul.f32 %f6, %f7, 0f0D800000;";
  verdict = verdict_of(little, little, true);
  CHECK(verdict.kind == Kind::agree);
  CHECK(races(verdict));
  CHECK(verdict_of(nothing, "mov.f32 %f6, %f0;", true).kind == Kind::differ);
}

TEST_CASE("what was changed bit by bit is what its bits say") {
  const char *cut = "mov.b32 %r2, %f9; and.b32 %r2, %r2, 0xffffff00; mov.b32 %f9, %r2;";
  CHECK(compared_reals(sum_of_four + cut, sum_of_four + cut) == Kind::agree);
  CHECK(compared_reals(sum_of_four, sum_of_four + cut) == Kind::differ);
  // Half of a number is overwritten in memory.
  CHECK(compared_reals(sum_of_four,
                       sum_of_four +
                           "mov.u32 %r2, tile; mad.lo.u32 %r2, %r0, 4, %r2;"
                           "st.shared.f32 [%r2], %f9; mov.b16 %h0, 4660; st.shared.b16 [%r2], %h0;"
                           "ld.shared.f32 %f9, [%r2];") == Kind::differ);
}

TEST_CASE("halves are numbers wherever they are stored as whole ones") {
  const std::string store = "st.global.u16 [%d1], %h0; ret;";
  const auto halves = [&](const char *type, const char *sum) {
    return fmt::format("cvt.rn.{0}.f32 %h0, %f0; cvt.rn.{0}.f32 %h1, %f1; {1} {2}", type, sum,
                       store);
  };
  const auto rounded_once = [&](const char *type, const char *more) {
    return fmt::format("add.f32 %f9, %f0, %f1; {} cvt.rn.{}.f32 %h0, %f9; {}", more, type, store);
  };
  for (const auto &[type, line] :
       {std::pair{"f16", "add.f16 %h0, %h0, %h1;"}, std::pair{"bf16", "add.bf16 %h0, %h0, %h1;"},
        std::pair{"f16", "cvt.f32.f16 %f8, %h0; cvt.f32.f16 %f7, %h1; add.f32 %f8, %f8, %f7;"
                         "cvt.rn.f16.f32 %h0, %f8;"},
        // A bf16 is the upper half of the f32, and made one so before sm_90.
        std::pair{"bf16", "mov.b16 %h2, 0; mov.b32 %f8, {%h2, %h0}; mov.b32 %f7, {%h2, %h1};"
                          "add.f32 %f8, %f8, %f7; cvt.rn.bf16.f32 %h0, %f8;"}}) {
    const char *const sum = line; // clang 14 captures no binding
    INFO(sum);
    CHECK(compared_reals(halves(type, sum), rounded_once(type, ""), false) == Kind::differ);
    CHECK(compared_reals(halves(type, sum), rounded_once(type, "")) == Kind::agree);
    CHECK(compared_reals(halves(type, sum), rounded_once(type, "add.f32 %f9, %f9, %f2;")) ==
          Kind::differ);
  }
  // What lies below a bf16 is part of the number.
  CHECK(compared_reals("cvt.rn.bf16.f32 %h0, %f0; mov.b16 %h2, 1; mov.b32 %f9, {%h2, %h0};",
                       "cvt.rn.bf16.f32 %h0, %f0; mov.b16 %h2, 0; mov.b32 %f9, {%h2, %h0};") ==
        Kind::differ);
}
