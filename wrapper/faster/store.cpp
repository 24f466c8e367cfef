// A file KEY.versions for each answer, KEY.toml beside it for what was chosen, KEY.lock while one
// is being made; HASH-SIZE.compiled for PTX whose machine code that is the hash and size of. Each
// is under its name only when it is whole, and an answer ends with a checksum: who is killed while
// writing leaves a file of another name, which goes with the next cleaning. Nothing waits for a
// lock for longer than another process takes to write a small file, and for five seconds at most.

#include "wrapper/faster/store.h"

#include "wrapper/os/file_lock.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ptxasw::wrapper::faster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 8192, largest_profile = 1 << 20;
constexpr std::time_t leftover = 3600; ///< seconds after which nobody is still writing a file

/// What of ours a file is: an answer, choices, or what nobody needs after a while.
bool is_kept(const fs::path &path) {
  const std::string kind = path.extension();
  return kind == ".versions" || kind == ".reason" || kind == ".toml" ||
         kind == launch::compiled_suffix;
}
bool is_leftover(const fs::path &path) {
  return path.extension() == ".lock" || is_kept(path.stem());
}

/// Returns true if nobody else has a directory's contents, or its name, in hand.
bool is_ours(const std::string &directory) {
  struct stat name {};
  struct stat found {};
  return ::lstat(directory.c_str(), &name) == 0 && name.st_uid == ::geteuid() &&
         ::stat(directory.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid() && !(found.st_mode & 022);
}

launch::Profile read_choices(const std::string &path) {
  const auto text = read_own_file(path);
  if (!text || text->size() > largest_profile)
    return {};
  auto profile = launch::parse_profile(*text, path);
  return profile ? std::move(*profile) : launch::Profile{};
}

} // namespace

Store::Store(std::uint64_t limit) : limit_(limit) {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  if (cache &&
      *cache == '/') { // which is made if it is not there (XDG Base Directory Specification)
    directory_ = cache;
    for (std::size_t at = 1; (at = directory_.find('/', at)) != std::string::npos; ++at)
      ::mkdir(directory_.substr(0, at).c_str(), 0700);
  } else if (home && *home == '/')
    directory_ = std::string(home) + "/.cache";
  else
    usable_ = tl::unexpected(std::string("neither XDG_CACHE_HOME nor HOME names a directory"));
  if (!usable_)
    return;
  ::mkdir(directory_.c_str(), 0700);
  bool ours = true;
  for (const char *part : {"/ptxasw", "/faster"}) {
    directory_ += part;
    ::mkdir(directory_.c_str(), 0700);
    ours = ours && is_ours(directory_);
  }
  struct stat found {};
  if (::stat(directory_.c_str(), &found) != 0)
    usable_ = tl::unexpected(fmt::format("cannot make {}: {}", directory_, std::strerror(errno)));
  else if (!ours) {
    usable_ = tl::unexpected(fmt::format("{} is no directory of ours alone", directory_));
    directory_.clear(); // machine code of somebody else is not loaded
  } else if (::access(directory_.c_str(), W_OK | X_OK) != 0)
    usable_ =
        tl::unexpected(fmt::format("cannot write to {}: {}", directory_, std::strerror(errno)));
}

std::string Store::path(const std::string &key, const char *kind) const {
  return fmt::format("{}/{}.{}", directory_, key, kind);
}

std::optional<launch::Answer> Store::find(const std::string &key) {
  std::optional<std::string> bytes;
  std::string file;
  for (const char *kind : {"versions", "reason"})
    if (!bytes && !directory_.empty()) {
      file = path(key, kind);
      bytes = read_own_file(file);
    }
  if (!bytes)
    return std::nullopt;
  auto answer = launch::decode_answer(*bytes);
  if (!answer) {
    ::unlink(file.c_str());
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0); // used now
  answer->choices = to_toml(read_choices(path(key, "toml")));
  return std::move(*answer);
}

bool Store::keep(const std::string &key, const launch::Answer &answer) {
  if (!usable_)
    return false;
  launch::Answer alone = answer;
  alone.choices.clear();
  const std::string bytes = encode(alone);
  if (bytes.size() > limit_ ||
      !replace_file_at(AT_FDCWD, path(key, answer.reason.empty() ? "versions" : "reason"), bytes))
    return false;
  make_room();
  return true;
}

std::string Store::remembered() const {
  std::string text;
  std::error_code error;
  if (!directory_.empty())
    for (fs::directory_iterator one(directory_, error), end; !error && one != end;
         one.increment(error))
      if (const std::string stem = one->path().stem();
          one->path().extension() == ".versions" && stem.find('-') != std::string::npos)
        text += stem.substr(stem.find('-') + 1) + "\n";
  return text;
}

double Store::remembered_us(const std::string &name) {
  if (!choices_) {
    choices_.emplace();
    std::error_code error;
    if (!directory_.empty())
      for (fs::directory_iterator one(directory_, error), end; !error && one != end;
           one.increment(error))
        if (const std::string stem = one->path().stem();
            one->path().extension() == ".toml" && stem.find('-') != std::string::npos)
          choices_->emplace(stem.substr(stem.find('-') + 1), one->path().string());
  }
  double longest = 0;
  const auto [first, last] = choices_->equal_range(name);
  for (auto one = first; one != last; ++one)
    for (const launch::ProfileEntry &entry : read_choices(one->second).entries) {
      longest = std::max(longest, entry.original_us);
      for (const double sample : entry.open.empty() ? std::vector<double>() : entry.open[0])
        longest = std::max(longest, sample);
    }
  return longest;
}

bool Store::keep_compiled(const std::string &name, const std::string &bytes) {
  if (!usable_ || !launch::size_in_compiled_name(name) || !launch::decode_compiled(bytes))
    return false;
  const std::string file = path(name, "compiled");
  if (read_own_file(file) == bytes)
    return ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0) == 0; // used now
  return replace_file_at(AT_FDCWD, file, bytes);
}

std::string Store::compiled() const {
  std::string text = directory_ + "\n";
  std::error_code error;
  if (directory_.empty() || directory_.find('\n') != std::string::npos)
    return "";
  for (fs::directory_iterator one(directory_, error), end; !error && one != end;
       one.increment(error))
    if (const std::string name = one->path().stem();
        one->path().extension() == launch::compiled_suffix && launch::size_in_compiled_name(name))
      text += name + "\n";
  return text;
}

unsigned Store::gpu() const {
  const std::string text =
      directory_.empty() ? "" : read_own_file(directory_ + "/gpu").value_or("");
  const unsigned long sm = std::strtoul(text.c_str(), nullptr, 10);
  return sm <= 999 ? static_cast<unsigned>(sm) : 0;
}

void Store::set_gpu(unsigned sm) {
  if (usable_ && gpu() != sm)
    (void)replace_file_at(AT_FDCWD, directory_ + "/gpu", fmt::format("{}\n", sm));
}

bool Store::merge(const std::string &key, const launch::Profile &profile) {
  struct stat found {};
  if (!usable_ || ::stat(path(key, "versions").c_str(), &found) != 0 || !S_ISREG(found.st_mode))
    return false;
  const FileLock lock(directory_ + "/lock");
  if (lock.is_theirs())
    return false;
  launch::Profile all = read_choices(path(key, "toml"));
  all.merge(profile);
  const std::string text = to_toml(all);
  return text.size() <= largest_profile && replace_file_at(AT_FDCWD, path(key, "toml"), text);
}

Store::Right Store::take(const std::string &key) {
  if (!usable_)
    return Right::nobodys;
  right_ = ::open(path(key, "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (right_ < 0)
    return Right::nobodys;
  if (::flock(right_, LOCK_EX | LOCK_NB) == 0)
    return Right::ours;
  const bool theirs = errno == EWOULDBLOCK;
  give_back();
  return theirs ? Right::theirs : Right::nobodys;
}

void Store::give_back() {
  if (right_ >= 0)
    ::close(right_);
  right_ = -1;
}

void Store::make_room() {
  struct File {
    std::string path;
    std::uint64_t bytes;
    std::time_t used;
  };
  if (!usable_)
    return;
  const FileLock lock(directory_ + "/lock");
  if (lock.is_theirs())
    return;
  std::vector<File> files;
  std::uint64_t all = 0;
  std::error_code error;
  for (fs::directory_iterator one(directory_, error), end; !error && one != end;
       one.increment(error)) {
    const std::string name = one->path().string();
    struct stat found {};
    if (one->path().filename() == "lock" || ::lstat(name.c_str(), &found) != 0 ||
        !S_ISREG(found.st_mode))
      continue;
    if (!is_kept(one->path())) {
      if (is_leftover(one->path()) && found.st_mtim.tv_sec + leftover < std::time(nullptr))
        ::unlink(name.c_str());
      continue;
    }
    files.push_back({name, static_cast<std::uint64_t>(found.st_size), found.st_mtim.tv_sec});
    all += files.back().bytes;
  }
  std::sort(files.begin(), files.end(),
            [](const File &a, const File &b) { return a.used < b.used; });
  std::size_t left = files.size();
  for (const File &file : files) {
    if (all <= limit_ && left <= most_files)
      break;
    if (::unlink(file.path.c_str()) == 0) {
      all -= file.bytes;
      --left;
    }
  }
}

} // namespace ptxasw::wrapper::faster
