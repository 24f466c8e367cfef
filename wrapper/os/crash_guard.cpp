// A crash of ours must not become a failed build: a signal handler replaces the process by the real
// ptxas. Everything it needs is prepared before, and it makes system calls only, on a stack of its
// own.

#include "wrapper/os/crash_guard.h"

#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};

// A signal handler has no arguments of its own; what it needs must be ready, untouched by whatever
// went wrong.
struct Plan {
  std::string path, name, log_file, log_line;
  std::vector<std::string> arguments;
  std::vector<char *> argv;
};
Plan *crash_plan = nullptr;

alignas(16) std::byte other_stack[64 * 1024]; // the usual one may just have overflowed

void take_over(int) {
  if (crash_plan) {
    if (!crash_plan->log_file.empty()) {
      const int log = ::open(crash_plan->log_file.c_str(),
                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
      ::signal(SIGXFSZ, SIG_IGN); // a limit on file sizes
      if (log >= 0)
        (void)!::write(log, crash_plan->log_line.data(), crash_plan->log_line.size());
      ::signal(SIGXFSZ, SIG_DFL);
    }
    // exec keeps the signal mask, and the signal being handled is in it.
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(crash_plan->path.c_str(), crash_plan->argv.data(), environ);
  }
  ::_exit(255);
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int signal : crash_signals)
    ::sigaction(signal, &action, nullptr);
}

} // namespace

CrashGuard::CrashGuard(const std::string &path, const std::string &name,
                       const std::vector<std::string> &arguments, const std::string &log_file,
                       const std::string &log_line) {
  crash_plan = new Plan{path, name, log_file, log_line, arguments, {}};
  crash_plan->argv.push_back(crash_plan->name.data());
  for (std::string &argument : crash_plan->arguments)
    crash_plan->argv.push_back(argument.data());
  crash_plan->argv.push_back(nullptr);
  const stack_t stack = {other_stack, 0, sizeof other_stack};
  ::sigaltstack(&stack, nullptr);
  set_handlers(take_over);
}

CrashGuard::~CrashGuard() {
  set_handlers(SIG_DFL);
  delete crash_plan;
  crash_plan = nullptr;
}

} // namespace ptxasw::wrapper
