#pragma once

#include "wrapper/settings.h"

#include <optional>
#include <vector>

namespace ptxasw {

/// A settings file that may be believed.
struct ConfigFile {
  std::string path;
  std::string text;
};

/// `$XDG_CONFIG_HOME/ptxasw/ptxasw.toml` (`~/.config` if unset). Why one that is there does not
/// count is added to `ignored`.
std::optional<ConfigFile> find_user_config(std::vector<std::string> &ignored);

/// The ptxasw.toml in the current directory or the nearest one above that may be believed.
std::optional<ConfigFile> find_project_config(std::vector<std::string> &ignored);

/// Stores every key of a ptxasw.toml; keys that a project's file may not set are ignored, with a
/// line in `settings.ignored`.
/// Errors: not TOML, an unknown key or an impossible value, each with its line.
tl::expected<void, std::string> apply_config_file(Settings &settings, const ConfigFile &file,
                                                  Origin origin);

} // namespace ptxasw
