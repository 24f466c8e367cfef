// Versions whose blocks may have any number of rows: which kernels get them, that they compute what
// the kernel does in all such blocks, with rows to spare and without, and that the proof takes
// nothing else for their beginning.

#include "synth/coarsen/coarsen.h"
#include "synth/resize/resize.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/core.h>

namespace tall_test {

using namespace ptxasw::test;

namespace {

/// b[j][i] = a[j][i] + a[j + 1][i] for i < n and j < m; columns in a loop over the grid.
/// `row`: how a thread finds its row.
std::string kernel(std::string_view row = "mad.lo.s32 %j, %b, %r, %t;") {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u32 pn, .param .u32 pm)
{{
	.reg .pred %p, %q;
	.reg .b32 %t, %b, %r, %j, %m, %n, %i, %s, %x, %y, %z, %u, %at, %c, %f, %h;
	.reg .f32 %v, %w;
	.reg .b64 %a, %o, %d, %e, %g;
	ld.param.u64 %a, [pa];
	ld.param.u64 %o, [pb];
	ld.param.u32 %n, [pn];
	ld.param.u32 %m, [pm];
	cvta.to.global.u64 %a, %a;
	cvta.to.global.u64 %o, %o;
	mov.u32 %t, %tid.y;
	mov.u32 %b, %ctaid.y;
	mov.u32 %r, %ntid.y;
	mov.u32 %c, %nctaid.y;
	{}
	setp.ge.s32 %q, %j, %m;
	@%q bra DONE;
	mov.u32 %x, %tid.x;
	mov.u32 %y, %ctaid.x;
	mov.u32 %z, %ntid.x;
	mad.lo.s32 %i, %y, %z, %x;
	mov.u32 %u, %nctaid.x;
	mul.lo.s32 %s, %u, %z;
	setp.ge.s32 %q, %i, %n;
	@%q bra DONE;
LOOP:
	mad.lo.s32 %at, %j, %n, %i;
	mul.wide.s32 %d, %at, 4;
	add.s64 %e, %a, %d;
	ld.global.f32 %v, [%e];
	mul.wide.s32 %g, %n, 4;
	add.s64 %e, %e, %g;
	ld.global.f32 %w, [%e];
	add.f32 %v, %v, %w;
	add.s64 %e, %o, %d;
	st.global.f32 [%e], %v;
	add.s32 %i, %i, %s;
	setp.lt.s32 %p, %i, %n;
	@%p bra LOOP;
DONE:
	ret;
}}
)",
                     row);
}

const std::vector<std::string> variants = {"wide-x4-once", "wide-x2y2-rows-once-r64",
                                           "y4-rows-once-r64"};

SiblingResult versions(const Module &module) {
  SiblingOptions options;
  options.wanted["retile"] = variants;
  SiblingResult result = add_siblings(module, options);
  REQUIRE(result.kernels.size() == 1);
  CHECK(result.kernels[0].unproved.empty());
  return result;
}

const Function &function(const Module &module, std::string_view name) {
  return *std::find_if(module.functions.begin(), module.functions.end(),
                       [&](const Function &f) { return f.name == name; });
}

KernelVerdict compared(const Module &written, const Sibling &with, unsigned runs) {
  VerifyOptions how;
  how.kernel = with.name.substr(0, with.name.find("__"));
  how.stand_in = with;
  how.runs = runs;
  how.search = 2 * runs;
  how.schedules = 1;
  how.small = true;
  return verify(written, written, how).at(0);
}

} // namespace

TEST_CASE("versions in blocks of any number of rows compute what the kernel does") {
  for (const std::string &text : {kernel(), file_text(SOURCE_DIR "/tests/data/jacobi.ptx")}) {
    const auto module = parsed(text);
    const SiblingResult result = versions(*module);
    const auto written = parsed(result.text);
    CHECK(result.kernels[0].written.size() >= 2);
    for (const Proposal &proposal : result.kernels[0].written) {
      CAPTURE(proposal.variant);
      CHECK(proposal.sibling.tall);
      Sibling with = proposal.sibling;
      for (const unsigned rows : {0U, 1U, 2U, 7U, 32U}) {
        CAPTURE(rows);
        with.tall = rows == 0; // then they are others in each launch
        with.rows = std::max(1U, rows);
        const KernelVerdict verdict = compared(*written, with, rows < 2 ? 12 : 6);
        INFO(verdict.counter_example);
        CHECK(verdict.kind != KernelVerdict::Kind::differ);
        CHECK(verdict.agreed >= 3);
      }
    }
    for (const Sibling &one : in_tall_blocks(sibling_tables(*written).at(0).siblings)) {
      CAPTURE(one.name);
      const KernelVerdict verdict = compared(*written, one, 6);
      INFO(verdict.counter_example);
      CHECK(verdict.kind != KernelVerdict::Kind::differ);
      CHECK(verdict.agreed >= 3);
    }
  }
}

TEST_CASE("where more than the global row matters blocks keep their rows") {
  struct Case {
    const char *row;
    bool tall;
  };
  for (const auto &one : {
           Case{"mad.lo.s32 %j, %b, %r, %t;", true},
           Case{"mul.lo.s32 %f, %r, %b; add.s32 %j, %f, %t;", true},
           Case{"mov.u32 %j, %b;", false},
           Case{"mad.lo.s32 %f, %b, %r, %t; add.s32 %j, %f, %t;", false},
           Case{"mad.lo.s32 %f, %b, %r, %t; add.s32 %j, %f, %r;", false},
           Case{"mad.lo.s32 %f, %b, %r, %t; mul.lo.s32 %h, %c, %r; sub.s32 %j, %h, %f;", true},
           Case{"mad.lo.s32 %f, %b, %r, %t; add.s32 %j, %f, %c;", false},
           Case{"mad.lo.s32 %j, %t, %c, %b;", false},
       }) {
    const char *const row = one.row;
    const bool tall = one.tall;
    CAPTURE(row);
    const auto module = parsed(kernel(row));
    const SiblingResult result = versions(*module);
    REQUIRE_FALSE(result.kernels[0].written.empty());
    for (Proposal proposal : result.kernels[0].written) {
      CAPTURE(proposal.variant);
      CHECK(proposal.sibling.tall == tall);
      // And it is proved of no other, even if it is written.
      if (tall || proposal.variant != "wide-x4-once")
        continue;
      proposal.sibling.tall = true;
      proposal.sibling.appended = {'y'};
      proposal.sibling.appended_blocks = {'y'};
      const KernelContext context(*module, only(*module));
      const auto written =
          parsed(std::string(module->text()) + "\n" + write_coarsen(context, proposal));
      CHECK_FALSE(prove_coarsen({*written, function(*written, "k")},
                                function(*written, proposal.sibling.name), proposal)
                      .has_value());
      Sibling with = proposal.sibling;
      with.tall = false;
      with.rows = 4;
      CHECK(compared(*written, with, 40).kind == KernelVerdict::Kind::differ);
    }
  }
}

TEST_CASE("the table of a version in blocks of rows says what is proved") {
  const auto module = parsed(kernel());
  const SiblingResult result = versions(*module);
  const auto written = parsed(result.text);
  for (const Proposal &proposal : result.kernels[0].written) {
    CAPTURE(proposal.variant);
    const auto proved = [&](void (*change)(Sibling &)) {
      Proposal other = proposal;
      change(other.sibling);
      return prove_coarsen({*written, function(*written, "k")},
                           function(*written, proposal.sibling.name), other)
          .has_value();
    };
    CHECK(proved([](Sibling &) {}));
    CHECK_FALSE(proved([](Sibling &s) { s.tall = false; }));
    CHECK_FALSE(proved([](Sibling &s) { s.rows = 2; }));
    CHECK_FALSE(proved([](Sibling &s) { s.appended.clear(); }));
    CHECK_FALSE(proved([](Sibling &s) { s.appended = {'x'}; }));
    CHECK_FALSE(proved([](Sibling &s) { s.appended_blocks = {'x'}; }));
    CHECK_FALSE(proved([](Sibling &s) { s.extent = {128, 1, 0}; }));
  }
}

TEST_CASE("a changed beginning of a version in blocks of rows is refused, or changes nothing") {
  const auto module = parsed(kernel());
  MutantCount count;
  const SiblingResult result = versions(*module);
  for (const Proposal &proposal : result.kernels[0].written) {
    CAPTURE(proposal.variant);
    const KernelContext context(*module, only(*module));
    const std::string text = std::string(module->text()) + "\n" + write_coarsen(context, proposal);
    for (const std::string_view mark : {"%row", "%block0, %grid", "%zero, 0", "%one, 1"}) {
      const LineChanges changes{mark,
                                {{"\\.x", ".y"},
                                 {"\\.y", ".x"},
                                 {"\\.y", ".z"},
                                 {"%ctaid", "%tid"},
                                 {"%tid", "%ntid"},
                                 {"%ntid", "%nctaid"},
                                 {"mad\\.lo", "mad.hi"},
                                 {"mul\\.lo", "mul.hi"},
                                 {"mul\\.lo", "add"},
                                 {"ge\\.u32", "gt.u32"},
                                 {"ge\\.u32", "ge.s32"},
                                 {"ge\\.u32", "le.u32"},
                                 {"rows_of_grid\\]", "rows_of_block]"},
                                 {"rows_of_block\\]", "rows_of_grid]"},
                                 {"%row, %rows", "%rows, %row"},
                                 {"%row_tid", "%row_ntid"},
                                 {"%row_ctaid, ", "%row_tid, "},
                                 {", 0;", ", 1;"},
                                 {", 1;", ", 0;"},
                                 {"@%", "@!%"},
                                 {"@%[a-z0-9_]+ ", ""},
                                 {"ret;", "trap;"}},
                                8,
                                [&](const Module &, const Module &after) {
                                  return prove_coarsen({after, function(after, "k")},
                                                       function(after, proposal.sibling.name),
                                                       proposal);
                                },
                                proposal.sibling};
      try_mutants(*module, text, changes, count);
    }
  }
  MESSAGE(count.tried, " changed texts, ", count.refused, " refused, ", count.no_ptx, " no PTX, ",
          count.harmless, " taken");
  CHECK(more_than(count.tried, 90));
  CHECK(more_than(count.refused, 70));
}

} // namespace tall_test
