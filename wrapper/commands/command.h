#pragma once

// What a subcommand is, for the files of this folder that are one: a name, the words it takes, and
// a function that does the work. independent.cpp is a short one to look at:
//   const Command independent_command{"independent", "...", bind<Request, declare, run>};

#include "wrapper/settings/load_settings.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

class Words;

/// What a command is given besides the words that it declared.
struct Invocation {
  std::vector<OwnOption> given;     ///< settings, of commands that declared them
  std::vector<std::string> foreign; ///< the words after `--`: someone else's command

  /// Files, environment and `given`. Errors: the first thing that is not understood.
  tl::expected<Settings, std::string> settings() const { return load_settings(given, "--"); }
};

/// A declared command: the words it takes are known, but not yet read.
using Run = std::function<int(const Invocation &)>;

/// A subcommand. Every file of this folder that is one defines one of these, and `commands()` lists
/// them.
struct Command {
  std::string_view name;
  std::string_view meaning; ///< one line, for people
  /// Says which words it takes; what comes back does the work and returns the exit code.
  Run (*declare)(Words &words);
};

/// The usual form: `declare` binds words to the members of a request, `run` gets what was read.
template <typename Request, void (*declare)(Words &, Request &),
          int (*run)(const Request &, const Invocation &)>
Run bind(Words &words) {
  auto request = std::make_shared<Request>();
  declare(words, *request);
  return [request](const Invocation &invocation) { return run(*request, invocation); };
}

/// How a command ends, the same in all of them. What runs a program otherwise ends as that does.
namespace exit_code {
inline constexpr int fine = 0;
inline constexpr int found = 1;      ///< what was looked for, or a difference
inline constexpr int failed = 2;     ///< it could not be done: words, files, another tool
inline constexpr int incomplete = 3; ///< it is not known, not emulated, or a budget was spent

/// That of the whole if the parts end with `a` and `b`: 1 counts before 2 before 3.
int worse(int a, int b);
} // namespace exit_code

/// Prints an error; returns `code`.
int complain(std::string_view message, int code = exit_code::failed);

/// Before someone else's command is run: passes the given settings through the environment to those
/// of its children that run as ptxas. Returns an exit code if there is nothing to run or a setting
/// is wrong, after reporting it.
std::optional<int> export_settings(const Invocation &invocation, std::string_view command);

} // namespace ptxasw::wrapper
