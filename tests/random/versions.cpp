#include "tests/random/versions.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

struct Counts {
  unsigned kernels = 0, done = 0, versions = 0, compared = 0, unexecuted = 0, unproved = 0,
           wrong = 0;
};

/// Returns true if a line of a text has this in it.
bool has(std::string_view text, std::uint32_t line, std::string_view word) {
  for (; line > 1; --line)
    text.remove_prefix(text.find('\n') + 1);
  return text.substr(0, text.find('\n')).find(word) != std::string_view::npos;
}

void compare(const RandomFamily &family, const Module &written, const Proposal &proposal,
             std::uint64_t seed, Counts &counts) {
  const KernelVerdict verdict = verdict_of(written, proposal, seed);
  ++counts.versions;
  counts.compared += verdict.agreed > 0;
  counts.unexecuted +=
      verdict.agreed > 0 &&
      std::any_of(verdict.not_exercised.begin(), verdict.not_exercised.end(),
                  [&](std::uint32_t line) { return has(written.text(), line, family.executed); });
  if (verdict.kind != KernelVerdict::Kind::differ)
    return;
  ++counts.wrong;
  fmt::print("seed {}, {}: {}\n{}\n", seed, proposal.variant, verdict.counter_example,
             written.text());
}

void check(const RandomFamily &family, const std::string &text, std::uint64_t seed, bool verbose,
           Counts &counts) {
  ++counts.kernels;
  const auto module = parse(text, "k.ptx");
  if (!module) {
    ++counts.wrong;
    fmt::print("seed {}: {}\n{}\n", seed, format(module.error()), text);
    return;
  }
  SiblingOptions options;
  const Family &of = *find_family(family.name);
  options.defaults = false;
  options.wanted[std::string(of.option)] = of.variants();
  const SiblingResult result = add_siblings(**module, options);
  for (const UnprovedSibling &one : result.kernels[0].unproved) {
    ++counts.unproved;
    if (verbose)
      fmt::print("seed {}: {} is not proved: {}\n{}\n", seed, one.name, one.why, text);
  }
  std::vector<RandomVersion> versions =
      family.more ? family.more(**module, seed) : std::vector<RandomVersion>();
  counts.done += result.changed;
  for (const Proposal &proposal : result.kernels[0].written)
    versions.push_back({result.text, proposal});
  for (const RandomVersion &version : versions)
    compare(family, **parse(version.text, "written.ptx"), version.proposal, seed, counts);
}

/// Fewer say little about hundredths.
constexpr unsigned kernels_for_a_floor = 20;

/// Prints what falls short of a family's floor; returns false if anything does.
bool keeps_floor(const RandomFloor &floor, const Counts &counts) {
  if (counts.kernels < kernels_for_a_floor)
    return counts.done > 0;
  bool kept = true;
  const auto at_least = [&](const char *what, unsigned found, unsigned hundredths, unsigned all) {
    if (100 * found >= hundredths * all)
      return;
    kept = false;
    fmt::print("only {} of {} {}: at least {} of a hundred are expected\n", found, all, what,
               hundredths);
  };
  at_least("kernels have a version", counts.done, floor.done, counts.kernels);
  at_least("versions were compared", counts.compared, floor.compared, counts.versions);
  at_least("versions were executed to the last line", counts.compared - counts.unexecuted,
           floor.executed, counts.compared);
  if (100 * counts.unproved > floor.unproved * counts.kernels) {
    kept = false;
    fmt::print("{} versions of {} kernels are not proved: at most {} of a hundred are expected\n",
               counts.unproved, counts.kernels, floor.unproved);
  }
  return kept;
}

} // namespace

KernelVerdict verdict_of(const Module &written, const Proposal &proposal, std::uint64_t seed) {
  VerifyOptions how;
  how.kernel = "k";
  how.stand_in = proposal.sibling;
  how.no_alias = !proposal.promise.empty();
  how.runs = 4;
  how.search = 8;
  how.schedules = 1;
  how.small = true;
  how.seed = seed;
  how.step_limit = 300'000;
  return verify(written, written, how).at(0);
}

int random_versions(int argc, char **argv, const RandomFamily &family,
                    const std::function<std::string(std::uint64_t)> &kernel) {
  std::uint64_t kernels = 300, seed = 1;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    std::uint64_t *const number = word == "--kernels" ? &kernels
                                  : word == "--seed"  ? &seed
                                                      : nullptr;
    if (word == "-v") {
      verbose = true;
      continue;
    }
    const std::string_view value = number && i + 1 < argc ? argv[++i] : "";
    if (value.empty() || std::from_chars(value.begin(), value.end(), *number).ptr != value.end()) {
      fmt::print(stderr, "usage: random_{} [--kernels N] [--seed S] [-v]\n", family.name);
      return 2;
    }
  }
  Counts counts;
  for (std::uint64_t i = 0; i < kernels; ++i) {
    check(family, kernel(seed + i), seed + i, verbose, counts);
    if (verbose && counts.kernels % 100 == 0)
      fmt::print(stderr, "{} kernels, {} wrong\n", counts.kernels, counts.wrong);
  }
  fmt::print("{} kernels, {} {}, {} versions compared, {} of them not executed to the last line, "
             "{} not proved, {} wrong\n",
             counts.kernels, counts.done, family.done, counts.compared, counts.unexecuted,
             counts.unproved, counts.wrong);
  const bool kept = keeps_floor(family.floor, counts);
  return counts.wrong != 0 || !kept;
}
