#pragma once

// Lines of the source files that PTX names, for people to see.
//
// A `.file` line is what somebody wrote into a PTX file: it must not bring a file into a report
// that whoever made the report would not show. So a file is read only if it looks like a source and
// lies, links followed, under a folder that the user works in.

#include "wrapper/lint/places.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

class Sources {
public:
  /// Files may lie under the current directory, under the folder of `ptx` unless that is "-" or
  /// empty, and under `roots`.
  explicit Sources(const std::vector<std::string> &roots = {});
  void add_folder_of(const std::string &ptx);

  /// The lines of a file, without their ends; null if there is none that may be shown.
  const std::vector<std::string> *lines(const std::string &file);
  /// Empty if there is none.
  std::string line(const Place &place);

private:
  std::optional<std::string> allowed(const std::string &file) const;

  std::vector<std::string> roots_; ///< without links, each ending with a slash
  std::map<std::string, std::optional<std::vector<std::string>>> files_;
};

/// The lines of a text, without their ends.
std::vector<std::string> cut_lines(std::string_view text);

/// What a path is called from the current directory: relative if it lies under it.
std::string shown_path(const std::string &path);

} // namespace ptxasw::wrapper
