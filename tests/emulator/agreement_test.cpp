// For which threads what an instruction reads and computes is one value, instruction by
// instruction. What is not listed as one value must not be.

#include "emulator/semantics/one_value.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace ptxasw::test;
using Who = emulator::Scope;

namespace {

/// A kernel that consists of one instruction, and `ret`.
std::unique_ptr<Module> kernel_of(const std::string &instruction) {
  auto module = parse(".version 8.6\n.target sm_90\n.address_size 64\n"
                      ".const .align 4 .b8 c[64];\n.visible .entry k(.param .u32 n)\n{\n"
                      ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<9>;\n"
                      ".param .b32 given;\n.local .b32 own;\n.shared .b32 tile;\n" +
                          instruction + ";\nret;\n}\n",
                      "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  return std::move(*module);
}

bool alike(const std::string &instruction, Who scope) {
  CAPTURE(instruction);
  const auto module = kernel_of(instruction);
  return computes_alike(*module, module->functions[0].instructions[0], scope);
}

} // namespace

TEST_CASE("special registers are one value for some threads, or not even for one") {
  for (const char *name : {"%ntid.x", "%nctaid.z", "WARP_SZ"})
    CHECK(scope_of(name) == Who::grid);
  CHECK(scope_of("%ctaid.y") == Who::block);
  for (const char *name : {"%tid.x", "%tid", "%laneid", "%lanemask_lt"})
    CHECK(scope_of(name) == Who::thread);
  for (const char *name : {"%warpid", "%smid", "%clock", "%clock64", "%globaltimer", "%pm0"})
    CHECK_FALSE(scope_of(name));
}

TEST_CASE("what only computes is one value for those for whom its special registers are") {
  CHECK(alike("add.u32 %r1, %r2, %r3", Who::grid));
  CHECK(alike("mov.u32 %r1, %nctaid.x", Who::grid));
  CHECK(alike("mov.u32 %r1, %ctaid.x", Who::block));
  CHECK_FALSE(alike("mov.u32 %r1, %ctaid.x", Who::grid));
  CHECK(alike("mov.u32 %r1, %tid.x", Who::thread));
  CHECK_FALSE(alike("mov.u32 %r1, %tid.x", Who::lanes));
  CHECK_FALSE(alike("mov.u32 %r1, %clock", Who::thread));
  CHECK(alike("mov.u64 %d1, tile", Who::grid));
  CHECK(alike("mov.u64 %d1, own", Who::thread));
  CHECK_FALSE(alike("mov.u64 %d1, own", Who::lanes));
  CHECK_FALSE(alike("mov.u64 %d1, own", Who::block));
  // The carry flag is no register that anybody sees.
  CHECK_FALSE(alike("add.cc.u32 %r1, %r2, %r3", Who::thread));
  CHECK_FALSE(alike("addc.u32 %r1, %r2, %r3", Who::thread));
}

TEST_CASE("loads of what nobody writes are one value, and no others") {
  CHECK(alike("ld.param.u32 %r1, [n]", Who::grid));
  CHECK(alike("ld.const.u32 %r1, [c]", Who::grid));
  CHECK(alike("ld.global.nc.u32 %r1, [%d1]", Who::grid));
  CHECK_FALSE(alike("ld.param.u32 %r1, [given]", Who::thread)); // a call's result
  CHECK_FALSE(alike("ld.global.u32 %r1, [%d1]", Who::thread));
  CHECK_FALSE(alike("ld.shared.u32 %r1, [%d1]", Who::thread));
  CHECK_FALSE(alike("atom.global.add.u32 %r1, [%d1], %r2", Who::thread));
  CHECK_FALSE(alike("vote.sync.any.pred %p1, %p2, -1", Who::thread));
  CHECK_FALSE(alike("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1", Who::thread));
}

TEST_CASE("special registers are found wherever they are among operands") {
  const auto module = kernel_of("mov.b64 %d1, {%r1, %r2}");
  CHECK_FALSE(mentions_special(*module, module->functions[0], "%tid.x"));
  const auto asks = kernel_of("mad.lo.u32 %r1, %ctaid.x, %ntid.x, %tid.x");
  CHECK(mentions_special(*asks, asks->functions[0], "%tid.x"));
  CHECK_FALSE(mentions_special(*asks, asks->functions[0], "%tid"));
}
