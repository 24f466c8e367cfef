#pragma once

// Tells people at a terminal that work goes on: `lint`, `verify`, `tune` and others, and the
// runtime without a GPU while a kernel takes long.
//   Progress progress; // then progress.show("3 of 12 kernels")

#include "grammar/namespaces.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace ptxasw::wrapper {

/// The progress of long work, as one line of standard error that is overwritten and finally
/// removed. On a terminal only: where standard error is a file or a pipe, TERM is `dumb` or unset,
/// or CI is set, nothing is ever written. It has no colours, so NO_COLOR has nothing to forbid.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Shows `text`, cut to the width of the terminal; at most ten times a second.
  void show(std::string_view text);
  /// Takes the line away, for something else to be written.
  void clear();
  /// Returns true if anything can be seen.
  bool is_on() const { return on_; }

private:
  bool on_;
  bool shown_ = false;
  long long next_ = 0; ///< milliseconds; before then nothing is shown
};

/// Shows what is under way and for how long it has been, beyond its first second and until the
/// object is destroyed: the progress of work that cannot say how far it is.
class Elapsing {
public:
  /// Does nothing unless it is `wanted`.
  explicit Elapsing(std::string what, bool wanted = true);
  ~Elapsing();
  Elapsing(const Elapsing &) = delete;
  Elapsing &operator=(const Elapsing &) = delete;

private:
  void show(const std::string &what);

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread shower_;
};

} // namespace ptxasw::wrapper
