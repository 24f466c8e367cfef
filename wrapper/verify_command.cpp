#include "wrapper/verify_command.h"

#include "wrapper/load_module.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw {
namespace {

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

} // namespace

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
  // The worst of all kernels.
  int worst = agree;
  const auto rank = [](int code) { return code == differ ? 4 : code; };
  for (const KernelVerdict &verdict : verdicts)
    if (const int code = print_verdict(verdict, request.verbose); rank(code) > rank(worst))
      worst = code;
  return worst;
}

} // namespace ptxasw
