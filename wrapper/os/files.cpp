// Reading and writing that loses nothing: only regular files are read twice, results are written
// beside their place and renamed, and errors say which file and why.

#include "wrapper/os/files.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace ptxasw::wrapper {
namespace {

class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

private:
  int number_;
};

tl::unexpected<std::string> file_error(const char *what, const std::string &path) {
  return tl::unexpected(fmt::format("cannot {} `{}`: {}", what, path, std::strerror(errno)));
}

/// The path with the chain of links at its end followed, also if the last target does not exist.
std::string follow_links(std::string path) {
  for (int i = 0; i < 40; ++i) {
    std::vector<char> buffer(4096);
    const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());
    if (size <= 0)
      break;
    std::string target(buffer.data(), static_cast<std::size_t>(size));
    const std::size_t slash = path.rfind('/');
    path = target.front() == '/' || slash == std::string::npos ? target
                                                               : path.substr(0, slash + 1) + target;
  }
  return path;
}

tl::expected<void, std::string> write_directly(const std::string &path, std::string_view bytes) {
  const Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!out || !write_all(out.number(), bytes))
    return file_error("write", path);
  return {};
}

} // namespace

std::optional<std::string> read_descriptor(int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0)
    return std::nullopt;
  const bool regular = S_ISREG(info.st_mode);
  off_t position = regular ? ::lseek(descriptor, 0, SEEK_CUR) : 0;
  std::string text;
  if (regular && info.st_size > position)
    text.reserve(static_cast<std::size_t>(info.st_size - position) + 1);
  std::size_t used = 0;
  for (;;) {
    // One byte more than the size says ends the loop with a read of 0 instead of a second growth.
    text.resize(std::max(used + 65536, text.capacity()));
    const ssize_t got = regular
                            ? ::pread(descriptor, text.data() + used, text.size() - used, position)
                            : ::read(descriptor, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return std::nullopt;
    used += static_cast<std::size_t>(got);
    position += got;
    if (got == 0)
      break;
  }
  text.resize(used);
  return text;
}

tl::expected<std::string, std::string> read_input(const std::string &path) {
  std::optional<Descriptor> file;
  if (path != "-") {
    file.emplace(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!*file)
      return file_error("read", path);
  }
  if (auto text = read_descriptor(file ? file->number() : STDIN_FILENO))
    return std::move(*text);
  return file_error("read", path == "-" ? "standard input" : path);
}

std::optional<std::string> read_regular_file(const std::string &path) {
  // Non-blocking, or a pipe without a writer would stop us right here.
  const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!in || ::fstat(in.number(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  return read_descriptor(in.number());
}

std::optional<std::string> read_own_file(const std::string &path) {
  constexpr off_t most = off_t{1} << 30; // nothing of ours is larger
  const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat info {};
  if (!in || ::fstat(in.number(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid() || info.st_size > most)
    return std::nullopt;
  return read_descriptor(in.number());
}

/// A limit on file sizes (ulimit -f) is to be an error of the write, not the end of the process.
class WithoutSizeSignal {
public:
  WithoutSizeSignal() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &ignore, &before_);
  }
  ~WithoutSizeSignal() { ::sigaction(SIGXFSZ, &before_, nullptr); }
  WithoutSizeSignal(const WithoutSizeSignal &) = delete;
  WithoutSizeSignal &operator=(const WithoutSizeSignal &) = delete;

private:
  struct sigaction before_ {};
};

bool write_all(int descriptor, std::string_view bytes) {
  const WithoutSizeSignal guard;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void tell_user(std::string_view message) {
  // Of a pipe that nobody reads any more the error is enough: what is to be done is done all the
  // same.
  sigset_t pipe, before, pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  (void)write_all(STDERR_FILENO, message);
  const timespec now{};
  if (::sigismember(&pending, SIGPIPE) == 0)
    while (::sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {
    }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void remove_directory(const std::string &path) {
  // Under another name nobody who has only this one writes into it.
  constexpr int most_tries = 100;
  const std::string ended = path + ".ended";
  const bool is_renamed = ::rename(path.c_str(), ended.c_str()) == 0;
  std::error_code error;
  for (int i = 0; i == 0 || (error && i < most_tries); ++i)
    std::filesystem::remove_all(is_renamed ? ended : path, error);
}

void occupy_standard_descriptors() {
  // A new descriptor gets the lowest free number.
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(standard, F_GETFD) < 0)
      ::open("/dev/null", O_RDWR | O_CLOEXEC);
}

tl::expected<void, std::string> write_file_atomically(const std::string &path,
                                                      std::string_view bytes) {
  if (path == "-") {
    if (!write_all(STDOUT_FILENO, bytes))
      return file_error("write", "standard output");
    return {};
  }
  const std::string target = follow_links(path);
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode))
    return write_directly(path, bytes);
  if (exists && ::access(target.c_str(), W_OK) != 0)
    return file_error("write", path);
  std::string temporary = target + ".XXXXXX";
  const Descriptor out(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!out) // a directory in which we may not create files can still hold a file we may write
    return write_directly(path, bytes);
  mode_t mode = info.st_mode & 07777;
  if (!exists) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  if (!write_all(out.number(), bytes) || ::fchmod(out.number(), mode) != 0 ||
      ::rename(temporary.c_str(), target.c_str()) != 0) {
    const auto error = file_error("write", path);
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

bool replace_file_at(int directory, const std::string &name, std::string_view bytes) {
  std::uint64_t number = 0;
  if (::getentropy(&number, sizeof number) != 0)
    return false;
  const std::string temporary = fmt::format("{}.{:016x}", name, number);
  const Descriptor out(::openat(directory, temporary.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out)
    return false;
  if (write_all(out.number(), bytes) &&
      ::renameat(directory, temporary.c_str(), directory, name.c_str()) == 0)
    return true;
  ::unlinkat(directory, temporary.c_str(), 0);
  return false;
}

int make_memory_file(const char *label, std::string_view bytes) {
  const int descriptor = ::memfd_create(label, 0);
  if (descriptor >= 0 && (!write_all(descriptor, bytes) || ::lseek(descriptor, 0, SEEK_SET) != 0)) {
    ::close(descriptor);
    return -1;
  }
  return descriptor;
}

} // namespace ptxasw::wrapper
