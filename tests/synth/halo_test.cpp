// Staged halos: who brings what, how it is written, and that the proof refuses whatever one changes
// in the text unless it changes nothing.

#include "synth/halo/halo.h"
#include "synth/halo/tile.h"
#include "synth/halo/write.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>

using namespace ptxasw;

namespace {

std::unique_ptr<Module> hazard_named(const std::string &name) {
  return parsed(hazard(std::filesystem::path(SOURCE_DIR "/tests/hazards/halo") / (name + ".ptx")));
}

/// What of the last function is staged in blocks of a variant.
halo::Halo found(const Module &module, std::string_view variant) {
  std::optional<facts::KernelFacts> facts;
  auto answer = halo::halo_of(module, only(module), halo::shape_of(variant), facts);
  REQUIRE(answer.found.size() == 1);
  return std::move(answer.found[0]);
}

/// The last function with its halo staged in place.
std::string staged(const Module &module, std::string_view variant) {
  const ControlFlowGraph cfg(module, only(module));
  const auto text = halo::write_halo(module, only(module), cfg, found(module, variant));
  REQUIRE(text);
  return *text;
}

std::string proof(const Module &module, const std::string &text, std::string_view variant) {
  const auto after = parsed(text);
  return prove_halo_of(module, only(module), *after, only(*after), variant);
}

} // namespace

TEST_CASE("variants are shapes of blocks") {
  CHECK(halo::shape_of("b256") == halo::Extents3{256, 1, 1});
  CHECK(halo::shape_of("b32x8") == halo::Extents3{32, 8, 1});
  CHECK(halo::shape_of("b8x8x4") == halo::Extents3{8, 8, 4});
  CHECK(halo::shape_of("b25") == halo::Extents3{0, 0, 0});
  for (const std::string &variant : halo_variants()) {
    const halo::Extents3 block = halo::shape_of(variant);
    CHECK(block[0] * block[1] * block[2] >= 64);
    CHECK(block[0] * block[1] * block[2] <= 1024);
  }
}

TEST_CASE("a row: each thread brings one element, those at its ends one more") {
  const auto module = hazard_named("some-return");
  const halo::Halo one = found(*module, "b64");
  REQUIRE(one.groups.size() == 1);
  const halo::Group &group = one.groups[0];
  CHECK(group.loads.size() == 3);
  REQUIRE(group.brings.size() == 3);
  CHECK(group.loads[group.brings[0].load].offset == halo::Extents3{1, 0, 0});
  CHECK(group.brings[0].when.empty());
  CHECK(group.loads[group.brings[1].load].offset == halo::Extents3{0, 0, 0});
  REQUIRE(group.brings[1].when.size() == 1);
  CHECK(group.brings[1].when[0][0].below);
  CHECK(group.brings[1].when[0][0].limit == 1);
  CHECK(group.brings[2].when[0][0].limit == 63);
  CHECK(group.size == 66 * 4);
  CHECK(group.first == 32);           // behind three bases, aligned
  CHECK(one.size == 32 + 66 * 4 + 8); // a multiple of 16
}

TEST_CASE("a star: rows at the rim of the block bring those beyond") {
  const auto module = hazard_named("star");
  const halo::Halo one = found(*module, "b32x4");
  REQUIRE(one.groups.size() == 1);
  const halo::Group &group = one.groups[0];
  CHECK(group.loads.size() == 5);
  CHECK(group.related.size() == 2);
  CHECK(group.brings.size() == 5); // of 3 rows, the middle one with both ends
  CHECK(group.row == 34 * 4);
  CHECK(group.size == 6 * 34 * 4);
}

TEST_CASE("the proof sees who brings too little, too much or something else") {
  for (const auto &[name, variant] : {std::pair{"gap", "b64"},
                                      {"star", "b32x4"},
                                      {"box", "b8x8"},
                                      {"rows-two-apart", "b32x4"},
                                      {"planes", "b8x8x4"}}) {
    CAPTURE(std::string(name));
    const auto module = hazard_named(name);
    const halo::Halo one = found(*module, variant);
    const halo::Group &right = one.groups.at(0);
    REQUIRE(halo::tile_fault(right, one.block).empty());
    const auto wrong = [&](auto change) {
      halo::Group group = right;
      change(group);
      CHECK_FALSE(halo::tile_fault(group, one.block).empty());
    };
    for (std::size_t i = 0; i < right.brings.size(); ++i) {
      CAPTURE(i);
      wrong([&](halo::Group &g) { g.brings.erase(g.brings.begin() + static_cast<int>(i)); });
      wrong([&](halo::Group &g) { g.brings.push_back(g.brings[i]); });
      for (std::size_t k = 0; k < right.brings[i].when.size(); ++k) {
        wrong([&](halo::Group &g) { ++g.brings[i].when[k][0].limit; });
        wrong([&](halo::Group &g) { --g.brings[i].when[k][0].limit; });
        wrong(
            [&](halo::Group &g) { g.brings[i].when[k][0].below = !g.brings[i].when[k][0].below; });
      }
    }
    for (std::size_t i = 0; i < right.loads.size(); ++i) {
      wrong([&](halo::Group &g) { g.loads[i].place += g.bytes; });
      wrong([&](halo::Group &g) { g.loads[i].place += g.bytes / 2; });
      wrong([&](halo::Group &g) { ++g.loads[i].offset[0]; });
      wrong([&](halo::Group &g) { ++g.loads[i].offset[1]; });
    }
    if (one.block[1] > 1)
      wrong([](halo::Group &g) { g.row -= g.bytes; });
    if (std::string_view(name) == "box") // the last place is no corner that nobody reads
      wrong([](halo::Group &g) { g.size -= g.bytes; });
  }
}

TEST_CASE("the kernel follows as it was") {
  const auto module = hazard_named("star");
  const std::string text = staged(*module, "b32x4");
  CHECK(proof(*module, text, "b32x4").empty());
  CHECK(staged(*module, "b32x4") == text); // the same input gives the same text
  const auto fault = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    const std::size_t at = changed.rfind(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    return proof(*module, changed, "b32x4");
  };
  CHECK(fault("\tret;", "\n\tret;").empty()); // blanks between instructions do not matter
  CHECK_FALSE(fault("\tret;", "\texit;").empty());
  CHECK_FALSE(fault("mov.u32 %z, 0;", "mov.u32 %z, 1;").empty());
  // What stands before it is the kernel, too, up to the loads.
  const auto earlier = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    const std::size_t at = changed.find(from, changed.find("$halo0_s0:"));
    REQUIRE(at < changed.find("$halo0_original:"));
    changed.replace(at, from.size(), to);
    return proof(*module, changed, "b32x4");
  };
  CHECK_FALSE(earlier("\tmov.u32 %z, 0;\n", "").empty());
  CHECK_FALSE(earlier("mov.u32 %z, 0;", "mov.u32 %z, 1;").empty());
  CHECK_FALSE(earlier("mad.lo.u32 %j, %u, %n, %i;", "mad.lo.u32 %j, %u, %i, %n;").empty());
  CHECK_FALSE(earlier("mov.u32 %z, 0;", "mov.u32 %z, 0;\n\tst.global.u32 [%po], %z;").empty());
  CHECK_FALSE(fault(".b8 halo0_tile[8", ".b8 halo0_tile[").empty()); // too small
  CHECK_FALSE(fault(".align 16 .b8 halo0", ".align 8 .b8 halo0").empty());
  CHECK_FALSE(fault(".param .u32 m)", ".param .u32 m, .param .u32 l)").empty());
  CHECK_FALSE(fault("\t.shared", "\t.shared .b32 own;\n\t.shared").empty());
  CHECK_FALSE(fault(".reqntid 32, 4", ".reqntid 32, 8").empty());
  const auto after = parsed(text);
  CHECK_FALSE(prove_halo_of(*module, only(*module), *after, only(*after), "b64").empty());
  CHECK_FALSE(prove_halo_of(*module, only(*module), *after, only(*after), "b33").empty());
  CHECK_FALSE(prove_halo_of(*module, only(*module), *module, only(*module), "b32x4").empty());
}

TEST_CASE("the table asks for blocks of that shape and no shared memory of a launch's own") {
  const auto module = hazard_named("planes");
  const FamilyAnswer answer = propose_halo(*module, only(*module));
  REQUIRE(answer.proposals.size() == 1); // the kernel fixes its blocks
  Proposal proposal = answer.proposals[0];
  CHECK(proposal.sibling.needs.dynamic_shared == 0);
  using Blocks = std::vector<std::array<std::uint32_t, 3>>;
  CHECK(proposal.sibling.needs.blocks == Blocks{{8, 8, 4}});
  const std::string version = write_halo(*module, only(*module), proposal);
  const auto written = parsed(std::string(module->text()) + "\n" + version);
  const Function &kernel = written->functions[0], &sibling = written->functions[1];
  CHECK(prove_halo(*written, kernel, sibling, proposal).empty());
  const auto refused = [&](auto change) {
    Proposal other = proposal;
    change(other.sibling);
    CHECK_FALSE(prove_halo(*written, kernel, sibling, other).empty());
  };
  refused([](Sibling &s) { s.needs.dynamic_shared = 1; });
  refused([](Sibling &s) { s.needs.blocks = {}; });
  refused([](Sibling &s) { s.needs.blocks = {{8, 8, 8}}; });
  refused([](Sibling &s) { s.grid[0] = 2; });
  refused([](Sibling &s) { s.extent[0] = 64; });
  refused([](Sibling &s) { s.needs.extent_multiple[0] = 2; });
}

namespace {

LineChanges changes_for(std::string_view variant) {
  return {"halo0_",
          {{"@%", "@!%"},
           {"@!%", "@%"},
           {"@!?%[a-z0-9_]+ ", ""},
           {"0_0\\b", "0_1"},
           {"0_1\\b", "0_0"},
           {"0_2\\b", "0_1"},
           {"base0", "must"},
           {"halo0_must", "halo0_said"},
           {"halo0_said", "halo0_must"},
           {"halo0_x", "halo0_y"},
           {"halo0_y", "halo0_x"},
           {"halo0_x", "halo0_number"},
           {"halo0_test", "halo0_same"},
           {"halo0_all", "halo0_same"},
           {"halo0_any", "halo0_test"},
           {"halo0_wide", "halo0_must"},
           {"add\\.", "sub."},
           {"sub\\.", "add."},
           {"mul\\.wide", "mul.lo"},
           {"mad\\.lo\\.s64", "mad.lo.u64"},
           {"mad\\.lo", "mad.hi"},
           {"setp\\.ge", "setp.gt"},
           {"setp\\.lt", "setp.le"},
           {"setp\\.ne", "setp.eq"},
           {"setp\\.eq", "setp.ne"},
           {"and\\.pred", "or.pred"},
           {"or\\.pred", "and.pred"},
           {"red\\.and", "red.or"},
           {"barrier\\.sync 0", "barrier.sync 1"},
           {"barrier\\.sync 0", "bar.arrive 0, 64"},
           {"barrier\\.red", "bar.red"},
           {", 64;", ", 32;"},
           {", 32;", ", 64;"},
           {", 63;", ", 62;"},
           {", 31;", ", 30;"},
           {", 4;", ", 8;"},
           {", 3;", ", 2;"},
           {", 1;", ", 2;"},
           {", 1;", ", 0;"},
           {", 0;", ", 1;"},
           {", 4,", ", 8,"},
           {", 136,", ", 132,"},
           {", -1,", ", 1,"},
           {", 1,", ", -1,"},
           {"\\+0\\]", "+4]"},
           {"\\+4\\]", "+0]"},
           {"\\+-4\\]", "+-8]"},
           {"\\+8\\]", "+0]"},
           {"\\+16\\]", "+8]"},
           {"\\+32\\]", "+36]"},
           {"\\+36\\]", "+40]"},
           {"\\+40\\]", "+36]"},
           {"%pa", "%pb"},
           {"%pb", "%pc"},
           {"%pc", "%pa"},
           {"st\\.shared", "st.volatile.shared"},
           {"ld\\.shared", "ld.volatile.shared"},
           {"ld\\.global", "ld.volatile.global"},
           {"b32", "b64"},
           {"\\.b64", ".b32"},
           {"tid\\.x", "tid.y"},
           {"tid\\.y", "tid.x"},
           {"ntid\\.x", "nctaid.x"},
           {"_original", "_met"},
           {"_asked", "_original"},
           {"_met", "_at"},
           {"_behind", "_original"},
           {"_s(\\d+)", "_b$1"},
           {"_b(\\d+)", "_s$1"},
           {"_k(\\d+)", "_behind"},
           {"bra", "bra.uni"}},
          4,
          [variant](const Module &module, const Module &after) {
            return prove_halo_of(module, only(module), after, only(after), variant);
          }};
}

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const auto &[name, variant] : {std::pair{"some-return", "b64"},
                                      {"goes-around", "b64"},
                                      {"star", "b32x4"},
                                      {"box", "b8x8"}}) {
    CAPTURE(name);
    const auto module = hazard_named(name);
    try_mutants(*module, staged(*module, variant), changes_for(variant), count);
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(count.refused > 1000);
  CHECK(count.harmless < 150);
}
