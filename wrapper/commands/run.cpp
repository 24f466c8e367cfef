// `ptxasw run`: a command under a preload library that puts us where its children start ptxas, and
// with keys of its own in the build caches: an object made with us is not the plain toolkit's.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/preload.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/cache_key.h"
#include "wrapper/drop_in/find_real.h"

#include <cstdlib>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw run` was asked: everything is in the settings and behind `--`.
struct RunRequest {};

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
           fmt::format("{};{} config --cache-key",
                       is_word ? "stat -L -c %n/%s/%y %compiler%" : before, self)
               .c_str(),
           1);
}

int run(const RunRequest &, const Invocation &invocation) {
  if (const auto code = export_settings(invocation, "run"))
    return *code;
  if (const auto loaded = preload("libptxasw-exec.so"); !loaded)
    return complain(loaded.error());
  separate_caches();
  // Through a shell, so that a command that is ptxas itself is started with us in between, too.
  return become_command(invocation.foreign, "ptxasw run");
}

void declare(Words &words, RunRequest &) { words.settings(true); }

} // namespace

const Command run_command = {
    "run", "run a command with every ptxas it starts replaced: ptxasw run -- make",
    bind<RunRequest, declare, run>};

} // namespace ptxasw::wrapper
