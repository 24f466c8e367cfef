// GCC's offloading compiler writes PTX, runs its own assembler over it and embeds the text; ptxas
// is only called there for a check whose result is thrown away. So this is the place.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/os/process.h"

#include "synth/rewrite.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw assemble` was asked; the assembler's own words are behind `--`.
struct AssembleRequest {
  std::string tool;
};

/// The assembler's command line: `-o FILE`, `-m TARGET`, switches, at most one input.
CommandLine parse_assembler_line(const std::vector<std::string> &words) {
  CommandLine line;
  line.arguments = words;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "-o" || words[i] == "-m")
      ++i;
    else if (!words[i].starts_with('-'))
      line.inputs.push_back({InputKind::file, i, 0});
  return line;
}

/// The exit code, or nothing if the assembler is to get the original.
std::optional<int> rewrite_and_assemble(const Settings &settings, const std::string &tool,
                                        const CommandLine &line) {
  if (settings.rewrite.shuffle == ShuffleMode::never || line.inputs.size() != 1)
    return std::nullopt;
  auto modules = read_modules(line);
  if (!modules)
    return std::nullopt;
  InputModule &module = modules->front();
  auto result = rewrite_module(module.original, module.name, settings.rewrite);
  if (!result || !result->changed) {
    append_log(settings.log,
               log_line(result ? Outcome::nothing_found : Outcome::not_ptx, module.name,
                        result ? "by the nvptx assembler" : result.error().message));
    return std::nullopt;
  }
  module.rewritten = std::move(result->text);
  module.lines = std::move(result->lines);
  module.changed = true;
  module.report = std::move(result->report);
  const Handover handover = hand_over(tool, tool, line, *modules);
  if (handover.outcome != Outcome::rewritten)
    return std::nullopt;
  append_log(settings.log, log_line(Outcome::rewritten, module.name, "by the nvptx assembler"));
  return handover.exit_code;
}

int run(const AssembleRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error(), usage_error);
  const std::string &tool = request.tool;
  const std::vector<std::string> &words = invocation.foreign;
  const CommandLine line = parse_assembler_line(words);
  ::setenv(guard_variable, "1", 1); // or `ptxasw run` would lead the tool back to us
  try {
    if (const auto code = rewrite_and_assemble(*settings, tool, line))
      return *code;
  } catch (const std::exception &error) {
    append_log(settings->log, log_line(Outcome::failed, "nvptx assembler", error.what()));
  }
  become(tool, tool, words);
  return complain(fmt::format("cannot run `{}`: {}", tool, std::strerror(errno)));
}

void declare(Words &words, AssembleRequest &request) {
  words.required("--tool", request.tool, "the assembler to run on the rewritten PTX");
}

} // namespace

const Command assemble_command = {
    "assemble", "stand in for GCC's nvptx assembler: ptxasw assemble --tool AS -- WORDS",
    bind<AssembleRequest, declare, run>};

} // namespace ptxasw::wrapper
