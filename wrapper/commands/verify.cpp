// `ptxasw verify`: two modules, run on the CPU and compared; the verdict is
// emulator/warp_verify.h's.

#include "emulator/warp_verify.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw {
namespace {

/// `ptxasw verify ORIGINAL REWRITTEN`.
struct VerifyRequest {
  std::string original, rewritten;
  VerifyOptions options;
  std::vector<std::string> promises; ///< no-wrap, no-alias
  bool verbose = false;
};

constexpr int agree = 0, differ = 1, not_checked = 2, not_exercised = 3;

/// `lines 3, 7 to 9`: numbers in order, neighbours together.
std::string lines_text(std::vector<std::uint32_t> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string text = lines.size() == 1 ? "line" : "lines";
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t end = i + 1;
    while (end < lines.size() && lines[end] == lines[end - 1] + 1)
      ++end;
    text += i == 0 ? " " : ", ";
    text +=
        end - i < 3 ? std::to_string(lines[i]) : fmt::format("{} to {}", lines[i], lines[end - 1]);
    i = end - i < 3 ? i + 1 : end;
  }
  return text;
}

int print_verdict(const KernelVerdict &verdict, bool verbose) {
  const auto reasons = [&] {
    for (const auto &[why, count] : verdict.unusable)
      fmt::print("  {} launches not used: {}\n", count, why);
  };
  using Kind = KernelVerdict::Kind;
  switch (verdict.kind) {
  case Kind::agree:
  case Kind::not_exercised:
    fmt::print("{}: {} on {} launches, {} changed instructions{}\n", verdict.kernel,
               verdict.kind == Kind::agree ? "agree" : "NOT EXERCISED: no difference",
               verdict.agreed, verdict.changed,
               verdict.kind == Kind::agree && verdict.changed > 0 ? ", all of them executed" : "");
    if (!verdict.not_exercised.empty())
      fmt::print("  never executed: {} of the second\n", lines_text(verdict.not_exercised));
    if (!verdict.gone_not_exercised.empty())
      fmt::print("  never executed: {} of the first, which the second does not have\n",
                 lines_text(verdict.gone_not_exercised));
    if (!verdict.one_sided.empty())
      fmt::print("  tests that came out one way only: {} of the second\n",
                 lines_text(verdict.one_sided));
    if (verbose)
      reasons();
    if (!verdict.not_executed.empty() && verbose)
      fmt::print("  not covered: {} of the first\n", lines_text(verdict.not_executed));
    return verdict.kind == Kind::agree ? agree : not_exercised;
  case Kind::differ:
    fmt::print("{}: DIFFER\n{}", verdict.kernel, verdict.counter_example);
    return differ;
  default:
    fmt::print("{}: cannot be compared; {} launches could be used\n", verdict.kernel,
               verdict.agreed);
    reasons();
    return not_checked;
  }
}

int run(const VerifyRequest &request, const Invocation &) {
  const auto original = load_module(request.original);
  const auto rewritten = load_module(request.rewritten);
  if (!original || !rewritten)
    return not_checked;
  VerifyOptions options = request.options;
  for (const std::string &promise : request.promises)
    (promise == "no-wrap" ? options.no_wrap : options.no_alias) = true;
  const auto verdicts = verify(*original, *rewritten, options);
  if (verdicts.empty()) {
    fmt::print(stderr, "ptxasw: error: there is no kernel to compare\n");
    return not_checked;
  }
  // The worst of all kernels.
  int worst = agree;
  const auto rank = [](int code) { return code == differ ? 4 : code; };
  for (const KernelVerdict &verdict : verdicts)
    if (const int code = print_verdict(verdict, request.verbose); rank(code) > rank(worst))
      worst = code;
  return worst;
}

void declare(Words &words, VerifyRequest &request) {
  words.required("original", request.original, "PTX");
  words.required("rewritten", request.rewritten, "PTX that should compute the same");
  words.text("--kernel", request.options.kernel, "only this kernel");
  words.number("--runs", request.options.runs, "launches per kernel", 1);
  words.number("--search", request.options.search,
               "launches per kernel at most, beyond the runs, to execute what has not run yet;\n"
               "0: only the runs, and no question to Z3");
  words.number("--schedules", request.options.schedules, "random schedules per launch");
  words.number("--seed", request.options.seed, "of launches, contents and schedules");
  words.number("--steps", request.options.step_limit, "thread-instructions per run at most");
  words.choices("--assume", request.promises, {"no-wrap", "no-alias"},
                "promises that the rewriting was given: launches keep them");
  words.flag("-v,--verbose", request.verbose, "unused launches and lines not covered");
  words.footer("Exit codes: 0 all kernels agree and all that changed was exercised, 1 one differs, "
               "2 one cannot\nbe compared or a file cannot be read, 3 no difference, but "
               "something that changed never ran.");
}

} // namespace

const Command verify_command = {
    "verify", "run the kernels of two PTX files on the CPU and compare what they compute",
    bind<VerifyRequest, declare, run>};

} // namespace ptxasw
