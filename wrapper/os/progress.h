#pragma once

#include <string>
#include <string_view>

namespace ptxasw::inline wrapper {

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

private:
  bool on_;
  bool shown_ = false;
  long long next_ = 0; ///< milliseconds; before then nothing is shown
};

} // namespace ptxasw::wrapper
