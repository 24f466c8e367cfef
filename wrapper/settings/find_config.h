#pragma once

// Finds the settings files, and says which of them may be trusted.

#include "grammar/namespaces.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// A settings file that may be trusted.
struct ConfigFile {
  std::string path;
  std::string text;
};

/// `$XDG_CONFIG_HOME/ptxasw/ptxasw.toml` (`~/.config` if unset). The reason why an existing one
/// does not count is added to `ignored`.
std::optional<ConfigFile> find_user_config(std::vector<std::string> &ignored);

/// The ptxasw.toml in the current directory or the nearest one above that may be trusted.
std::optional<ConfigFile> find_project_config(std::vector<std::string> &ignored);

} // namespace ptxasw::wrapper
