#pragma once

// What a user can choose about warnings.

#include "analysis/lint/codes.h"
#include "wrapper/settings/launch_point.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::inline wrapper {

/// A warning that is not wanted: of a code, in one kernel or in all.
struct Silence {
  lint::Code code = lint::Code::uncoalesced;
  std::string kernel; ///< empty: all
};

/// Which warnings are reported, how loudly, and under which assumptions about the launch.
struct LintChoices {
  std::array<bool, lint::code_count> on = by_default(); ///< by code
  std::array<bool, lint::code_count> error = {};        ///< by code
  std::vector<Silence> silenced;
  lint::Options options;
  unsigned base_alignment = 1;           ///< bytes; see facts::Assumptions
  std::string baseline;                  ///< file; empty: none
  std::string sarif, json;               ///< files that a run as ptxas writes; empty: none
  LaunchPoint point;                     ///< numbers of a launch
  std::string warnings, errors, assumed; ///< the words behind the above, as settings show them
  std::string launch;                    ///< those behind `point`

  static std::array<bool, lint::code_count> by_default();
  /// Takes a word after -W: `CODE`, `no-CODE`, `no-CODE:KERNEL`, `all`, `none`. False if it is
  /// none.
  bool warn(std::string_view word);
  /// Takes a word after --error-on: `CODE`, which is then on, too, or `all`. False if it is none.
  bool error_on(std::string_view word);
  /// Takes `base-align=N`, N a power of two up to 4096. False if it is none.
  bool assume(std::string_view word);
  /// Takes a word after --at (read_point()). False if it is none.
  bool at(std::string_view word);
  /// True if a run is to fail for what is found.
  bool is_gate() const;
  bool is_silenced(lint::Code code, std::string_view kernel) const;
};

} // namespace ptxasw::wrapper
