#pragma once

// ptxasw.toml, the user's and the project's. Its keys are the names of settings, so nothing here
// knows one by name; which of them may stand in a project's file the table of settings says.

#include "wrapper/settings/find_config.h"
#include "wrapper/settings/settings.h"

namespace ptxasw::wrapper {

/// Stores every key of a ptxasw.toml; keys that a project's file may not set are ignored, with a
/// line in `settings.ignored`.
/// Errors: not TOML, an unknown key or an impossible value, each with its line.
tl::expected<void, std::string> apply_config_file(Settings &settings, const ConfigFile &file,
                                                  Origin origin);

} // namespace ptxasw::wrapper
