// Children by vfork and exec, which copies no page tables: half a millisecond less for each ptxas.
// Until exec the child makes system calls only, because it shares our memory.

#include "wrapper/os/process.h"

#include "wrapper/os/files.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

std::vector<char *> pointers(const std::string &name, const std::vector<std::string> &arguments) {
  std::vector<char *> result;
  result.reserve(arguments.size() + 2);
  result.push_back(const_cast<char *>(name.c_str()));
  for (const std::string &argument : arguments)
    result.push_back(const_cast<char *>(argument.c_str()));
  result.push_back(nullptr);
  return result;
}

/// The child's side, between vfork and exec: system calls only, the parent's memory is shared.
[[noreturn]] void start(const char *path, char *const *argv, const ChildPlan &plan, int capture_end,
                        pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)
    ::_exit(127);
  if (plan.group) { // named before the child runs: whoever is told to end it must know it by then
    ::setpgid(0, 0);
    *plan.group = ::getpid();
  }
  if (plan.standard_input >= 0)
    ::dup2(plan.standard_input, STDIN_FILENO);
  if (plan.capture >= 0)
    ::dup2(capture_end, plan.capture);
  ::execve(path, argv, environ);
  ::_exit(127);
}

} // namespace

ChildResult run_child(const ChildPlan &plan) {
  ChildResult result;
  std::array<int, 2> pipe = {-1, -1};
  if (plan.capture >= 0 && ::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return result;
  const std::vector<char *> argv = pointers(plan.name, plan.arguments);
  const pid_t parent = ::getpid();
  const pid_t child = ::vfork();
  if (child == 0)
    start(plan.path.c_str(), argv.data(), plan, pipe[1], parent);
  if (pipe[1] >= 0)
    ::close(pipe[1]);
  if (child > 0) {
    if (pipe[0] >= 0)
      result.captured = read_descriptor(pipe[0]).value_or("");
    while (::waitpid(child, &result.status, 0) < 0 && errno == EINTR) {
    }
    if (plan.group)
      *plan.group = 0;
    result.started = !(WIFEXITED(result.status) && WEXITSTATUS(result.status) == 127);
  }
  if (pipe[0] >= 0)
    ::close(pipe[0]);
  return result;
}

void become(const std::string &path, const std::string &name,
            const std::vector<std::string> &arguments) {
  ::execve(path.c_str(), pointers(name, arguments).data(), environ);
}

} // namespace ptxasw::wrapper
