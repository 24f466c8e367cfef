#pragma once

// The door to all subcommands of `ptxasw`: main() comes here unless it was called as ptxas.

#include "grammar/namespaces.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// `ptxasw SUBCOMMAND ...` with the words after the program's name. Returns the exit code: 0, 1 if
/// the work failed, 2 if the words were not understood.
int command_line_interface(const std::vector<std::string> &words);

} // namespace ptxasw::wrapper
