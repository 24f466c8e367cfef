// bound_property [--launches N] [--random N] [--every N] [--verbose] FILE|DIRECTORY...: every
// kernel of the files, or each N-th file, and random kernels, on random launches; what the warp
// emulator counts is never more than the bound, and exactly that where the bound says so. Exit code
// 1 if it is not, or if too little ran for that to say anything.

#include "check.h"
#include "sources.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace {

using namespace ptxasw::test;

struct Total {
  unsigned kernels = 0, with_launches = 0, launches = 0, numbers = 0, exact = 0;
  unsigned metrics = 0, bounded = 0, exact_metrics = 0, exact_kernels = 0, bounded_kernels = 0;
  unsigned violations = 0, with_other_data = 0;
  ExactShare branches, loops;
  std::map<std::string, std::pair<ExactShare, ExactShare>> by_metric; ///< branches, loops
};

void add(const ExactShare &one, ExactShare &sum) {
  sum.exact += one.exact;
  sum.all += one.all;
}

/// What share of a kernel is known, its block shape being that of its directives.
void add_shares(const Module &module, const Function &kernel, Total &total, bool verbose) {
  const KernelBounds bounds = bound_kernel(module, kernel, {});
  bool all = true, exact = true;
  for (const MetricBound &metric : bounds.metrics) {
    ++total.metrics;
    total.bounded += metric.launch.most.has_value();
    total.exact_metrics += metric.launch.exact;
    all = all && metric.launch.most;
    exact = exact && metric.launch.exact;
    auto &[branches, loops] = total.by_metric[metric.name];
    add(metric.branches, branches);
    add(metric.loops, loops);
    if (verbose && metric.launch.obstacle)
      fmt::print("  {} {}: line {}: {}\n", kernel.name, metric.name, metric.launch.obstacle->line,
                 metric.launch.obstacle->reason);
  }
  if (verbose) {
    for (const Obstacle &unknown : bounds.unknown_branches)
      fmt::print("  {} branch, line {}: {}\n", kernel.name, unknown.line, unknown.reason);
    for (const LoopBound &loop : bounds.loops)
      if (!loop.exact)
        fmt::print("  {} loop, line {}: {}\n", kernel.name, loop.line,
                   loop.rounds ? "at most " + bounds.amounts->to_string(*loop.rounds)
                               : loop.reason);
  }
  total.bounded_kernels += all;
  total.exact_kernels += exact;
  add(bounds.branches, total.branches);
  add(bounds.counted_loops, total.loops);
}

void check(const std::string &name, const std::string &text, test::CheckOptions options,
           Total &total, bool verbose) {
  const unsigned launches = options.launches;
  const auto module = parse(text, name);
  if (!module)
    return;
  for (const Function &kernel : (*module)->functions) {
    if (!kernel.is_entry || !kernel.has_body)
      continue;
    ++total.kernels;
    add_shares(**module, kernel, total, verbose);
    options.numbers = test::numbers_for(text, kernel.name);
    // Those kernels are small, and many of their launches end at once or never.
    options.launches = options.numbers.empty() ? launches : 20 * launches;
    const test::CheckResult result = test::check_kernel(**module, kernel, options);
    total.launches += result.launches;
    total.with_launches += result.launches > 0;
    total.numbers += result.numbers;
    total.exact += result.exact;
    total.with_other_data += result.with_other_data;
    total.violations += !result.violations.empty();
    for (const std::string &violation : result.violations)
      fmt::print("{} {}: {}\n", name, kernel.name, violation);
    if (verbose) {
      fmt::print("{} {}: {} launches, {} of {} numbers exact", name, kernel.name, result.launches,
                 result.exact, result.numbers);
      for (const auto &[why, times] : result.unusable)
        fmt::print(", {} x {}", times, why);
      fmt::print("\n");
    }
  }
}

/// Four kernels of five have a launch that ends, and of what is counted a part is known exactly.
bool says_something(const Total &total) {
  return total.kernels >= 20 && 5 * total.with_launches >= 4 * total.kernels &&
         total.numbers >= 10 * total.kernels && 4 * total.exact >= total.numbers;
}

double percent(unsigned part, unsigned whole) { return whole ? 100.0 * part / whole : 0; }

void print(const Total &total) {
  fmt::print("{} kernels, {} with launches; {} launches, {} numbers held to a bound, {} of them to "
             "an exact one, {} to those of other data; {} kernels with violations\n",
             total.kernels, total.with_launches, total.launches, total.numbers, total.exact,
             total.with_other_data, total.violations);
  fmt::print("branches known exactly: {} of {} ({:.0f} %); loops: {} of {} ({:.0f} %)\n",
             total.branches.exact, total.branches.all,
             percent(total.branches.exact, total.branches.all), total.loops.exact, total.loops.all,
             percent(total.loops.exact, total.loops.all));
  for (const auto &[metric, shares] : total.by_metric) {
    const auto &[branches, loops] = shares;
    fmt::print("{} known exactly: at branches {} of {} ({:.0f} %), at loops {} of {} ({:.0f} %)\n",
               metric, branches.exact, branches.all, percent(branches.exact, branches.all),
               loops.exact, loops.all, percent(loops.exact, loops.all));
  }
  fmt::print("kernels with all bounds: {} of {}, all exact: {}; bounds: {} of {}, exact: {}\n",
             total.bounded_kernels, total.kernels, total.exact_kernels, total.bounded,
             total.metrics, total.exact_metrics);
}

} // namespace

int main(int argc, char **argv) {
  test::CheckOptions options;
  unsigned random_kernels = 0;
  std::size_t every = 1;
  bool verbose = false;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--launches" && i + 1 < argc)
      options.launches = static_cast<unsigned>(std::stoul(argv[++i]));
    else if (word == "--random" && i + 1 < argc)
      random_kernels = static_cast<unsigned>(std::stoul(argv[++i]));
    else if (word == "--every" && i + 1 < argc)
      every = std::max<std::size_t>(1, std::stoul(argv[++i]));
    else if (word == "--seed" && i + 1 < argc)
      options.seed = std::stoull(argv[++i]);
    else if (word == "--steps" && i + 1 < argc)
      options.step_limit = std::stoull(argv[++i]);
    else if (word == "--verbose")
      verbose = true;
    else
      paths.push_back(word);
  }
  Total total;
  const std::vector<test::Source> sources = test::sources(paths, random_kernels);
  for (std::size_t i = 0; i < sources.size(); i += every)
    check(sources[i].name, sources[i].text, options, total, verbose);
  print(total);
  if (!says_something(total))
    fmt::print("too few kernels, launches or numbers\n");
  return total.violations == 0 && says_something(total) ? 0 : 1;
}
