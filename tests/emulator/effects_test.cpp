// What orders nothing between two loads of global memory, instruction by instruction as
// docs/internals/soundness.md decides. What is not listed there as harmless must not be.

#include "emulator/semantics/effects.h"
#include "grammar/module.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace ptxasw::test;

namespace {

/// The answer for one instruction.
bool is_harmless(const std::string &instruction) {
  const auto module =
      parse(".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
            ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<9>;\n" +
                instruction + "\nret;\n}\n",
            instruction);
  REQUIRE(module);
  const auto &instructions = (*module)->functions.at(0).instructions;
  REQUIRE(instructions.size() == 2);
  const Opcode &opcode = (*module)->opcode(instructions[0]);
  CAPTURE(instruction);
  CHECK(effect_of(opcode) == Effect::sync); // to everyone who does not ask
  return leaves_global_alone(opcode);
}

} // namespace

TEST_CASE("what orders no access to global memory") {
  for (const char *instruction :
       {"shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, %r3;",
        "shfl.up.b32 %r1, %r2, 1, 0;", "vote.sync.ballot.b32 %r1, %p1, -1;",
        "vote.sync.all.pred %p1, %p2, -1;", "match.any.sync.b32 %r1, %r2, -1;",
        "match.all.sync.b64 %r1|%p1, %d1, -1;", "redux.sync.add.s32 %r1, %r2, -1;",
        "nanosleep.u32 %r1;", "red.shared.add.u32 [%r1], 1;",
        "red.relaxed.cta.shared.add.u32 [%r1], 1;", "red.relaxed.shared::cta.or.b32 [%r1], 1;",
        "cp.async.ca.shared.global [%r1], [%d1], 4;",
        "cp.async.cg.shared.global.L2::128B [%r1], [%d1], 16;", "cp.async.commit_group;",
        "cp.async.wait_group 1;", "cp.async.wait_all;"})
    CHECK_MESSAGE(is_harmless(instruction), instruction);
}

TEST_CASE("what is relaxed among the threads of a block, and no more than that") {
  const auto is_relaxed = [](const std::string &instruction) {
    const auto module =
        parse(".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
              ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n" +
                  instruction + "\nret;\n}\n",
              instruction);
    REQUIRE(module);
    return is_relaxed_in_block((*module)->opcode((*module)->functions.at(0).instructions.at(0)));
  };
  for (const char *instruction :
       {"ld.relaxed.cta.global.u32 %r1, [%d1];", "st.relaxed.cta.shared::cta.u8 [%r1], %r2;",
        "ld.relaxed.cta.v2.u32 {%r1, %r2}, [%d1];",
        "ld.relaxed.cta.global.L1::no_allocate.L2::128B.u32 %r1, [%d1];"})
    CHECK_MESSAGE(is_relaxed(instruction), instruction);
  for (const char *instruction :
       {"ld.relaxed.gpu.global.u32 %r1, [%d1];", "ld.relaxed.sys.global.u32 %r1, [%d1];",
        "ld.relaxed.cluster.global.u32 %r1, [%d1];", "ld.acquire.cta.global.u32 %r1, [%d1];",
        "st.release.cta.global.u32 [%d1], %r1;", "ld.volatile.shared.u32 %r1, [%r2];",
        "st.mmio.relaxed.sys.global.u32 [%d1], %r1;", "ld.mmio.relaxed.cta.global.u32 %r1, [%d1];",
        "ld.relaxed.cta.shared::cluster.u32 %r1, [%r2];", "ld.relaxed.cta.local.u32 %r1, [%r2];",
        "st.async.relaxed.cta.shared.u32 [%r1], %r2, [%r3];", "ld.global.cv.u32 %r1, [%d1];",
        "ld.relaxed.cta.global.nc.u32 %r1, [%d1];", "ld.relaxed.cta.newer.global.u32 %r1, [%d1];",
        "red.relaxed.cta.shared.add.u32 [%r1], 1;", "ld.global.u32 %r1, [%d1];"})
    CHECK_FALSE_MESSAGE(is_relaxed(instruction), instruction);
}

TEST_CASE("what may order, or is not decided") {
  for (const char *instruction :
       {"bar.warp.sync -1;",
        "bar.sync 0;",
        "bar.red.or.pred %p1, 0, %p2;",
        "barrier.sync 0;",
        "barrier.cluster.arrive;",
        "fence.acq_rel.cta;",
        "membar.cta;",
        "elect.sync %r1|%p1, -1;",
        "atom.shared.add.u32 %r1, [%r2], 1;",
        "atom.relaxed.cta.shared.add.u32 %r1, [%r2], 1;",
        "atom.global.add.u32 %r1, [%d1], 1;",
        "red.global.add.u32 [%d1], 1;",
        "red.add.u32 [%d1], 1;",
        "red.release.cta.shared.add.u32 [%r1], 1;",
        "red.shared::cluster.add.u32 [%r1], 1;",
        "red.async.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], 1, [%r2];",
        "cp.async.mbarrier.arrive.shared.b64 [%r1];",
        "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16;",
        "cp.async.bulk.commit_group;",
        "cp.async.bulk.wait_group 0;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r1], 16;",
        "mbarrier.arrive.shared.b64 %d1, [%r1];",
        "ld.volatile.global.u32 %r1, [%d1];",
        "ld.relaxed.gpu.global.u32 %r1, [%d1];",
        "st.release.gpu.global.u32 [%d1], %r1;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
        "griddepcontrol.wait;",
        "setmaxnreg.inc.sync.aligned.u32 96;",
        "discard.global.L2 [%d1], 128;",
        "trap;",
        "frobnicate.sync %r1, %r2;"})
    CHECK_FALSE_MESSAGE(is_harmless(instruction), instruction);
}
