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
  return facts::needs_of_rounds(rounds_over_grid({*module, module->functions[0]}));
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
  // It is made of itself so often that nobody follows it.
  CHECK(without([](Loop &l) {
    for (int i = 0; i < 64; ++i)
      l.first += " add.s32 %m, %m, %m;";
    l.first += " sub.s32 %m, %m, %m; add.s32 %i, %i, %m;";
  }));
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

/// A loop over the grid by 64 bits; what stands in for its parts may be another.
struct WideLoop {
  std::string first = "mul.wide.u32 %w, %b, %threads; cvt.u64.u32 %u, %t; add.s64 %i, %w, %u;",
              bound = "mov.u64 %e, %n;", step = "mul.wide.u32 %s, %blocks, %threads;",
              next = "add.s64 %i, %i, %s;", test = "setp.lt.u64 %p, %i, %e;", parameter = "u64";

  std::string text() const {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .{5} pn, .param .u32 pm)
{{
	.reg .pred %p, %q;
	.reg .b32 %t, %b, %threads, %blocks, %m, %r<9>, %v;
	.reg .b64 %a, %d, %i, %e, %n, %s, %u, %w, %x<9>;
	ld.param.u64 %a, [pa];
	ld.param.{5} %n, [pn];
	ld.param.u32 %m, [pm];
	cvta.to.global.u64 %a, %a;
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %threads, %ntid.x;
	mov.u32 %blocks, %nctaid.x;
	mad.lo.s32 %r0, %b, %threads, %t;
	{0}
	{1}
	{2}
	setp.ge.u64 %q, %i, %e;
	@%q bra DONE;
LOOP:
	shl.b64 %d, %i, 2;
	add.s64 %d, %a, %d;
	ld.global.u32 %v, [%d];
	add.s32 %v, %v, 5;
	st.global.u32 [%d], %v;
	{3}
	{4}
	@%p bra LOOP;
DONE:
	ret;
}}
)",
                       first, bound, step, next, test, parameter);
  }
};

} // namespace

TEST_CASE("an index may have 64 bits") {
  WideLoop loop;
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0, 8}});
  for (const char *test : {"setp.lt.s64 %p, %i, %e;", "setp.gt.u64 %p, %e, %i;"}) {
    loop.test = test;
    CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0, 8}});
  }
  // By any way to extend what is less than 2^31.
  for (const char *first : {"cvt.u64.u32 %i, %r0;", "cvt.s64.s32 %i, %r0;",
                            "cvt.u64.u32 %w, %t; mad.wide.u32 %i, %b, %threads, %w;",
                            "cvt.s64.s32 %w, %b; cvt.u64.u32 %u, %threads; cvt.u64.u32 %x0, %t;"
                            "mad.lo.s64 %i, %w, %u, %x0;",
                            "add.s32 %r1, %r0, -7; cvt.s64.s32 %i, %r1; add.s64 %i, %i, 7;"}) {
    CAPTURE(first);
    loop.first = first;
    for (const char *step : {"mul.wide.s32 %s, %blocks, %threads;",
                             "mul.lo.s32 %r2, %blocks, %threads; cvt.u64.u32 %s, %r2;",
                             "mul.lo.s32 %r2, %blocks, %threads; cvt.s64.s32 %s, %r2;"}) {
      loop.step = step;
      CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0, 8}});
    }
  }
  // One of 32 bits is compared as 64, or the other way round.
  loop = {};
  loop.next = "add.s32 %r0, %r0, %r2; cvt.u64.u32 %i, %r0;";
  loop.step = "mul.lo.s32 %r2, %blocks, %threads;";
  loop.first = "cvt.u64.u32 %i, %r0;";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0, 8}});
  loop.next = "add.s32 %r0, %r0, %r2; cvt.u32.u64 %r3, %e;";
  loop.test = "setp.lt.u32 %p, %r0, %r3;";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0, 8}});
}

TEST_CASE("what bounds an index of 64 bits may be one of 32") {
  WideLoop loop;
  loop.parameter = "u32"; // %n has no sign
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0}});
  loop.parameter = "s32";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 0, 0}});
  loop.bound = "add.s64 %e, %n, -3;";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 3, 3}});
  loop.parameter = "u64";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 3, 3, 8}});
  for (const char *cvt : {"cvt.s64.s32", "cvt.u64.u32"}) {
    loop.bound = fmt::format("add.s32 %r3, %m, -2; {} %e, %r3;", cvt);
    CHECK(needs(loop.text()) == Needs{{2, 0, 0, 2, 2}});
  }
  // What becomes negative in between is another number if it is taken for one without a sign.
  loop.bound = "add.s32 %r3, %m, -2; cvt.s64.s32 %e, %r3; add.s64 %e, %e, 1;";
  CHECK(needs(loop.text()) == Needs{{2, 0, 0, 1, 1}});
  loop.bound = "add.s32 %r3, %m, -2; cvt.u64.u32 %e, %r3; add.s64 %e, %e, 1;";
  CHECK(needs(loop.text()) == Needs{{2, 0, 0, 2, 1}});
  loop.bound = "sub.s32 %r3, %m, 9; cvt.u64.u32 %e, %r3; add.s64 %e, %e, 8;"
               "add.s32 %r4, %m, 5; cvt.u64.u32 %u, %r4; cvt.u64.u32 %x0, %m;"
               "sub.s64 %u, %u, %x0; add.s64 %e, %e, %u; sub.s64 %e, %e, 5;";
  CHECK(needs(loop.text()) == Needs{{2, 0, 0, 9, 1}});
}

TEST_CASE("what may be another number in 64 bits than in 32 is left alone") {
  const auto without = [](const std::function<void(WideLoop &)> &change) {
    WideLoop loop;
    change(loop);
    return needs(loop.text()).empty();
  };
  CHECK_FALSE(without([](WideLoop &) {}));
  // It may be below 0 without a sign, or above what has one.
  CHECK(without([](WideLoop &l) {
    l.first = "add.s32 %r1, %r0, -1; cvt.u64.u32 %i, %r1; add.s64 %i, %i, 1;";
  }));
  CHECK(without([](WideLoop &l) {
    l.first = "mul.lo.s32 %r2, %blocks, %threads; sub.s32 %r1, %r0, %r2; cvt.u64.u32 %i, %r1;"
              "add.s64 %i, %i, %s;";
  }));
  CHECK(without([](WideLoop &l) {
    l.first = "mul.lo.s32 %r2, %blocks, %threads; mul.lo.s32 %r3, %r2, 5;"
              "add.s32 %r1, %r0, %r3; cvt.s64.s32 %i, %r1; mul.wide.u32 %x0, %blocks, %threads;"
              "mul.lo.s64 %x1, %x0, 5; sub.s64 %i, %i, %x1;";
  }));
  CHECK(without([](WideLoop &l) {
    l.first = "add.s32 %r1, %r0, 0x7fffffff; cvt.s64.s32 %i, %r1; sub.s64 %i, %i, 0x7fffffff;";
  }));
  // Of another axis nobody knows how many there are, nor how large another argument is.
  CHECK(without([](WideLoop &l) {
    l.first += "mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ntid.y; mul.lo.s32 %r3, %r1, %r2;"
               "cvt.u64.u32 %x0, %r3; mul.wide.u32 %x1, %r1, %r2; add.s64 %i, %i, %x0;"
               "sub.s64 %i, %i, %x1;";
  }));
  CHECK(without([](WideLoop &l) {
    l.bound = "add.s32 %r3, %m, -1; cvt.u64.u32 %x0, %r3; cvt.u64.u32 %x1, %m; add.s64 %e, %n, %x0;"
              "sub.s64 %e, %e, %x1;";
  }));
  CHECK(without([](WideLoop &l) {
    l.bound = "cvt.u32.u64 %r3, %n; cvt.u64.u32 %e, %r3; add.s64 %e, %e, %n; sub.s64 %e, %e, %n;"
              "mul.lo.s64 %e, %e, 3;";
  }));
  // Registers of other sizes than an instruction's.
  CHECK(without([](WideLoop &l) { l.bound = "cvt.u64.u32 %e, %n;"; }));
  CHECK(without([](WideLoop &l) { l.bound = "cvt.u64.u16 %e, %m;"; }));
  CHECK(without([](WideLoop &l) { l.bound = "cvt.u64.s32 %e, %m;"; }));
  CHECK(without([](WideLoop &l) { l.step = "mov.b64 %s, {%blocks, %threads};"; }));
  // The upper halves of products, and what is rounded.
  CHECK(without([](WideLoop &l) { l.step = "mul.hi.s64 %s, %n, %n;"; }));
  CHECK(without([](WideLoop &l) { l.next = "add.cc.s64 %i, %i, %s;"; }));
  // Half of what is needed.
  CHECK(without([](WideLoop &l) { l.step = "cvt.u64.u32 %s, %threads;"; }));
  CHECK(without([](WideLoop &l) { l.step += "shr.u64 %s, %s, 1;"; }));
}

namespace {

/// A loop that is tested elsewhere than at its foot.
struct TestedLoop {
  std::string before = "", head = "setp.ge.s32 %p, %i, %n; @%p bra DONE;", body = "",
              foot = "bra LOOP;", behind = "";

  std::string text() const {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u32 pn)
{{
	.reg .pred %p, %q;
	.reg .b32 %t, %b, %threads, %blocks, %i, %n, %s, %v, %r<9>;
	.reg .b64 %a, %d;
	ld.param.u64 %a, [pa];
	ld.param.u32 %n, [pn];
	cvta.to.global.u64 %a, %a;
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %threads, %ntid.x;
	mov.u32 %blocks, %nctaid.x;
	mad.lo.s32 %i, %b, %threads, %t;
	mul.lo.s32 %s, %blocks, %threads;
	{}
LOOP:
	{}
	mul.wide.s32 %d, %i, 4;
	add.s64 %d, %a, %d;
	ld.global.u32 %v, [%d];
	add.s32 %v, %v, 5;
	st.global.u32 [%d], %v;
	add.s32 %i, %i, %s;
	{}
	{}
DONE:
	{}
	ret;
}}
)",
                       before, head, body, foot, behind);
  }
};

} // namespace

TEST_CASE("a loop may be tested at its head, or by a branch around the one back") {
  const Needs usual{{1, 0, 0, 0, 0}};
  TestedLoop loop;
  CHECK(needs(loop.text()) == usual);
  for (const char *head :
       {"setp.lt.s32 %p, %i, %n; @!%p bra DONE;", "setp.le.u32 %p, %n, %i; @%p bra DONE;",
        "setp.lt.s32 %p, %i, %n; @%p bra IN; bra DONE; IN:",
        "mov.u32 %r0, %n; setp.ge.s32 %p, %i, %r0; @%p bra DONE;",
        "setp.gt.s32 %p, %n, %i; @!%p bra DONE; setp.eq.s32 %q, %i, 7; @%q bra DONE;"}) {
    CAPTURE(head);
    loop.head = head;
    CHECK(needs(loop.text()) == usual);
  }
  loop.head = "add.s32 %r0, %n, -1; setp.gt.s32 %p, %i, %r0; @%p bra DONE;";
  CHECK(needs(loop.text()) == Needs{{1, 0, 0, 1, 0}});
  loop = {"setp.ge.s32 %q, %i, %n;", "@%q bra DONE;", "setp.ge.s32 %q, %i, %n;"};
  CHECK(needs(loop.text()) == usual); // what was compared before it went back
  loop = {"", "", "setp.ge.s32 %p, %i, %n;", "@%p bra DONE; bra LOOP;"};
  CHECK(needs(loop.text()) == usual);
  loop.foot = "@!%p bra LOOP;";
  CHECK(needs(loop.text()) == usual);
}

TEST_CASE("what a thread may still see of the test at a loop's head is not left out") {
  const auto without = [](const std::function<void(TestedLoop &)> &change) {
    TestedLoop loop;
    change(loop);
    return needs(loop.text()).empty();
  };
  CHECK_FALSE(without([](TestedLoop &) {}));
  // What is computed there is read elsewhere.
  CHECK(without([](TestedLoop &l) { l.behind = "@%p st.global.u32 [%a], 7;"; }));
  CHECK(without([](TestedLoop &l) { l.body = "selp.b32 %r0, 1, 2, %p;"; }));
  CHECK(without([](TestedLoop &l) { l.head = "add.s32 %r0, %r0, 1; " + l.head; }));
  CHECK(without([](TestedLoop &l) { l.head = "@%q mov.u32 %r0, %n; " + l.head; }));
  CHECK(without([](TestedLoop &l) { l.head = "add.s32 %i, %i, 0; " + l.head; }));
  CHECK(without([](TestedLoop &l) { l.head = "add.cc.s32 %r0, %i, %i; " + l.head; }));
  // It does more than compute.
  CHECK(without([](TestedLoop &l) { l.head = "st.global.u32 [%a], 7; " + l.head; }));
  CHECK(without([](TestedLoop &l) { l.head = "ld.global.u32 %r0, [%a]; " + l.head; }));
  CHECK(without([](TestedLoop &l) { l.head = "bar.sync 0; " + l.head; }));
  CHECK(without([](TestedLoop &l) { l.body = "bar.warp.sync -1;"; }));
  // Another branch decides first, or leads into the midst of it.
  CHECK(without([](TestedLoop &l) { l.head = "setp.eq.s32 %q, %v, 7; @%q bra DONE; " + l.head; }));
  CHECK(without([](TestedLoop &l) {
    l.before = "setp.eq.s32 %q, %n, 7; @%q bra IN;";
    l.head = "mov.u32 %r0, %n; IN: setp.ge.s32 %p, %i, %r0; @%p bra DONE;";
  }));
  // It leads elsewhere than out, or the other way.
  CHECK(without([](TestedLoop &l) { l.head = "setp.lt.s32 %p, %i, %n; @%p bra DONE;"; }));
  CHECK(without([](TestedLoop &l) { l.head = "setp.ge.s32 %p, %i, %n; @%p ret;"; }));
  CHECK(without([](TestedLoop &l) { l.head = "IN: setp.ge.s32 %p, %i, %n; @%p bra IN;"; }));
  // A branch back that some do not come to, or that has a guard of its own.
  CHECK(without([](TestedLoop &l) { l.foot = "@%q bra LOOP;"; }));
  CHECK(without([](TestedLoop &l) {
    l = {"", "", "setp.ge.s32 %p, %i, %n; @%q bra BACK;", "@%p bra DONE; BACK: bra LOOP;"};
  }));
}

namespace {

/// How many threads a launch has, which one a thread is, and the argument; whether the loop has
/// another round for it, as a machine has it.
using AnotherRound = bool (*)(std::uint64_t all, std::uint64_t thread, std::uint64_t argument);

} // namespace

TEST_CASE("no thread of a launch that the table allows has another round") {
  struct Form {
    std::string text;
    bool wide_argument;
    AnotherRound another;
  };
  Loop usual, inclusive, near;
  inclusive.test = "setp.le.s32 %p, %i, %e;";
  near.first = "add.s32 %i, %flat, -5;";
  near.bound = "add.s32 %e, %n, -9;";
  near.test = "setp.lt.u32 %p, %i, %e;";
  WideLoop wide, late, early;
  wide.bound = "sub.s64 %e, %n, 4;";
  late.parameter = early.parameter = "s32";
  late.bound = "add.s32 %r3, %m, -2; cvt.u64.u32 %e, %r3; add.s64 %e, %e, 1;";
  early.first = "add.s32 %r1, %r0, -3; cvt.s64.s32 %i, %r1;";
  early.bound = "add.s32 %r3, %m, -6; cvt.s64.s32 %e, %r3;";
  early.test = "setp.le.s64 %p, %i, %e;";
  using U = std::uint32_t;
  using S = std::int32_t;
  using W = std::int64_t;
  const Form forms[] = {
      {usual.text(), false,
       [](std::uint64_t all, std::uint64_t i, std::uint64_t n) {
         return static_cast<S>(U(i) + 1 + U(all)) < static_cast<S>(U(n) - 1);
       }},
      {inclusive.text(), false,
       [](std::uint64_t all, std::uint64_t i, std::uint64_t n) {
         return static_cast<S>(U(i) + 1 + U(all)) <= static_cast<S>(U(n) - 1);
       }},
      {near.text(), false,
       [](std::uint64_t all, std::uint64_t i, std::uint64_t n) {
         return U(i) - 5 + U(all) < U(n) - 9;
       }},
      {wide.text(), true,
       [](std::uint64_t all, std::uint64_t i, std::uint64_t n) { return i + all < n - 4; }},
      {late.text(), false,
       [](std::uint64_t all, std::uint64_t i, std::uint64_t n) {
         return i + all < std::uint64_t{U(n) - 2} + 1;
       }},
      {early.text(), false,
       [](std::uint64_t all, std::uint64_t i, std::uint64_t n) {
         return W{static_cast<S>(U(i) - 3)} + static_cast<W>(all) <= W{static_cast<S>(U(n) - 6)};
       }},
  };
  for (const Form &form : forms) {
    CAPTURE(form.text);
    const Needs all_needs = needs(form.text);
    REQUIRE(all_needs.size() == 1);
    const ArgumentCover need = all_needs[0];
    CHECK((need.bytes == 8) == form.wide_argument);
    unsigned allowed = 0, others = 0;
    for (const std::uint64_t all :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{33}, std::uint64_t{1} << 20,
          std::uint64_t{max_round_threads} - 1, std::uint64_t{max_round_threads}}) {
      std::vector<std::uint64_t> arguments;
      for (const std::uint64_t near_to :
           {std::uint64_t{0}, std::uint64_t{need.least}, all, all + need.more,
            std::uint64_t{1} << 29, std::uint64_t{1} << 31, std::uint64_t{1} << 32,
            std::uint64_t{1} << 63})
        for (std::uint64_t i = 0; i < 40; ++i) {
          const std::uint64_t argument = near_to + i - 20;
          arguments.push_back(need.bytes == 8 ? argument : argument & 0xffffffff);
        }
      for (const std::uint64_t argument : arguments)
        for (const std::uint64_t thread :
             {std::uint64_t{0}, std::uint64_t{1}, all / 2, all - 2, all - 1}) {
          if (thread >= all)
            continue;
          if (argument < need.least || argument > all + need.more) {
            others += form.another(all, thread, argument);
            continue;
          }
          ++allowed;
          CAPTURE(all);
          CAPTURE(argument);
          CAPTURE(thread);
          CHECK_FALSE(form.another(all, thread, argument));
        }
    }
    CHECK(allowed > 200);
    CHECK(others > 100); // which it would have elsewhere
  }
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

KernelVerdict::Kind compared(const Module &written, const std::string &kernel, const Sibling &with,
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
  for (const std::string &text : {Loop().text(), file_text(SOURCE_DIR "/tests/data/jacobi.ptx"),
                                  WideLoop().text(), TestedLoop().text()}) {
    const auto module = parsed(text);
    const SiblingResult result =
        versions(*module, {"wide-x4-once", "wide-x2-once", "wide-x2y4-rows-once-r64",
                           "y4-rows-once-r64", "wide-x2y2-rows-once-r64"});
    const auto written = parsed(result.text);
    for (const Proposal &proposal : result.kernels[0].written) {
      CAPTURE(proposal.variant);
      Sibling with = proposal.sibling;
      REQUIRE_FALSE(with.needs.covered.empty());
      CHECK(compared(*written, result.kernels[0].kernel, with, 12) != KernelVerdict::Kind::differ);
      with.needs.covered.clear(); // and not elsewhere
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
    return prove_coarsen({*written, function("k")}, function(proposal.sibling.name), other)
        .has_value();
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
