// `ptxasw rewrite`: one file in, one file out. Output is written at the end and as a whole, so that
// an error leaves what was there.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/os/files.h"

#include "wrapper/drop_in/outcome.h"
#include "wrapper/drop_in/profiled_siblings.h"
#include "wrapper/drop_in/report_json.h"
#include "wrapper/drop_in/resources.h"
#include "wrapper/drop_in/summary.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw rewrite` was asked; "-" is standard input or output.
struct RewriteRequest {
  std::string input, output;
  std::vector<std::string> launch;
  bool json = false, quiet = false;
};

/// Puts into the report what the real ptxas makes of both texts for the module's own target.
tl::expected<void, std::string> measure(const Settings &settings, const Module &original,
                                        RewriteResult &result) {
  const auto real = find_real(settings.real, invoked_path());
  if (!real)
    return tl::unexpected(real.error());
  const CommandLine line =
      parse_command_line({fmt::format("-arch={}", original.target), "module.ptx"});
  std::vector<InputModule> modules{{.input = line.inputs.at(0),
                                    .name = result.report.file,
                                    .original = std::string(original.text()),
                                    .rewritten = result.text,
                                    .changed = result.changed,
                                    .report = std::move(result.report)}};
  ::setenv(guard_variable, "1", 1); // or `ptxasw run` would lead the real ptxas back to us
  auto measured = measure_resources({real->path, "ptxas", line}, modules);
  result.report = std::move(modules[0].report);
  return measured;
}

int run(const RewriteRequest &request, const Invocation &invocation) {
  auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  const std::string &input = request.input, &output = request.output;
  if (request.json && output == "-")
    return complain("--json and -o - both write to standard output");
  void (*const warn)(const std::string &) =
      request.quiet ? +[](const std::string &) {} : +[](const std::string &said) {
        fmt::print(stderr, "ptxasw: warning: {}\n", said);
      };
  const auto module = load_module(input);
  if (!module)
    return exit_code::failed;
  const auto kernels = kernels_called({module.get()}, settings->rewrite.kernels, input);
  if (!kernels)
    return exit_code::failed;
  settings->rewrite.kernels = *kernels;
  if (settings->rewrite.variant != Variant::full)
    fmt::print(stderr, "{}", wrong_on_purpose_warning);
  if (!request.launch.empty()) {
    Sources sources;
    sources.add_folder_of(input);
    const auto launch = read_launch(request.launch, {module.get()}, sources);
    if (!launch)
      return complain(launch.error());
    settings->rewrite.assume_block = launch->point.block;
  }
  RewriteOptions options = settings->rewrite;
  options.count_declined =
      settings->verbose || request.json || !settings->report.empty() || !settings->journal.empty();
  auto result =
      rewrite_module(std::string(module->text()), input == "-" ? "<stdin>" : input, options);
  if (!result) {
    fmt::print(stderr, "{}", format(result.error()));
    return exit_code::failed;
  }
  if (wants_siblings(*settings)) {
    launch::Profile profile;
    if (!settings->profile.empty()) {
      auto read = read_profile(settings->profile);
      if (!read)
        return complain(read.error());
      profile = std::move(*read);
    }
    if (auto more = with_siblings(result->text, result->report.file, *settings, profile, warn)) {
      result->text = std::move(more->text);
      result->changed = true;
    }
  }
  if (const auto written = write_file_atomically(output, result->text); !written)
    return complain(written.error());
  if (settings->registers)
    if (const auto measured = measure(*settings, *module, *result); !measured)
      warn(fmt::format("no registers in the report: {}", measured.error()));
  if (settings->verbose)
    fmt::print(stderr, "{}", summarize(result->report));
  if (request.json)
    fmt::print("{}", report_json({result->report}));
  append_log(settings->journal, journal_line(result->report));
  if (settings->report.empty())
    return 0;
  const std::string file =
      report_file(settings->report, input, result->report.target, result->report.module);
  if (const auto written = write_file_atomically(file, report_json({result->report})); !written)
    return complain(written.error());
  return 0;
}

void declare(Words &words, RewriteRequest &request) {
  words.required("input", request.input, "PTX to read, - for standard input");
  words.required("-o,--output FILE", request.output, "PTX to write, - for standard output");
  words.launch(request.launch, "only the shape of blocks matters here");
  words.flag("--json", request.json, "print the report (--report)");
  words.flag("-q,--quiet", request.quiet, "no warnings");
  words.settings(false);
  words.examples({"ptxasw rewrite heat.ptx -o fast.ptx --shuffle=always",
                  "ptxasw rewrite heat.ptx -o more.ptx --retile=x2"});
}

} // namespace

const Command rewrite_command = {"rewrite", "rewrite a PTX file",
                                 bind<RewriteRequest, declare, run>};

} // namespace ptxasw::wrapper
