// bound_mutants [--verbose] [--only NUMBER] [--launches N] [--random N] FILE|DIRECTORY...: a
// mutation test of the check of bounds. Each fault of mutants.txt is put into the analysis; some
// launch of some kernel then has to cost more than the bound, or something else than an exact one.
// Exit code 1 if a fault is not noticed.

#include "check.h"
#include "fault.h"
#include "grammar/module.h"
#include "sources.h"

#include <algorithm>
#include <fmt/core.h>
#include <sstream>

namespace {

using namespace ptxasw::test;

struct Fault {
  std::string_view name;
  std::string_view shown_by; ///< parts of the names of files, tried first
};

constexpr Fault faults[] = {
#include "mutants.inc"
};

/// A kernel and where it is from.
struct Kernel {
  const test::Source *source;
  const Module *module;
  const Function *function;
};

/// All kernels, those first that a fault is known to be shown by.
std::vector<Kernel> in_order(std::vector<Kernel> kernels, const Fault &fault) {
  const auto known = [&](const Kernel &kernel) {
    std::istringstream words{std::string(fault.shown_by)};
    for (std::string word; words >> word;)
      if (kernel.source->name.find(word) != std::string::npos || kernel.function->name == word)
        return true;
    return false;
  };
  std::stable_partition(kernels.begin(), kernels.end(), known);
  return kernels;
}

/// Where a fault shows, or nothing.
std::string shown(const std::vector<Kernel> &kernels, test::CheckOptions options) {
  const unsigned launches = options.launches;
  for (const Kernel &kernel : kernels) {
    options.numbers = test::numbers_for(kernel.source->text, kernel.function->name);
    options.launches = options.numbers.empty() ? launches : 20 * launches;
    const auto result = test::check_kernel(*kernel.module, *kernel.function, options);
    if (!result.violations.empty())
      return fmt::format("{} {}: {}", kernel.source->name, kernel.function->name,
                         result.violations[0]);
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  test::CheckOptions options;
  options.stop = true;
  options.step_limit = 60'000;
  unsigned random_kernels = 0, only = 0;
  bool verbose = false;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--launches" && i + 1 < argc)
      options.launches = static_cast<unsigned>(std::stoul(argv[++i]));
    else if (word == "--random" && i + 1 < argc)
      random_kernels = static_cast<unsigned>(std::stoul(argv[++i]));
    else if (word == "--only" && i + 1 < argc)
      only = static_cast<unsigned>(std::stoul(argv[++i]));
    else if (word == "--verbose")
      verbose = true;
    else
      paths.push_back(word);
  }
  const std::vector<test::Source> sources = test::sources(paths, random_kernels);
  std::vector<std::shared_ptr<const Module>> modules;
  std::vector<Kernel> kernels;
  for (const test::Source &source : sources)
    if (auto module = parse(source.text, source.name)) {
      modules.emplace_back(std::move(*module));
      for (const Function &function : modules.back()->functions)
        if (function.is_entry && function.has_body)
          kernels.push_back({&source, modules.back().get(), &function});
    }
  unsigned tried = 0, noticed = 0;
  for (unsigned number = 1; number <= std::size(faults); ++number) {
    if (only != 0 && number != only)
      continue;
    test::fault = number;
    const std::string where = shown(in_order(kernels, faults[number - 1]), options);
    ++tried;
    noticed += !where.empty();
    if (where.empty() || verbose)
      fmt::print("{} {}: {}\n", number, faults[number - 1].name,
                 where.empty() ? "not noticed" : where);
    std::fflush(stdout);
  }
  fmt::print("{} of {} faults noticed\n", noticed, tried);
  return noticed == tried && tried > 0 ? 0 : 1;
}
