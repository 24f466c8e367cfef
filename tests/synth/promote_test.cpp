// Promoted loads: what is found, how it is written, and that the proof refuses whatever one changes
// in the text unless it changes nothing.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "synth/promote/polynomial.h"
#include "synth/promote/promote.h"
#include "synth/siblings.h"

#include "emulator/warp_verify.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <regex>
#include <sstream>

using namespace ptxasw;

namespace {

std::string read(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::unique_ptr<Module> parsed(const std::string &text) {
  auto module = parse(text, "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  return std::move(*module);
}

const Function &only(const Module &module) { return module.functions.back(); }

/// A hazard's file as it is, without the lines of its twin.
std::string hazard(const std::filesystem::path &path) {
  std::istringstream lines(read(path));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("//twin"))
      text += line + "\n";
  return text;
}

/// The first loop of the last function, promoted in place.
std::string promoted(const Module &module) {
  const PromotionSites sites = promotion_sites(module, only(module));
  REQUIRE_FALSE(sites.sites.empty());
  const auto text = promote_loop(module, only(module), sites.sites[0].header);
  REQUIRE(text);
  return *text;
}

std::string proof(const Module &module, const std::string &text) {
  const auto after = parsed(text);
  return prove_promoted(module, only(module), *after, only(*after));
}

} // namespace

TEST_CASE("sums of products are equal however they were added up") {
  using promote::Polynomial;
  promote::Atoms atoms;
  const Polynomial x = atoms.narrow(1), y = atoms.narrow(2), word = atoms.word(3);
  CHECK((x + y) * (x - y) == x * x - y * y);
  CHECK((x - x).is_zero());
  CHECK((x * Polynomial(2) + Polynomial(3) - x * Polynomial(2)).number() == 3);
  CHECK(Polynomial(0xffffffff).narrow().number() == -1);
  CHECK(atoms.magnitude(x * y) == 4611686018427387904.0);
  CHECK(atoms.magnitude(word) > 1e300);
  CHECK(atoms.rounds(Polynomial(-7), 2).is_zero());
  CHECK(atoms.rounds(Polynomial(7), 2).number() == 3);
  CHECK(atoms.rounds(x, 2) == atoms.rounds(x, 2));
  CHECK_FALSE(atoms.rounds(x, 2) == atoms.rounds(x, 3));
}

TEST_CASE("the loop is left as it was but for its first round's way back") {
  const auto module = parsed(hazard(std::filesystem::path(HAZARDS_DIR) / "pointer.ptx"));
  const PromotionSites sites = promotion_sites(*module, only(*module));
  REQUIRE(sites.sites.size() == 1);
  CHECK(sites.sites[0].loads.size() == 1);
  CHECK(sites.sites[0].conditions > 0);
  const std::string text = promoted(*module);
  CHECK(proof(*module, text).empty());
  CHECK(promoted(*module) == text); // the same input gives the same text
  // Nothing is left to promote, and the test can be taken as true.
  const auto after = parsed(text);
  CHECK(promotion_sites(*after, only(*after)).sites.empty());
  const std::string apart = where_apart(*after);
  CHECK(apart.size() < text.size());
  CHECK(where_apart(*module) == module->text());
}

TEST_CASE("the proof wants all else to be as it was") {
  const auto module = parsed(hazard(std::filesystem::path(HAZARDS_DIR) / "pointer.ptx"));
  const std::string text = promoted(*module);
  const auto fault = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return proof(*module, changed);
  };
  CHECK(fault("sm_70", "sm_75") == "something beside the kernel changed");
  CHECK_FALSE(fault("{\n", "{\n\t.shared .b32 own;\n").empty());
  CHECK(fault("\tret;", "\n\tret;").empty());
  // Where the arrays are taken to be apart, nothing is proved.
  CHECK_FALSE(proof(*module, where_apart(*parsed(text))).empty());
}

namespace {

struct Count {
  unsigned tried = 0, refused = 0, no_ptx = 0, harmless = 0;
};

std::vector<std::string> mutants_of(const std::string &line) {
  static const std::vector<std::pair<std::regex, std::string>> changes = [] {
    std::vector<std::pair<std::regex, std::string>> list;
    const std::pair<const char *, const char *> texts[] = {
        {"@%", "@!%"},
        {"@!%", "@%"},
        {"@!?%[a-z0-9_]+ ", ""},
        {"_0\\b", "_1"},
        {"_1\\b", "_0"},
        {"_2\\b", "_3"},
        {"_3\\b", "_2"},
        {"_4\\b", "_3"},
        {"_5\\b", "_4"},
        {"add\\.", "sub."},
        {"sub\\.", "add."},
        {"setp\\.ge", "setp.le"},
        {"setp\\.le", "setp.ge"},
        {"and\\.pred", "or.pred"},
        {"or\\.pred", "and.pred"},
        {"max", "min"},
        {"min", "max"},
        {", 4;", ", 3;"},
        {", -4;", ", -3;"},
        {", 4;", ", 5;"},
        {", 1;", ", 2;"},
        {", 2;", ", 1;"},
        {", 0;", ", 1;"},
        {", 0;", ", -1;"},
        {"268435456", "4294967296"},
        {"2147483647", "2147483648"},
        {"-1;", "0;"},
        {"mul\\.lo", "add"},
        {"div", "mul.lo"},
        {"cvt\\.s64\\.s32", "cvt.u64.u32"},
        {"%pa", "%po"},
        {"%po", "%pa"},
        {"bra \\$promote0_b", "bra $promote0_again; // "},
        {"bra\\.uni \\$promote0_again", "bra.uni $promote0_back"}};
    for (const auto &[from, to] : texts)
      list.emplace_back(from, to);
    return list;
  }();
  std::vector<std::string> result{"", line + "\n" + line};
  for (const auto &[from, to] : changes)
    if (std::string changed = std::regex_replace(line, from, to); changed != line)
      result.push_back(std::move(changed));
  return result;
}

void try_mutant(const Module &module, const std::string &text, Count &count) {
  ++count.tried;
  const auto after = parse(text, "mutant.ptx");
  if (!after) {
    ++count.no_ptx;
    return;
  }
  if (!prove_promoted(module, only(module), **after, only(**after)).empty()) {
    ++count.refused;
    return;
  }
  ++count.harmless;
  VerifyOptions how;
  how.kernel = "k";
  how.runs = 8;
  how.search = 0;
  how.schedules = 1;
  how.small = true;
  how.step_limit = 400'000;
  const KernelVerdict verdict = verify(module, **after, how).at(0);
  INFO(text);
  INFO(verdict.counter_example);
  CHECK(verdict.kind != KernelVerdict::Kind::differ);
}

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  Count count;
  for (const char *name : {"overlap", "store-at-the-place", "until-equal", "own-step"}) {
    CAPTURE(name);
    const auto module =
        parsed(hazard(std::filesystem::path(HAZARDS_DIR) / (std::string(name) + ".ptx")));
    const std::string text = promoted(*module);
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
    const auto with = [&](std::size_t changed, const std::string &by, std::size_t without) {
      std::string all;
      for (std::size_t i = 0; i < lines.size(); ++i)
        if (i != without)
          all += (i == changed ? by : lines[i]) + "\n";
      return all;
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find("promote0_") == std::string::npos ||
          lines[i].find(".reg") != std::string::npos)
        continue;
      for (const std::string &mutant : mutants_of(lines[i]))
        try_mutant(*module, with(i, mutant, lines.size()), count);
      if (i + 1 < lines.size())
        try_mutant(*module, with(i, lines[i + 1] + "\n" + lines[i], i + 1), count);
    }
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(count.refused > 200);
}
