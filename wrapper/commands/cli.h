#pragma once

// All subcommands of `ptxasw`: main() comes here unless it was called as ptxas.

#include "grammar/namespaces.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// `ptxasw SUBCOMMAND ...` with the words after the program's name. Returns one of
/// `exit_code` (command.h), or how the program ended that was run.
int command_line_interface(const std::vector<std::string> &words);

} // namespace ptxasw::wrapper
