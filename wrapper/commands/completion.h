#pragma once

// Completion of `ptxasw` for three shells: commands, options, and the values of options that are a
// choice of words; any other value is completed as the name of a file. After the `--` of a command
// that runs another one, that one is completed. `commands`: as `describe_commands` has them.

#include "wrapper/commands/description.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

std::string bash_completion(const std::vector<CommandDescription> &commands);
std::string zsh_completion(const std::vector<CommandDescription> &commands);
std::string fish_completion(const std::vector<CommandDescription> &commands);

} // namespace ptxasw::wrapper
