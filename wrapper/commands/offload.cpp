// GCC's offloading compiler, started by the host's with the words of -foffload-options. Which
// targets it knows is asked of itself, and which of them the installed ptxas takes of that one.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/gcc_offload.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <sstream>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw offload` was asked; the compiler's own words are behind `--`.
struct OffloadRequest {
  std::string tool;
};

/// Words with those that files named `@FILE` hold.
std::vector<std::string> written_out(const std::vector<std::string> &words) {
  std::vector<std::string> result;
  for (const std::string &word : words) {
    result.push_back(word);
    if (!word.starts_with('@'))
      continue;
    std::istringstream stream(read_regular_file(word.substr(1)).value_or(""));
    for (std::string inner; stream >> inner;)
      result.push_back(std::move(inner));
  }
  return result;
}

/// What a program says on standard output; empty if it cannot be run or fails.
std::string answer(const std::string &program, const std::string &question) {
  ChildResult child = run_child({program, program, {question}, -1, STDOUT_FILENO});
  return child.succeeded() ? std::move(child.captured) : "";
}

std::vector<std::string> options_for(const std::string &tool, const Settings &settings,
                                     const std::vector<std::string> &words) {
  std::string compiler = answer(tool, "-print-prog-name=lto1");
  compiler.resize(std::min(compiler.find('\n'), compiler.size()));
  const OffloadTargets targets = parse_offload_targets(answer(compiler, "--help=target"));
  const auto real = find_real(settings.real, invoked_path());
  auto options = offload_options(targets, real ? answer(real->path, "--help") : "", words);
  const bool has_lines = std::any_of(words.begin(), words.end(), [](const std::string &word) {
    return word.starts_with("-g") && word != "-g0";
  });
  if (settings.lint && !has_lines)
    options.emplace_back("-g"); // for the PTX: `.loc` and nothing else
  return options;
}

int run(const OffloadRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  std::vector<std::string> words = invocation.foreign;
  // Or `ptxasw run` would lead the tool and ptxas back to us. The tool's assembler it shall.
  ::setenv(offload_guard_variable, "1", 1);
  ::setenv(guard_variable, "1", 1);
  const auto more = options_for(request.tool, *settings, written_out(words));
  ::unsetenv(guard_variable);
  words.insert(words.end(), more.begin(), more.end());
  become(request.tool, request.tool, words);
  return complain(fmt::format("cannot run `{}`: {}", request.tool, std::strerror(errno)));
}

void declare(Words &words, OffloadRequest &request) {
  words.required("--compiler", request.tool, "the compiler to run with the options that it needs");
  words.footer("`ptxasw run -- gcc` starts it.");
  words.examples({"ptxasw offload --compiler gcc-12 -- -fopenacc -O2 stencil.c",
                  "ptxasw offload --compiler /usr/bin/gcc -- \"$@\""});
}

} // namespace

const Command offload_command = {
    "offload",
    "stand in for GCC's compiler for NVIDIA GPUs: ptxasw offload --compiler GCC -- WORDS",
    bind<OffloadRequest, declare, run>};

} // namespace ptxasw::wrapper
