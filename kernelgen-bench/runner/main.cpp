// The GPU runner: times the cubins of an archive and checks what they compute. It needs the CUDA
// driver and nothing else.

#include "runner/results.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

namespace {

using namespace kernelgen;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_no_device = 3;
constexpr int exit_interrupted = 130;

std::atomic<bool> stop_requested{false};

// The second interrupt ends the process as usual.
void request_stop(int) {
  stop_requested = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

std::string utc_now(const char *format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

/// A file name for a device: "NVIDIA H200" gives "nvidia-h200".
std::string slug(const std::string &name) {
  std::string result;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  return result;
}

std::array<unsigned, 2> parse_block(const std::string &text) {
  unsigned x = 0, y = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ux%u%c", &x, &y, &rest) != 2 || x == 0 || y == 0)
    throw CLI::ValidationError("--block", "'" + text + "' is no block shape such as 512x1");
  return {x, y};
}

/// The progress line: what runs, how far, time left. On a terminal it stays one line.
class ProgressLine {
public:
  explicit ProgressLine(std::size_t cases)
      : cases_(cases), start_(std::chrono::steady_clock::now()) {}

  void begin_case(std::size_t number) { number_ = number; }

  bool operator()(const std::string &what) {
    if (terminal_)
      fmt::print(stderr, "\r\033[K{}", line(what));
    else if (number_ != shown_)
      fmt::print(stderr, "{}\n", line(what));
    shown_ = number_;
    return !stop_requested;
  }

  void finish() {
    if (terminal_)
      std::fputs("\r\033[K", stderr);
  }

private:
  std::string line(const std::string &what) const {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::string text = fmt::format("[{}/{}] {}", number_ + 1, cases_, what);
    if (number_ > 0) {
      const double left =
          seconds / static_cast<double>(number_) * static_cast<double>(cases_ - number_);
      text += fmt::format(", about {}:{:02} left", static_cast<int>(left) / 60,
                          static_cast<int>(left) % 60);
    }
    return text;
  }

  std::size_t cases_, number_ = 0, shown_ = static_cast<std::size_t>(-1);
  std::chrono::steady_clock::time_point start_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
};

void print_case(const CaseResult &result, double copy_bandwidth) {
  for (const VariantResult &variant : result.variants) {
    fmt::print("{:<14} {:<10} {:>4}x{:<3}", result.kernel->name, variant.name,
               result.launch.block[0], result.launch.block[1]);
    if (!variant.error.empty()) {
      fmt::print("  {}\n", variant.error);
      continue;
    }
    if (!variant.milliseconds.empty()) {
      const double median = quantile(variant.milliseconds, 0.5);
      const double original = quantile(result.variants[0].milliseconds, 0.5);
      fmt::print(" {:>10.4f} ms  x{:.3f}", median, median > 0 ? original / median : 0);
      if (copy_bandwidth > 0 && median > 0)
        fmt::print("  {:>3.0f} % of copy",
                   static_cast<double>(result.compulsory_bytes) / median * 1e-4 / copy_bandwidth);
    }
    fmt::print("  {} registers", variant.function.registers);
    if (variant.exact_words_differ)
      fmt::print("  {}", *variant.exact_words_differ == 0
                             ? std::string("same bits")
                             : fmt::format("{} WORDS DIFFER", *variant.exact_words_differ));
    if (variant.words_differ.value_or(0) != 0)
      fmt::print(" ({} differ by contraction)", *variant.words_differ);
    if (variant.reference_error)
      fmt::print("  {} by {:.1e}",
                 *variant.reference_error <= result.kernel->tolerance
                     ? "off the reference"
                     : "WRONG against the reference",
                 *variant.reference_error);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

bool known(const std::vector<std::string> &names, const auto &entries, const char *what) {
  for (const std::string &name : names) {
    bool found = false;
    for (const auto &entry : entries)
      found = found || entry.name == name;
    if (!found) {
      fmt::print(stderr, "runner: there is no {} '{}'; see --list\n", what, name);
      return false;
    }
  }
  return true;
}

void list(const Suite &suite) {
  fmt::print("target {}\nvariants:", suite.target);
  for (const Variant &variant : suite.variants)
    fmt::print(" {}{}", variant.name, variant.valid ? "" : " (invalid results)");
  fmt::print("\n");
  for (const Kernel &kernel : suite.kernels) {
    fmt::print("{:<14} {:<12}", kernel.name, kernel.group);
    for (const auto &[size, extents] : kernel.sizes) {
      fmt::print(" {}={}", size, extents[0]);
      for (int n = 1; n < kernel.dimensions; n++)
        fmt::print("x{}", extents[static_cast<std::size_t>(n)]);
    }
    fmt::print("\n");
  }
}

int run(const Suite &suite, const Plan &plan, int device, std::string out) {
  std::vector<const Kernel *> kernels;
  for (const Kernel &kernel : suite.kernels)
    if (plan.kernels.empty() ||
        std::find(plan.kernels.begin(), plan.kernels.end(), kernel.name) != plan.kernels.end())
      kernels.push_back(&kernel);
  for (const Kernel *kernel : kernels)
    find_size(*kernel, plan.size); // a wrong size fails before anything runs

  Driver driver(device);
  Tools tools(driver, read_file(suite.folder / suite.tools));
  const DeviceFacts &facts = driver.facts();
  RunFacts run_facts;
  run_facts.date = utc_now("%Y-%m-%dT%H:%M:%SZ");
  if (!plan.profile && plan.launches > 0)
    run_facts.copy_gigabytes_per_second = tools.copy_bandwidth(
        std::min(driver.free_memory() / 4, std::size_t{2} << 30) & ~std::size_t{255});
  if (out.empty())
    out = "results/" + slug(facts.name) + "/" + utc_now("%Y-%m-%d-%H%M%S") + ".json";
  fmt::print("{}, copy {:.0f} GB/s\n", facts.name, run_facts.copy_gigabytes_per_second);

  std::vector<CaseResult> results;
  bool all_passed = true;
  const auto save = [&] {
    if (!plan.profile)
      write_results(out, suite, plan, facts, run_facts, results);
  };
  std::vector<std::pair<const Kernel *, std::array<unsigned, 2>>> cases;
  for (const Kernel *kernel : kernels) {
    std::set<std::array<unsigned, 2>> launched;
    for (const auto &block : plan.blocks) {
      // Over one axis 32x16 and 512x1 are the same launch; it is done once.
      const Launch launch = launch_for(*kernel, find_size(*kernel, plan.size), block);
      if (launched.insert({launch.block[0], launch.block[1]}).second)
        cases.emplace_back(kernel, block);
    }
  }

  ProgressLine line(cases.size());
  const Progress progress = [&](const std::string &what) { return line(what); };
  for (std::size_t n = 0; n < cases.size() && !stop_requested; n++) {
    line.begin_case(n);
    try {
      results.push_back(
          run_case(driver, tools, suite, *cases[n].first, plan, cases[n].second, progress));
    } catch (const DriverError &error) {
      // Nothing more can run in this context; what was measured is kept.
      line.finish();
      fmt::print(stderr, "runner: {}: {}\n", cases[n].first->name, error.what());
      save();
      return exit_failed;
    }
    line.finish();
    if (!plan.profile)
      print_case(results.back(), run_facts.copy_gigabytes_per_second);
    all_passed = all_passed && passed(suite, results.back());
    save();
  }
  run_facts.complete = !stop_requested;
  save();
  if (!plan.profile)
    fmt::print("{}{}\n", run_facts.complete ? "" : "interrupted; measured so far: ", out);
  if (stop_requested)
    return exit_interrupted;
  return all_passed ? 0 : exit_failed;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Times and checks the kernels of an archive on a CUDA device."};
  std::filesystem::path manifest =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "manifest.json";
  Plan plan;
  std::vector<std::string> blocks;
  std::string out;
  int device = 0;
  bool quick = false, only_list = false, no_check = false, only_target = false;
  app.add_option("manifest", manifest, "manifest of the archive (default: beside this program)");
  app.add_flag("--list", only_list, "list kernels, sizes and variants, and stop");
  app.add_flag("--target", only_target, "print the target of the device, such as sm_90, and stop");
  app.add_flag("--quick", quick, "size quick, block 512x1, 5 launches unless given");
  app.add_option("--kernel", plan.kernels, "only this kernel (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--variant", plan.variants, "only this variant beside the original (repeatable)")
      ->allow_extra_args(false);
  auto *size =
      app.add_option("--size", plan.size, "paper, quick, check or extents such as 4096x4096");
  auto *block = app.add_option("--block", blocks, "block shape such as 512x1 (repeatable)")
                    ->allow_extra_args(false);
  auto *launches = app.add_option("--launches", plan.launches,
                                  "timed launches per variant (default 20; 0: only check)")
                       ->check(CLI::Range(0, 100000));
  app.add_flag("--no-check", no_check, "do not compare results");
  app.add_flag("--profile", plan.profile,
               "one launch each, untimed: for a profiler around this program");
  app.add_option("--device", device, "ordinal of the CUDA device")->check(CLI::NonNegativeNumber);
  app.add_option("--out", out, "results file (default results/<gpu>/<date>.json)");

  try {
    app.parse(argc, argv);
    for (const std::string &text : blocks)
      plan.blocks.push_back(parse_block(text));
  } catch (const CLI::ParseError &error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : exit_usage;
  }

  try {
    if (only_target) {
      const Driver driver(device);
      fmt::print("sm_{}{}\n", driver.facts().major, driver.facts().minor);
      return 0;
    }
    const Suite suite = read_suite(manifest);
    if (only_list) {
      list(suite);
      return 0;
    }
    if (!known(plan.kernels, suite.kernels, "kernel") ||
        !known(plan.variants, suite.variants, "variant"))
      return exit_usage;
    if (quick) {
      if (size->count() == 0)
        plan.size = "quick";
      if (block->count() == 0)
        plan.blocks = {{512, 1}};
      if (launches->count() == 0)
        plan.launches = 5;
    }
    if (plan.blocks.empty())
      plan.blocks = suite.blocks;
    plan.check = !no_check;
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
    return run(suite, plan, device, out);
  } catch (const NoDevice &error) {
    fmt::print(stderr, "runner: {}\n", error.what());
    return exit_no_device;
  } catch (const std::exception &error) {
    fmt::print(stderr, "runner: {}\n", error.what());
    return exit_failed;
  }
}
