#pragma once

// What a user can choose about warnings.

#include "analysis/lint/codes.h"
#include "wrapper/settings/launch_point.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// A warning that is not wanted: of a code, in one kernel or in all.
struct Silence {
  lint::Code code = lint::Code::uncoalesced;
  std::string kernel; ///< empty: all
};

/// A warning that is not wanted in files whose paths a pattern matches.
struct AllowedFile {
  std::string code;
  std::string pattern; ///< in which `*` is any text and `?` any character
};

/// Which warnings are reported, how loudly, and under which assumptions about the launch.
struct LintChoices {
  std::array<bool, lint::code_count> on = by_default(); ///< by code
  std::array<bool, lint::code_count> error = {};        ///< by code
  std::array<bool, lint::code_count> named = {};        ///< by code: somebody spoke of it
  bool toolkit = false; ///< also of code that is all in headers of the CUDA toolkit
  std::vector<Silence> silenced;
  std::vector<AllowedFile> allowed_files;
  lint::Options options;
  unsigned base_alignment = 1;           ///< bytes; see facts::Assumptions
  std::string baseline;                  ///< file; empty: none
  std::string sarif, json;               ///< files that a run as ptxas writes; empty: none
  LaunchPoint point;                     ///< numbers of a launch
  std::string warnings, errors, assumed; ///< the words behind the above, as settings show them
  std::string launch, allowed;           ///< those behind `point` and `allowed_files`

  static std::array<bool, lint::code_count> by_default();
  /// Takes a word after -W: `CODE`, `no-CODE`, `no-CODE:KERNEL`, `pedantic`, `no-pedantic`, `all`,
  /// `none`, `error`, `error=CODE`. False if it is none.
  bool warn(std::string_view word);
  /// Takes a word after --error-on: `CODE`, which is then on, too, or `all`. False if it is none.
  bool error_on(std::string_view word);
  /// Takes `base-align=N`, N a power of two up to 4096. False if it is none.
  bool assume(std::string_view word);
  /// Takes `CODE:PATTERN`: warnings that are allowed in files of such a name. False if it is none.
  bool allow(std::string_view word);
  /// Takes a word after --launch (read_point()). False if it is none.
  bool at(std::string_view word);
  /// True if a run is to fail for what is found.
  bool is_gate() const;
  /// `is_called`: if a kernel is one that a pattern asks for.
  bool is_silenced(lint::Code code, std::string_view kernel,
                   bool (*is_called)(std::string_view kernel, std::string_view pattern)) const;
  /// True if a warning is off by default and nobody has said anything about it.
  bool is_hidden(lint::Code code) const;
};

/// What is wrong with a word that names no warning: with the nearest name there is.
std::string no_such_warning(std::string_view word);

} // namespace ptxasw::wrapper
