// What a proof may cost, in the solver's units and not by the clock: kernels of 500 lines stay
// within the limits, and where these end the answer is that nothing is known.

#include "analysis/prove/prove.h"
#include "grammar/module.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <functional>
#include <string>

using namespace ptxasw::test;

namespace {

std::string kernel(const std::string &body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
         ".reg .b64 %A, %B, %d<9>;\n.reg .b32 %r<9>, %t, %i, %n, %w;\n.reg .f32 %f<9>;\n"
         ".reg .pred %p<9>;\n.shared .align 16 .b32 tile[4096];\n"
         "ld.param.u64 %A, [a];\nld.param.u64 %B, [b];\nld.param.u32 %n, [n];\n"
         "mov.u32 %t, %tid.x;\nmov.u32 %i, %ctaid.x;\nmov.u32 %w, %ntid.x;\n"
         "mad.lo.u32 %i, %i, %w, %t;\nmul.wide.u32 %d0, %i, 4;\nadd.u64 %d1, %A, %d0;\n"
         "add.u64 %d2, %B, %d0;\nmov.u32 %r0, tile;\nmad.lo.u32 %r0, %t, 4, %r0;\n" +
         body + "ret;\n}\n";
}

std::string repeated(unsigned times, const std::function<std::string(unsigned)> &line) {
  std::string result;
  for (unsigned i = 0; i < times; ++i)
    result += line(i);
  return result;
}

const std::string unrolled_stencil =
    kernel(repeated(240,
                    [](unsigned i) {
                      return fmt::format("ld.global.f32 %f1, [%d2+{}];\n"
                                         "fma.rn.f32 %f0, %f1, 0f3F000000, %f0;\n",
                                         4 * i);
                    }) +
           "st.global.f32 [%d1], %f0;\n");

/// Parts of a tile that are handed over at three barriers.
std::string three_barriers(bool has_all) {
  const auto stores = repeated(
      60, [](unsigned i) { return fmt::format("st.shared.u32 [%r0+{}], %i;\n", 256 * i); });
  const auto loads = repeated(60, [](unsigned i) {
    return fmt::format("ld.shared.u32 %r2, [%r1+{}];\nadd.u32 %r3, %r3, %r2;\n", 256 * i);
  });
  return kernel("sub.u32 %r1, 63, %t;\nmov.u32 %r4, tile;\nmad.lo.u32 %r1, %r1, 4, %r4;\n" +
                stores + "bar.sync 0;\n" + loads + (has_all ? "bar.sync 0;\n" : "") + stores +
                "bar.sync 0;\n" + loads + "st.global.u32 [%d1], %r3;\n");
}

/// Loops in each other, around many lines; the innermost one reads what the others moved.
const std::string nested_loops = [] {
  std::string text = "mov.u64 %d3, %d2;\n";
  for (int level = 0; level < 4; ++level)
    text += fmt::format("mov.u32 %r{0}, 0;\nloop{0}:\n", 1 + level);
  text += repeated(230, [](unsigned i) {
    return fmt::format("ld.global.f32 %f1, [%d3+{}];\nadd.f32 %f0, %f0, %f1;\n", 4 * i);
  });
  for (int level = 3; level >= 0; --level)
    text += fmt::format("add.u64 %d3, %d3, {1};\nadd.u32 %r{0}, %r{0}, 1;\n"
                        "setp.lt.u32 %p{0}, %r{0}, %n;\n@%p{0} bra loop{0};\n",
                        1 + level, 4 << level);
  return kernel(text + "st.global.f32 [%d1], %f0;\n");
}();

/// Places that products and remainders scatter: too much to be asked about one by one.
const std::string scattered = kernel(repeated(100, [](unsigned i) {
  return fmt::format("mul.lo.u32 %r1, %i, %n;\nxor.b32 %r1, %r1, {};\nrem.u32 %r1, %r1, {};\n"
                     "mul.wide.u32 %d4, %r1, 4;\nadd.u64 %d4, %d4, %A;\nst.global.u32 [%d4], %t;\n",
                     3 * i + 1, 1000 + i);
}));

/// A branch around every store.
const std::string branches = kernel(repeated(120, [](unsigned i) {
  return fmt::format("setp.lt.u32 %p1, %n, {0};\n@%p1 bra over{0};\n"
                     "st.global.u32 [%d1], {0};\nover{0}:\nadd.u32 %r1, %r1, %n;\n",
                     i);
}));

/// Each thread copies what is right of the diagonal in its row to the column below it, four
/// elements a round and what is left over before, as nvcc makes it of a loop; `begin`: of the row's
/// part.
std::string transposed_in_place(const std::string &begin) {
  return kernel("setp.ge.s32 %p1, %i, %n;\n@%p1 bra end;\nmov.u32 %r1, " + begin +
                ";\nsub.s32 %r2, %n, %r1;\nand.b32 %r3, %r2, 3;\nmul.wide.s32 %d3, %n, 4;\n"
                "mad.lo.s32 %r4, %n, %i, %r1;\nmul.wide.s32 %d4, %r4, 4;\nadd.s64 %d4, %A, %d4;\n"
                "mad.lo.s32 %r4, %n, %r1, %i;\nmul.wide.s32 %d5, %r4, 4;\nadd.s64 %d5, %A, %d5;\n"
                "setp.eq.s32 %p2, %r3, 0;\n@%p2 bra rest;\n"
                "one:\nld.global.f32 %f1, [%d4];\nst.global.f32 [%d5], %f1;\n"
                "add.s32 %r1, %r1, 1;\nadd.s64 %d4, %d4, 4;\nadd.s64 %d5, %d5, %d3;\n"
                "add.s32 %r3, %r3, -1;\nsetp.ne.s32 %p3, %r3, 0;\n@%p3 bra one;\n"
                "rest:\nsetp.lt.u32 %p4, %r2, 4;\n@%p4 bra end;\n"
                "mad.lo.s32 %r4, %n, %i, %r1;\nmul.wide.s32 %d4, %r4, 4;\nadd.s64 %d4, %A, %d4;\n"
                "mad.lo.s32 %r4, %n, %r1, %i;\nmul.wide.s32 %d5, %r4, 4;\nadd.s64 %d5, %A, %d5;\n"
                "four:\n" +
                repeated(4,
                         [](unsigned i) {
                           return fmt::format("ld.global.f32 %f1, [%d4+{}];\n"
                                              "st.global.f32 [%d5], %f1;\n"
                                              "add.s64 %d5, %d5, %d3;\n",
                                              4 * i);
                         }) +
                "add.s64 %d4, %d4, 16;\nadd.s32 %r1, %r1, 4;\nsetp.lt.s32 %p5, %r1, %n;\n"
                "@%p5 bra four;\nend:\n");
}

/// Rows of a triangle that lie one behind the other: each thread writes its own, four elements a
/// round, as nvcc makes it of a loop.
const std::string packed_triangle = kernel(
    "setp.ge.s32 %p1, %i, %n;\nsetp.lt.s32 %p2, %i, 0;\nor.pred %p1, %p1, %p2;\n@%p1 bra end;\n"
    "add.s32 %r1, %i, 1;\nmul.lo.s32 %r2, %r1, %i;\nshr.u32 %r3, %r2, 31;\nadd.s32 %r2, %r2, %r3;\n"
    "shr.s32 %r2, %r2, 1;\nand.b32 %r1, %r1, 3;\nmov.u32 %r4, 0;\nsetp.lt.u32 %p3, %i, 3;\n"
    "@%p3 bra rest;\nmul.wide.s32 %d3, %r2, 4;\nadd.s64 %d3, %A, %d3;\nsub.s32 %r3, %i, %r1;\n"
    "four:\n" +
    repeated(4, [](unsigned i) { return fmt::format("st.global.u32 [%d3+{}], %r4;\n", 4 * i); }) +
    "add.s32 %r4, %r4, 4;\nadd.s64 %d3, %d3, 16;\nadd.s32 %r3, %r3, -4;\nsetp.ne.s32 %p4, %r3, "
    "-1;\n"
    "@%p4 bra four;\nrest:\nsetp.eq.s32 %p5, %r1, 0;\n@%p5 bra end;\nadd.s32 %r5, %r4, %r2;\n"
    "mul.wide.s32 %d4, %r5, 4;\nadd.s64 %d4, %A, %d4;\n"
    "one:\nst.global.u32 [%d4], %r4;\nadd.s32 %r4, %r4, 1;\nadd.s64 %d4, %d4, 4;\n"
    "add.s32 %r1, %r1, -1;\nsetp.ne.s32 %p6, %r1, 0;\n@%p6 bra one;\nend:\n");

/// Two loops in each other, with registers that go through 64 states each. Of these no pair has the
/// first store, and 64 have the second one.
const std::string states_in_each_other =
    kernel("mov.u32 %r1, 0;\nmov.u32 %r5, 0;\n"
           "outer:\nmov.u32 %r2, 3;\nmov.u32 %r6, 0;\n"
           "inner:\nmul.lo.u32 %r3, %r1, 3;\nadd.u32 %r3, %r3, %r2;\nmul.lo.u32 %r3, %r3, %r1;\n"
           "mul.lo.u32 %r4, %r2, 5;\nmad.lo.u32 %r3, %r4, %r2, %r3;\nand.b32 %r3, %r3, 4095;\n"
           "mad.lo.s32 %r4, %i, 64, %r1;\nmul.wide.s32 %d3, %r4, 4;\nadd.s64 %d3, %A, %d3;\n"
           "setp.ne.u32 %p1, %r3, 2;\n@%p1 bra second;\nst.global.u32 [%d3+256], %t;\n"
           "second:\nsetp.ne.u32 %p2, %r1, %r2;\n@%p2 bra next;\nst.global.u32 [%d3], %t;\n"
           "next:\nmad.lo.u32 %r2, %r2, 13, 7;\nand.b32 %r2, %r2, 63;\nadd.u32 %r6, %r6, 1;\n"
           "setp.lt.u32 %p3, %r6, %n;\n@%p3 bra inner;\n"
           "mad.lo.u32 %r1, %r1, 5, 1;\nand.b32 %r1, %r1, 63;\nadd.u32 %r5, %r5, 1;\n"
           "setp.lt.u32 %p4, %r5, %n;\n@%p4 bra outer;\n");

/// No launch is tried, and nothing is proposed.
SafetyOptions only_proofs() {
  SafetyOptions options;
  options.launches = 0;
  options.propose = false;
  return options;
}

SafetyAnswer answer(const std::string &text, const SafetyOptions &options) {
  const auto module = parse(text, "test.ptx");
  REQUIRE(module);
  const WarpProgram program(**module);
  ProofAssumptions assumptions;
  assumptions.block = BlockShape{64, 1, 1};
  for (const char *word : {"1d", "disjoint", "no-wrap"})
    REQUIRE(assume(word, assumptions));
  return answer_safety(program, 0, assumptions, options);
}

} // namespace

TEST_CASE("kernels of 500 lines are answered within the solver's limits") {
  SafetyOptions options = only_proofs();
  const auto proved = [&](const std::string &text) {
    const SafetyAnswer found = answer(text, options);
    // Z3 goes a little beyond the limit of a question.
    CHECK(found.proof.effort <= options.effort + options.proof.resource_limit / 20);
    CHECK(found.proof.asked.open <= 2 * options.proof.unanswered);
    return found.proof.races.verdict == ProofVerdict::proved;
  };
  CHECK(proved(unrolled_stencil));
  CHECK(proved(three_barriers(true)));
  // These spend whatever they may; a sixty-fourth shows the limit, too.
  options.effort /= 64;
  options.proof.effort /= 64;
  CHECK_FALSE(proved(three_barriers(false)));
  CHECK_FALSE(proved(nested_loops)); // of products of rounds
  CHECK_FALSE(proved(branches));     // more questions than may be asked
  CHECK_FALSE(proved(scattered));
}

TEST_CASE("cases that are none cost something, too") {
  SafetyOptions options = only_proofs();
  options.proof.effort /= 8;
  CHECK(answer(states_in_each_other, options).proof.races.verdict == ProofVerdict::unknown);
}

TEST_CASE("whole numbers all of which have bounds are soon answered") {
  SafetyOptions options = only_proofs();
  const KernelProof found = answer(transposed_in_place("%i"), options).proof;
  CHECK(found.races.verdict == ProofVerdict::proved);
  CHECK(found.effort < options.effort / 2);
  CHECK(answer(transposed_in_place("0"), options).proof.races.verdict == ProofVerdict::unknown);
}

// Here the numbers of cuts grow without end, which Z3's own counter does not see: without a limit
// of their own the first question does not come back, and the test's time runs out.
TEST_CASE("cuts between whole numbers take no more than their share") {
  SafetyOptions options = only_proofs();
  const KernelProof found = answer(packed_triangle, options).proof;
  CHECK(found.races.verdict == ProofVerdict::unknown);
  CHECK(found.effort < options.effort);
}

TEST_CASE("nothing is known where the limits end") {
  for (const std::string &text : {three_barriers(true), nested_loops, branches, scattered}) {
    SafetyOptions options = only_proofs();
    options.proof.effort = 100;
    const KernelProof few = answer(text, options).proof;
    CHECK(few.races.verdict == ProofVerdict::unknown);
    CHECK(few.races.reason.ends_with("; the solver gave no answer within its limits"));
    CHECK(few.effort < 50'000); // no question may cost more than what is left
    options.proof.effort = ProofOptions().effort;
    options.proof.questions = 2;
    CHECK(answer(text, options).proof.races.verdict == ProofVerdict::unknown);
  }
}

TEST_CASE("where all bits of a number are told apart Z3 is not asked about whole numbers") {
  const std::string text =
      kernel("sub.s32 %r1, %t, 16;\ncvt.s64.s32 %d3, %r1;\nmul.lo.s64 %d3, %d3, 4294967297;\n"
             "popc.b64 %r2, %d3;\nmul.wide.u32 %d4, %r2, 4;\nadd.u64 %d4, %d4, %A;\n"
             "st.global.u32 [%d4], %t;\n");
  SafetyOptions options = only_proofs();
  const KernelProof found = answer(text, options).proof;
  CHECK(found.races.verdict == ProofVerdict::unknown);
  CHECK(found.effort < options.effort);
}
