// One run as ptxas. Up to the point where a rewritten module is handed over, every way out is the
// same: become the real ptxas, with the caller's own arguments, and leave no trace.
//
// A run as the assembler of GCC's offloading compiler is the same run, except that the tool passes
// PTX on instead of assembling it: what ptxas knows of a kernel is asked of ptxas.

#include "wrapper/drop_in/drop_in.h"

#include "wrapper/drop_in/cache_key.h"
#include "wrapper/drop_in/fault.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/findings.h"
#include "wrapper/drop_in/gcc_offload.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/drop_in/lint_run.h"
#include "wrapper/drop_in/outcome.h"
#include "wrapper/drop_in/profiled_siblings.h"
#include "wrapper/drop_in/report_json.h"
#include "wrapper/drop_in/resources.h"
#include "wrapper/drop_in/summary.h"
#include "wrapper/lint/names.h"
#include "wrapper/os/crash_guard.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"
#include "wrapper/settings/load_settings.h"

#include "synth/shuffle/decide.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

constexpr int error_code = 255; // what ptxas itself exits with on every error

int report_failure(std::string_view message) {
  tell_user(fmt::format("ptxasw: error: {}\n", message));
  return error_code;
}

/// What the caller called, what the caller set, and what we found to run.
struct DropInRun {
  std::string name;
  CommandLine line;
  Settings settings;
  RealTool real;
  std::string first_input;   ///< for the log
  launch::Profile profile{}; ///< if the settings name one
  bool as_gcc = false;       ///< `real` is the assembler of GCC's offloading compiler

  /// Something is done to kernels whatever is decided about shuffles.
  bool changes_kernels() const { return !settings.rewrite.in_kernel.empty() || adds_siblings(); }
  bool adds_siblings() const { return wants_siblings(settings); }
};

/// A line among those that -v makes ptxas write.
void inform(const DropInRun &run, std::string_view text) {
  if (run.line.verbose)
    tell_user(fmt::format("ptxasw info    : {}\n", text));
}

/// Ends the run on the original input.
int pass_through(const DropInRun &run, Outcome outcome, std::string_view detail,
                 const Findings &findings = {}) {
  if (outcome == Outcome::nothing_found || outcome == Outcome::target_decision)
    inform(run, detail.empty() ? to_string(outcome) : detail);
  else if (outcome != Outcome::information_only)
    inform(run, fmt::format("nothing was changed: {}{}{}", to_string(outcome),
                            detail.empty() ? "" : ", ", detail));
  append_log(run.settings.log, log_line(outcome, run.first_input, detail, findings.field()));
  become(run.real.path, run.name, run.line.arguments);
  return report_failure(fmt::format("cannot run {}: {}", run.real.path, std::strerror(errno)));
}

/// Whom to ask about registers and what it advises: a ptxas, and how to call it.
tl::expected<AskedTool, std::string> asked_tool(const DropInRun &run) {
  if (!run.as_gcc)
    return AskedTool{run.real.path, run.name, run.line};
  const auto real = find_real(run.settings.real, invoked_path());
  if (!real)
    return tl::unexpected(real.error());
  return AskedTool{real->path, "ptxas",
                   parse_command_line({"-arch=" + run.line.target, run.first_input}),
                   run.real.path};
}

/// The real version text, and a line about us: tools that use the text as the key of a cache must
/// see a new key with a new configuration. Tools that look for "release" or "V1.2.3" must not
/// find it here.
int print_version(const DropInRun &run) {
  const ChildResult child =
      run_child({run.real.path, run.name, run.line.arguments, -1, STDOUT_FILENO});
  if (!child.started)
    return pass_through(run, Outcome::information_only, "version");
  write_all(STDOUT_FILENO, child.captured);
  if (child.succeeded() && child.captured.find("Cuda compilation tools") != std::string::npos)
    write_all(STDOUT_FILENO,
              fmt::format("ptxasw {} {}\n", PTXASW_VERSION, describe_configuration(run.settings)));
  append_log(run.settings.log, log_line(Outcome::information_only, "", "version"));
  return exit_like(child.status);
}

/// The real help, and where to find ours.
int print_help(const DropInRun &run) {
  const ChildResult child =
      run_child({run.real.path, run.name, run.line.arguments, -1, STDOUT_FILENO});
  if (!child.started)
    return pass_through(run, Outcome::information_only, "help");
  write_all(STDOUT_FILENO, child.captured);
  if (child.succeeded() && !child.captured.empty())
    write_all(STDOUT_FILENO, "This ptxas is ptxasw; --ptxasw-help lists its own options.\n");
  append_log(run.settings.log, log_line(Outcome::information_only, "", "help"));
  return exit_like(child.status);
}

Decision decision(const DropInRun &run) {
  return decide(run.settings.rewrite.shuffle,
                static_cast<unsigned>(target_number(run.line.target)));
}

/// True if what was found will be read although nothing is done about it.
bool wants_findings(const DropInRun &run) {
  const Settings &settings = run.settings;
  return run.line.verbose || settings.verbose || !settings.log.empty() ||
         !settings.report.empty() || !settings.journal.empty();
}

/// Why this run does not concern us, if it does not.
std::optional<Outcome> not_ours(const DropInRun &run) {
  const CommandLine &line = run.line;
  if (line.help || line.list_versions || line.inputs.empty())
    return Outcome::information_only;
  const bool siblings = run.changes_kernels();
  if (run.settings.rewrite.shuffle == ShuffleMode::never && !siblings)
    return Outcome::switched_off;
  if (line.doubt)
    return Outcome::doubtful_arguments;
  if (target_number(line.target) == 0)
    return Outcome::no_code;
  if (line.debug || line.opt_level == "0")
    return Outcome::debug_build;
  if (line.opt_level.size() != 1 || line.opt_level < "0" || line.opt_level > "9")
    return Outcome::doubtful_arguments;
  if (line.instrument)
    return Outcome::instrumented;
  if (line.output == "/dev/null")
    return Outcome::discarded;
  // Without a reader, the answer "no" is all there is to know.
  if (!wants_findings(run) && !decision(run).shuffle && !siblings)
    return Outcome::target_decision;
  return std::nullopt;
}

/// Appends siblings to what is to be assembled. A kernel that shuffles has none.
void add_siblings(InputModule &module, const DropInRun &run) {
  auto result = with_siblings(
      module.rewritten, module.name, run.settings, run.profile,
      [](const std::string &said) { tell_user(fmt::format("ptxasw: warning: {}\n", said)); });
  if (!result)
    return;
  for (const KernelSiblings &kernel : result->kernels) {
    module.siblings += static_cast<unsigned>(kernel.written.size());
    module.left_out.insert(module.left_out.end(), kernel.left_out.begin(), kernel.left_out.end());
  }
  module.own_work = result->own_work;
  module.added_work = result->added_work;
  module.rewritten = std::move(result->text);
  module.changed = true;
}

/// Rewrites all modules; the error is the reason to give up.
tl::expected<void, std::string> rewrite_all(std::vector<InputModule> &modules,
                                            const DropInRun &run) {
  const Settings &settings = run.settings;
  RewriteOptions options = settings.rewrite;
  options.target_sm = target_number(run.line.target);
  options.count_declined = wants_findings(run);
  inject_fault(settings.inject_fault);
  for (InputModule &module : modules) {
    if (!settings.rewrite.kernels.empty())
      if (const auto parsed = parse(module.original, module.name))
        options.kernels = names_called(**parsed, settings.rewrite.kernels);
    auto result = rewrite_module(module.original, module.name, options);
    if (!result || settings.inject_fault == "parse")
      return tl::unexpected(result ? std::string("injected fault") : result.error().message);
    module.rewritten = std::move(result->text);
    module.lines = std::move(result->lines);
    module.changed = result->changed;
    module.report = std::move(result->report);
    if (run.adds_siblings())
      add_siblings(module, run);
    if (settings.inject_fault == "reject") {
      module.rewritten += "\n.this is not PTX\n";
      module.changed = true;
    }
  }
  return {};
}

/// What was asked for beyond the output itself. Trouble here is reported but breaks no build.
void tell(const DropInRun &run, const std::vector<InputModule> &modules) {
  std::vector<ModuleReport> reports;
  for (const InputModule &module : modules) {
    if (run.settings.verbose)
      tell_user(summarize(module.report));
    reports.push_back(module.report);
    append_log(run.settings.journal, journal_line(module.report));
  }
  if (run.settings.report.empty())
    return;
  const std::string file =
      report_file(run.settings.report, run.first_input, run.line.target, reports.front().module);
  if (const auto written = write_file_atomically(file, report_json(reports)); !written)
    tell_user(fmt::format("ptxasw: warning: {}\n", written.error()));
}

/// The output holds the original after all; the report must not claim otherwise.
void withdraw(ModuleReport &report, Reason reason, std::string_view detail) {
  for (KernelReport &kernel : report.kernels) {
    for (const RewriteRecord &record : kernel.rewrites)
      kernel.kept.push_back({record.line, record.source_line, reason, std::string(detail)});
    kernel.rewrites.clear();
    if (kernel.in_kernel && !kernel.in_kernel->variant.empty()) {
      kernel.in_kernel->variant.clear();
      kernel.in_kernel->why.push_back(fmt::format("{}: {}", to_string(reason), detail));
    }
    kernel.shuffles = kernel.copies = 0;
    kernel.mean_delta = 0;
  }
}

/// All modules in numbers.
Findings count(const std::vector<InputModule> &modules) {
  Findings findings;
  for (const InputModule &module : modules)
    findings.add(module.report);
  return findings;
}

/// The real ptxas refused the rewritten text. That is the rewriter's fault only if it accepts the
/// original: an output that cannot be written or an unknown option is not.
int settle_rejection(const DropInRun &run, std::vector<InputModule> &modules,
                     const Handover &handover) {
  const std::string_view all = handover.detail;
  const std::string first(all.substr(0, all.find('\n')));
  const ChildResult original =
      run_child({run.real.path, run.name, run.line.arguments, -1, STDERR_FILENO});
  if (!original.started)
    return pass_through(run, Outcome::rejected, first);
  write_all(STDERR_FILENO, original.captured);
  if (original.succeeded())
    for (InputModule &module : modules)
      withdraw(module.report, Reason::rejected, first);
  tell(run, modules);
  inform(run, original.succeeded()
                  ? fmt::format("nothing was changed: ptxas refused the rewritten text: {}", first)
                  : "nothing was changed: ptxas refuses the original, too");
  append_log(run.settings.log,
             log_line(original.succeeded() ? Outcome::rejected : Outcome::original_fails,
                      run.first_input, original.succeeded() ? all : original.captured));
  return exit_like(original.status);
}

/// How many siblings there are, what they cost, and which were too much.
std::string sentence_of_siblings(const std::vector<InputModule> &modules) {
  unsigned siblings = 0;
  std::size_t own = 0, added = 0;
  std::vector<std::string> left_out;
  for (const InputModule &module : modules) {
    siblings += module.siblings;
    own += module.own_work;
    added += module.added_work;
    left_out.insert(left_out.end(), module.left_out.begin(), module.left_out.end());
  }
  std::string sentence;
  if (siblings > 0)
    sentence = fmt::format(
        "; {} sibling{} added, with which ptxas takes about {:.1f} times as long", siblings,
        siblings == 1 ? "" : "s", 1.0 + static_cast<double>(added) / static_cast<double>(own));
  if (!left_out.empty())
    sentence += fmt::format("; beyond --ptxasw-siblings-budget: {}", fmt::join(left_out, ", "));
  return sentence;
}

/// Reads, rewrites and hands over; the way back is `pass_through`.
int rewrite_and_run(const DropInRun &run) {
  auto modules = read_modules(run.line);
  if (!modules)
    return pass_through(run, Outcome::unreadable_input, modules.error());
  const CrashGuard guard(run.real.path, run.name, run.line.arguments, run.settings.log,
                         log_line(Outcome::crashed, run.first_input, ""));
  const auto done = rewrite_all(*modules, run);
  if (!done)
    return pass_through(run, Outcome::not_ptx, done.error());
  const Handover handover = hand_over(run.real.path, run.name, run.line, *modules);
  if (handover.outcome == Outcome::rejected)
    return settle_rejection(run, *modules, handover);
  if (handover.outcome == Outcome::no_place)
    for (InputModule &module : *modules)
      withdraw(module.report, Reason::not_handed_over, handover.detail);
  if (handover.outcome == Outcome::rewritten && run.settings.rewrite.variant != Variant::full)
    tell_user(wrong_on_purpose_warning);
  const bool measured =
      handover.outcome == Outcome::rewritten || handover.outcome == Outcome::nothing_found;
  if (run.settings.registers && measured)
    if (const auto done_well = asked_tool(run).and_then(
            [&](const AskedTool &asked) { return measure_resources(asked, *modules); });
        !done_well)
      tell_user(
          fmt::format("ptxasw: warning: no registers in the report: {}\n", done_well.error()));
  tell(run, *modules);
  const Findings findings = count(*modules);
  const Decision decided = decision(run);
  std::string sentence = findings.sentence(decided.shuffle ? "" : decided.reason);
  unsigned in_kernel = 0;
  for (const InputModule &module : *modules)
    for (const KernelReport &kernel : module.report.kernels)
      in_kernel += kernel.in_kernel && !kernel.in_kernel->variant.empty();
  if (in_kernel > 0)
    sentence +=
        fmt::format("; {} kernel{} with a sibling inside", in_kernel, in_kernel == 1 ? "" : "s");
  sentence += sentence_of_siblings(*modules);
  if (handover.outcome == Outcome::nothing_found)
    return pass_through(run, decided.shuffle ? Outcome::nothing_found : Outcome::target_decision,
                        sentence, findings);
  if (handover.outcome != Outcome::rewritten)
    return pass_through(run, handover.outcome, handover.detail, findings);
  inform(run, sentence);
  append_log(run.settings.log,
             log_line(Outcome::rewritten, run.first_input, sentence, findings.field()));
  return handover.exit_code;
}

/// Warnings about the inputs, if they are asked for; an exit code if they end the run. Trouble with
/// them breaks no build.
std::optional<int> lint_inputs(const DropInRun &run) {
  const CommandLine &line = run.line;
  const bool code = !line.help && !line.list_versions && !line.doubt && !line.inputs.empty() &&
                    target_number(line.target) != 0 && line.output != "/dev/null";
  if (!code)
    return std::nullopt;
  if (const auto checks = check_gate(run.settings); !checks) {
    report_failure(checks.error());
    return 2;
  }
  if (!run.settings.lint)
    return std::nullopt;
  const auto modules = read_modules(line);
  if (!modules)
    return std::nullopt;
  const CrashGuard guard(run.real.path, run.name, line.arguments, run.settings.log,
                         log_line(Outcome::crashed, run.first_input, ""));
  auto assembled = asked_tool(run).and_then(
      [&](const AskedTool &asked) { return ask_assembler(asked, *modules); });
  if (!assembled && !run.as_gcc)
    return std::nullopt; // the real ptxas will say the same to the caller
  if (!assembled && !run.settings.lint_choices.baseline.empty())
    tell_user(fmt::format("ptxasw: warning: registers are not known: {}\n", assembled.error()));
  const int result = lint_run(run.settings, assembled.value_or(AssemblerFacts{}), line, *modules);
  return result == 0 ? std::nullopt : std::optional(result);
}

/// True if a word about ourselves, no setting, is among our own options.
bool asks_for(const CommandLine &line, std::string_view what) {
  return std::any_of(line.own.begin(), line.own.end(),
                     [&](const OwnOption &option) { return option.name == what; });
}

/// Text that was asked for; an error if it cannot be written.
int print_text(const std::string &text) {
  if (write_all(STDOUT_FILENO, text))
    return 0;
  return report_failure(fmt::format("cannot write standard output: {}", std::strerror(errno)));
}

int print_own_help() {
  std::string text =
      "This ptxas is ptxasw " PTXASW_VERSION ". Beyond the real one's options it takes:\n";
  for (const SettingSpec &spec : setting_table())
    text += fmt::format("  --ptxasw-{}{}{}\n      {}\n", spec.name, spec.is_switch ? "" : "=",
                        spec.is_switch ? "" : spec.values, spec.meaning);
  text += "  --ptxasw-cache-key [WORDS OF NVCC]\n"
          "      as the first word: only print what must be part of the key of a cache of objects\n"
          "Each setting is also an environment variable (PTXASW_...) and a key in ptxasw.toml.\n";
  return print_text(text);
}

void tell_what_was_ignored(const DropInRun &run) {
  for (const std::string &ignored : run.settings.ignored) {
    append_log(run.settings.log, log_line(Outcome::settings_ignored, "", ignored));
    if (run.settings.verbose)
      tell_user(fmt::format("ptxasw: warning: {}\n", ignored));
  }
}

/// From where the line is understood; `pass` ends a run that does not concern us.
int work(DropInRun &run, const std::function<int(Outcome)> &pass) {
  if (const auto failed = lint_inputs(run))
    return *failed;
  if (const auto outcome = not_ours(run))
    return pass(*outcome);
  if (!run.settings.profile.empty()) {
    auto profile = read_profile(run.settings.profile);
    if (!profile)
      return report_failure(profile.error());
    run.profile = std::move(*profile);
  }
  return rewrite_and_run(run);
}

int run_as_ptxas(DropInRun &run, const std::vector<std::string> &words) {
  if (std::getenv(guard_variable))
    return report_failure(
        "the real ptxas that was found is ptxasw again; set PTXASW_REAL to the path of "
        "the one that comes with CUDA");
  if (asks_for(run.line, "help"))
    return print_own_help();
  auto settings = load_settings(run.line.own);
  if (!settings)
    return report_failure(settings.error());
  run.settings = std::move(*settings);
  tell_what_was_ignored(run);
  auto real = find_real(run.settings.real, invoked_path());
  if (!real)
    return report_failure(real.error());
  run.real = std::move(*real);
  if (!run.line.inputs.empty())
    run.first_input = describe_input(run.line, run.line.inputs.front());
  ::setenv(guard_variable, "1", 1);

  // Without options of our own the real tool gets the very words the caller wrote.
  const bool verbatim = run.line.own.empty();
  if (run.line.version && !run.line.help) {
    if (verbatim)
      run.line.arguments = words;
    return print_version(run);
  }
  return work(run, [&](Outcome outcome) {
    if (verbatim)
      run.line.arguments = words;
    if (run.line.help)
      return print_help(run);
    return pass_through(run, outcome, run.line.doubt.value_or(""));
  });
}

int run_as_gcc(DropInRun &run) {
  ::setenv(guard_variable, "1", 1); // or `ptxasw run` would lead the tool back to us
  tell_what_was_ignored(run);
  std::vector<OffloadKernel> kernels;
  if (run.line.inputs.size() == 1) {
    run.first_input = describe_input(run.line, run.line.inputs.front());
    const std::string text = read_regular_file(run.first_input).value_or("");
    run.line.target = target_in(text);
    kernels = offload_kernels(text);
    if (!run.settings.rewrite.assume_block) // what GCC's run-time library launches
      run.settings.rewrite.assume_block = offload_block(kernels);
  }
  if (run.line.verbose || run.settings.verbose || run.settings.lint)
    for (const OffloadKernel &kernel : kernels)
      if (kernel.on_one_thread())
        tell_user(fmt::format("ptxasw: note: {}: one thread does all of it: GCC found nothing to "
                              "do in parallel. GCC 12 runs `acc kernels` like this; `acc parallel "
                              "loop` says that the loop is parallel\n",
                              kernel.name));
  return work(run, [&](Outcome outcome) { return pass_through(run, outcome, ""); });
}

/// What an exception comes to.
int give_up(const DropInRun &run, const std::exception &error) {
  if (run.real.path.empty())
    return report_failure(error.what());
  return pass_through(run, Outcome::failed, error.what());
}

} // namespace

int drop_in(const std::string &name, const std::vector<std::string> &words) {
  constexpr std::string_view key_option = "--ptxasw-cache-key";
  DropInRun run{name, {}, {}, {}, {}};
  try {
    if (!words.empty() && words[0] == key_option) {
      const auto key = cache_key({words.begin() + 1, words.end()});
      return key ? print_text(*key + "\n") : report_failure(key.error());
    }
    run.line = parse_command_line(words);
    return run_as_ptxas(run, words);
  } catch (const std::exception &error) {
    return give_up(run, error);
  }
}

int drop_in_for_gcc(const std::string &tool, const std::vector<std::string> &words,
                    Settings settings) {
  DropInRun run{tool,
                parse_assembler_line(words),
                std::move(settings),
                {tool, "the assembler that was called"},
                {}};
  run.as_gcc = true;
  try {
    return run_as_gcc(run);
  } catch (const std::exception &error) {
    return give_up(run, error);
  }
}

} // namespace ptxasw::wrapper
