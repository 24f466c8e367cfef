#include "wrapper/verify_command.h"

#include "wrapper/load_module.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>

namespace ptxasw {
namespace {

constexpr int agree = 0, differ = 1, not_checked = 2;

int print_verdict(const KernelVerdict &verdict, bool verbose) {
  const auto reasons = [&] {
    for (const auto &[why, count] : verdict.unusable)
      fmt::print("  {} launches not used: {}\n", count, why);
  };
  switch (verdict.kind) {
  case KernelVerdict::Kind::agree:
    fmt::print("{}: agree on {} launches\n", verdict.kernel, verdict.agreed);
    if (verbose)
      reasons();
    if (!verdict.not_executed.empty()) {
      fmt::print("  not covered: {} instructions, from line {}\n", verdict.not_executed.size(),
                 verdict.not_executed.front());
      if (verbose)
        for (const std::uint32_t line : verdict.not_executed)
          fmt::print("    line {}\n", line);
    }
    return agree;
  case KernelVerdict::Kind::differ:
    fmt::print("{}: DIFFER\n{}", verdict.kernel, verdict.counter_example);
    return differ;
  default:
    fmt::print("{}: could not be checked\n", verdict.kernel);
    reasons();
    return not_checked;
  }
}

} // namespace

CLI::App *add_verify_command(CLI::App &app, VerifyRequest &request) {
  CLI::App *verify = app.add_subcommand(
      "verify", "run the kernels of two PTX files on the CPU and compare what they compute");
  verify->add_option("original", request.original, "PTX")->required();
  verify->add_option("rewritten", request.rewritten, "PTX that should compute the same")
      ->required();
  verify->add_option("--kernel", request.options.kernel, "only this kernel");
  verify->add_option("--runs", request.options.runs, "launches a kernel")
      ->check(CLI::PositiveNumber);
  verify->add_option("--schedules", request.options.schedules, "random schedules a launch");
  verify->add_option("--seed", request.options.seed, "of launches, contents and schedules");
  verify->add_option("--steps", request.options.step_limit, "thread-instructions a run at most");
  verify->add_flag("-v,--verbose", request.verbose, "unused launches and lines not covered");
  return verify;
}

int verify_command(const VerifyRequest &request) {
  const auto original = load_module(request.original);
  const auto rewritten = load_module(request.rewritten);
  if (!original || !rewritten)
    return not_checked;
  const auto verdicts = verify(*original, *rewritten, request.options);
  if (verdicts.empty()) {
    fmt::print(stderr, "ptxasw: error: there is no kernel to compare\n");
    return not_checked;
  }
  bool any_differs = false, any_unchecked = false;
  for (const KernelVerdict &verdict : verdicts) {
    const int code = print_verdict(verdict, request.verbose);
    any_differs |= code == differ;
    any_unchecked |= code == not_checked;
  }
  return any_differs ? differ : any_unchecked ? not_checked : agree;
}

} // namespace ptxasw
