// Where threads of a block, or lanes of a warp, come to the same meetings, and where they may not.

#include "emulator/facts/convergence_points.h"

#include <doctest/doctest.h>

using namespace ptxasw::test;

namespace {

/// The line in a body, from 1, of a meeting to which threads may come by different ways; 0: none.
std::uint32_t uneven_in(const std::string &body) {
  const std::string head = ".version 7.8\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u32 n, .param .u64 p)\n{\n"
                           ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<9>;\n";
  const auto module = parse(head + body + "$end: ret;\n}\n", "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  const Function &kernel = (*module)->functions[0];
  const auto found = facts::ConvergencePoints(**module, kernel).uneven();
  return found ? kernel.instructions[*found].line - 8 : 0;
}

const std::string by_block = "mov.u32 %r1, %ctaid.x;\n", by_thread = "mov.u32 %r1, %tid.x;\n",
                  rest = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $end;\nbar.sync 0;\n";

} // namespace

TEST_CASE("a barrier behind a branch by what a block has in common is even") {
  CHECK(uneven_in(by_block + rest) == 0);
  CHECK(uneven_in("ld.param.u32 %r1, [n];\n" + rest) == 0);
  CHECK(uneven_in(by_thread + rest) == 4);
  CHECK(uneven_in("mov.u32 %r1, %clock;\n" + rest) == 4);
  CHECK(uneven_in("ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\n" + rest) == 5);
}

TEST_CASE("threads that part are together again where all ways meet") {
  const std::string parts = by_thread + "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $meet;\n";
  CHECK(uneven_in(parts + "add.u32 %r2, %r1, 1;\n$meet:\nbar.sync 0;\n") == 0);
  CHECK(uneven_in(parts + "bar.sync 0;\n$meet:\n") == 4);
  // What they have written on the way may differ.
  CHECK(uneven_in("mov.u32 %r2, 0;\n" + parts +
                  "mov.u32 %r2, 1;\n$meet:\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra $end;\n"
                  "bar.sync 0;\n") == 9);
}

TEST_CASE("what lanes get alike where they meet does not part them") {
  const std::string vote = by_thread + "setp.eq.u32 %p2, %r1, 0;\n"
                                       "vote.sync.any.pred %p1, %p2, -1;\n@%p1 bra $end;\n",
                    shuffled = by_thread + "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n"
                                           "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra $end;\n",
                    warp = "shfl.sync.down.b32 %r3, %r1, 1, 31, -1;\n";
  CHECK(uneven_in(vote + warp) == 0);
  CHECK(uneven_in(shuffled + warp) == 0);
  // Not so of other warps of the block.
  CHECK(uneven_in(vote + "bar.sync 0;\n") == 5);
  CHECK(uneven_in(by_thread +
                  "shfl.sync.idx.b32 %r2, %r1, %r1, 31, -1;\n"
                  "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra $end;\n" +
                  warp) == 5);
}

TEST_CASE("lanes of a warp agree on its number in the block") {
  const std::string number = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
                             "mov.u32 %r4, %ntid.x;\nmov.u32 %r5, %ntid.y;\n",
                    rank = number + "mad.lo.s32 %r6, %r5, %r3, %r2;\n"
                                    "mad.lo.s32 %r7, %r6, %r4, %r1;\n",
                    ends = "@%p1 bra $end;\n", warp = "bar.warp.sync -1;\n";
  const auto compared = [&](const std::string &how) {
    return uneven_in(rank + "setp." + how + ";\n" + ends + warp) == 0;
  };
  for (const char *how : {"lt.u32 %p1, %r7, 32", "ge.s32 %p1, %r7, 64", "gt.u32 %p1, %r7, 31",
                          "le.s32 %p1, %r7, 95", "hi.u32 %p1, %r7, 31"})
    CHECK(compared(how));
  for (const char *how : {"lt.u32 %p1, %r7, 31", "ge.s32 %p1, %r7, 33", "gt.u32 %p1, %r7, 32",
                          "le.s32 %p1, %r7, 64", "eq.s32 %p1, %r7, 32", "ne.u32 %p1, %r7, 0",
                          "lt.u32 %p1, %r6, 32", "lt.u32 %p1, %r1, 32", "lt.u32 %p1, 32, %r7"})
    CHECK_FALSE(compared(how));
  const auto made = [&](const std::string &how, const std::string &of) {
    return uneven_in(of + how + ";\nsetp.eq.u32 %p1, %r8, 0;\n" + ends + warp) == 0;
  };
  CHECK(made("shr.u32 %r8, %r7, 5", rank));
  CHECK(made("shr.s32 %r8, %r7, 6", rank));
  CHECK(made("and.b32 %r8, %r7, -32", rank));
  CHECK(made("div.u32 %r8, %r7, 96", rank));
  CHECK_FALSE(made("shr.u32 %r8, %r7, 4", rank));
  CHECK_FALSE(made("and.b32 %r8, %r7, 31", rank));
  CHECK_FALSE(made("and.b32 %r8, %r7, 48", rank));
  CHECK_FALSE(made("div.u32 %r8, %r7, 0", rank));
  CHECK_FALSE(made("div.s32 %r8, %r7, 32", rank));
  CHECK_FALSE(made("rem.u32 %r8, %r7, 32", rank));
  CHECK_FALSE(made("@%p2 shr.u32 %r8, %r7, 5", rank));
  // Another sum of these is no number of a thread.
  const auto sum = [&](const std::string &lines) {
    return made("shr.u32 %r8, %r7, 5", number + lines);
  };
  CHECK(sum("mul.lo.s32 %r6, %r4, %r5;\nmul.lo.u32 %r0, %r6, %r3;\n"
            "mad.lo.u32 %r6, %r4, %r2, %r1;\nadd.s32 %r7, %r6, %r0;\n") == false); // %r6 twice
  CHECK(sum("mad.lo.u32 %r0, %r5, %r3, %r2;\nmul.lo.u32 %r6, %r0, %r4;\n"
            "add.u32 %r7, %r1, %r6;\n"));
  CHECK_FALSE(sum("mad.lo.s32 %r7, %r4, %r2, %r1;\n"));
  CHECK_FALSE(sum("mad.lo.s32 %r6, %r4, %r3, %r2;\nmad.lo.s32 %r7, %r6, %r4, %r1;\n"));
  CHECK_FALSE(sum("mad.lo.s32 %r6, %r5, %r3, %r2;\nmad.lo.s32 %r7, %r6, %r4, 0;\n"));
  CHECK_FALSE(sum("mad.lo.s32 %r6, %r5, %r3, %r2;\nmad.lo.s32 %r7, %r6, %r4, %r1;\n"
                  "add.u32 %r7, %r7, 1;\n"));
  CHECK_FALSE(sum("mad.lo.s32 %r6, %r5, %r3, %r2;\n@%p2 mad.lo.s32 %r7, %r6, %r4, %r1;\n"));
  // Of a block the warps differ.
  CHECK(uneven_in(rank + "setp.lt.u32 %p1, %r7, 32;\n" + ends + "bar.sync 0;\n") == 10);
}

namespace {

/// Whether lanes of whole rows come alike to a meeting behind a branch by %p1.
bool alike_in_rows(const std::string &condition, bool whole_rows = true) {
  const std::string text =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
      ".reg .b32 %r<9>;\n.reg .pred %p<9>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\n"
      "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %tid.y;\nmov.u32 %r5, %ntid.y;\n" +
      condition + "@%p1 bra $end;\nbar.warp.sync -1;\n$end: ret;\n}\n";
  const auto module = parse(text, "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  return !facts::ConvergencePoints(**module, (*module)->functions[0], whole_rows).uneven();
}

} // namespace

TEST_CASE("in blocks of whole rows tid.x tells the warp") {
  const std::string below = "setp.lt.u32 %p1, ", in_grid = "mad.lo.u32 %r6, %r3, %r2, %r1;\n";
  CHECK(alike_in_rows(below + "%r1, 32;\n"));
  CHECK_FALSE(alike_in_rows(below + "%r1, 32;\n", false));
  CHECK_FALSE(alike_in_rows(below + "%r1, 33;\n"));
  CHECK_FALSE(alike_in_rows(below + "%r1, 31;\n"));
  CHECK(alike_in_rows("setp.gt.u32 %p1, %r1, 31;\n"));
  CHECK_FALSE(alike_in_rows("setp.gt.u32 %p1, %r1, 32;\n"));
  // The number may stand on the other side, or in a register.
  CHECK(alike_in_rows("mov.u32 %r6, WARP_SZ;\nsetp.le.u32 %p1, %r6, %r1;\n"));
  CHECK_FALSE(alike_in_rows("mov.u32 %r6, WARP_SZ;\nsetp.lt.u32 %p1, %r6, %r1;\n"));
  CHECK(alike_in_rows("setp.gt.u32 %p1, 32, %r1;\n"));
  CHECK_FALSE(alike_in_rows("setp.ge.u32 %p1, 32, %r1;\n"));
  CHECK(alike_in_rows("setp.ge.u32 %p1, 31, %r1;\n"));
  // A place in the grid, whose low bits are the lane.
  CHECK(alike_in_rows(in_grid + "shr.u32 %r7, %r6, 5;\nsetp.eq.u32 %p1, %r7, 3;\n"));
  CHECK_FALSE(alike_in_rows(in_grid + "shr.u32 %r7, %r6, 4;\nsetp.eq.u32 %p1, %r7, 3;\n"));
  CHECK(alike_in_rows(in_grid + "div.u32 %r7, %r6, 96;\nsetp.eq.u32 %p1, %r7, 3;\n"));
  CHECK_FALSE(alike_in_rows(in_grid + "div.s32 %r7, %r6, 96;\nsetp.eq.u32 %p1, %r7, 3;\n"));
  CHECK_FALSE(alike_in_rows("mad.lo.u32 %r6, %r3, %r5, %r1;\n" + below + "%r6, 32;\n"));
  CHECK_FALSE(alike_in_rows("mad.lo.u32 %r6, %r3, %r1, %r1;\n" + below + "%r6, 32;\n"));
  CHECK(alike_in_rows("mad.lo.u32 %r6, %r3, 64, %r1;\n" + below + "%r6, 32;\n"));
  CHECK_FALSE(alike_in_rows("mad.lo.u32 %r6, %r3, 48, %r1;\n" + below + "%r6, 32;\n"));
  // The row is one for a warp.
  CHECK(alike_in_rows("setp.eq.u32 %p1, %r4, 1;\n"));
  CHECK_FALSE(alike_in_rows("setp.eq.u32 %p1, %r4, 1;\n", false));
  CHECK_FALSE(alike_in_rows("setp.eq.u32 %p1, %r1, %r4;\n"));
}
