// version_hazards FAMILY [--only NAME] [-v]
//
// Each file of FAMILY/ is a trap for the versions that a family puts beside a kernel. With the
// lines that end in `// hazard`, and without those that begin with `//twin`, the family refuses
// with the reason in the head, or the version is `written`; the other way round it is always
// written. What is written runs on the warp emulator beside its kernel.

#include "emulator/machine/warp_verify.h"
#include "synth/meld/meld.h"
#include "synth/promote/promote.h"
#include "synth/resize/resize.h"
#include "synth/siblings.h"
#include "synth/stage/stage.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sstream>
#include <string>

using namespace ptxasw;

namespace {

/// How the versions of a family are asked for and run.
struct Trapped {
  std::string_view name;
  std::vector<std::string> SiblingOptions::*wanted;
  const std::vector<std::string> &(*variants)();
  unsigned runs, search;
  bool to_the_last_line; ///< each line of a version must be executed: all of its ways
  /// Only lines with this in them must: of two copies of a kernel, each has ways that it never
  /// goes.
  std::string_view executed = "";
};

constexpr Trapped trapped[] = {
    {"meld", &SiblingOptions::meld, meld_variants, 6, 10, false},
    {"promote", &SiblingOptions::promote, promote_variants, 12, 400, true},
    {"resize", &SiblingOptions::resize, resize_variants, 5, 20, true},
    {"stage", &SiblingOptions::stage, stage_variants, 6, 60, true, "_shift"},
    {"carry", &SiblingOptions::carry, carry_variants, 12, 400, true, ""},
};

struct File {
  std::string name, refused;
  bool written = false;
  std::string text, twin;
};

File read(const std::filesystem::path &path) {
  File file;
  file.name = path.stem();
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    const std::string_view refused = "// refused: ";
    if (line.starts_with(refused))
      file.refused = line.substr(refused.size());
    file.written |= line == "// written";
    if (line.starts_with("//twin")) {
      file.twin += line.substr(6) + "\n";
    } else {
      file.text += line + "\n";
      if (!line.ends_with("// hazard"))
        file.twin += line + "\n";
    }
  }
  return file;
}

SiblingResult with_versions(const Trapped &family, const Module &module) {
  SiblingOptions options;
  options.retile = {"none"};
  options.*family.wanted = family.variants();
  return add_siblings(module, options);
}

/// Returns true if a line of a text has this in it.
bool has(const std::string &text, std::uint32_t line, std::string_view word) {
  std::istringstream lines(text);
  std::string one;
  for (std::uint32_t i = 0; i < line; ++i)
    std::getline(lines, one);
  return one.find(word) != std::string::npos;
}

std::string check_written(const Trapped &family, const std::string &text) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  const SiblingResult result = with_versions(family, **module);
  const KernelSiblings &kernel = result.kernels.back();
  for (const UnprovedSibling &one : kernel.unproved)
    return fmt::format("{} is not proved: {}", one.name, one.why);
  if (kernel.written.empty())
    return "it was not written";
  const auto written = parse(result.text, "written.ptx");
  if (!written)
    return format(written.error());
  for (const Proposal &proposal : kernel.written) {
    VerifyOptions how;
    how.kernel = "k";
    how.stand_in = stand_in(proposal.sibling);
    how.runs = family.runs;
    how.search = family.search;
    how.schedules = 1;
    how.small = true;
    how.step_limit = 400'000;
    const KernelVerdict verdict = verify(**written, **written, how).at(0);
    if (verdict.kind == KernelVerdict::Kind::differ)
      return fmt::format("{}: {}", proposal.variant, verdict.counter_example);
    const auto never =
        std::find_if(verdict.not_exercised.begin(), verdict.not_exercised.end(),
                     [&](std::uint32_t line) { return has(result.text, line, family.executed); });
    if (family.to_the_last_line && never != verdict.not_exercised.end())
      return fmt::format("{}: line {} of the version never ran", proposal.variant, *never);
    if (verdict.kind == KernelVerdict::Kind::unchecked)
      return fmt::format("{}: only {} launches", proposal.variant, verdict.agreed);
  }
  return "";
}

std::string check_refused(const Trapped &family, const std::string &text,
                          const std::string &reason) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  const SiblingResult result = with_versions(family, **module);
  if (result.changed)
    return "it was written";
  std::string reasons;
  for (const Refusal &refusal : result.kernels.back().refusals) {
    if (refusal.reason == reason)
      return "";
    reasons += fmt::format(" {}", refusal.reason);
  }
  return "refused for other reasons:" + reasons;
}

} // namespace

int main(int argc, char **argv) {
  std::string only;
  const Trapped *family = nullptr;
  bool verbose = false, understood = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "-v") {
      verbose = true;
    } else if (word == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      family = std::find_if(std::begin(trapped), std::end(trapped),
                            [&](const Trapped &one) { return one.name == word; });
      understood &= family != std::end(trapped);
    }
  }
  if (!family || !understood) {
    fmt::print(stderr, "usage: version_hazards FAMILY [--only NAME] [-v]\n");
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(std::filesystem::path(HAZARDS_DIR) /
                                                               std::string(family->name)))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  unsigned checked = 0, wrong = 0;
  for (const std::filesystem::path &path : paths) {
    const File file = read(path);
    if (!only.empty() && file.name != only)
      continue;
    ++checked;
    const auto say = [&](const char *which, const std::string &fault) {
      wrong += !fault.empty();
      if (!fault.empty() || verbose)
        fmt::print("{}, {}: {}\n", file.name, which, fault.empty() ? "ok" : fault);
    };
    say("hazard", file.written ? check_written(*family, file.text)
                               : check_refused(*family, file.text, file.refused));
    say("twin", check_written(*family, file.twin));
  }
  fmt::print("{} hazards, {} wrong\n", checked, wrong);
  return wrong != 0 || checked == 0;
}
