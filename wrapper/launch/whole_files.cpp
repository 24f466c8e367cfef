// Files without the C++ library's streams: the library that this is in is loaded into programs
// whose locale and descriptors are their own.

#include "wrapper/launch/whole_files.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ptxasw::wrapper::launch {

namespace {

std::optional<std::string> read_and_close(int file) {
  if (file < 0)
    return std::nullopt;
  std::string text;
  std::vector<char> bytes(1 << 16);
  ssize_t n = 0;
  while ((n = ::read(file, bytes.data(), bytes.size())) > 0 || (n < 0 && errno == EINTR))
    text.append(bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  ::close(file);
  return n == 0 ? std::optional(std::move(text)) : std::nullopt;
}

// Opened for reading, too: nobody is then told of a pipe without a reader by a signal.
void ring(const std::string &bell) {
  const int file = ::open(bell.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return;
  (void)!::write(file, "", 1); // a full one will wake, too
  ::close(file);
}

} // namespace

std::optional<std::string> read_whole(const std::string &path) {
  return read_and_close(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

std::optional<std::string> read_whole_own(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat info {};
  if (file >= 0 &&
      (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid())) {
    ::close(file);
    return std::nullopt;
  }
  return read_and_close(file);
}

bool write_whole(const std::string &path, std::string_view text) {
  rlimit most{};
  if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && text.size() > most.rlim_cur)
    return false;
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return false;
  bool good = true;
  while (good && !text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    good = n > 0;
    text.remove_prefix(good ? static_cast<std::size_t>(n) : 0);
  }
  return ::close(file) == 0 && good;
}

bool replace_whole(const std::string &path, std::string_view text) {
  const std::string part = fmt::format("{}.{}.part", path, ::getpid());
  if (write_whole(part, text) && std::rename(part.c_str(), path.c_str()) == 0) {
    ring(path.substr(0, path.rfind('/') + 1) + bell_file);
    return true;
  }
  ::unlink(part.c_str());
  return false;
}

} // namespace ptxasw::wrapper::launch
