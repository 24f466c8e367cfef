#include "wrapper/commands.h"
#include "wrapper/files.h"
#include "wrapper/outcome.h"
#include "wrapper/report_json.h"

#include <algorithm>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw {
namespace {

int complain(const std::string &message) {
  fmt::print(stderr, "ptxasw: error: {}\n", message);
  return 1;
}

/// The first of the wanted kernels that the module does not have.
std::optional<std::string> missing_kernel(const Settings &settings, const ModuleReport &report) {
  for (const std::string &wanted : settings.rewrite.kernels)
    if (std::none_of(report.kernels.begin(), report.kernels.end(),
                     [&](const KernelReport &kernel) { return kernel.name == wanted; }))
      return wanted;
  return std::nullopt;
}

} // namespace

int rewrite_command(const Settings &settings, const std::string &input, const std::string &output) {
  const bool from_stdin = input == "-";
  const auto text = from_stdin ? read_descriptor(STDIN_FILENO) : read_regular_file(input);
  if (!text)
    return complain(fmt::format("cannot read `{}`", input));
  if (settings.rewrite.variant != Variant::full)
    fmt::print(stderr, "{}", wrong_on_purpose_warning);
  const auto result = rewrite_module(*text, from_stdin ? "<stdin>" : input, settings.rewrite);
  if (!result) {
    fmt::print(stderr, "{}", format(result.error()));
    return 1;
  }
  if (const auto missing = missing_kernel(settings, result->report))
    return complain(fmt::format("there is no kernel `{}` in `{}`", *missing, input));
  if (const auto written = write_file_atomically(output, result->text); !written)
    return complain(written.error());
  if (settings.verbose)
    fmt::print(stderr, "{}", summarize(result->report));
  append_log(settings.journal, journal_line(result->report));
  if (settings.report.empty())
    return 0;
  const std::string file = report_file(settings.report, input, result->report.target);
  if (const auto written = write_file_atomically(file, report_json({result->report})); !written)
    return complain(written.error());
  return 0;
}

} // namespace ptxasw
