// Who may write what a load reads, in small kernels. %p, %q and %o are pointers that parameters
// lead to, %v is a number.

#include "emulator/facts/writers.h"
#include "grammar/module.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

/// What is said of the first load of global memory in a body: "apart", the store's opcode and
/// whether both addresses are known, or what might order it.
std::string said(const std::string &body) {
  const auto module = parse(".version 7.8\n.target sm_80\n.address_size 64\n"
                            ".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 o)\n{\n"
                            ".reg .b64 %p, %q, %o, %d<4>;\n.reg .b32 %v, %w;\n.reg .pred %t;\n"
                            "ld.param.u64 %p, [p];\nld.param.u64 %q, [q];\n"
                            "ld.param.u64 %o, [o];\n" +
                                body + "ret;\n}\n",
                            "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  const Function &kernel = (*module)->functions[0];
  const auto opcode = [&](std::uint32_t i) {
    return (*module)->opcode(kernel.instructions[i]).text;
  };
  facts::Writers writers(**module, kernel);
  if (const auto unknown = writers.unknown())
    return fmt::format("ordered by {}", opcode(*unknown));
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
    if (opcode(i).starts_with("ld.global")) {
      const auto conflict = writers.conflict(i);
      return !conflict                       ? "apart"
             : conflict->unknown == no_index ? fmt::format("by {}", opcode(conflict->store))
                                             : fmt::format("unknown {}", opcode(conflict->unknown));
    }
  return "no load";
}

} // namespace

TEST_CASE("a store writes what its address is made from") {
  CHECK(said("ld.global.u32 %v, [%p];\nst.global.u32 [%o], %v;\n") == "apart");
  CHECK(said("ld.global.u32 %v, [%p];\nst.global.u32 [%p+4], %v;\n") == "by st.global.u32");
  CHECK(said("ld.global.u32 %v, [%p];\nred.global.add.u32 [%p], %v;\n") == "by red.global.add.u32");
  CHECK(said("ld.global.u32 %v, [%p];\nst.u32 [%p], %v;\n") == "by st.u32");
  CHECK(said("ld.global.u32 %v, [%p];\nst.shared.u32 [%w], %v;\n") == "apart");
  // An index that was read is a distance, and a pointer that was read may lead anywhere.
  CHECK(said("ld.global.u32 %v, [%p];\ncvt.u64.u32 %d1, %v;\nadd.s64 %d2, %o, %d1;\n"
             "st.global.u32 [%d2], %v;\n") == "apart");
  CHECK(said("ld.global.u64 %d1, [%p];\nst.global.u32 [%d1], %v;\n") == "unknown st.global.u32");
  CHECK(said("ld.global.u32 %v, [%d3];\nst.global.u32 [%o], %v;\n") == "unknown ld.global.u32");
  // One of two, and the distance of two arrays, which leads from one to the other.
  CHECK(said("ld.global.u32 %v, [%p];\nselp.b64 %d1, %p, %o, %t;\nst.global.u32 [%d1], %v;\n") ==
        "unknown st.global.u32");
  CHECK(said("ld.global.u32 %v, [%p];\nselp.b64 %d1, %q, %o, %t;\nst.global.u32 [%d1], %v;\n") ==
        "apart");
  CHECK(said("ld.global.u32 %v, [%p];\nsub.s64 %d1, %p, %q;\nadd.s64 %d2, %q, %d1;\n"
             "st.global.u32 [%d2], %v;\n") == "unknown st.global.u32");
}

TEST_CASE("a pointer that is put together from parts may be any") {
  // %d1 is the base of the load's address and of the store's, which begin at different parameters.
  const auto beside = [](const std::string &base) {
    return said(base + ";\nadd.s64 %d2, %d1, %p;\nadd.s64 %d3, %d1, %o;\n"
                       "ld.global.u32 %v, [%d2];\nst.global.u32 [%d3], %v;\n");
  };
  const std::string any = "unknown st.global.u32";
  CHECK(beside("mov.b64 %d1, {%v, %w}") == any);
  CHECK(beside("cvt.u64.u32 %d0, %v;\nshl.b64 %d1, %d0, 32") == any);
  CHECK(beside("cvt.u64.u32 %d0, %v;\nshl.b64 %d1, %d0, %w") == any);
  CHECK(beside("cvt.u64.u32 %d0, %v;\nshl.b64 %d1, %d0, 31") == "apart");
  CHECK(beside("cvt.u64.u32 %d0, %v;\nmul.lo.s64 %d1, %d0, 4294967296") == any);
  CHECK(beside("cvt.u64.u32 %d0, %v;\nmul.lo.s64 %d1, %d0, -4294967296") == any);
  CHECK(beside("cvt.u64.u32 %d0, %v;\nmad.lo.s64 %d1, %d0, 4294967296, 8") == any);
  CHECK(beside("cvt.u64.u32 %d0, %v;\nmul.lo.s64 %d1, %d0, 512") == "apart");
  CHECK(beside("cvt.u64.u32 %d0, %v;\nbfi.b64 %d1, %d0, %d0, 32, 32") == any);
  // Bits of two pointers make a third.
  CHECK(said("or.b64 %d1, %q, %o;\nld.global.u32 %v, [%p];\nst.global.u32 [%d1], %v;\n") == any);
  CHECK(said("and.b64 %d1, %o, -16;\nld.global.u32 %v, [%p];\nst.global.u32 [%d1], %v;\n") ==
        "apart");
}

TEST_CASE("what orders memory may let others write") {
  CHECK(said("ld.global.u32 %v, [%p];\nbar.sync 0;\n") == "apart");
  CHECK(said("ld.global.u32 %v, [%p];\nvote.sync.any.pred %t, %t, -1;\n") == "apart");
  CHECK(said("ld.global.u32 %v, [%p];\nmembar.gl;\n") == "ordered by membar.gl");
  CHECK(said("ld.global.u32 %v, [%p];\natom.global.add.u32 %w, [%o], %v;\n") ==
        "ordered by atom.global.add.u32");
  CHECK(said("ld.acquire.gpu.global.u32 %v, [%p];\n") == "ordered by ld.acquire.gpu.global.u32");
  CHECK(said("red.release.gpu.global.add.u32 [%o], %v;\n") ==
        "ordered by red.release.gpu.global.add.u32");
  CHECK(said("barrier.cluster.arrive;\n") == "ordered by barrier.cluster.arrive");
}
