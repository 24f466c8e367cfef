// `ptxasw run`: a command under a preload library that puts us where its children start ptxas, and
// with keys of its own in the build caches: an object made with us is not the plain toolkit's.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/preload.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/cache_key.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/os/files.h"
#include "wrapper/os/process.h"

#include <csignal>
#include <cstdlib>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw run` was asked: everything else is in the settings and behind `--`.
struct RunRequest {
  bool no_gpu = false;
};

/// Lets the caches that a build may use know that this is not the plain toolkit, and which one it
/// is: both variables are part of the key (ccache 4.5, sccache 0.2.15). Only a compilation further
/// down knows what it finds (another directory's settings file, another environment): so ccache
/// asks for the key at each, besides what it checks anyway.
void separate_caches() {
  const std::string key = cache_key({}).value_or("ptxasw");
  for (const char *variable : {"CCACHE_NAMESPACE", "SCCACHE_C_CUSTOM_CACHE_BUSTER"}) {
    const char *before = std::getenv(variable);
    ::setenv(variable, (before && *before ? before + ("-" + key) : key).c_str(), 1);
  }
  const std::string self = own_path();
  if (self.find_first_of(" ;%") != std::string::npos)
    return; // ccache cuts commands at blanks
  const char *check = std::getenv("CCACHE_COMPILERCHECK");
  const std::string before = check ? check : "mtime";
  const bool is_word =
      before == "mtime" || before == "content" || before == "none" || before.starts_with("string:");
  ::setenv("CCACHE_COMPILERCHECK",
           fmt::format("{};{} status --cache-key",
                       is_word ? "stat -L -c %n/%s/%y %compiler%" : before, self)
               .c_str(),
           1);
}

/// Runs the command to its end, and says so if no kernel was checked on the way.
int run_gate(const std::vector<std::string> &command) {
  const int checked = make_memory_file("checked", "");
  if (checked < 0)
    return complain("cannot make a file in memory");
  ::setenv(checked_variable, fmt::format("/proc/{}/fd/{}", ::getpid(), checked).c_str(), 1);
  for (const int signal : {SIGINT, SIGQUIT}) // those of a terminal are the command's
    ::signal(signal, [](int) {});
  ChildPlan plan{"/bin/sh", "sh", {"-c", "exec \"$@\"", "ptxasw run"}, -1, -1};
  plan.arguments.insert(plan.arguments.end(), command.begin(), command.end());
  const ChildResult child = run_child(plan);
  if (child.status != 0)
    return exit_like(child.status);
  if (::lseek(checked, 0, SEEK_END) > 0)
    return 0;
  return complain("no kernel was checked: either nothing was assembled, as where all is up to date "
                  "or comes from a cache, or nothing that was has a kernel");
}

int run(const RunRequest &request, const Invocation &invocation) {
  if (const auto code = export_settings(invocation, "run"))
    return *code;
  const auto settings = invocation.settings(); // they are valid
  if (const auto checks = check_gate(*settings); !checks)
    return complain(checks.error());
  if (const auto loaded = preload("libptxasw-exec.so"); !loaded)
    return complain(loaded.error());
  if (request.no_gpu) {
    const auto runtime = find_runtime();
    if (!runtime)
      return complain(runtime.error());
    ::setenv("PTXASW_RUNTIME_DIRECTORY", runtime->c_str(), 1);
    put_runtime_first(*runtime);
  }
  separate_caches();
  if (settings->lint && settings->lint_choices.is_gate())
    return run_gate(invocation.foreign);
  // Through a shell, so that a command that is ptxas itself is started with us in between, too.
  return become_command(invocation.foreign, "ptxasw run");
}

void declare(Words &words, RunRequest &request) {
  words.flag("--no-gpu", request.no_gpu,
             "programs that are linked run on the CPU: our runtime in the place of cudart");
  words.settings(true);
  words.examples({"ptxasw run --lint -- make -j8", "ptxasw run --shuffle=always -- nvcc heat.cu"});
}

} // namespace

const Command run_command = {
    "run", "run a command with every ptxas it starts replaced: ptxasw run -- make",
    bind<RunRequest, declare, run>};

} // namespace ptxasw::wrapper
