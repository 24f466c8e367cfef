#pragma once

// All settings at once, from wherever they come. Commands and runs as ptxas begin with it:
//   const auto settings = load_settings(line.own); // settings->rewrite, or settings.error()

#include "wrapper/settings/settings.h"

#include <optional>

namespace ptxasw::wrapper {

/// A setting given as `--ptxasw-NAME` or `--ptxasw-NAME=VALUE`.
struct OwnOption {
  std::string name;
  std::optional<std::string> value;
};

/// All settings: ptxasw.toml, then the environment, then the given flags, whose names the user
/// wrote with `prefix` in front.
/// Errors: the first thing that is not understood, ready to print.
tl::expected<Settings, std::string> load_settings(const std::vector<OwnOption> &flags,
                                                  std::string_view prefix = "--ptxasw-");

/// Whatever can be understood of the files and the environment, after `load_settings` has said what
/// cannot: for a command that diagnoses this.
Settings load_what_is_right();

} // namespace ptxasw::wrapper
