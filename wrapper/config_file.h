#pragma once

#include "wrapper/settings.h"

namespace ptxasw {

/// The ptxasw.toml that applies: in the current directory or the nearest one above, else
/// `$XDG_CONFIG_HOME/ptxasw/ptxasw.toml` (`~/.config` if unset). Empty if there is none.
std::string find_config_file();

/// Stores every key of a ptxasw.toml.
/// Errors: not TOML, an unknown key or an impossible value, each with its line.
tl::expected<void, std::string> apply_config_file(Settings &settings, const std::string &path);

} // namespace ptxasw
