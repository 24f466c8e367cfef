// `ptxasw run`: a command under a preload library that puts us where its children start ptxas, and
// with keys of its own in the build caches: an object made with us is not the plain toolkit's.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/cache_key.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/os/files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw {
namespace {

/// What `ptxasw run` was asked: everything is in the settings and behind `--`.
struct RunRequest {};

/// The interposer lies beside the program in a build, and in ../libexec/ptxasw where it was
/// installed.
std::string find_interposer() {
  const std::string self = own_path();
  const std::string directory = self.substr(0, self.rfind('/'));
  for (const char *place : {"/libptxasw-exec.so", "/../libexec/ptxasw/libptxasw-exec.so"})
    if (std::string path = directory + place; ::access(path.c_str(), R_OK) == 0)
      return path;
  return "";
}

/// Lets the caches that a build may use know that this is not the plain toolkit, and which one it
/// is: both variables are part of the key (ccache 4.5, sccache 0.2.15). What a compilation further
/// down finds (another directory's settings file, another environment) only it can tell: so ccache
/// asks for the key at each, besides what it looks at anyway.
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
  const std::vector<std::string> &command = invocation.foreign;
  const std::string interposer = find_interposer();
  if (interposer.empty()) {
    fmt::print(stderr, "ptxasw: error: libptxasw-exec.so is not beside ptxasw\n");
    return 1;
  }
  if (interposer.find_first_of(" :") != std::string::npos) {
    fmt::print(stderr,
               "ptxasw: error: LD_PRELOAD cannot hold `{}`: a blank or a colon ends a path\n",
               interposer);
    return 1;
  }
  // Preloaded libraries of the user stay; ours goes first.
  const char *others = std::getenv("LD_PRELOAD");
  const std::string preload = others && *others ? interposer + ":" + others : interposer;
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  separate_caches();
  // Through a shell, so that a command that is ptxas itself is started with us in between, too.
  std::vector<char *> argv;
  for (const char *word : {"sh", "-c", "exec \"$@\"", "ptxasw run"})
    argv.push_back(const_cast<char *>(word));
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  ::execv("/bin/sh", argv.data());
  fmt::print(stderr, "ptxasw: error: cannot run /bin/sh: {}\n", std::strerror(errno));
  return 126; // as shells do
}

void declare(Words &words, RunRequest &) { words.settings(true); }

} // namespace

const Command run_command = {
    "run", "run a command with every ptxas it starts replaced: ptxasw run -- make",
    bind<RunRequest, declare, run>};

} // namespace ptxasw
