// `ptxasw lint`: what makes kernels slow, reported like a compiler's warnings, as JSON or as SARIF;
// and the gate that compares a module with what it cost before.

#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/drop_in/lint_run.h"
#include "wrapper/drop_in/resources.h"
#include "wrapper/lint/code_pages.h"
#include "wrapper/lint/lint_json.h"
#include "wrapper/os/files.h"
#include "wrapper/os/progress.h"
#include "wrapper/os/terminal.h"

#include <algorithm>
#include <fmt/core.h>
#include <memory>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw lint` was asked.
struct LintRequest {
  AnalysisRequest asked;
  std::vector<std::string> warn;
  std::optional<std::uint32_t> threshold;
  std::string baseline, sarif, explain, profile;
  bool update_baseline = false, gate_resources = false, list_codes = false;
};

/// One input, and what was found in it.
struct LintedInput {
  InputFile input;
  std::unique_ptr<Places> places;
  std::vector<KernelLint> kernels;
};

/// Settings, and the words of the command line on top of them. Errors: the first word that is not
/// valid.
tl::expected<LintChoices, std::string> choices_of(const Settings &settings,
                                                  const LintRequest &request) {
  LintChoices choices = settings.lint_choices;
  for (const std::string &word : request.warn)
    if (!choices.warn(word))
      return tl::unexpected("-W: " + no_such_warning(word));
  if (request.asked.verbose)
    choices.warn("pedantic");
  if (request.threshold)
    choices.options.threshold = *request.threshold;
  if (!request.baseline.empty())
    choices.baseline = request.baseline;
  return choices;
}

/// Asks the real ptxas and compares what it says, and the warnings, with the baseline. Returns
/// false if something is worse.
tl::expected<bool, std::string> gate(const Settings &settings, const LintRequest &request,
                                     const std::string &baseline,
                                     const std::vector<LintedInput> &linted) {
  const auto real = find_real(settings.real, invoked_path());
  if (!real)
    return tl::unexpected(real.error());
  bool passed = true;
  for (const LintedInput &one : linted) {
    const Module &module = *one.input.module;
    const std::string target =
        request.asked.inputs.arch.empty() ? std::string(module.target) : request.asked.inputs.arch;
    const auto messages = assemble_for_messages(real->path, target, one.input.name, module.text());
    if (!messages)
      return tl::unexpected(messages.error());
    const AssemblerFacts assembled{parse_resources(*messages), parse_advisories(*messages)};
    tell_user(advice_text(assembled));
    auto fine = pass_gate(baseline, target, states_of(one.kernels, target, assembled),
                          request.update_baseline, request.gate_resources);
    if (!fine)
      return fine;
    passed = passed && *fine;
  }
  return passed;
}

/// What no warning can be about. Of a module with kernels a part may have none.
std::vector<std::string> not_checked_here(const LintRequest &request, const LintedInput &one) {
  if (one.input.missing_semicolons != 0)
    return {"instructions lack their `;`, so not all was checked"};
  const bool is_part = request.asked.shard.count > 1 || !request.asked.kernels.empty();
  return one.kernels.empty() && has_kernel(*one.input.module) && is_part
             ? std::vector<std::string>()
             : not_checked(one.kernels);
}

/// The launch that the words describe, on top of that of the settings.
LaunchPoint point_of(const AskedLaunch &launch, LintChoices &choices) {
  choices.base_alignment = launch.base_alignment.value_or(choices.base_alignment);
  LaunchPoint point = launch.point;
  point.numbers.insert(choices.point.numbers.begin(), choices.point.numbers.end());
  if (!point.block)
    point.block = choices.point.block;
  return point;
}

/// --explain and --list-codes.
int say_codes(const LintRequest &request) {
  if (request.list_codes) {
    fmt::print("{}", code_list());
    return 0;
  }
  const auto code = lint::code_of(request.explain);
  if (!code)
    return complain("--explain: " + no_such_warning(request.explain));
  fmt::print("{}", code_page(*code));
  return 0;
}

int run(const LintRequest &request, const Invocation &invocation) {
  if (request.list_codes || !request.explain.empty())
    return say_codes(request);
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  auto choices = choices_of(*settings, request);
  if (!choices)
    return complain(choices.error());
  if (request.update_baseline && choices->baseline.empty())
    return complain("--update-baseline needs --baseline FILE");
  const AnalysisRequest &asked = request.asked;
  if (asked.shard.count > 1 && !choices->baseline.empty())
    return complain("--shard and --baseline do not go together: a baseline is of all kernels");
  if (asked.shard.count > 1 && asked.inputs.paths.size() > 1)
    return complain("--shard is for one input");
  MeasuredTimes times;
  if (!request.profile.empty()) {
    const auto text = read_input(request.profile);
    const auto read = text ? MeasuredTimes::parse(*text) : tl::unexpected(text.error());
    if (!read)
      return complain(text ? fmt::format("{}: {}", request.profile, read.error()) : read.error());
    times = *read;
  }
  auto inputs = read_analysis(asked, "lint");
  if (!inputs)
    return exit_code::failed;
  Sources &sources = inputs->sources;
  const LaunchPoint point = point_of(inputs->launch, *choices);
  const auto block = point.block ? point.block : settings->rewrite.assume_block;
  const auto values = [&](const Function &kernel) {
    return ParameterNames(kernel, {}).values_at(point);
  };
  Allowances allowances(sources, *choices);
  std::vector<LintedInput> linted;
  Progress progress;
  for (InputFile &input : inputs->files) {
    if (!asked.quiet)
      progress.show(input.name);
    allowances.look_at(*input.module, input.name);
    std::vector<std::string> here; // of those that are asked for, which some input has
    for (const Function &function : input.module->functions)
      if (!inputs->kernels.empty() && inputs->wants(function))
        here.emplace_back(function.name);
    if (here.empty() && !inputs->kernels.empty())
      continue;
    const auto chosen = choose_kernels(*input.module, here, asked.shard, input.name);
    if (!chosen)
      return exit_code::failed;
    LintedInput one{std::move(input), nullptr, {}};
    one.places = std::make_unique<Places>(*one.input.module);
    one.kernels = lint_module(*one.input.module, *one.places,
                              {*choices, block, *chosen, values, &allowances});
    linted.push_back(std::move(one));
  }
  progress.clear();
  std::vector<LintedModule> told;
  told.reserve(linted.size());
  for (const LintedInput &one : linted)
    told.push_back({one.input.name, one.input.module.get(), one.places.get(), &one.kernels});
  if (asked.json) {
    fmt::print("{}", lint_json(told));
  } else {
    const FindingStyle style{wants_colour(asked.colour, STDOUT_FILENO), !asked.quiet, &times};
    fmt::print("{}", findings_text(findings_of(told, sources, times), told, sources, style));
  }
  int unwritten = exit_code::fine;
  if (!request.sarif.empty())
    if (const auto written =
            write_file_atomically(request.sarif, lint_sarif(findings_of(told, sources, times)));
        !written)
      unwritten = complain(written.error());
  if (asked.kernels.empty() && asked.shard.count == 1)
    for (const Allowances::Unused &unused : allowances.unused())
      tell_user(fmt::format("{}: warning: {}\n", unused.place, unused.sentence));
  bool findings_fail = false, unchecked = false;
  for (const LintedInput &one : linted) {
    findings_fail = findings_fail || has_errors(one.kernels);
    for (const std::string &sentence : not_checked_here(request, one)) {
      unchecked = true;
      tell_user(fmt::format("ptxasw: {}: {}: {}\n", choices->is_gate() ? "error" : "warning",
                            one.input.name, sentence));
    }
  }
  if (choices->is_gate() && unchecked)
    return findings_fail ? exit_code::found : exit_code::failed;
  if (!choices->baseline.empty()) {
    const auto passed = gate(*settings, request, choices->baseline, linted);
    if (!passed)
      return complain(passed.error());
    findings_fail = findings_fail || !*passed;
  }
  const bool none = std::none_of(linted.begin(), linted.end(), [](const LintedInput &one) {
    return has_kernel(*one.input.module);
  });
  return findings_fail                  ? exit_code::found
         : inputs->missing != 0 || none ? exit_code::failed
                                        : unwritten;
}

void declare(Words &words, LintRequest &request) {
  declare_analysis(words, request.asked);
  words.list("-W,--warn", request.warn,
             "CODE, no-CODE, no-CODE:KERNEL, pedantic, all or none; error or error=CODE: exit "
             "with 1; may be repeated");
  words.text("--explain CODE", request.explain, "say what a warning means, with an example");
  words.flag("--list-codes", request.list_codes, "list the warnings");
  words.number("--threshold", request.threshold,
               "warn of accesses that cost at least this percentage of the ideal", 100, 100000);
  words.text("--baseline FILE", request.baseline,
             "exit with 1 if findings, spills, stack or occupancy are worse than there");
  words.flag("--gate-resources", request.gate_resources,
             "also if more registers or bytes of shared memory are used");
  words.flag("--update-baseline", request.update_baseline, "put what is found into that file");
  words.text("--profile-csv FILE", request.profile,
             "findings of kernels that took longest first, by what `ncu --csv` exported or `ptxasw "
             "launch --log` wrote");
  words.text("--sarif FILE", request.sarif, "also write the warnings as SARIF 2.1.0");
  words.footer("1: a warning counts as an error, or something is worse than the baseline. 2: also "
               "if such a gate was given something that cannot be checked: an instruction or a "
               "version that is not known, a file without kernels.");
  words.examples({"ptxasw lint heat.cu --kernel 'step*' --launch block=32x8,n=1024",
                  "ptxasw lint -Werror -W no-bank-conflict build/ptx --exclude 'third_party/*'"});
}

} // namespace

const Command lint_command = {"lint", "warn of what makes kernels slow, as a compiler does",
                              bind<LintRequest, declare, run>};

} // namespace ptxasw::wrapper
