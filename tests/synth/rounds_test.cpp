// Loops over the grid that have one round: which they are, what a launch must have for it, that a
// version which goes by it computes what the kernel does in such launches, and that the proof wants
// all of it in the table.

#include "synth/coarsen/coarsen.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include "emulator/machine/warp_verify.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <functional>

namespace rounds_test {

using namespace ptxasw::test;

namespace {

/// A loop over the grid; what stands in for its parts may be another.
struct Loop {
  std::string axis = "x", first = "add.s32 %i, %flat, 1;", bound = "add.s32 %e, %n, -1;",
              step = "mul.lo.s32 %s, %blocks, %threads;", next = "add.s32 %i, %i, %s;",
              test = "setp.lt.s32 %p, %i, %e;", back = "@%p bra LOOP;", before = "";

  std::string text() const {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u32 pn, .param .u32 pm)
{{
	.reg .pred %p, %q;
	.reg .b32 %t, %b, %threads, %blocks, %flat, %i, %e, %n, %m, %s, %v;
	.reg .b64 %a, %d;
	ld.param.u64 %a, [pa];
	ld.param.u32 %n, [pn];
	ld.param.u32 %m, [pm];
	cvta.to.global.u64 %a, %a;
	mov.u32 %t, %tid.{0};
	mov.u32 %b, %ctaid.{0};
	mov.u32 %threads, %ntid.{0};
	mov.u32 %blocks, %nctaid.{0};
	mad.lo.s32 %flat, %b, %threads, %t;
	{1}
	{2}
	{3}
	{7}
	setp.ge.s32 %q, %i, %e;
	@%q bra DONE;
LOOP:
	mul.wide.s32 %d, %i, 4;
	add.s64 %d, %a, %d;
	ld.global.u32 %v, [%d];
	add.s32 %v, %v, 5;
	st.global.u32 [%d], %v;
	{4}
	{5}
	{6}
DONE:
	ret;
}}
)",
                       axis, first, bound, step, next, test, back, before);
  }
};

std::vector<ArgumentCover> needs(const std::string &text) {
  const auto module = parsed(text);
  REQUIRE(module->functions.size() == 1);
  return needs_of_rounds(rounds_over_grid({*module, module->functions[0]}));
}

using Needs = std::vector<ArgumentCover>;

} // namespace

TEST_CASE("a loop over the grid has one round where there are threads enough") {
  Loop loop;
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 1, 2}});
  loop.axis = "y";
  CHECK(needs(loop.text()) == Needs{{1, 0, 1, 1, 2}});
  loop.axis = "x";
  for (const auto &one :
       {std::tuple("lt.s32 %p, %i, %e", "@%p", 2u), std::tuple("gt.s32 %p, %e, %i", "@%p", 2u),
        std::tuple("ge.s32 %p, %i, %e", "@!%p", 2u), std::tuple("le.s32 %p, %e, %i", "@!%p", 2u),
        std::tuple("lt.u32 %p, %i, %e", "@%p", 2u), std::tuple("le.s32 %p, %i, %e", "@%p", 1u),
        std::tuple("ge.s32 %p, %e, %i", "@%p", 1u), std::tuple("gt.s32 %p, %i, %e", "@!%p", 1u),
        std::tuple("lt.s32 %p, %e, %i", "@!%p", 1u)}) {
    const auto &[test, back, more] = one;
    CAPTURE(std::get<0>(one));
    loop.test = fmt::format("setp.{};", test);
    loop.back = fmt::format("{} bra LOOP;", back);
    CHECK(needs(loop.text()) == Needs{{1, 0, 0, 1, more}});
  }
  loop = {};
  loop.first = "mov.u32 %i, %flat;";
  loop.bound = "mov.u32 %e, %n;";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0}});
  loop.bound = "add.s32 %e, %n, -3;";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 3, 3}});
  // A thread fewer than would be needed: none launch can be sure of it.
  loop.bound = "add.s32 %e, %n, 1;";
  CHECK(needs(loop.text()).empty());
}

TEST_CASE("other loops are left alone") {
  const auto without = [](const std::function<void(Loop &)> &change) {
    Loop loop;
    change(loop);
    return needs(loop.text()).empty();
  };
  CHECK_FALSE(without([](Loop &) {}));
  // What it goes on by is less, more, or another axis's.
  CHECK(without([](Loop &l) { l.step = "mov.u32 %s, %threads;"; }));
  CHECK(without([](Loop &l) { l.step = "mov.u32 %s, 1;"; }));
  CHECK(without([](Loop &l) { l.step = "mul.lo.s32 %s, %blocks, %threads; shl.b32 %s, %s, 1;"; }));
  CHECK(without([](Loop &l) { l.step = "mul.lo.s32 %s, %blocks, %blocks;"; }));
  CHECK(without(
      [](Loop &l) { l.step = "mov.u32 %blocks, %nctaid.y; mul.lo.s32 %s, %blocks, %threads;"; }));
  CHECK(without([](Loop &l) { l.next = "sub.s32 %i, %i, %s;"; }));
  CHECK(without([](Loop &l) { l.next = "add.s32 %i, %i, %s; add.s32 %i, %i, %v;"; }));
  CHECK(without([](Loop &l) { l.next = "@%q add.s32 %i, %i, %s;"; }));
  // Where it begins.
  CHECK(without([](Loop &l) { l.first = "mov.u32 %i, %t;"; }));
  CHECK(without([](Loop &l) { l.first = "shl.b32 %i, %flat, 1;"; }));
  CHECK(without([](Loop &l) { l.first = "add.s32 %i, %flat, %m;"; }));
  CHECK(without([](Loop &l) { l.first = "add.s32 %i, %flat, 0x20000000;"; }));
  CHECK(without([](Loop &l) { l.before = "@%q mov.u32 %i, 0;"; }));
  // Where it ends.
  CHECK(without([](Loop &l) { l.bound = "add.s32 %e, %n, %m;"; }));
  CHECK(without([](Loop &l) { l.bound = "shl.b32 %e, %n, 1;"; }));
  CHECK(without([](Loop &l) { l.bound = "mov.u32 %e, 1000;"; }));
  CHECK(without([](Loop &l) { l.bound = "ld.global.u32 %e, [%a];"; }));
  CHECK(without([](Loop &l) { l.next = "add.s32 %i, %i, %s; mov.u32 %e, %v;"; }));
  CHECK(without([](Loop &l) { l.test = "setp.ne.s32 %p, %i, %e;"; }));
  CHECK(without([](Loop &l) { l.test = "setp.gt.s32 %p, %i, %e;"; }));
  CHECK(without([](Loop &l) { l.test = "setp.lt.s32 %p, %i, %e; @%q setp.lt.s32 %p, %v, %e;"; }));
  CHECK(without([](Loop &l) { l.back = "@!%p bra LOOP;"; }));
  CHECK(without([](Loop &l) { l.back = "bra LOOP;"; }));
  // Another way back, which is taken after the first round.
  CHECK(without([](Loop &l) {
          l.next = "setp.eq.s32 %q, %v, 7; @%q bra LOOP; add.s32 %i, %i, %s;";
        }) == false); // what it reads has not changed
  CHECK(without(
      [](Loop &l) { l.next = "add.s32 %i, %i, %s; setp.eq.s32 %q, %v, 7; @%q bra LOOP;"; }));
  // Nor where it goes is known.
  CHECK(without([](Loop &l) {
    l.next = "add.s32 %i, %i, %s; WAYS: .branchtargets LOOP, TEST; brx.idx %v, WAYS; TEST:";
  }));
}

namespace {

/// What is written of a kernel in these variants, all of it proved.
SiblingResult versions(const Module &module, std::vector<std::string> variants) {
  SiblingOptions options;
  options.wanted["retile"] = std::move(variants);
  SiblingResult result = add_siblings(module, options);
  REQUIRE(result.kernels.size() == 1);
  CHECK(result.kernels[0].unproved.empty());
  REQUIRE_FALSE(result.kernels[0].written.empty());
  return result;
}

KernelVerdict::Kind compared(const Module &written, const std::string &kernel, const StandIn &with,
                             unsigned runs) {
  VerifyOptions how;
  how.kernel = kernel;
  how.stand_in = with;
  how.runs = runs;
  how.search = 2 * runs;
  how.schedules = 1;
  how.small = true;
  const KernelVerdict verdict = verify(written, written, how).at(0);
  INFO(verdict.counter_example);
  CHECK((verdict.kind == KernelVerdict::Kind::differ || verdict.agreed >= 3));
  return verdict.kind;
}

} // namespace

TEST_CASE("a version that goes by one round is right where the table allows it") {
  for (const std::string &text : {Loop().text(), file_text(SOURCE_DIR "/tests/data/jacobi.ptx")}) {
    const auto module = parsed(text);
    const SiblingResult result =
        versions(*module, {"wide-x4-once", "wide-x2-once", "wide-x2y4-rows-once-r64",
                           "y4-rows-once-r64", "wide-x2y4-neighbours-once-r64"});
    const auto written = parsed(result.text);
    for (const Proposal &proposal : result.kernels[0].written) {
      CAPTURE(proposal.variant);
      StandIn with = stand_in(proposal.sibling);
      REQUIRE_FALSE(with.covers.empty());
      CHECK(compared(*written, result.kernels[0].kernel, with, 12) != KernelVerdict::Kind::differ);
      with.covers.clear(); // and not elsewhere
      if (result.kernels[0].kernel == "k")
        CHECK(compared(*written, "k", with, 60) == KernelVerdict::Kind::differ);
    }
  }
}

TEST_CASE("that loops have one round is proved for what the table needs, and for nothing less") {
  const auto module = parsed(Loop().text());
  const SiblingResult result = versions(*module, {"wide-x4-once"});
  const auto written = parsed(result.text);
  const Proposal &proposal = result.kernels[0].written.at(0);
  const auto function = [&](std::string_view name) -> const Function & {
    return *std::find_if(written->functions.begin(), written->functions.end(),
                         [&](const Function &f) { return f.name == name; });
  };
  const auto proved = [&](const std::function<void(Sibling &)> &change) {
    Proposal other = proposal;
    change(other.sibling);
    return prove_coarsen({*written, function("k")}, function(proposal.sibling.name), other).empty();
  };
  CHECK(proved([](Sibling &) {}));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.covered.clear(); }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.covered[0].parameter = 2; }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.covered[0].axis = 1; }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.covered[0].least = 0; }));
  CHECK_FALSE(proved([](Sibling &s) { ++s.needs.covered[0].more; }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.max_extent[0] = ~0u; }));
  CHECK_FALSE(proved([](Sibling &s) { s.needs.max_extent[0] = max_round_threads + 1; }));
  CHECK_FALSE(proved([](Sibling &s) { s.kind = "wide"; }));
}

} // namespace rounds_test
