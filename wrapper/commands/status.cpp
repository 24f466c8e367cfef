// `ptxasw status`: what would run as ptxas from here, why, and what on this machine would call it.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/overlay.h"
#include "wrapper/commands/status_parts.h"
#include "wrapper/commands/version.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/cache_key.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw status` was asked.
struct StatusRequest {
  bool settings = false, cache_key = false; ///< only these
  bool totals = false, last_run = false;    ///< only what the log says
  bool launch_log = false;                  ///< only what the launch helper's log says
  bool json = false;
  std::string program;
};

namespace fs = std::filesystem;

void status_line(std::string_view name, std::string_view value) {
  fmt::print("{:<15} {}\n", name, value);
}

/// Every program of that name in PATH.
std::vector<std::string> in_path(std::string_view program) {
  std::vector<std::string> found;
  std::string_view rest = std::getenv("PATH") ? std::getenv("PATH") : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string path = fmt::format("{}/{}", rest.substr(0, colon), program);
    if (::access(path.c_str(), X_OK) == 0 &&
        std::find(found.begin(), found.end(), path) == found.end())
      found.push_back(path);
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return found;
}

struct Caller {
  std::string_view program;
  std::string_view how; ///< to put us in its way
};

constexpr Caller callers[] = {
    {"nvcc", "ptxasw overlay DIR, then DIR/bin/nvcc"},
    {"clang", "--ptxas-path=DIR/bin/ptxas"},
    {"nvc", "ptxasw run -- nvc ..."},
    {"nvfortran", "ptxasw run -- nvfortran ..."},
    {"nvptx-none-as", "ptxasw run -- gcc -fopenacc ..."},
    {"ccache", "keeps apart what the overlay's nvcc made with other settings; a hit runs no ptxas "
               "and writes no report, journal or log"},
    {"sccache", "as ccache"},
};

int print_last(const Settings &settings) {
  if (settings.log.empty()) {
    fmt::print("no log is kept; set PTXASW_LOG to a file\n");
    return exit_code::failed;
  }
  auto text = read_input(settings.log);
  if (!text)
    return complain(text.error());
  if (text->empty()) {
    fmt::print("the log {} is empty\n", settings.log);
    return exit_code::failed;
  }
  if (text->back() == '\n')
    text->pop_back();
  std::string last = text->substr(text->rfind('\n') + 1);
  for (char &c : last) // it goes to a terminal
    if (c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f))
      c = '?';
  fmt::print("{}\n", last);
  return 0;
}

/// Says of every overlay that PATH leads to if it still hangs together.
void print_overlays() {
  // By nvcc: in an overlay that lost its ptxasw there is no ptxas to be found.
  for (const std::string &nvcc : in_path("nvcc")) {
    const fs::path root = fs::path(nvcc).parent_path().parent_path();
    std::error_code error;
    if (!fs::exists(root / ".ptxasw-overlay", error))
      continue;
    status_line("overlay", fmt::format("{}: {}", root.string(), overlay_state(root.string())));
  }
}

int run(const StatusRequest &request, const Invocation &invocation) {
  if (!request.program.empty())
    return print_program(request.program);
  if (request.json && !request.totals)
    return complain("--json is for --totals");
  if (request.launch_log) {
    const char *log = std::getenv("PTXASW_LAUNCH_LOG");
    return print_launch_log(log ? log : "");
  }
  auto loaded = invocation.settings();
  if (!loaded && (request.settings || request.cache_key || request.totals))
    return complain(loaded.error());
  if (request.cache_key) {
    const auto key = cache_key({});
    if (!key)
      return complain(key.error());
    fmt::print("{}\n", *key);
    return 0;
  }
  if (request.totals)
    return print_log(*loaded, request.json);
  if (request.settings) {
    print_settings(*loaded);
    return 0;
  }
  if (!loaded) { // this command is there to find out what is wrong
    (request.last_run ? tell_user(fmt::format("ptxasw: warning: {}\n", loaded.error()))
                      : status_line("settings", "WRONG: " + loaded.error()));
    loaded = load_what_is_right();
  }
  const Settings &settings = *loaded;
  if (request.last_run)
    return print_last(settings);
  status_line("ptxasw", fmt::format("{} {}", own_version(), own_path()));
  const auto real = find_real(settings.real, invoked_path());
  if (real) {
    status_line("real ptxas", real->path);
    status_line("chosen because", real->why);
    status_line("its version", ptxas_version(real->path));
  } else {
    status_line("real ptxas", "NOT FOUND: " + real.error());
  }
  status_line("settings", describe_configuration(settings));
  status_line("your settings", settings.user_file.empty() ? "none" : settings.user_file);
  status_line("project's", settings.project_file.empty() ? "none" : settings.project_file);
  for (const std::string &ignored : settings.ignored)
    status_line("warning", ignored);
  status_line("log", settings.log.empty() ? "none" : settings.log);
  print_overlays();
  for (const Caller &caller : callers)
    for (const std::string &path : in_path(caller.program))
      status_line(caller.program, fmt::format("{}  ({})", path, caller.how));
  return real ? 0 : 1;
}

void declare(Words &words, StatusRequest &request) {
  words.flag("--settings", request.settings, "instead, every setting, its value and its origin");
  words.flag("--cache-key", request.cache_key,
             "instead, what must be part of the key of a cache of objects");
  words.flag("--totals", request.totals,
             "instead, the log of all runs added up: outcomes, rewrites, reasons, time");
  words.flag("--json", request.json, "that as JSON");
  words.flag("--last-run", request.last_run, "instead, what the log says about the last run");
  words.flag("--launch-log", request.launch_log,
             "instead, what PTXASW_LAUNCH_LOG says about launches");
  words.text("program", request.program, "instead, what is in this program for the launch helper");
  words.examples({"ptxasw status --settings", "ptxasw status --totals --json"});
}

} // namespace

const Command status_command = {"status",
                                "which ptxas would run, and why; settings, and what runs did",
                                bind<StatusRequest, declare, run>};

} // namespace ptxasw::wrapper
