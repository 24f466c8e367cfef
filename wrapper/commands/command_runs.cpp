// The command runs in a process group of its own, so that it ends with us, and everything that it
// has started does.

#include "wrapper/commands/command_runs.h"

#include "wrapper/os/files.h"
#include "wrapper/os/process.h"
#include "wrapper/os/terminal.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

using SortedJson = nlohmann::json;

constexpr int cannot_run = 127;  // a shell's exit code for a command that is not there
constexpr int cannot_tell = 125; // as for `git bisect run`

/// What is left to do when we are terminated: the command runs in a process group of its own, with
/// everything it has started, and the file lies in a directory for temporary files.
volatile pid_t running_group = 0;
char file_to_remove[4096];

extern "C" void end_all(int signal) {
  if (running_group > 0) // what shells start in the background does not hear SIGINT
    ::kill(-running_group, SIGTERM);
  if (file_to_remove[0] != '\0')
    ::unlink(file_to_remove);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::vector<SortedJson> lines_of(const std::string &file) {
  std::vector<SortedJson> lines;
  const std::string text = read_regular_file(file).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    SortedJson line =
        SortedJson::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                          text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_discarded())
      lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

} // namespace

void tell_found(const BisectRequest &request, const std::string &heading, const std::string &lines,
                const nlohmann::ordered_json &found) {
  if (request.json) {
    nlohmann::ordered_json all = {{"schema_version", 1}};
    all.update(found);
    fmt::print("{}\n", all.dump(2, ' ', false, SortedJson::error_handler_t::replace));
  } else {
    const Painter painter(request.colour, STDOUT_FILENO);
    fmt::print("{}\n{}", painter(heading), lines);
  }
}

void set_variable(const char *name, const std::string &value) { ::setenv(name, value.c_str(), 1); }

CommandRuns::CommandRuns(const BisectRequest &request, const std::vector<std::string> &command)
    : request_(request), command_(command) {
  const char *directory = std::getenv("TMPDIR");
  std::string file =
      fmt::format("{}/ptxasw-bisect-XXXXXX", directory && *directory ? directory : "/tmp");
  const int descriptor = ::mkstemp(file.data());
  if (descriptor < 0)
    throw NoAnswer{"cannot make a temporary file"};
  ::close(descriptor);
  file_ = file;
  if (file.size() < sizeof file_to_remove)
    std::strcpy(file_to_remove, file.c_str());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (::signal(signal, end_all) == SIG_IGN) // as a shell starts what is in the background
      ::signal(signal, SIG_IGN);
}

CommandRuns::~CommandRuns() {
  if (!file_.empty())
    ::unlink(file_.c_str());
}

// The exit code of the command; a signal counts as a failure.
int CommandRuns::run_once() {
  ++count_;
  ::unlink(file_.c_str());
  // A second run would find nothing on standard input.
  const std::string script =
      request_.show_output ? "exec \"$@\" </dev/null" : "exec \"$@\" </dev/null >/dev/null 2>&1";
  ChildPlan plan{"/bin/sh", "sh", {"-c", script, "sh"}, -1, -1, &running_group};
  plan.arguments.insert(plan.arguments.end(), command_.begin(), command_.end());
  const ChildResult child = run_child(plan);
  if (WIFSIGNALED(child.status)) {
    const int signal = WTERMSIG(child.status);
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
      throw NoAnswer{"interrupted"};
    return 128 + signal;
  }
  return WEXITSTATUS(child.status);
}

CommandAnswer CommandRuns::ask(const std::string &what, unsigned runs) {
  CommandAnswer answer;
  for (unsigned i = 0; i < runs; ++i) {
    if (!request_.show_output && !request_.quiet)
      progress_.show(fmt::format("run {} of the command, {}", count_ + 1, what));
    const int code = run_once();
    progress_.clear();
    if (code == cannot_run)
      throw NoAnswer{fmt::format("`{}` cannot be run", command_.front())};
    if (code == cannot_tell)
      throw NoAnswer{fmt::format("the command exits with {}, so it cannot tell", cannot_tell)};
    answer.mixed |= i > 0 && answer.fails != (code != 0);
    answer.fails |= code != 0;
    answer.lines = lines_of(file_);
  }
  if (!request_.quiet)
    fmt::print(stderr, "ptxasw: {}: the command {}\n", what, answer.fails ? "fails" : "succeeds");
  return answer;
}

} // namespace ptxasw::wrapper
