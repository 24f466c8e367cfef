#pragma once

#include <string>

namespace ptxasw::wrapper {

/// A file, or a directory, that is locked while this lives. Who holds it for long, a process that
/// was stopped, say, is not waited for longer than five seconds.
class FileLock {
public:
  /// A file that is not there is made, for its owner alone.
  explicit FileLock(const std::string &path);
  ~FileLock();
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

  /// Returns true if another process holds it. Where there are no locks nobody does.
  bool is_theirs() const { return is_theirs_; }

private:
  int file_;
  bool is_theirs_ = false;
};

} // namespace ptxasw::wrapper
