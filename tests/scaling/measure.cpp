// scaling-measure FAMILY SIZE: rewrites one kernel of a family with every shuffle, and prints as
// JSON what each pass took (--write: prints the kernel) and the most memory the process had. One
// measurement per process, so that the memory is its own.

#include "family.h"

#include "emulator/symbolic/emulate.h"
#include "synth/rewrite.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>

using namespace ptxasw::test;

int main(int argc, char **argv) {
  const auto families = scaling::families();
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    for (const scaling::Family &family : families)
      fmt::print("{}\t{}\n", family.name, family.meaning);
    return 0;
  }
  const bool write = argc == 4 && std::string_view(argv[1]) == "--write";
  if (write) {
    --argc;
    ++argv;
  }
  const auto family = argc == 3 ? std::find_if(families.begin(), families.end(),
                                               [&](const auto &f) { return f.name == argv[1]; })
                                : families.end();
  if (family == families.end()) {
    fmt::print(stderr, "usage: scaling-measure [--write] FAMILY SIZE, or --list\n");
    return 2;
  }
  const std::string text = family->make(std::strtoull(argv[2], nullptr, 10));
  if (write) {
    fmt::print("{}", text);
    return 0;
  }
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  const auto result = rewrite_module(text, family->name, options);
  if (!result) {
    fmt::print(stderr, "{}", format(result.error()));
    return 1;
  }
  const KernelReport &kernel = result->report.kernels.front();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto module = parse(text, family->name);
  fmt::print("{{\"family\": \"{}\", \"instructions\": {}, \"bytes\": {}, \"loads\": {}, "
             "\"rewritten\": {}, \"undecided_branches\": {}, \"peak_kb\": {}, \"milliseconds\": "
             "{{\"parse\": "
             "{:.3f}",
             family->name, (*module)->functions.front().instructions.size(), text.size(),
             kernel.loads, kernel.rewrites.size(), kernel.undecided_branches, usage.ru_maxrss,
             result->report.parse_milliseconds);
  for (const PassTime &time : kernel.milliseconds)
    fmt::print(", \"{}\": {:.3f}", time.pass, time.milliseconds);
  const bool whole = std::none_of(kernel.kept.begin(), kernel.kept.end(),
                                  [](const auto &kept) { return kept.reason == Reason::budget; });
  fmt::print("}}, \"within_budgets\": {}}}\n", whole);
  return 0;
}
