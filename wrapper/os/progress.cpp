// Writes at most a few times a second and wipes its line at the end, so that nothing of it stays.

#include "wrapper/os/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace ptxasw::wrapper {
namespace {

constexpr long long milliseconds_between = 100;

long long now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool is_set(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value;
}

std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0)
      return; // progress is not worth an error
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

} // namespace

Progress::Progress()
    : on_(::isatty(STDERR_FILENO) == 1 && is_set("TERM") &&
          std::string_view(std::getenv("TERM")) != "dumb" && !is_set("CI")) {}

Progress::~Progress() { clear(); }

void Progress::show(std::string_view text) {
  if (!on_ || now() < next_)
    return;
  next_ = now() + milliseconds_between;
  std::string line = "\r";
  for (const char c : text.substr(0, columns() - 1))
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  write_all(line + "\033[K");
  shown_ = true;
}

void Progress::clear() {
  if (shown_)
    write_all("\r\033[K");
  shown_ = false;
}

Elapsing::Elapsing(std::string what, bool wanted) {
  if (wanted && Progress().is_on())
    shower_ = std::thread([this, what = std::move(what)] { show(what); });
}

Elapsing::~Elapsing() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  if (shower_.joinable())
    shower_.join();
}

void Elapsing::show(const std::string &what) {
  Progress progress;
  std::unique_lock lock(mutex_);
  for (unsigned seconds = 1;
       !over_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; }); ++seconds)
    progress.show(what + ", " + std::to_string(seconds) + " s");
}

} // namespace ptxasw::wrapper
