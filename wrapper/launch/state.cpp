// The library is loaded into programs that know nothing of it: it reads its environment once, says
// nothing unless asked, and at the end writes a line into its log. Nothing here calls the driver:
// at the end of a process it may already be gone.

#include "wrapper/launch/state.h"

#include "wrapper/launch/choices.h"
#include "wrapper/launch/kernels.h"
#include "wrapper/launch/streams.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::string_view prefix = "PTXASW_LAUNCH_";

/// By which `ptxasw status PROGRAM` knows that the helper is linked into a program.
__attribute__((used)) const char marker[] = "ptxasw launch helper, version " PTXASW_VERSION;

std::atomic<std::uint64_t> counters[static_cast<std::size_t>(Outcome::count)];
std::atomic<Off> off{Off::none};
pid_t process = 0; ///< whose counters these are

std::string read_file(const char *path, bool &good) {
  std::string text;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  good = file >= 0;
  char bytes[4096];
  for (ssize_t n; good && (n = ::read(file, bytes, sizeof bytes)) != 0;)
    if (n < 0)
      good = false;
    else
      text.append(bytes, static_cast<std::size_t>(n));
  if (file >= 0)
    ::close(file);
  return text;
}

bool is_on(std::string_view value) { return !value.empty() && value != "0" && value != "false"; }

/// `I/N`, the I-th of N parts; false if it is something else.
bool read_part(std::string_view value, Configuration &to) {
  std::uint32_t part = 0, parts = 0;
  const char *const end = value.data() + value.size();
  const auto first = std::from_chars(value.data(), end, part);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/')
    return false;
  const auto second = std::from_chars(first.ptr + 1, end, parts);
  if (second.ec != std::errc() || second.ptr != end || part < 1 || part > parts)
    return false;
  to.part = part;
  to.parts = parts;
  return true;
}

/// One variable; false if there is none of that name.
bool apply(Configuration &to, std::string_view name, std::string_view value) {
  if (name == "MODE") {
    if (value == "measure")
      to.mode = Mode::measure;
    else if (value == "tune")
      to.mode = Mode::tune;
    else if (value == "profile")
      to.mode = Mode::profile;
    else if (value == "first")
      to.mode = Mode::first;
    else {
      if (value != "off")
        tell(fmt::format("PTXASW_LAUNCH_MODE is `{}`, which is no mode; redirecting nothing",
                         value));
      switch_off(Off::asked);
    }
  } else if (name == "PROFILE")
    to.profile_path = value;
  else if (name == "LOG")
    to.log = value;
  else if (name == "RESULTS")
    to.results = value;
  else if (name == "ONLY")
    to.only = value;
  else if (name == "FASTER")
    to.faster = value;
  else if (name == "WAIT") {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), to.wait);
    if (error != std::errc() || end != value.data() + value.size() || !(to.wait >= 0)) {
      tell(fmt::format("PTXASW_LAUNCH_WAIT is `{}`, which is no number of milliseconds; ignored",
                       value));
      to.wait = Configuration().wait;
    }
  } else if (name == "SHARD") {
    if (!read_part(value, to))
      tell(fmt::format("PTXASW_LAUNCH_SHARD is `{}`, which is no part of a whole; ignored", value));
  } else if (name == "CHECK")
    to.check = is_on(value);
  else if (name == "VERIFY")
    to.verify = is_on(value);
  else if (name == "JIT")
    to.jit = is_on(value);
  else if (name != "CACHE" && name != "PTXASW") // of jit.cpp
    return false;
  return true;
}

Configuration read_environment() {
  Configuration result;
  // A program that runs with more rights than its caller trusts nothing that the caller says.
  if (::getauxval(AT_SECURE)) {
    switch_off(Off::asked);
    return result;
  }
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string_view line = *entry;
    if (!line.starts_with(prefix))
      continue;
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view name = line.substr(prefix.size(), equals - prefix.size());
    const std::string_view value = line.substr(std::min(equals + 1, line.size()));
    if (!value.empty() && !apply(result, name, value))
      tell(fmt::format("{}{} is no setting; ignored", prefix, name));
  }
  if (result.profile_path.empty()) {
    if (result.mode == Mode::profile)
      result.mode = Mode::measure;
    return result;
  }
  // Under `ptxasw faster` a profile is where measuring starts.
  if (result.mode != Mode::tune && result.faster.empty())
    result.mode = Mode::profile;
  bool good = false;
  const std::string text = read_file(result.profile_path.c_str(), good);
  if (!good) {
    if (result.mode == Mode::profile) // whoever measures may begin without one
      tell(fmt::format("cannot read the profile {}: {}; originals are launched",
                       result.profile_path, std::strerror(errno)));
    return result;
  }
  if (auto profile = parse_profile(text, result.profile_path))
    result.profile = std::move(*profile);
  else
    tell(fmt::format("{}; originals are launched", profile.error()));
  return result;
}

/// How many bytes a character of UTF-8 at the beginning of a text has (RFC 3629); 0: there is none.
std::size_t size_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  const std::size_t size = first < 0x80                    ? 1
                           : first >= 0xc2 && first < 0xe0 ? 2
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  const bool is_overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_none = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return is_overlong || is_none ? 0 : size;
}

void before_fork() {
  lock_handles();
  lock_choices();
  lock_streams();
}

void after_fork_in_parent() {
  unlock_streams();
  unlock_choices();
  unlock_handles();
}

/// CUDA does not work in the child of a process that has used it; of such a child we want nothing.
/// One that was forked earlier may use the GPU itself, and reports for itself.
void after_fork_in_child() {
  after_fork_in_parent();
  process = handles_in_use() ? 0 : ::getpid();
  if (!process)
    switch_off(Off::forked);
}

__attribute__((constructor)) void start() {
  process = ::getpid();
  (void)configuration();
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((destructor)) void finish() {
  if (process != ::getpid())
    return;
  std::uint64_t launches = 0;
  std::string kept;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Outcome::count); ++i) {
    const std::uint64_t n = counters[i].load(std::memory_order_relaxed);
    launches += n;
    if (n && i != static_cast<std::size_t>(Outcome::sibling))
      kept += fmt::format("{}{}:{}", kept.empty() ? "" : ",",
                          json_text(name_of(static_cast<Outcome>(i))), n);
  }
  if (launches == 0)
    return;
  log_line("end",
           fmt::format("\"launches\":{},\"redirected\":{},\"kept\":{{{}}},\"off\":{}", launches,
                       counted(Outcome::sibling), kept, json_text(name_of(why_off()))));
  write_results(true);
}

} // namespace

std::string_view name_of(Off reason) {
  constexpr std::string_view names[] = {"",       "asked",   "deep-bind", "unseen-unload",
                                        "forked", "mismatch"};
  return names[static_cast<std::size_t>(reason)];
}

const Configuration &configuration() {
  static const Configuration *const value = new Configuration(read_environment());
  return *value; // never destroyed: other libraries' destructors may still launch
}

bool asks_for_versions() { return !configuration().faster.empty(); }

bool at_work() { return off.load(std::memory_order_relaxed) == Off::none; }
Off why_off() { return off.load(std::memory_order_relaxed); }

void switch_off(Off reason) {
  Off before = Off::none;
  if (off.compare_exchange_strong(before, reason, std::memory_order_relaxed) &&
      reason != Off::asked && reason != Off::forked)
    log_line("off", fmt::format("\"reason\":{}", json_text(name_of(reason))));
}

void count(Outcome outcome) {
  counters[static_cast<std::size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t counted(Outcome outcome) {
  return counters[static_cast<std::size_t>(outcome)].load(std::memory_order_relaxed);
}

std::string json_text(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t size = size_of_character(text);
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else if (size == 0) // what an assembler says of a file's name may be in any encoding
      result += "\\ufffd";
    else
      result += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result + '"';
}

void log_line(std::string_view event, std::string_view members) {
  const std::string &path = configuration().log;
  if (path.empty())
    return;
  const std::string line = fmt::format("{{\"event\":{},\"pid\":{}{}{}}}\n", json_text(event),
                                       ::getpid(), members.empty() ? "" : ",", members);
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return;
  // One write per line: processes share the file.
  [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
  ::close(file);
}

void tell(std::string_view message) {
  const std::string line = fmt::format("ptxasw: launch: {}\n", message);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace ptxasw::wrapper::launch
