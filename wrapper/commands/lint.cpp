// `ptxasw lint`: what makes kernels slow, reported like a compiler's warnings, as JSON or as SARIF;
// and the gate that compares a module with what it cost before.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/lint_run.h"
#include "wrapper/lint/lint_json.h"
#include "wrapper/os/files.h"
#include "wrapper/settings/launch_point.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw lint` was asked.
struct LintRequest {
  std::string input;
  std::vector<std::string> kernels;
  std::optional<BlockShape> block;
  std::vector<std::string> assume, warn, error_on;
  std::vector<std::string> at;    ///< NAME=NUMBER, cut at commas
  std::vector<std::string> names; ///< of the parameters, in order, cut at commas
  std::optional<std::uint32_t> threshold;
  std::string baseline, sarif, arch;
  bool update_baseline = false;
  Shard shard;
  bool json = false;
};

/// Settings, and the words of the command line on top of them. Errors: the first word that is not
/// valid.
tl::expected<LintChoices, std::string> choices_of(const Settings &settings,
                                                  const LintRequest &request) {
  LintChoices choices = settings.lint_choices;
  for (const std::string &word : request.assume)
    if (!choices.assume(word))
      return tl::unexpected(
          fmt::format("--assume: `{}` is not base-align=BYTES with a power of two "
                      "up to 4096",
                      word));
  for (const std::string &word : request.warn)
    if (!choices.warn(word))
      return tl::unexpected(fmt::format("-W: there is no warning `{}`", word));
  for (const std::string &word : request.error_on)
    if (!choices.error_on(word))
      return tl::unexpected(fmt::format("--error-on: there is no warning `{}`", word));
  if (request.threshold)
    choices.options.threshold = *request.threshold;
  if (!request.baseline.empty())
    choices.baseline = request.baseline;
  return choices;
}

/// Asks the real ptxas and compares what it says, and the warnings, with the baseline.
tl::expected<bool, std::string> gate(const Settings &settings, const LintRequest &request,
                                     const Module &module, const std::string &baseline,
                                     const std::vector<KernelLint> &kernels) {
  const std::string target = request.arch.empty() ? std::string(module.target) : request.arch;
  const auto real = find_real(settings.real, invoked_path());
  if (!real)
    return tl::unexpected(real.error());
  const CommandLine line = parse_command_line({"-arch=" + target, request.input});
  const auto modules = read_modules(line);
  if (!modules)
    return tl::unexpected(
        fmt::format("cannot read `{}` a second time, for ptxas; give a file", modules.error()));
  const auto assembled = ask_assembler({real->path, "ptxas", line}, *modules);
  if (!assembled)
    return tl::unexpected(assembled.error());
  tell_user(advice_text(*assembled));
  return pass_gate(baseline, target, states_of(kernels, target, *assembled),
                   request.update_baseline);
}

/// What no warning can be about. Of a module with kernels a part may have none.
std::vector<std::string> not_checked_here(const LintRequest &request, const Module &module,
                                          const std::vector<KernelLint> &kernels) {
  const bool is_part =
      request.shard.count > 1 &&
      std::any_of(module.functions.begin(), module.functions.end(),
                  [](const Function &function) { return function.is_entry && function.has_body; });
  return kernels.empty() && is_part ? std::vector<std::string>() : not_checked(kernels);
}

int run(const LintRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error(), usage_error);
  const auto choices = choices_of(*settings, request);
  if (!choices)
    return complain(choices.error(), usage_error);
  LaunchPoint asked, point = choices->point;
  if (const auto wrong = read_point(request.at, asked))
    return complain(*wrong, usage_error);
  read_point(request.at, point);
  if (point.block)
    if (const std::string wrong = launch_shape_error({}, *point.block); !wrong.empty())
      return complain(wrong, usage_error);
  if (request.update_baseline && choices->baseline.empty())
    return complain("--update-baseline needs --baseline FILE", usage_error);
  if (request.shard.count > 1 && !choices->baseline.empty())
    return complain("--shard and --baseline do not go together: a baseline is of all kernels",
                    usage_error);
  const auto module = load_module(request.input);
  if (!module)
    return usage_error;
  const auto chosen = choose_kernels(*module, request.kernels, request.shard, request.input);
  if (!chosen)
    return usage_error;
  const std::string file = request.input == "-" ? "<stdin>" : request.input;
  const Places places(*module);
  const auto block = point.block     ? point.block
                     : request.block ? request.block
                                     : settings->rewrite.assume_block;
  const auto values = [&](const Function &kernel) {
    return ParameterNames(kernel, cut_at_commas(request.names)).values_at(point);
  };
  if (const std::string fault = point_fault({module.get()}, request.names, asked); !fault.empty())
    return complain(fault, usage_error);
  const auto kernels = lint_module(*module, places, {*choices, block, *chosen, values});
  fmt::print("{}", request.json ? lint_json(kernels, places, file) : lint_text(kernels, file));
  if (!request.sarif.empty())
    if (const auto written = write_file_atomically(request.sarif, lint_sarif(kernels, file));
        !written)
      return complain(written.error(), usage_error);
  bool findings_fail = has_errors(kernels);
  const std::vector<std::string> missing = not_checked_here(request, *module, kernels);
  for (const std::string &sentence : missing)
    tell_user(fmt::format("ptxasw: {}: {}: {}\n", choices->is_gate() ? "error" : "warning", file,
                          sentence));
  if (choices->is_gate() && !missing.empty())
    return findings_fail ? 1 : usage_error;
  if (!choices->baseline.empty()) {
    const auto passed = gate(*settings, request, *module, choices->baseline, kernels);
    if (!passed)
      return complain(passed.error(), usage_error);
    findings_fail = findings_fail || !*passed;
  }
  return findings_fail ? 1 : 0;
}

void declare(Words &words, LintRequest &request) {
  words.required("input", request.input, "PTX to read, - for standard input");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.block_shape("--block", request.block, "the shape of every block, where no .reqntid says");
  words.list(
      "--at NAME=NUMBER,...", request.at,
      "numbers of a launch: parameters, block=XxYxZ, grid=XxYxZ; what is said then holds for it");
  words.list("--names NAME,...", request.names, "what the parameters are called, in order");
  words.list("--assume base-align=BYTES", request.assume,
             "the alignment of pointer parameters in bytes; cudaMalloc gives 256");
  words.list("-W,--warn", request.warn,
             "CODE, no-CODE, no-CODE:KERNEL, all or none; may be repeated");
  words.list("--error-on", request.error_on,
             "CODE, which is then on, or all: exit with 1; may be repeated");
  words.number("--threshold", request.threshold,
               "warn of accesses that cost at least this percentage of the ideal", 100, 100000);
  words.text("--baseline FILE", request.baseline,
             "exit with 1 if findings, registers, spills, stack, shared memory or occupancy are "
             "worse than there");
  words.flag("--update-baseline", request.update_baseline, "put what is found into that file");
  words.text("--arch sm_XX", request.arch, "for the baseline; otherwise the target of the PTX");
  words.shard(request.shard);
  words.text("--sarif FILE", request.sarif, "also write the warnings as SARIF 2.1.0");
  words.flag("--json", request.json, "as JSON: all accesses and branches, and the warnings");
  words.footer(
      "Exit codes: 0, 1 if a warning counts as an error or something is worse than the "
      "baseline,\n2 if it could not be tried, or such a gate was given something that cannot "
      "be checked: an\ninstruction or a version that is not known, a file without kernels.");
}

} // namespace

const Command lint_command = {"lint", "warn of what makes kernels slow, as a compiler does",
                              bind<LintRequest, declare, run>};

} // namespace ptxasw::wrapper
