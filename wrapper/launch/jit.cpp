// The rewriting is that of `ptxasw rewrite`, in a process of its own: whatever happens to it, time
// included, ends with the image as it was. The result is kept in a directory, under a hash of the
// text and of everything that affects the result; an empty file there says that there is nothing to
// gain.

#include "wrapper/launch/jit.h"

#include "wrapper/launch/answer.h"
#include "wrapper/launch/state.h"
#include "wrapper/launch/whole_files.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::chrono::seconds time_limit{20};
constexpr std::size_t largest_image = std::size_t{64} << 20;

/// The program that rewrites: named by the environment, or beside this library.
std::string find_program() {
  if (const char *given = std::getenv("PTXASW_LAUNCH_PTXASW"); given && *given)
    return given;
  Dl_info info;
  if (!::dladdr(reinterpret_cast<void *>(&find_program), &info) || !info.dli_fname)
    return "";
  const std::string self = info.dli_fname;
  const std::string directory = self.substr(0, self.rfind('/') + 1);
  for (const char *place : {"ptxasw", "../../bin/ptxasw"})
    if (std::string path = directory + place; ::access(path.c_str(), X_OK) == 0)
      return path;
  return "";
}

/// The environment without us: the program must not load this library, nor rewrite for itself.
std::vector<char *> child_environment() {
  std::vector<char *> result;
  for (char **entry = environ; entry && *entry; ++entry)
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0 &&
        std::strncmp(*entry, "PTXASW_LAUNCH_", 14) != 0)
      result.push_back(*entry);
  result.push_back(nullptr);
  return result;
}

/// Runs a program with its output in a file. False unless it ended well and in time.
bool run(const std::vector<std::string> &words, const std::string &output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char *> argv, environment = child_environment();
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = -1;
  const int failed =
      ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return false;
  const auto end = std::chrono::steady_clock::now() + time_limit;
  for (auto pause = std::chrono::milliseconds(1);;
       pause = std::min(2 * pause, std::chrono::milliseconds(50))) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child)
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0 && errno != EINTR)
      return false; // the program waits for all children itself: how it ended is unknown
    if (std::chrono::steady_clock::now() > end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(pause);
  }
}

/// The directory of what was rewritten before; empty if there is none that is ours alone.
std::string find_directory() {
  std::string path;
  const auto add = [&](const std::string &part) {
    path += part;
    ::mkdir(path.c_str(), 0700);
  };
  if (const char *given = std::getenv("PTXASW_LAUNCH_CACHE"); given && *given)
    add(given);
  else if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    add(cache), add("/ptxasw"), add("/launch");
  else if (const char *home = std::getenv("HOME"); home && *home == '/')
    add(home), add("/.cache"), add("/ptxasw"), add("/launch");
  else
    return "";
  struct stat found;
  if (::stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() ||
      (found.st_mode & 022))
    return "";
  return path;
}

/// What rewrites and where its results are kept; read once.
struct Workshop {
  std::string program, directory, key;
};
const Workshop &workshop() {
  static const Workshop *const value = [] {
    auto *made = new Workshop{find_program(), find_directory(), ""};
    if (made->program.empty() || made->directory.empty())
      return made;
    // Settings, files of settings, and the program itself.
    const std::string path = fmt::format("{}/key.{}", made->directory, ::getpid());
    if (run({made->program, "status", "--cache-key"}, path))
      made->key = read_whole(path).value_or("");
    ::unlink(path.c_str());
    return made;
  }();
  return *value;
}

/// Rewrites a text, or says from memory on disk what came out of it; empty: nothing.
std::string rewrite(std::string_view text) {
  const Workshop &w = workshop();
  if (w.key.empty()) {
    log_line("jit", "\"problem\":\"no ptxasw, or no directory for its results\"");
    return "";
  }
  const std::string name = long_hash(fmt::format("{}\n{}", w.key, text));
  const std::string kept = fmt::format("{}/{}.ptx", w.directory, name);
  if (auto known = read_whole(kept)) {
    log_line("jit", fmt::format("\"image\":{},\"from\":\"cache\",\"changed\":{}", json_text(name),
                                !known->empty()));
    return std::move(*known);
  }
  const std::string in = fmt::format("{}/{}.{}.in", w.directory, name, ::getpid());
  const std::string out = fmt::format("{}/{}.{}.out", w.directory, name, ::getpid());
  std::string result;
  bool good = false;
  if (write_whole(in, text) && run({w.program, "rewrite", in, "-o", "-"}, out))
    if (auto made = read_whole(out)) {
      good = true;
      result = *made == text ? "" : std::move(*made);
    }
  if (!begins_ptx(result.data(), result.size()))
    result.clear();
  ::unlink(in.c_str());
  if (write_whole(out, result))
    ::rename(out.c_str(), kept.c_str());
  log_line("jit", fmt::format("\"image\":{},\"from\":{},\"changed\":{}", json_text(name),
                              good ? "\"rewriting\"" : "\"failure\"", !result.empty()));
  return result;
}

} // namespace

bool begins_ptx(const char *text, std::size_t size) {
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return k < size ? text[k] : '\0'; };
  while (at(i)) {
    if (std::strchr(" \t\r\n", at(i))) {
      ++i;
    } else if (at(i) == '/' && at(i + 1) == '/') {
      while (at(i) && at(i) != '\n')
        ++i;
    } else if (at(i) == '/' && at(i + 1) == '*') {
      i += 2;
      while (at(i) && !(at(i) == '*' && at(i + 1) == '/'))
        ++i;
      i += at(i) ? 2 : 0;
    } else {
      break;
    }
  }
  static constexpr char word[] = ".version";
  for (std::size_t k = 0; k + 1 < sizeof word; ++k)
    if (at(i + k) != word[k])
      return false;
  return true;
}

const std::string *rewritten_ptx(const void *data, std::size_t size) {
  if (!configuration().jit || !at_work() || !data || size > largest_image)
    return nullptr;
  const char *const text = static_cast<const char *>(data);
  if (!begins_ptx(text, size))
    return nullptr;
  const std::string_view image(text, ::strnlen(text, size));
  static std::mutex mutex;
  static auto *const known = new std::map<std::string, std::unique_ptr<std::string>, std::less<>>;
  const std::lock_guard lock(mutex);
  auto found = known->find(image);
  if (found == known->end())
    found = known->emplace(image, std::make_unique<std::string>(rewrite(image))).first;
  return found->second->empty() ? nullptr : found->second.get();
}

const char *rewritten_image(const void *image) {
  if (!configuration().jit || !image)
    return nullptr;
  // An image of any other kind begins with bytes that are not text; so no missing byte is read
  // before it is known that a NUL ends it.
  if (!begins_ptx(static_cast<const char *>(image), largest_image))
    return nullptr;
  const std::string *const text =
      rewritten_ptx(image, ::strnlen(static_cast<const char *>(image), largest_image));
  return text ? text->c_str() : nullptr;
}

void note_rejected() { log_line("jit", "\"problem\":\"the driver did not take it\""); }

} // namespace ptxasw::wrapper::launch
