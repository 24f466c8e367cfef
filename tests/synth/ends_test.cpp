// Ends of rows under predicates (synth/coarsen/predicated.cpp): which straight code may stand there
// for copies that have ended, and that kernel and version do the same.

#include "synth/coarsen/coarsen.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include "emulator/machine/warp_verify.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <string>
#include <utility>
#include <vector>

namespace ends_test {

using namespace ptxasw::test;

namespace {

using Changes = std::vector<std::pair<std::string, std::string>>;

/// The kernel of once-ends.ptx with something else in the place of some of its lines.
std::string changed(const Changes &changes) {
  std::string text = file_text(SOURCE_DIR "/tests/synth/versions/vectorise/once-ends.ptx");
  for (const auto &[from, to] : changes) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  return text;
}

struct Outcome {
  bool predicated = false;  ///< straight code stands there a second time
  bool first_stays = false; ///< the first thread does not leave lockstep at the entry
};

/// What is written, after it has run beside its kernel.
Outcome written(const std::string &text) {
  const auto module = parsed(text);
  SiblingOptions options;
  options.wanted["retile"] = {"wide-x4y2-rows-once"};
  const SiblingResult result = add_siblings(*module, options);
  REQUIRE(result.kernels.size() == 1);
  const auto &kernel = result.kernels[0];
  for (const auto &unproved : kernel.unproved)
    FAIL_CHECK(unproved.why);
  REQUIRE(kernel.written.size() == 1);
  const auto both = parsed(result.text);
  VerifyOptions how;
  how.kernel = "k";
  how.stand_in = kernel.written[0].sibling;
  how.runs = 12;
  how.search = 24;
  how.schedules = 1;
  how.small = true;
  const KernelVerdict verdict = verify(*both, *both, how).at(0);
  INFO(verdict.counter_example);
  CHECK(verdict.kind != KernelVerdict::Kind::differ);
  CHECK(verdict.agreed >= 3);
  const auto has = [&](const char *words) { return result.text.find(words) != std::string::npos; };
  return {has("\n$retile_predicated_"), !has("bra $retile_apart_0_0;")};
}

const std::string test = "setp.ge.s32 %p1, %i, %last;\n\t@%p1 bra $next;";
const std::string sum = "fma.rn.f32 %f6, %f3, %f4, %f5;";

} // namespace

TEST_CASE("points beyond the end of a row stay, and so does the first thread") {
  for (const Changes &changes : {
           Changes{},
           {{test, "setp.lt.s32 %p1, %i, %last;\n\t@!%p1 bra $next;"}},
           // A loop that begins two or three points before a group.
           {{"add.s32 %i, %x, 1;", "add.s32 %i, %x, 2;"}},
           {{"add.s32 %i, %x, 1;", "add.s32 %i, %x, 3;"}},
           // Something that divides by nothing where a copy has ended.
           {{sum, sum + "\n\tsub.s32 %r1, %last, %i;\n\tdiv.s32 %r2, 64, %r1;\n\t"
                        "cvt.rn.f32.s32 %f7, %r2;\n\tadd.f32 %f6, %f6, %f7;"}},
           // A guard of its own, not of the whole stretch.
           {{sum, sum + "\n\tsetp.gt.f32 %p2, %f6, 0f3f000000;\n\t@%p2 neg.f32 %f6, %f6;"}},
       }) {
    CAPTURE(changes.empty() ? "" : changes[0].second);
    const Outcome outcome = written(changed(changes));
    CHECK(outcome.predicated);
    CHECK(outcome.first_stays);
  }
}

TEST_CASE("where what a copy has is wanted behind the stretch, copies that have ended leave") {
  for (const Changes &changes : {
           // What is written in it is read behind it.
           Changes{{"add.s32 %i, %x, 1;", "add.s32 %i, %x, 1;\n\tmov.f32 %f8, 0f00000000;"},
                   {sum, sum + "\n\tadd.f32 %f8, %f6, %f6;"},
                   {"$next:\n",
                    "$next:\n\tmad.lo.s32 %at, %j, %N, %x;\n\tmul.wide.s32 %e, %at, 4;\n\t"
                    "add.s64 %d1, %pw, %e;\n\tst.global.f32 [%d1+16384], %f8;\n"}},
           // The predicate itself is written.
           Changes{{sum, sum + "\n\tsetp.gt.f32 %p1, %f6, 0f3f000000;\n\t@%p1 neg.f32 %f6, %f6;"}},
           // Another branch inside.
           Changes{{sum, sum + "\n\tsetp.gt.f32 %p2, %f6, 0f3f000000;\n\t@%p2 bra $over;\n\t"
                               "neg.f32 %f6, %f6;\n$over:"}},
           // An access under a guard of its own.
           Changes{{sum, sum + "\n\tsetp.gt.f32 %p2, %f6, 0f3f000000;"},
                   {"st.global.f32 [%d2], %f6;", "@%p2 st.global.f32 [%d2], %f6;"}},
           // Who has ended depends on the row, and a row's weight is loaded once.
           Changes{
               {test, "add.s32 %r1, %i, %j;\n\tsetp.ge.s32 %p1, %r1, %last;\n\t@%p1 bra $next;"},
               {"setp.lt.s32 %p2, %i, %last;", "setp.lt.s32 %p2, %i, 0;"}},
       }) {
    CAPTURE(changes.back().second);
    CHECK_FALSE(written(changed(changes)).predicated);
  }
}

TEST_CASE("rows go through the stretch together where one would find what another has written") {
  // A number of its column, which all rows share, and which is counted up.
  const Outcome outcome =
      written(changed({{"add.s32 %i, %x, 1;", "add.s32 %i, %x, 1;\n\tmov.u32 %r1, %i;"},
                       {"mul.wide.s32 %e, %i, 4;\n\tadd.s64 %d4",
                        "add.s32 %r1, %r1, 1;\n\tmul.wide.s32 %e, %r1, 4;\n\tadd.s64 %d4"}}));
  CHECK(outcome.predicated);
}

TEST_CASE("a load may have its address in the register that it writes") {
  const Outcome outcome =
      written(changed({{"mul.wide.s32 %e, %i, 4;\n\tadd.s64 %d4, %pw, %e;\n",
                        "mul.wide.s32 %e, %i, 8;\n\tadd.s64 %d4, %pw, %e;\n\t"
                        "ld.global.nc.u64 %d4, [%d4+8192];\n\tand.b64 %d4, %d4, 252;\n\t"
                        "add.s64 %d4, %pw, %d4;\n"}}));
  CHECK(outcome.predicated);
}

TEST_CASE("a first thread whose last points may go on is right, too") {
  // An address that is read, and one that only the first of four copies has.
  written(changed(
      {{"add.s64 %d4, %pw, %e;\n", "add.s64 %d4, %pw, %e;\n\tld.global.nc.u32 %r1, [%d4+8192];\n\t"
                                   "and.b32 %r1, %r1, 255;\n\tmul.wide.s32 %e, %r1, 4;\n\t"
                                   "add.s64 %d4, %pw, %e;\n"}}));
  // Something wide before the branch: then it leaves at the entry.
  const Outcome before = written(
      changed({{"add.s32 %i, %x, 1;", "add.s32 %i, %x, 1;\n\tmul.wide.s32 %e, %i, 4;\n\t"
                                      "add.s64 %d4, %pw, %e;\n\tld.global.nc.f32 %f8, [%d4];"},
               {sum, sum + "\n\tadd.f32 %f6, %f6, %f8;"}}));
  CHECK(before.predicated);
  CHECK_FALSE(before.first_stays);
}

TEST_CASE("each copy that has not ended accesses what is at its own address") {
  for (const std::string name : {"chosen", "before-the-first", "loaded"}) {
    CAPTURE(name);
    const std::string file = fmt::format("{}/tests/synth/wide/ends-{}.ptx", SOURCE_DIR, name);
    CHECK(written(file_text(file)).predicated);
  }
}

} // namespace ends_test
