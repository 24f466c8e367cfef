#pragma once

#include "wrapper/settings/find_config.h"
#include "wrapper/settings/settings.h"

namespace ptxasw::wrapper {

/// Stores every key of a ptxasw.toml; keys that a project's file may not set are ignored, with a
/// line in `settings.ignored`.
/// Errors: not TOML, an unknown key or an impossible value, each with its line.
tl::expected<void, std::string> apply_config_file(Settings &settings, const ConfigFile &file,
                                                  Origin origin);

} // namespace ptxasw::wrapper
