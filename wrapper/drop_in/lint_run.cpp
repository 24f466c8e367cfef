// What `ptxasw lint` says, said in a build: the same analyses, asked about the module that ptxas
// gets.

#include "wrapper/drop_in/lint_run.h"

#include "wrapper/drop_in/resources.h"
#include "wrapper/drop_in/summary.h"
#include "wrapper/lint/lint_json.h"
#include "wrapper/os/files.h"
#include "wrapper/os/terminal.h"
#include "wrapper/settings/launch_point.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

void warn(const std::string &message) { tell_user(fmt::format("ptxasw: warning: {}\n", message)); }

void write_to(const std::string &setting, const std::string &input, const CommandLine &line,
              const std::string &suffix, const std::string &text) {
  if (setting.empty())
    return;
  const std::string file = report_file(setting, input, line.target, suffix);
  if (const auto written = write_file_atomically(file, text); !written)
    warn(written.error());
}

/// A file that a compiler made for ptxas alone, in the folder for such files; nvcc's are called so
/// everywhere.
bool is_temporary(const std::string &input) {
  const std::filesystem::path path(input);
  std::error_code error;
  return path.filename().string().starts_with("tmpxft_") ||
         (path.is_absolute() &&
          path.parent_path() == std::filesystem::temp_directory_path(error).lexically_normal());
}

/// What a module is called where its kernels are not: a temporary file of nvcc by the part of its
/// name that is the user's.
std::string shown_name(const std::string &input) {
  const std::string name = input.substr(input.rfind('/') + 1);
  const std::size_t dash = name.find('-');
  if (!name.starts_with("tmpxft_") || dash == std::string::npos)
    return input;
  const std::size_t step = std::min(name.find('_', dash), name.size() - 1);
  return name.substr(step + 1);
}

/// For `ptxasw run`, which asks in the end if anything at all was checked.
void count_checked(std::size_t kernels) {
  const char *file = std::getenv(checked_variable);
  const int descriptor = file ? ::open(file, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (descriptor < 0)
    return;
  write_all(descriptor, std::string(kernels, '.'));
  ::close(descriptor);
}

} // namespace

tl::expected<AssemblerFacts, std::string> ask_assembler(const AskedTool &asked,
                                                        const std::vector<InputModule> &modules) {
  const auto messages = assemble_for_messages(asked, modules, false);
  if (!messages)
    return tl::unexpected(messages.error());
  return AssemblerFacts{parse_resources(*messages), parse_advisories(*messages)};
}

std::string advice_text(const AssemblerFacts &assembled) {
  std::string text;
  for (const auto &[kernel, advisories] : assembled.advisories)
    for (const Advisory &advisory : advisories)
      text += fmt::format("ptxas: advisory {}: {}\n    note: {}\n", advisory.code, advisory.text,
                          explain_advisory(advisory.code));
  return text;
}

tl::expected<bool, std::string> pass_gate(const std::string &file, const std::string &target,
                                          const std::vector<KernelState> &states, bool update,
                                          bool resources) {
  Baseline baseline;
  if (::access(file.c_str(), F_OK) == 0 || errno != ENOENT) {
    const auto text = read_input(file);
    if (!text)
      return tl::unexpected(text.error());
    auto parsed = parse_baseline(*text);
    if (!parsed)
      return tl::unexpected(fmt::format("{}: {}", file, parsed.error()));
    baseline = std::move(*parsed);
  } else if (!update) {
    return tl::unexpected(fmt::format(
        "there is no baseline `{}`; `ptxasw lint --baseline FILE --update-baseline` makes one",
        file));
  }
  if (update) {
    for (const KernelState &state : states)
      baseline[target][state.name] = state;
    if (const auto written = write_file_atomically(file, baseline_text(baseline)); !written)
      return tl::unexpected(written.error());
    return true;
  }
  const BaselineChanges changes = compare(baseline, target, states, resources);
  for (const std::string &change : changes.worse)
    tell_user(fmt::format("ptxasw: error: worse than {}: {}\n", file, change));
  for (const std::string &change : changes.better)
    tell_user(fmt::format("ptxasw: note: better than {}: {}; --update-baseline keeps it so\n", file,
                          change));
  return changes.worse.empty();
}

int lint_run(const Settings &settings, const AssemblerFacts &assembled, const CommandLine &line,
             const std::vector<InputModule> &modules) {
  const LintChoices &choices = settings.lint_choices;
  tell_user(advice_text(assembled));
  Sources sources;
  Allowances allowances(sources, choices);
  bool failed = false, unchecked = false;
  std::string note; // once
  std::size_t checked = 0;
  for (const InputModule &input : modules) {
    const auto module = parse(input.original, input.name);
    if (!module) {
      warn(fmt::format("{}: not checked: {}", shown_name(input.name), module.error().message));
      unchecked = true;
      continue;
    }
    const Places places(**module);
    // Names that no kernel here has are those of other modules' kernels.
    const auto values = [&](const Function &kernel) {
      return ParameterNames(kernel, {}).values_at(choices.point);
    };
    const auto block = choices.point.block ? choices.point.block : settings.rewrite.assume_block;
    allowances.look_at(**module, input.name);
    const auto kernels = lint_module(**module, places, {choices, block, {}, values, &allowances});
    const LintedModule linted{shown_name(input.name), module->get(), &places, &kernels,
                              is_temporary(input.name)};
    const std::span<const LintedModule> told(&linted, 1);
    const auto findings = findings_of(told, sources);
    tell_user(findings_text(findings, told, sources, {wants_colour("auto", STDERR_FILENO), false}));
    note = note.empty() ? lines_note(findings) : note;
    failed = failed || has_errors(kernels);
    if (!kernels.empty()) // a build has modules without any
      for (const std::string &sentence : not_checked(kernels)) {
        warn(linted.is_temporary ? sentence : fmt::format("{}: {}", input.name, sentence));
        unchecked = true;
      }
    checked += kernels.size();
    write_to(choices.json, input.name, line, "lint", lint_json(told));
    write_to(choices.sarif, input.name, line, "sarif", lint_sarif(findings));
    if (choices.baseline.empty())
      continue;
    const auto passed =
        pass_gate(choices.baseline, line.target, states_of(kernels, line.target, assembled), false);
    if (!passed)
      warn(passed.error());
    unchecked = unchecked || !passed;
    failed = failed || !passed.value_or(true);
  }
  tell_user(note);
  count_checked(checked);
  return failed ? 1 : choices.is_gate() && unchecked ? 2 : 0;
}

} // namespace ptxasw::wrapper
