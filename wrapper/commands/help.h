#pragma once

// The texts of `--help`, for people at a terminal.

#include "wrapper/commands/description.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// What `ptxasw COMMAND --help` prints, at most 80 columns wide except for words that are wider.
std::string command_help(const CommandDescription &command);

/// What `ptxasw --help` prints: the commands that people start with, by what they are for; with
/// `all` the others, too. The first of `commands` describes `ptxasw` itself.
std::string main_help(const std::vector<CommandDescription> &commands, bool all);

} // namespace ptxasw::wrapper
