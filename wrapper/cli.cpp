// From the words to the command: settings are loaded for those that need them, and whatever happens
// ends with a message and an exit code.

#include "wrapper/cli.h"

#include "wrapper/cache_key.h"
#include "wrapper/commands.h"
#include "wrapper/files.h"
#include "wrapper/load_settings.h"
#include "wrapper/options.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <new>
#include <system_error>

namespace ptxasw {
namespace {

constexpr int usage_error = 2;

/// Words after `--` are a command of somebody else.
std::vector<std::string> split_off_command(std::vector<std::string> &words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> command;
  if (dashes != words.end())
    command.assign(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return command;
}

int complain(const std::string &message) {
  fmt::print(stderr, "ptxasw: error: {}\n", message);
  return usage_error;
}

/// Children, being ptxas to somebody, get the settings by the environment.
void export_settings(const std::vector<OwnOption> &given, const Settings &settings) {
  for (const SettingSpec &spec : setting_table())
    if (std::any_of(given.begin(), given.end(),
                    [&](const OwnOption &option) { return option.name == spec.name; }))
      ::setenv(environment_name(spec).c_str(), spec.get(settings).c_str(), 1);
}

/// Commands that need no settings; nothing if it is another one.
std::optional<int> run_plain(const Request &request) {
  const std::string &command = request.command;
  if (command == "trace")
    return trace_command(request.trace);
  if (command == "overlay")
    return request.check ? check_overlay(request.directory)
                         : overlay_command(request.directory, request.cuda, request.remove);
  if (command == "emulate")
    return emulate_command(request.emulate);
  if (command == "explain")
    return explain_command(request.explain);
  if (command == "independent")
    return independent_command(request.independent);
  if (command == "verify")
    return verify_command(request.verify);
  return std::nullopt;
}

int run_subcommand(std::vector<std::string> words) {
  const std::vector<std::string> foreign = split_off_command(words);
  const auto request = parse_options(std::move(words));
  if (!request)
    return request.error();
  if (const auto code = run_plain(*request))
    return *code;
  const std::string &command = request->command;
  auto settings = load_settings(request->given, "--");
  if (!settings && command == "status") { // it is there to find out what is wrong
    (request->last ? tell_user(fmt::format("ptxasw: warning: {}\n", settings.error()))
                   : fmt::print("{:<15} {}\n", "settings", "WRONG: " + settings.error()));
    settings = load_what_is_right();
  }
  if (!settings)
    return complain(settings.error());
  if (command == "rewrite")
    return rewrite_command(*settings, request->input, request->output);
  if (command == "status")
    return status_command(*settings, request->last);
  if (command == "occupancy")
    return occupancy_command(*settings, request->occupancy);
  if (command == "stats")
    return stats_command(*settings, request->json);
  if (command == "config" && request->cache_key) {
    const auto key = cache_key({});
    if (!key)
      return complain(key.error());
    fmt::print("{}\n", *key);
    return 0;
  }
  if (command == "config")
    return config_command(*settings, request->markdown);
  if (command == "assemble")
    return assemble_command(*settings, request->real, foreign);
  if (foreign.empty())
    return complain(
        fmt::format("nothing to run; write the command after `--`: ptxasw {} -- make", command));
  export_settings(request->given, *settings);
  return command == "bisect" ? bisect_command(request->bisect, foreign) : run_command(foreign);
}

} // namespace

int command_line_interface(const std::vector<std::string> &words) {
  try {
    const int code = run_subcommand(words);
    // A full disk is noticed when the buffer is written at last.
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return complain(fmt::format("cannot write standard output: {}", std::strerror(errno)));
    return code;
  } catch (const std::bad_alloc &) {
    return complain("out of memory");
  } catch (const std::system_error &error) { // of fmt, when standard output cannot be written
    return complain(error.what());
  } catch (const std::exception &error) {
    return complain(error.what());
  }
}

} // namespace ptxasw
