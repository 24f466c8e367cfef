// By flock(): it ends with the process, however that ends.

#include "wrapper/os/file_lock.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace ptxasw::wrapper {

FileLock::FileLock(const std::string &path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  constexpr auto pause = std::chrono::milliseconds(5), longest = std::chrono::milliseconds(5000);
  if (file_ < 0 && errno == EISDIR)
    file_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (auto waited = pause; file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0; waited += pause) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return;
    if (waited > longest) {
      is_theirs_ = true;
      return;
    }
    std::this_thread::sleep_for(pause);
  }
}

FileLock::~FileLock() {
  if (file_ >= 0)
    ::close(file_);
}

} // namespace ptxasw::wrapper
