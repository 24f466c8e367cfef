// Ends a process at one of its steps in a folder, so that a test can try each of them. It is
// preloaded; all processes of a run count together what they are about to do there, and whoever
// comes to the number that is asked for is killed before it does it, or if it is a write, in the
// middle. The system is called directly: nothing is looked up, whoever else stands in front.
//
//   KILL_IN      the folder, with all below it
//   KILL_AT      the number, from 1
//   KILL_COUNT   a file of eight bytes, in which they count

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

const char *const folder = std::getenv("KILL_IN");

std::atomic<std::uint64_t> *open_count() {
  const char *const path = std::getenv("KILL_COUNT");
  const long file = path ? ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0)
    return nullptr;
  void *const at = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED,
                          static_cast<int>(file), 0);
  ::syscall(SYS_close, file);
  return at == MAP_FAILED ? nullptr : static_cast<std::atomic<std::uint64_t> *>(at);
}

bool is_there(const char *path) {
  return folder && path && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_there(int file) {
  char name[32], path[4096] = "";
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  return folder && ::readlink(name, path, sizeof path - 1) > 0 && is_there(path);
}

/// Counts a step there; true if it is the last one of this process.
bool is_last(bool there) {
  static std::atomic<std::uint64_t> *const count = open_count();
  static const char *const number = std::getenv("KILL_AT");
  return there && count && number && ++*count == std::strtoull(number, nullptr, 10);
}

void step(bool there) {
  if (is_last(there))
    ::kill(::getpid(), SIGKILL);
}

} // namespace

extern "C" {

ssize_t write(int file, const void *bytes, std::size_t size) {
  if (is_last(is_there(file))) {
    ::syscall(SYS_write, file, bytes, size / 2);
    ::kill(::getpid(), SIGKILL);
  }
  return ::syscall(SYS_write, file, bytes, size);
}

int openat(int directory, const char *path, int flags, ...) {
  std::va_list list;
  va_start(list, flags);
  const unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
  va_end(list);
  step((flags & O_CREAT) && is_there(path));
  return static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode));
}

int open(const char *path, int flags, ...) {
  std::va_list list;
  va_start(list, flags);
  const unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
  va_end(list);
  return openat(AT_FDCWD, path, flags, mode);
}

int renameat(int from, const char *old_path, int to, const char *path) noexcept {
  step(is_there(path));
  return static_cast<int>(::syscall(SYS_renameat, from, old_path, to, path));
}

int unlink(const char *path) noexcept {
  step(is_there(path));
  return static_cast<int>(::syscall(SYS_unlink, path));
}

int mkdir(const char *path, mode_t mode) noexcept {
  step(is_there(path));
  return static_cast<int>(::syscall(SYS_mkdir, path, mode));
}

int flock(int file, int operation) noexcept {
  step(is_there(file));
  return static_cast<int>(::syscall(SYS_flock, file, operation));
}

int utimensat(int directory, const char *path, const timespec *times, int flags) noexcept {
  step(is_there(path));
  return static_cast<int>(::syscall(SYS_utimensat, directory, path, times, flags));
}
}
