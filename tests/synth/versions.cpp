#include "tests/synth/versions.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <fstream>
#include <regex>
#include <sstream>

using namespace ptxasw::test;

std::string file_text(const std::filesystem::path &path) {
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

std::string hazard(const std::filesystem::path &path) {
  std::istringstream lines(file_text(path));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("//twin"))
      text += line + "\n";
  return text;
}

std::string twin(const std::filesystem::path &path) {
  std::istringstream lines(file_text(path));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("//twin"))
      text += line.substr(6) + "\n";
    else if (!line.ends_with("// hazard"))
      text += line + "\n";
  return text;
}

std::string with_line(const std::string &text, std::string_view line, std::string_view added,
                      bool before) {
  std::istringstream lines(text);
  std::string result;
  for (std::string one; std::getline(lines, one);) {
    const bool here = one.find(line) != std::string::npos;
    result += fmt::format("{}{}\n{}", here && before ? fmt::format("{}\n", added) : "", one,
                          here && !before ? fmt::format("{}\n", added) : "");
  }
  return result;
}

namespace {

std::vector<std::string> mutants_of(const std::string &line,
                                    const std::vector<std::pair<std::regex, std::string>> &list) {
  std::vector<std::string> result{"", line + "\n" + line};
  for (const auto &[from, to] : list)
    if (std::string changed = std::regex_replace(line, from, to); changed != line)
      result.push_back(std::move(changed));
  return result;
}

void try_mutant(const Module &module, const std::string &text, const LineChanges &changes,
                MutantCount &count) {
  if (!next_in_sample())
    return;
  ++count.tried;
  const auto after = parse(text, "mutant.ptx");
  if (!after) {
    ++count.no_ptx;
    return;
  }
  if (!changes.prove(module, **after)) {
    ++count.refused;
    return;
  }
  ++count.harmless;
  VerifyOptions how;
  how.kernel = "k";
  how.stand_in = changes.stand_in;
  how.runs = changes.runs;
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

unsigned mutant_stride() {
  const char *value = std::getenv("PTXASW_MUTANT_STRIDE");
  return value ? std::max(1U, static_cast<unsigned>(std::strtoul(value, nullptr, 10))) : 1;
}

bool more_than(unsigned count, unsigned of_all) {
  const unsigned stride = mutant_stride();
  return count * stride > (stride > 1 ? of_all / 2 : of_all);
}

bool next_in_sample() {
  static unsigned next = 0;
  return next++ % mutant_stride() == 0;
}

void try_mutants(const Module &module, const std::string &text, const LineChanges &changes,
                 MutantCount &count) {
  std::vector<std::pair<std::regex, std::string>> list;
  for (const auto &[from, to] : changes.changes)
    list.emplace_back(from, to);
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
    if (lines[i].find(changes.mark) == std::string::npos ||
        lines[i].find(".reg") != std::string::npos)
      continue;
    for (const std::string &mutant : mutants_of(lines[i], list))
      try_mutant(module, with(i, mutant, lines.size()), changes, count);
    if (i + 1 < lines.size())
      try_mutant(module, with(i, lines[i + 1] + "\n" + lines[i], i + 1), changes, count);
  }
}
