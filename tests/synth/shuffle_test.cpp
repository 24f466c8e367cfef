// The shuffle beside its kernel: it is what stands in the kernel where it is rewritten, and the
// proof refuses whatever one changes in the text unless it changes nothing.

#include "synth/family.h"

#include "synth/rewrite.h"
#include "synth/same_launch.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/core.h>

namespace shuffle_test {

using namespace ptxasw::test;

namespace {

std::vector<std::filesystem::path> goldens() {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(SOURCE_DIR "/tests/synth/golden"))
    if (entry.path().extension() == ".ptx")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Without its head.
std::string golden(std::string_view name) {
  const std::string text = file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/golden") /
                                     (std::string(name) + ".ptx"));
  return text.substr(text.find(".version"));
}

SiblingResult with_shuffles(const Module &module, const std::vector<std::string> &variants) {
  SiblingOptions options;
  options.defaults = false;
  options.wanted["shuffle"] = variants;
  return add_siblings(module, options);
}

/// What the proof says of a kernel's version whose body is that of `after`.
proof::Proved proof_beside(const Module &module, const Module &after) {
  const Function &kernel = only(module);
  const auto written =
      parse(fmt::format("{}\n{}{}\n", module.text(),
                        same_launch_header(module, kernel, "k__ptxasw_shuffle_all"),
                        after.text(only(after).body)),
            "written.ptx");
  if (!written)
    return proof::not_proved(written.error().message);
  const FamilyAnswer answer = propose(*find_family("shuffle"), {module, kernel});
  REQUIRE_FALSE(answer.proposals.empty());
  const auto &functions = (*written)->functions;
  return shuffle_family.prove({**written, functions[functions.size() - 2]}, functions.back(),
                              answer.proposals[0]);
}

} // namespace

TEST_CASE("a version has the body that its kernel gets in its place") {
  unsigned written = 0;
  for (const auto &file : goldens()) {
    CAPTURE(file.stem().string());
    const auto module = parsed(golden(file.stem().string()));
    if (!only(*module).is_entry)
      continue;
    RewriteOptions always;
    always.shuffle = ShuffleMode::always;
    always.kernels = {std::string(only(*module).name)};
    const auto in_place = rewrite_module(module->text(), "k.ptx", always);
    REQUIRE(in_place);
    const SiblingResult beside = with_shuffles(*module, {"all"});
    CHECK(beside.kernels.back().unproved.empty());
    if (beside.kernels.back().written.empty())
      continue;
    ++written;
    CHECK(in_place->changed);
    const auto after = parsed(in_place->text), both = parsed(beside.text);
    const auto sibling =
        std::find_if(both->functions.begin(), both->functions.end(), [](const Function &one) {
          return one.name.find("__ptxasw_shuffle_all") != std::string::npos;
        });
    REQUIRE(sibling != both->functions.end());
    CHECK(both->text(sibling->body) == after->text(only(*after).body));
    if (in_place->text.find("shfl.sync") == std::string::npos)
      continue;
    const KernelSiblings again = with_shuffles(*after, {"all"}).kernels.back();
    CHECK(again.written.empty());
    CHECK(again.refusals.at(0).reason == "shuffled");
  }
  CHECK(written > 60);
}

TEST_CASE("copies alone ask no other lane") {
  const auto module = parsed(golden("same-lane"));
  const SiblingResult result = with_shuffles(*module, {"all", "copies"});
  REQUIRE(result.kernels[0].written.size() == 1); // there is nothing to shuffle
  CHECK(result.kernels[0].written[0].variant == "copies");
  CHECK(result.text.find("shfl") == std::string::npos);
  const auto neighbours = parsed(golden("neighbour-up"));
  CHECK(with_shuffles(*neighbours, {"copies"}).kernels[0].written.empty());
  CHECK(with_shuffles(*neighbours, {"all"}).kernels[0].written.size() == 1);
  CHECK(with_shuffles(*neighbours, {}).kernels[0].written.empty()); // nobody asked
}

TEST_CASE("why there is none") {
  const auto reason = [](std::string_view name) {
    const auto module = parsed(golden(name));
    const FamilyAnswer answer = propose(*find_family("shuffle"), {*module, only(*module)});
    CHECK(answer.proposals.empty());
    return answer.refusals.empty() ? std::string() : std::string(answer.refusals[0].reason);
  };
  CHECK(reason("index-flipped-source") == "no-source");
  CHECK(reason("debug-module") == "debug-module");
  CHECK(reason("old-target") == "target-too-old");
  CHECK(reason("between-barrier") == "sync-between");
}

TEST_CASE("the proof wants the kernel's launch, too") {
  const auto module = parsed(golden("neighbour-up"));
  const SiblingResult result = with_shuffles(*module, {"all"});
  const auto written = parsed(result.text);
  const Proposal &proposal = result.kernels[0].written[0];
  const Function &kernel = written->functions[0], &sibling = written->functions[1];
  CHECK(shuffle_family.prove({*written, kernel}, sibling, proposal).has_value());
  Proposal other = proposal;
  other.sibling.grid[0] = 2;
  CHECK_FALSE(shuffle_family.prove({*written, kernel}, sibling, other).has_value());
  std::string text = result.text;
  const std::size_t at = text.rfind(".param .u64");
  text.replace(at, 11, ".param .b64");
  const auto changed = parsed(text);
  CHECK_FALSE(
      shuffle_family.prove({*changed, changed->functions[0]}, changed->functions[1], proposal)
          .has_value());
}

TEST_CASE("changed lines are refused, or change nothing") {
  MutantCount count;
  for (const std::string name : {"index-masked", "index-in-a-ring", "rows-tested", "wrap-tested"}) {
    CAPTURE(name);
    const auto module = parsed(golden(name));
    RewriteOptions always;
    always.shuffle = ShuffleMode::always;
    const auto in_place = rewrite_module(module->text(), "k.ptx", always);
    REQUIRE(in_place);
    REQUIRE(in_place->changed);
    CHECK(proof_beside(*module, *parsed(in_place->text)));
    LineChanges changes;
    changes.mark = "ptxasw";
    changes.changes = {{"\\b31\\b", "30"},   {"\\b1\\b", "2"},      {"\\.lt\\b", ".le"},
                       {"\\.ge\\b", ".gt"},  {"@!", "@"},           {"@%", "@!%"},
                       {"\\.and\\b", ".or"}, {"\\.down\\b", ".up"}, {"\\.u32\\b", ".s32"},
                       {"\\beq\\b", "ne"}};
    changes.prove = proof_beside;
    try_mutants(*module, in_place->text, changes, count);
  }
  INFO(count.tried, " tried, ", count.refused, " refused, ", count.no_ptx, " no PTX");
  CHECK(more_than(count.refused, 50));
  // Those that the emulator sees no difference in; of few mutants, chance decides.
  CHECK((mutant_stride() > 1 || count.harmless < count.refused));
}

} // namespace shuffle_test
