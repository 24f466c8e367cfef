// Resized blocks: what is proposed, what the table must say, and that the proof refuses whatever
// one changes in the text unless it changes nothing.

#include "synth/resize/resize.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>
#include <string>
#include <vector>

namespace resize_test {

using namespace ptxasw::test;

namespace {

std::unique_ptr<Module> kernel(const char *name) {
  return parsed(hazard(std::filesystem::path(TRAPS_DIR "/resize") / (std::string(name) + ".ptx")));
}

Proposal proposal_of(const Module &module, std::string_view variant) {
  for (Proposal &one : propose(*find_family("resize"), {module, only(module)}).proposals)
    if (one.variant == variant)
      return std::move(one);
  FAIL("it is not proposed");
  return {};
}

/// The module with a version behind it.
std::string with_version(const Module &module, const Proposal &proposal) {
  return std::string(module.text()) + "\n" + resize_family.write({module, only(module)}, proposal);
}

/// The proof of the module's last function as the version of the one before.
proof::Proved proof(const Module &after, const Proposal &proposal) {
  const std::size_t count = after.functions.size();
  return count < 2 ? proof::not_proved("nothing was added")
                   : prove_resize({after, after.functions[count - 2]}, after.functions[count - 1],
                                  proposal);
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.rfind(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("the table tells of the block, and of what the launch must have") {
  const auto bound = kernel("no-bound"), counts = kernel("counts-threads");
  const Proposal spare = proposal_of(*bound, "b128"), exact = proposal_of(*counts, "b256");
  CHECK(spare.sibling.name == "k__ptxasw_resize_b128");
  CHECK(spare.sibling.extent == std::array<std::uint32_t, 3>{128, 0, 0});
  CHECK(spare.sibling.needs.extent_multiple == std::array<std::uint32_t, 3>{1, 1, 1});
  CHECK(exact.sibling.needs.extent_multiple == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(propose(*find_family("resize"), {*bound, only(*bound)}).proposals.size() ==
        find_family("resize")->variants().size());
  // Nothing stands before the body of a kernel that counts its threads.
  CHECK(resize_family.write({*counts, only(*counts)}, exact).find("ptxasw_place") ==
        std::string::npos);
}

TEST_CASE("no table but this one is proved") {
  for (const char *name : {"no-bound", "counts-threads"}) {
    const auto module = kernel(name);
    const Proposal proposal = proposal_of(*module, "b64");
    const auto after = parsed(with_version(*module, proposal));
    REQUIRE(proof(*after, proposal));
    const auto refused = [&](auto change) {
      Proposal other = proposal;
      change(other.sibling);
      CHECK_FALSE(proof(*after, other));
    };
    refused([](Sibling &s) { s.extent[0] = 0; });
    refused([](Sibling &s) { s.extent[0] = 2048; });
    refused([](Sibling &s) { s.extent[1] = 2; });
    refused([](Sibling &s) { s.grid[0] = 2; });
    refused([](Sibling &s) { s.block[1] = 2; });
    refused([](Sibling &s) { s.appended = {}; });
    refused([](Sibling &s) { s.appended = {'y'}; });
    refused([](Sibling &s) { s.appended_blocks = {}; });
    refused([](Sibling &s) { s.appended_blocks = {'x', 'x'}; });
    refused([](Sibling &s) { s.needs.max_extent[0] = ~0u; });
    refused([](Sibling &s) { s.needs.dynamic_shared = 2; });
    refused([](Sibling &s) { s.needs.extent_multiple[0] = 32; });
    refused([](Sibling &s) { s.needs.extent_multiple[1] = 64; });
  }
  // The same text for blocks of another extent is right, if the table says so throughout.
  const auto module = kernel("counts-threads");
  Proposal proposal = proposal_of(*module, "b64");
  const auto after = parsed(with_version(*module, proposal));
  proposal.sibling.extent[0] = proposal.sibling.needs.extent_multiple[0] = 96;
  proposal.sibling.kind = "b96";
  CHECK(proof(*after, proposal));
}

TEST_CASE("a kernel that counts its threads must have none to spare") {
  const auto module = kernel("counts-threads");
  Proposal proposal = proposal_of(*module, "b64");
  proposal.sibling.needs.extent_multiple[0] = 1;
  const auto after = parsed(with_version(*module, proposal)); // with a beginning, then
  CHECK(fault_of(proof(*after, proposal)) == "the number of threads would be another");
}

TEST_CASE("what stands around the body is the kernel's") {
  const auto module = kernel("no-bound");
  const Proposal proposal = proposal_of(*module, "b64");
  const std::string text = with_version(*module, proposal);
  const auto fault = [&](const std::string &from, const std::string &to) {
    return fault_of(proof(*parsed(replaced(text, from, to)), proposal));
  };
  CHECK(fault(".param .u32 k__ptxasw_resize_b64_grid", ".param .u64 k__ptxasw_resize_b64_grid") ==
        "an appended parameter is no extent");
  CHECK_FALSE(fault(".param .u32 n,", ".param .u32 n, .param .u32 more,").empty());
  CHECK_FALSE(fault(".param .u32 n,", ".param .s32 n,").empty());
  CHECK_FALSE(fault("\n{\n\t.reg .b32 %ptxasw", "\n.maxntid 64\n{\n\t.reg .b32 %ptxasw").empty());
  CHECK_FALSE(fault("\t@%ptxasw_beyond ret;\n", "\t@%ptxasw_beyond ret;\nL:\n").empty());
  CHECK_FALSE(
      fault("\t@%ptxasw_beyond ret;\n", "\t@%ptxasw_beyond ret;\n\tmov.u32 %ptxasw_place0, 0;\n")
          .empty());
  CHECK_FALSE(fault("\tret;\n}\n}", "\tret;\n}\n\tret;\n}").empty());
  CHECK_FALSE(fault("\tst.global.u32 [%po], %x;", "\tst.global.u32 [%po], %y;").empty());
  CHECK_FALSE(fault("\tst.global.u32 [%po], %x;", "\tst.global.u32 [%po],  %x;").empty());
  CHECK_FALSE(fault(".reg .b32 %ptxasw_place<7>", ".reg .b32 %ptxasw_place<8>").empty());
}

TEST_CASE("what is added has no name that the body gives to something else") {
  std::string text(kernel("no-bound")->text());
  text = replaced(text, ".visible .entry", ".global .align 4 .u32 first[4];\n.visible .entry");
  text = replaced(text, "\tadd.u32 %x, %x, %i;",
                  "\tld.global.u32 %x, [first];\n\tadd.u32 %x, %x, %i;");
  const auto module = parsed(text);
  const Proposal proposal = proposal_of(*module, "b64");
  const std::string written = with_version(*module, proposal);
  const auto fault = [&](const char *added) {
    return fault_of(
        proof(*parsed(replaced(written, "\t.reg .pred %ptxasw_beyond;", added)), proposal));
  };
  CHECK(fault("\t.reg .pred %ptxasw_beyond;").empty());
  CHECK_FALSE(fault("\t.reg .pred %ptxasw_beyond;\n\t.reg .b64 other;").empty());
  CHECK(fault("\t.reg .pred %ptxasw_beyond;\n\t.reg .b64 first;") ==
        "a name stands for something else");
}

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const char *variant : {"b32", "b256"}) {
    const auto module = kernel("no-bound");
    const Proposal proposal = proposal_of(*module, variant);
    LineChanges changes{"%ptxasw_",
                        {{"mov\\.u32", "mov.b32"},
                         {"%ctaid\\.x", "%tid.x"},
                         {"%ntid\\.x", "%nctaid.x"},
                         {"%tid\\.x", "%ctaid.x"},
                         {"\\.x", ".y"},
                         {"mad\\.lo", "mad.hi"},
                         {"mul\\.lo", "mul.hi"},
                         {"mul\\.lo", "add"},
                         {"\\.u32", ".s32"},
                         {"ge\\.u32", "gt.u32"},
                         {"ge\\.u32", "le.u32"},
                         {"_grid", "_block"},
                         {"_block\\]", "_grid]"},
                         {"b(32|256)_grid\\]", "b$1_grid+4]"},
                         {"\\[k__ptxasw_resize_b\\d+_grid", "[n"},
                         {"place0", "place1"},
                         {"place1", "place0"},
                         {"place2", "place3"},
                         {"place3", "place2"},
                         {"place4", "place5"},
                         {"place5", "place4"},
                         {"place6", "place3"},
                         {"place3, %ptxasw_place6", "place6, %ptxasw_place3"},
                         {"@%", "@!%"},
                         {"@%[a-z_]+ ", ""},
                         {"ret;", "exit;"},
                         {"ret;", "trap;"},
                         {"(mov|mad|ld|mul|setp)", "@%ptxasw_beyond $1"}},
                        8,
                        [&](const Module &, const Module &after) { return proof(after, proposal); },
                        proposal.sibling};
    try_mutants(*module, with_version(*module, proposal), changes, count);
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(more_than(count.refused, 120));
}

TEST_CASE("what is found in a kernel is found once, by type and name") {
  const auto module = kernel("no-bound");
  const KernelContext context(*module, only(*module));
  int found = 0;
  const auto find = [&] { return ++found; };
  CHECK(context.once("first", find) == 1);
  CHECK(context.once("second", find) == 2);
  CHECK(context.once("first", find) == 1);
  CHECK(context.once("first", [&] { return std::to_string(++found); }) == "3");
  CHECK(&context.once("first", find) == &context.once("first", find));
  CHECK(found == 3);
}

} // namespace resize_test
