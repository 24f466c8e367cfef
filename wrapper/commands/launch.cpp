// `ptxasw launch`: a program under the launch helper, which reads what is asked of it from its
// environment.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/preload.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/launch/profile.h"
#include "wrapper/os/files.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw launch` was asked.
struct LaunchRequest {
  std::string profile; ///< empty: none, measure
  std::string log;
  std::string only;
  bool check = false, verify = false, jit = false, first = false;
};

void set_launch_variable(const char *name, const std::string &value) {
  ::setenv((std::string(launch_prefix) + name).c_str(), value.c_str(), 1);
}

std::string absolute(const std::string &path) { return std::filesystem::absolute(path).string(); }

int run(const LaunchRequest &request, const Invocation &invocation) {
  if (invocation.foreign.empty())
    return complain("nothing to run; write the program after `--`: ptxasw launch -- ./app");
  if (request.first && !request.profile.empty())
    return complain("--unmeasured and --profile do not go together");
  if (!request.profile.empty()) {
    const auto text = read_input(request.profile);
    if (!text)
      return complain(text.error());
    if (const auto profile = launch::parse_profile(*text, request.profile); !profile)
      return complain(profile.error());
    set_launch_variable("PROFILE", absolute(request.profile)); // the program may go elsewhere
  }
  if (request.first)
    set_launch_variable("MODE", "first");
  if (!request.log.empty())
    set_launch_variable("LOG", absolute(request.log));
  if (!request.only.empty())
    set_launch_variable("ONLY", request.only);
  if (request.check)
    set_launch_variable("CHECK", "1");
  if (request.verify)
    set_launch_variable("VERIFY", "1");
  if (request.jit) {
    set_launch_variable("JIT", "1");
    set_launch_variable("PTXASW", own_path());
  }
  if (const auto loaded = preload("libptxasw_launch.so"); !loaded)
    return complain(loaded.error());
  return become_command(invocation.foreign, "ptxasw launch");
}

void declare(Words &words, LaunchRequest &request) {
  words.text("--profile FILE", request.profile,
             "launch what won according to this file; measure nothing");
  words.flag("--why", request.check, "say which sibling is not used, and why");
  words.flag("--verify", request.verify,
             "run original and sibling on the same memory and stop at the first difference");
  words.flag("--jit", request.jit, "also rewrite PTX that the program hands to the driver");
  words.text("--log FILE", request.log, "append what happens to a file, a line of JSON each");
  words.text("--choose TEXT", request.only,
             "only siblings whose names contain this; =NAME,NAME: only these");
  words.flag("--unmeasured", request.first,
             "measure nothing: the first sibling that can be launched");
  words.footer("The exit code is the program's.");
  words.examples({"ptxasw launch --profile app.toml -- ./app", "ptxasw launch --why -- ./app"});
}

} // namespace

const Command launch_command = {
    "launch", "run a program, choosing for each launch the version of the kernel that suits it",
    bind<LaunchRequest, declare, run>};

} // namespace ptxasw::wrapper
