// The log: one line per run, appended by one write, so that parallel builds do not mix their lines.

#include "wrapper/drop_in/outcome.h"

#include "wrapper/os/files.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
  case Outcome::rewritten:
    return "rewritten";
  case Outcome::nothing_found:
    return "nothing-found";
  case Outcome::switched_off:
    return "switched-off";
  case Outcome::information_only:
    return "information-only";
  case Outcome::doubtful_arguments:
    return "doubtful-arguments";
  case Outcome::no_code:
    return "no-code";
  case Outcome::debug_build:
    return "debug-build";
  case Outcome::instrumented:
    return "instrumented";
  case Outcome::discarded:
    return "discarded";
  case Outcome::target_decision:
    return "target-decision";
  case Outcome::unreadable_input:
    return "unreadable-input";
  case Outcome::not_ptx:
    return "not-ptx";
  case Outcome::failed:
    return "failed";
  case Outcome::crashed:
    return "crashed";
  case Outcome::no_place:
    return "no-place";
  case Outcome::rejected:
    return "rejected";
  case Outcome::original_fails:
    return "original-fails";
  case Outcome::settings_ignored:
    return "settings-ignored";
  }
  return "unknown";
}

namespace {

/// One run, one line, and what people look at on a terminal: control characters become blanks.
std::string flat(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = ' ';
  return result;
}

} // namespace

std::string log_line(Outcome outcome, std::string_view input, std::string_view detail,
                     std::string_view numbers) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z\t{}\t{}\t{}\t{}{}{}\n",
                     parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec, ::getpid(), to_string(outcome), flat(input),
                     flat(detail), numbers.empty() ? "" : "\t", numbers);
}

void append_log(const std::string &file, const std::string &line) {
  if (file.empty())
    return;
  // Not to wait for a reader, should it be a pipe.
  const int log =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  // One call: lines of parallel runs do not mix.
  const bool written = log >= 0 && write_all(log, line);
  static bool warned = false;
  if (!written && !warned)
    tell_user(fmt::format("ptxasw: warning: cannot write `{}`: {}\n", file, std::strerror(errno)));
  warned |= !written;
  if (log < 0)
    return;
  if (!written)
    (void)write_all(log, "\n"); // the next line must not be glued to half of this one
  ::close(log);
}

} // namespace ptxasw::wrapper
