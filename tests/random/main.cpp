// random_kernels --seed S --count N [--runs R] [--keep DIRECTORY]
//
// Random kernels, rewritten with --shuffle=always and run against the original under random
// launches and schedules. A kernel that disagrees is shrunk and printed. Exit code 0: none did.

#include "emulator/warp_verify.h"
#include "random_kernel.h"
#include "synth/rewrite.h"

#include <cstdlib>
#include <fmt/core.h>
#include <fstream>

using namespace ptxasw;
using namespace ptxasw::test;

namespace {

struct Totals {
  unsigned kernels = 0, changed = 0, agreed = 0, unchecked = 0, differ = 0;
  unsigned long launches = 0, shuffles = 0;
};

std::size_t occurrences(const std::string &text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++n;
  return n;
}

struct Checked {
  bool parsed = false, changed = false;
  KernelVerdict verdict;
  std::string rewritten;
};

Checked check(const std::string &text, unsigned runs, std::uint64_t seed) {
  Checked result;
  const auto original = parse(text, "random.ptx");
  if (!original) {
    fmt::print("{}", format(original.error()));
    return result;
  }
  result.parsed = true;
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  static constexpr int deltas[] = {31, 31, 31, 1, 2, 0};
  options.max_delta = deltas[seed % std::size(deltas)];
  const auto rewritten = rewrite_module(text, "random.ptx", options);
  if (!rewritten || !rewritten->changed)
    return result;
  result.changed = true;
  result.rewritten = rewritten->text;
  const auto other = parse(rewritten->text, "rewritten.ptx");
  if (!other) {
    fmt::print("{}", format(other.error()));
    result.parsed = false;
    return result;
  }
  VerifyOptions how;
  how.runs = runs;
  how.seed = seed;
  how.step_limit = 1'000'000;
  result.verdict = verify(**original, **other, how)[0];
  return result;
}

/// Leaves out pieces as long as the kernel goes on disagreeing.
Checked shrink(Piece &body, Checked last, unsigned runs, std::uint64_t seed) {
  for (bool progress = true; progress;) {
    progress = false;
    auto pieces = removable_pieces(body);
    for (auto place = pieces.rbegin(); place != pieces.rend(); ++place) {
      std::unique_ptr<Piece> removed = std::move(**place);
      Checked candidate = check(module_text(body), runs, seed);
      if (candidate.changed && candidate.verdict.kind == KernelVerdict::Kind::differ) {
        last = std::move(candidate);
        progress = true;
        break;
      }
      **place = std::move(removed);
    }
  }
  return last;
}

} // namespace

int main(int argc, char **argv) {
  std::uint64_t seed = 1, count = 300;
  unsigned runs = 4;
  std::string keep;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--seed")
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--count")
      count = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--runs")
      runs = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
    else if (option == "--keep")
      keep = argv[i + 1];
    else if (option == "--print") {
      fmt::print("{}", module_text(*random_kernel(std::strtoull(argv[i + 1], nullptr, 10))));
      return 0;
    }
  }
  Totals totals;
  bool broken = false;
  for (std::uint64_t s = seed; s < seed + count; ++s) {
    const auto body = random_kernel(s);
    Checked result = check(module_text(*body), runs, s);
    ++totals.kernels;
    if (!result.parsed) {
      fmt::print("seed {}: not PTX\n{}", s, module_text(*body));
      broken = true;
      continue;
    }
    if (!result.changed)
      continue;
    ++totals.changed;
    totals.shuffles += occurrences(result.rewritten, "shfl.sync");
    totals.launches += result.verdict.agreed;
    if (result.verdict.kind == KernelVerdict::Kind::unchecked) {
      ++totals.unchecked;
      if (getenv("VERBOSE"))
        for (const auto &[why, n] : result.verdict.unusable)
          fmt::print("seed {}: {} {}\n", s, n, why);
      continue;
    }
    if (result.verdict.kind == KernelVerdict::Kind::agree) {
      ++totals.agreed;
      continue;
    }
    ++totals.differ;
    const std::string counter_example = result.verdict.counter_example;
    const Checked small = shrink(*body, std::move(result), 4 * runs, s);
    const std::string report = fmt::format(
        "// seed {}\n{}\n/*\n{}\nbefore shrinking:\n{}\nrewritten:\n{}*/\n", s, module_text(*body),
        small.verdict.counter_example, counter_example, small.rewritten);
    fmt::print("{}", report);
    if (!keep.empty())
      std::ofstream(fmt::format("{}/random-{}.txt", keep, s)) << report;
  }
  fmt::print("{} kernels, {} rewritten with {} shuffles: {} agree on {} launches, {} could not be "
             "checked, {} differ\n",
             totals.kernels, totals.changed, totals.shuffles, totals.agreed, totals.launches,
             totals.unchecked, totals.differ);
  return totals.differ || broken ? 1 : 0;
}
