#pragma once

// Man pages, which `ptxasw describe man` prints.

#include "wrapper/commands/description.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// `ptxasw(1)` in the macros of man(7): what there is, the settings, files and environment.
/// `commands`: as `describe_commands` has them.
std::string man_page(const std::vector<CommandDescription> &commands);

/// `ptxasw-NAME(1)` in the macros of man(7).
std::string man_page(const CommandDescription &command);

} // namespace ptxasw::wrapper
