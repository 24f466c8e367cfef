// oracle [--every N] [--list] FILE...
//
// A mutation test of the oracle: every module is rewritten, and then each test that the rewriter
// added (and each instruction that shortens a row) is taken out, or moved by one, one at a time.
// `verify` in its default launches must tell the result from the original. What survives is tried
// again with ten times the launches (an exhaustive check, as far as one can be made): found then,
// it counts as missed; not found, it is listed, with the line. With --every only each N-th mutant
// is tried.
//
// A module whose index comes from memory, or which tests several numbers, may ask for more launches
// by a line `// oracle: runs=N`: few launches have a given number at a given place of memory, or
// one number of several at its limit, and N says how many the oracle takes.
//
// Exit code 0: none was missed.

#include "emulator/machine/warp_verify.h"
#include "grammar/module.h"
#include "synth/rewrite.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace ptxasw::test;

namespace {

struct Mutant {
  std::string kind, kernel;
  std::size_t line = 0; ///< from 0
  std::string replacement;
};

std::vector<std::string> lines_of(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string join(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

/// What a test that was added is for: by what it compares.
std::string kind_of(const std::string &type, const std::string &left, const std::string &right) {
  if (right == "-1" && left.find("ptxasw") != std::string::npos)
    return "mask";
  if (left.find("_above") != std::string::npos || left.find("_below") != std::string::npos)
    return "corner";
  return type == "u64" || type == "s64" ? "store" : "wrap"; // distances, or 32-bit indices
}

/// Moves an immediate by one, so that the test holds more rarely; nothing if there is none.
std::optional<std::string> one_less(const std::string &comparison, const std::string &number) {
  char *end = nullptr;
  const long long value = std::strtoll(number.c_str(), &end, 0);
  if (*end != 0)
    return std::nullopt;
  if (comparison == "lt" || comparison == "le")
    return std::to_string(value - 1);
  if (comparison == "gt" || comparison == "ge")
    return std::to_string(value + 1);
  return std::nullopt;
}

std::vector<Mutant> mutants_of(const std::vector<std::string> &lines) {
  static const std::regex test(
      R"(\s*setp\.(\w+)(\.or)?\.(\w+) (%ptxasw\w*), ([^,]+), ([^,;]+)(?:, ([^;]+))?;)");
  static const std::regex row(R"(\s*min\.u32 (%ptxasw\w*_(?:above|below)), ([^,]+), .*;)");
  static const std::regex entry(R"(.*\.entry (\w+).*)");
  std::vector<Mutant> mutants;
  std::string kernel;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch m;
    if (std::regex_match(lines[i], m, entry))
      kernel = m[1];
    if (std::regex_match(lines[i], m, row))
      mutants.push_back(
          {"row", kernel, i, fmt::format("\tmov.b32 {}, {};", m[1].str(), m[2].str())});
    if (!std::regex_match(lines[i], m, test))
      continue;
    const std::string comparison = m[1], type = m[3], to = m[4], left = m[5], right = m[6],
                      other = m[7];
    const std::string kind = kind_of(type, left, right);
    mutants.push_back({kind, kernel, i,
                       other.empty() ? fmt::format("\tsetp.ne.u32 {}, 0, 0;", to)
                                     : fmt::format("\tmov.pred {}, {};", to, other)});
    // `<` 0 and the like have no number that is one less.
    if (const auto number = one_less(comparison, right);
        number && !(type[0] == 'u' && right == "0") && kind != "mask") {
      std::string moved = lines[i];
      moved.replace(static_cast<std::size_t>(m.position(6)), right.size(), *number);
      mutants.push_back({kind + ", by one", kernel, i, moved});
    }
  }
  return mutants;
}

struct Tally {
  unsigned mutants = 0, killed = 0, missed = 0, same = 0;
};

/// Launches as `verify` makes them by default, or as many as the module's text asks for.
VerifyOptions usual_launches(const std::string &text) {
  VerifyOptions options;
  std::smatch asked;
  if (std::regex_search(text, asked, std::regex("// oracle: runs=([0-9]+)")))
    options.runs = static_cast<unsigned>(std::stoul(asked[1]));
  return options;
}

KernelVerdict::Kind judge(const Module &original, const std::string &text,
                          const std::string &kernel, VerifyOptions options) {
  const auto mutant = parse(text, "mutant.ptx");
  if (!mutant)
    return KernelVerdict::Kind::unchecked;
  options.kernel = kernel;
  const auto verdicts = verify(original, **mutant, options);
  return verdicts.empty() ? KernelVerdict::Kind::unchecked : verdicts.front().kind;
}

} // namespace

int main(int argc, char **argv) try {
  std::size_t every = 1, number = 0;
  bool list = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--every" && i + 1 < argc)
      every = std::strtoull(argv[++i], nullptr, 10);
    else if (option == "--list")
      list = true;
    else
      files.emplace_back(option);
  }
  std::map<std::string, Tally> tallies;
  for (const std::string &file : files) {
    std::ifstream stream(file);
    std::stringstream buffer;
    buffer << stream.rdbuf();
    const std::string text = buffer.str();
    const auto original = parse(text, file);
    if (!original)
      continue;
    RewriteOptions options;
    options.shuffle = ShuffleMode::always;
    const auto rewritten = rewrite_module(text, file, options);
    if (!rewritten || !rewritten->changed)
      continue;
    const std::vector<std::string> lines = lines_of(rewritten->text);
    const VerifyOptions usual = usual_launches(text);
    for (const Mutant &mutant : mutants_of(lines)) {
      if (number++ % every != 0)
        continue;
      std::vector<std::string> changed = lines;
      changed[mutant.line] = mutant.replacement;
      const std::string mutated = join(changed);
      Tally &tally = tallies[mutant.kind];
      ++tally.mutants;
      if (judge(**original, mutated, mutant.kernel, usual) == KernelVerdict::Kind::differ) {
        ++tally.killed;
        continue;
      }
      VerifyOptions harder;
      harder.runs = 200;
      harder.search = 2000;
      harder.seed = 77;
      harder.schedules = 6;
      const bool found =
          judge(**original, mutated, mutant.kernel, harder) == KernelVerdict::Kind::differ;
      ++(found ? tally.missed : tally.same);
      if (found || list)
        fmt::print("{}: {} {}: {} -> {}\n", std::filesystem::path(file).filename().string(),
                   mutant.kind, found ? "missed" : "not told apart", lines[mutant.line],
                   mutant.replacement);
    }
  }
  Tally all;
  fmt::print("{:16} {:>8} {:>8} {:>8} {:>14}\n", "test", "mutants", "killed", "missed",
             "not told apart");
  const auto print = [](const std::string &name, const Tally &t) {
    fmt::print("{:16} {:>8} {:>8} {:>8} {:>14}\n", name, t.mutants, t.killed, t.missed, t.same);
  };
  for (const auto &[name, tally] : tallies) {
    print(name, tally);
    all.mutants += tally.mutants, all.killed += tally.killed;
    all.missed += tally.missed, all.same += tally.same;
  }
  print("all", all);
  return all.missed != 0 || all.killed == 0;
} catch (const std::exception &error) {
  fmt::print("{}\n", error.what());
  return 2;
}
