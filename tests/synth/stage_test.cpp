// Staged loops: what is found, how it is written, and that the proof refuses whatever one changes
// in the text unless it changes nothing.

#include "synth/stage/stage.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>

namespace stage_test {

using namespace ptxasw::test;

namespace {

/// The last function with its loop staged in place.
std::string staged(const Module &module) {
  const auto answer = stage::staging_of({module, only(module)}, "4k");
  REQUIRE(answer.sites.size() == 1);
  const auto text = stage::write_staged({module, only(module)}, answer.sites[0]);
  REQUIRE(text);
  return *text;
}

std::string proof(const Module &module, const std::string &text) {
  const auto after = parsed(text);
  return fault_of(stage::prove_staged({module, only(module)}, *after, only(*after), "4k"));
}

std::unique_ptr<Module> hazard_named(const std::string &name) {
  return parsed(hazard(std::filesystem::path(TRAPS_DIR "/stage") / (name + ".ptx")));
}

} // namespace

TEST_CASE("ranges, rounds and places in the tile") {
  const auto module = hazard_named("several-arrays");
  const auto answer = stage::staging_of({*module, only(*module)}, "4k");
  REQUIRE(answer.sites.size() == 1);
  const stage::Staging &found = answer.sites[0];
  // The neighbour overlaps the next round's element, so it has a range of its own.
  REQUIRE(found.ranges.size() == 3);
  CHECK(found.ranges[0].step == 4);
  CHECK(found.ranges[2].step == 2);
  CHECK(found.rounds == 409);
  CHECK(found.place_of_rounds() == 24);
  CHECK(found.ranges[0].place == 32);
  CHECK(found.ranges[1].place == 32 + 1648); // 409 * 4, to the next multiple of 16
  CHECK(found.size == 32 + 2 * 1648 + 832);
  CHECK(stage::staging_of({*module, only(*module)}, "16k").sites[0].rounds == 1638);
  CHECK(stage::staging_of({*module, only(*module)}, "16").sites.empty());
}

TEST_CASE("loads of one round are one range") {
  const auto module = hazard_named("two-tiles");
  const auto answer = stage::staging_of({*module, only(*module)}, "4k");
  REQUIRE(answer.sites.size() == 1);
  const stage::Staging &found = answer.sites[0];
  REQUIRE(found.ranges.size() == 1);
  CHECK(found.ranges[0].step == 144);
  CHECK(found.ranges[0].loads.size() == 5);
  CHECK(found.rounds == 28);
}

namespace {

/// What is staged of a hazard's kernel, and the instruction with which a round begins.
struct Found {
  explicit Found(const std::string &name) : module(hazard_named(name)) {
    const auto answer = stage::staging_of({*module, only(*module)}, "4k");
    REQUIRE(answer.sites.size() == 1);
    staging = answer.sites[0];
  }
  std::string_view text(std::uint32_t instruction) const {
    return module->text(only(*module).instructions[instruction].span);
  }
  /// What is not proved if it is written as `changed` says.
  std::string fault(const stage::Staging &changed) const {
    const auto text = stage::write_staged({*module, only(*module)}, changed);
    REQUIRE(text);
    return proof(*module, *text);
  }

  std::unique_ptr<Module> module;
  stage::Staging staging;
};

} // namespace

TEST_CASE("a round begins behind the branch that leaves the loop") {
  const Found at_foot("read-only"), at_head("by-twos-at-the-head"), between("tested-between");
  CHECK(at_foot.staging.round == at_foot.staging.header);
  CHECK(at_head.text(at_head.staging.header).starts_with("setp.ge.s32"));
  CHECK(at_head.staging.round == at_head.staging.header + 2);
  REQUIRE(between.staging.ranges.size() == 1);
  REQUIRE(between.staging.ranges[0].loads.size() == 1); // the other one is done once more
  CHECK(between.staging.ranges[0].loads[0].instruction == between.staging.round);
  for (const Found *const one : {&at_head, &between}) {
    CHECK(one->fault(one->staging).empty());
    stage::Staging changed = one->staging;
    changed.round = changed.header; // which brings what nobody reads
    CHECK_FALSE(one->fault(changed).empty());
    changed = one->staging;
    changed.own.count += facts::Polynomial(1);
    CHECK_FALSE(one->fault(changed).empty());
  }
}

TEST_CASE("both arms of a branch have their loads, and what they read is brought once") {
  const Found arms("arms-of-one-place");
  REQUIRE(arms.staging.ranges.size() == 1);
  REQUIRE(arms.staging.ranges[0].loads.size() == 2);
  CHECK(stage::is_first(arms.staging.ranges[0], arms.staging.ranges[0].loads[0]));
  CHECK_FALSE(stage::is_first(arms.staging.ranges[0], arms.staging.ranges[0].loads[1]));
  CHECK(arms.staging.rounds == 1024);
  stage::Staging changed = arms.staging;
  changed.ranges[0].loads.pop_back();
  CHECK_FALSE(arms.fault(changed).empty());
}

TEST_CASE("a loop in another one is asked about where it is entered") {
  const Found inner("nested-ranges-go-on"), two_ways("nested-two-ways-in");
  REQUIRE(inner.staging.around);
  CHECK(inner.staging.header < inner.staging.entry);
  CHECK(inner.fault(inner.staging).empty());
  CHECK(two_ways.fault(two_ways.staging).empty());
  stage::Staging changed = inner.staging;
  changed.around.reset(); // which asks before the outer loop, and never again
  CHECK_FALSE(inner.fault(changed).empty());
  changed = inner.staging;
  changed.around->count += facts::Polynomial(1);
  CHECK_FALSE(inner.fault(changed).empty());
  changed = inner.staging;
  changed.entry = changed.header;
  CHECK_FALSE(inner.fault(changed).empty());
  CHECK_FALSE(Found("nested").staging.before.empty());
}

TEST_CASE("what a generic load reads is brought by a generic load") {
  const auto module = hazard_named("generic");
  CHECK(staged(*module).find("ld.b32 %stage0_v") != std::string::npos);
}

TEST_CASE("the kernel follows as it was") {
  const auto module = hazard_named("read-only");
  const std::string text = staged(*module);
  CHECK(proof(*module, text).empty());
  CHECK(staged(*module) == text); // the same input gives the same text
  const std::string body(module->text(only(*module).body));
  const std::size_t code = body.find("\tld.param");
  CHECK(text.find(body.substr(code + 1)) != std::string::npos);
  const auto fault = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.rfind(from), from.size(), to);
    return proof(*module, changed);
  };
  CHECK_FALSE(fault("\tret;", "\n\tret;").empty());
  CHECK_FALSE(fault("mov.u32 %z, 0;", "mov.u32 %z, 1;").empty());
  // A tile that is too small, not aligned, or another kernel's parameters.
  CHECK_FALSE(fault("stage0_tile[4112]", "stage0_tile[4096]").empty());
  CHECK_FALSE(fault(".align 16 .b8 stage0", ".align 8 .b8 stage0").empty());
  CHECK_FALSE(fault(".param .u32 k)", ".param .u32 k, .param .u32 l)").empty());
  CHECK_FALSE(fault("\t.shared", "\t.shared .b32 own;\n\t.shared").empty());
  // Another variant than the one that was asked for.
  const auto after = parsed(text);
  CHECK_FALSE(
      stage::prove_staged({*module, only(*module)}, *after, only(*after), "16k").has_value());
  CHECK_FALSE(
      stage::prove_staged({*module, only(*module)}, *module, only(*module), "4k").has_value());
}

TEST_CASE("what is computed for a test is written to none of the other registers") {
  const auto module = hazard_named("nested-ranges-go-on");
  std::string text = staged(*module);
  CHECK(proof(*module, text).empty());
  const std::size_t last = text.rfind("%stage0_comes, 1"); // where the inner loop is entered
  REQUIRE(last != std::string::npos);
  text.insert(text.rfind('\n', last) + 1, "\tmov.u32 %stage0_thread, 0;\n");
  CHECK(proof(*module, text).ends_with("what is tested is not understood"));
}

TEST_CASE("a launch with shared memory of its own is refused by the table") {
  const auto module = hazard_named("read-only");
  const FamilyAnswer answer = propose(*find_family("stage"), {*module, only(*module)});
  REQUIRE(answer.proposals.size() == 2);
  CHECK(answer.proposals[0].sibling.needs.dynamic_shared == 0);
  Proposal proposal = answer.proposals[0];
  const std::string version = stage_family.write({*module, only(*module)}, proposal);
  const auto written = parsed(std::string(module->text()) + "\n" + version);
  const Function &kernel = written->functions[0], &sibling = written->functions[1];
  CHECK(stage_family.prove({*written, kernel}, sibling, proposal).has_value());
  proposal.sibling.needs.dynamic_shared = 1;
  CHECK_FALSE(stage_family.prove({*written, kernel}, sibling, proposal).has_value());
}

namespace {

const LineChanges line_changes{"stage0_",
                               {{"@%", "@!%"},
                                {"@!%", "@%"},
                                {"@!?%[a-z0-9_]+ ", ""},
                                {"_0\\b", "_1"},
                                {"_1\\b", "_0"},
                                {"_2\\b", "_3"},
                                {"first0", "first1"},
                                {"first1", "first0"},
                                {"shift0", "shift1"},
                                {"shift1", "shift0"},
                                {"stage0_first0", "stage0_from"},
                                {"stage0_left", "stage0_rest"},
                                {"stage0_rest", "stage0_left"},
                                {"stage0_threads", "stage0_thread"},
                                {"stage0_thread\\b", "stage0_threads"},
                                {"stage0_base", "stage0_low"},
                                {"stage0_a\\b", "stage0_b"},
                                {"stage0_k\\b", "stage0_thread"},
                                {"stage0_test", "stage0_same"},
                                {"stage0_all", "stage0_same"},
                                {"add\\.", "sub."},
                                {"sub\\.", "add."},
                                {"setp\\.ge", "setp.gt"},
                                {"setp\\.lt", "setp.le"},
                                {"setp\\.ne", "setp.eq"},
                                {"setp\\.eq", "setp.ne"},
                                {"setp\\.gt", "setp.ge"},
                                {"and\\.pred", "or.pred"},
                                {"red\\.and", "red.or"},
                                {"max", "min"},
                                {"min", "max"},
                                {"barrier\\.sync 0", "barrier.sync 1"},
                                {"barrier\\.sync 0", "bar.arrive 0, 64"},
                                {"barrier\\.sync", "barrier.arrive"},
                                {", 4;", ", 3;"},
                                {", 4,", ", 8,"},
                                {", 1024;", ", 1025;"},
                                {", 1;", ", 2;"},
                                {", 1;", ", 0;"},
                                {", 0;", ", 1;"},
                                {"\\+0\\]", "+4]"},
                                {"\\+4\\]", "+0]"},
                                {"\\+8\\]", "+0]"},
                                {"\\+16\\]", "+20]"},
                                {"\\+32\\]", "+16]"},
                                {"tid\\.z", "tid.y"},
                                {"tid\\.y", "tid.z"},
                                {"tid\\.x", "ctaid.x"},
                                {"1, 0, ", "0, 1, "},
                                {"268435456", "4294967296"},
                                {"mul\\.lo", "add"},
                                {"mul\\.wide\\.u32", "mul.wide.s32"},
                                {"ld\\.global", "ld.shared"},
                                {"ld\\.global\\.b32", "ld.global.nc.b32"},
                                {"ld\\.shared", "ld.global"},
                                {"cvt\\.s64\\.s32", "cvt.u64.u32"},
                                {"%pa", "%pb"},
                                {"bra \\$stage0_met", "bra $stage0_at"},
                                {"bra \\$stage0_at", "bra $stage0_met"},
                                {"bra \\$stage0_original", "bra $stage0_c0"},
                                {"bra \\$stage0_go", "bra $stage0_brought"},
                                {"bra \\$stage0_brought", "bra $stage0_go"},
                                {"bra \\$stage0_enter", "bra $stage0_c2"},
                                {"bra \\$stage0_c2", "bra $stage0_enter"},
                                {"in_", ""},
                                {"bra \\$stage0_next", "bra $stage0_brought"},
                                {"bra \\$stage0_c1", "bra $stage0_go"},
                                {"bra \\$stage0_c", "bra $stage0_b"}},
                               6,
                               [](const Module &module, const Module &after) {
                                 const KernelContext kernel(module, only(module));
                                 return stage::prove_staged(kernel, after, only(after), "4k");
                               }};

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const char *name : {"some-return", "several-arrays", "two-ways-in", "signed-bytes",
                           "by-twos-at-the-head", "jumps-to-the-test", "arms-of-one-place",
                           "nested-rounds-of-lanes", "nested-ranges-go-on"}) {
    CAPTURE(name);
    const auto module = hazard_named(name);
    try_mutants(*module, staged(*module), line_changes, count);
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(more_than(count.refused, 1000));
  CHECK((mutant_stride() > 1 || count.harmless < 300)); // of few, chance decides
}

} // namespace stage_test
