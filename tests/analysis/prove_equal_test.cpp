// Two kernels of one thread that compute one number of three: which are proved to be equal as real
// numbers, which to the bit, and what is said of those that cannot be compared. Kernels by nvcc are
// in tests/prove; here constants stay as they are written.

#include "analysis/prove/equal.h"
#include "grammar/module.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <string_view>

using namespace ptxasw::test;

namespace {

/// A kernel that reads f32 %x, %y, %z and writes %o; %f0 to %f9, %d0 to %d4, %r0 to %r4 and %p are
/// free.
std::string small_kernel(std::string_view body, std::string_view declarations = "",
                         std::string_view parameters = "", std::string_view directives = "") {
  return fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n{}"
      ".visible .entry k(.param .u64 in, .param .u64 out{}) {} {{\n.reg .b64 %A, %B, %l<5>;\n"
      ".reg .f32 %x, %y, %z, %o, %f<10>;\n.reg .f64 %d<5>;\n.reg .b32 %r<5>;\n.reg .pred %p;\n"
      "ld.param.u64 %A, [in];\nld.param.u64 %B, [out];\nld.global.f32 %x, [%A];\n"
      "ld.global.f32 %y, [%A+4];\nld.global.f32 %z, [%A+8];\n{}\nst.global.f32 [%B], %o;\nret;\n"
      "}}\n",
      declarations, parameters, directives, body);
}

std::unique_ptr<Module> module_of(const std::string &text) {
  auto module = parse(text, "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  return std::move(*module);
}

LaunchDescription launch_of() {
  LaunchDescription launch;
  launch.block = {1, 1, 1};
  for (const char *const name : {"in", "out"}) {
    BufferDescription buffer;
    buffer.name = name;
    buffer.type = ScalarType::f32;
    buffer.size = 12;
    buffer.fill = GlobalMemory::Fill::f32;
    launch.buffers.push_back(buffer);
    ArgumentDescription argument;
    argument.bytes.resize(8);
    argument.fields.push_back({FieldDescription::Kind::buffer, 0, 8, 0, name});
    launch.arguments.push_back(argument);
  }
  return launch;
}

EqualityAnswer compare_kernels(const std::string &first, const std::string &second,
                               bool over_reals) {
  const auto one = module_of(first), two = module_of(second);
  const WarpProgram a(*one), b(*two);
  EqualityOptions options;
  options.over_reals = over_reals;
  return prove_equal(a, launch_of(), b, launch_of(), options);
}

ProofVerdict as_reals(std::string_view first, std::string_view second) {
  return compare_kernels(small_kernel(first), small_kernel(second), true).verdict;
}
ProofVerdict to_the_bit(std::string_view first, std::string_view second) {
  return compare_kernels(small_kernel(first), small_kernel(second), false).verdict;
}

/// x times a constant, which is made by instructions of other constants, or is there.
std::string times(std::string_view made) { return fmt::format("{}mul.rn.f32 %o, %x, %f0;", made); }
std::string times_number(std::string_view bits) {
  return times(fmt::format("mov.f32 %f0, {};\n", bits));
}

/// What is said of two kernels that are compared in all launches.
std::string always(const std::string &first, const std::string &second) {
  const auto one = module_of(first), two = module_of(second);
  const WarpProgram a(*one), b(*two);
  EqualityOptions options;
  options.launches = 0;
  const EqualityAnswer answer = prove_equal_always(a, 0, b, 0, {}, options);
  return answer.verdict == ProofVerdict::proved ? "proved" : answer.reason;
}

} // namespace

TEST_CASE("constants that are exact are worked out, others are not") {
  // 0.5, 0.25, 3, -2 as made by each operation, and what it gives.
  const std::string begin = "mov.f32 %f1, 0f3F000000; mov.f32 %f2, 0f3E800000; "
                            "mov.f32 %f3, 0f40400000; mov.f32 %f4, 0fC0000000;\n";
  const std::pair<const char *, const char *> rows[] = {
      {"add.rn.f32 %f0, %f1, %f2;\n", "0f3F400000"},
      {"sub.rn.f32 %f0, %f2, %f3;\n", "0fC0300000"},
      {"mul.rn.f32 %f0, %f1, %f3;\n", "0f3FC00000"},
      {"fma.rn.f32 %f0, %f1, %f3, %f4;\n", "0fBF000000"},
      {"div.rn.f32 %f0, %f3, %f2;\n", "0f41400000"},
      {"neg.f32 %f0, %f3;\n", "0fC0400000"},
      {"abs.f32 %f0, %f4;\n", "0f40000000"},
      {"min.f32 %f0, %f1, %f4;\n", "0fC0000000"},
      {"max.f32 %f0, %f1, %f4;\n", "0f3F000000"},
      {"cvt.f64.f32 %d0, %f1; add.rn.f64 %d0, %d0, %d0; cvt.rn.f32.f64 %f0, %d0;\n", "0f3F800000"},
      {"cvt.rzi.s32.f32 %r0, %f4; cvt.rn.f32.s32 %f0, %r0;\n", "0fC0000000"},
      {"mov.u32 %r0, 7; cvt.rn.f32.u32 %f0, %r0;\n", "0f40E00000"},
      {"setp.lt.f32 %p, %f1, %f3; selp.f32 %f0, %f1, %f3, %p;\n", "0f3F000000"},
      {"testp.finite.f32 %p, %f3; selp.f32 %f0, %f1, %f3, %p;\n", "0f3F000000"}};
  for (const auto &row : rows) {
    CAPTURE(row.first);
    const std::string worked_out = times(begin + row.first), known = times_number(row.second);
    CHECK(as_reals(worked_out, known) == ProofVerdict::proved);
    CHECK(to_the_bit(worked_out, known) == ProofVerdict::proved);
    CHECK(as_reals(worked_out, times_number("0f40A00000")) != ProofVerdict::proved); // 5
  }
  // A third is rounded: to the bit it is that number, as a real number it is a third.
  const std::string third = times("mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40400000;\n"
                                  "div.rn.f32 %f0, %f1, %f2;\n");
  CHECK(to_the_bit(third, times_number("0f3EAAAAAB")) == ProofVerdict::proved);
  CHECK(as_reals(third, times_number("0f3EAAAAAB")) != ProofVerdict::proved);
  CHECK(as_reals(third, "mov.f32 %f1, 0f40400000; div.rn.f32 %o, %x, %f1;") ==
        ProofVerdict::proved);
  // So is a sum whose last bits are lost.
  const std::string sum = times("mov.f32 %f1, 0f4B800000; mov.f32 %f2, 0f3F800000;\n"
                                "add.rn.f32 %f0, %f1, %f2;\n");
  CHECK(to_the_bit(sum, times_number("0f4B800000")) == ProofVerdict::proved);
  CHECK(as_reals(sum, times_number("0f4B800000")) != ProofVerdict::proved);
}

TEST_CASE("real numbers in another order, and functions of them") {
  const auto proved = [](std::string_view first, std::string_view second) {
    CAPTURE(first);
    CAPTURE(second);
    CHECK(as_reals(first, second) == ProofVerdict::proved);
  };
  const std::string one_way = "add.rn.f32 %f0, %x, %y; add.rn.f32 %f0, %f0, %z;\n",
                    other_way = "add.rn.f32 %f0, %z, %y; add.rn.f32 %f0, %x, %f0;\n";
  for (const char *const function :
       {"sqrt.rn.f32", "sqrt.approx.f32", "rsqrt.approx.f32", "sin.approx.f32", "cos.approx.f32",
        "lg2.approx.f32", "ex2.approx.f32", "tanh.approx.f32", "abs.f32", "rcp.rn.f32",
        "neg.f32"}) {
    const std::string last = fmt::format("{} %o, %f0;", function);
    proved(one_way + last, other_way + last);
    CHECK(as_reals(one_way + last, "sub.rn.f32 %f0, %x, %y; add.rn.f32 %f0, %f0, %z;\n" + last) !=
          ProofVerdict::proved);
    CHECK(to_the_bit(one_way + last, other_way + last) != ProofVerdict::proved);
  }
  proved("mul.rn.f32 %f0, %x, %y; fma.rn.f32 %o, %x, %z, %f0;",
         "add.rn.f32 %f0, %z, %y; mul.rn.f32 %o, %f0, %x;");
  proved("div.rn.f32 %f0, %x, %y; mul.rn.f32 %o, %f0, %z;",
         "mul.rn.f32 %f0, %x, %z; div.rn.f32 %o, %f0, %y;");
  proved("ex2.approx.f32 %f0, %x; ex2.approx.f32 %f1, %y; mul.rn.f32 %o, %f0, %f1;",
         "add.rn.f32 %f0, %y, %x; ex2.approx.f32 %o, %f0;");
  proved("min.f32 %f0, %x, %y; min.f32 %o, %f0, %z;", "min.f32 %f0, %z, %x; min.f32 %o, %y, %f0;");
  proved("max.f32 %f0, %x, %y; max.f32 %o, %f0, %z;", "max.f32 %f0, %z, %x; max.f32 %o, %y, %f0;");
  proved("copysign.f32 %o, %x, %y;", "mul.rn.f32 %f0, %x, 0f3F800000; copysign.f32 %o, %f0, %y;");
  proved(
      "cvt.f64.f32 %d0, %x; cvt.f64.f32 %d1, %y; add.rn.f64 %d0, %d0, %d1; cvt.rn.f32.f64 %o, %d0;",
      "add.rn.f32 %o, %y, %x;");
  proved(one_way + "setp.lt.f32 %p, %f0, 0f00000000; selp.f32 %o, %x, %y, %p;",
         other_way + "setp.lt.f32 %p, %f0, 0f00000000; selp.f32 %o, %x, %y, %p;");
  proved("rsqrt.approx.f32 %o, %x;", "sqrt.approx.f32 %f0, %x; rcp.approx.f32 %o, %f0;");
  proved("rcp.rn.f32 %f0, %y; mul.rn.f32 %o, %x, %f0;", "div.rn.f32 %o, %x, %y;");
  // A minimum is no maximum, and what saturates is no sum.
  CHECK(as_reals("min.f32 %o, %x, %y;", "max.f32 %o, %x, %y;") != ProofVerdict::proved);
  CHECK(as_reals("add.rn.sat.f32 %o, %x, %y;", "add.rn.f32 %o, %x, %y;") != ProofVerdict::proved);
  CHECK(as_reals("mul.rn.sat.f32 %o, %x, %y;", "mul.rn.f32 %o, %x, %y;") != ProofVerdict::proved);
  CHECK(as_reals("rsqrt.approx.f32 %o, %x;", "sqrt.approx.f32 %o, %x;") != ProofVerdict::proved);
  CHECK(as_reals("div.rn.f32 %o, %x, 0f00000000;", "div.rn.f32 %o, %y, 0f00000000;") !=
        ProofVerdict::proved);
}

TEST_CASE("what differs before the first instruction is said") {
  const std::string plain = small_kernel("mov.f32 %o, %x;");
  const auto with_variable = [](const char *initializer) {
    return small_kernel("ld.const.f32 %f0, [factors+4]; mul.rn.f32 %o, %x, %f0;",
                        fmt::format(".const .align 4 .f32 factors[2]{};\n", initializer));
  };
  CHECK(always(plain, plain) == "proved");
  CHECK(always(plain, small_kernel("mov.f32 %o, %x;", "", ", .param .u32 n")) ==
        "the two do not have the same parameters");
  CHECK(always(small_kernel("mov.f32 %o, %x;", "", ", .param .u32 n"),
               small_kernel("mov.f32 %o, %x;", "", ", .param .u64 n")) ==
        "parameter 2 is not the same for both");
  CHECK(always(plain, small_kernel("mov.f32 %o, %x;", "", "", ".reqntid 32")) ==
        "`.reqntid` is not the same for both");
  CHECK(always(small_kernel("mov.f32 %o, %x;", "", "", ".reqntid 64"),
               small_kernel("mov.f32 %o, %x;", "", "", ".reqntid 32")) ==
        "`.reqntid` is not the same for both");
  CHECK(always(plain, small_kernel("mov.f32 %o, %x;", "", "", ".maxntid 64")) == "proved");
  CHECK(always(with_variable(" = {0f3F800000, 0f40000000}"),
               with_variable(" = {0f3F800000, 0f40000000}")) == "proved");
  for (const char *const other : {" = {0f3F800000, 0f40400000}", ""})
    CHECK(always(with_variable(" = {0f3F800000, 0f40000000}"), with_variable(other)) ==
          "variable factors is not the same for both");
  const auto with_room = [](unsigned count) {
    return small_kernel(fmt::format(".shared .align 4 .b32 room[{}];\nst.shared.f32 [room], %x;\n"
                                    "ld.shared.f32 %o, [room];",
                                    count));
  };
  CHECK(always(with_room(4), with_room(8)) == "their shared variables are not the same");
}
