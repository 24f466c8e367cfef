#pragma once

// Starts someone else's program with libraries of ours in it: `ptxasw run`, `launch`, `tune`,
// `faster` and `check`.

#include "grammar/namespaces.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// Where a library of ours lies: beside the program in a build, in ../libexec/ptxasw where it was
/// installed.
/// Error: it is not there.
tl::expected<std::string, std::string> find_library(const std::string &name);

/// The directory of the runtime for programs without a GPU. Error: it is not there.
tl::expected<std::string, std::string> find_runtime();

/// From now on programs that link cudart dynamically find our runtime first.
void put_runtime_first(const std::string &directory);

/// Puts a library of ours before all others that programs load from now on; those that the user
/// preloads stay. Errors: it is not there, or the path cannot stand in LD_PRELOAD.
tl::expected<void, std::string> preload(const std::string &name);

/// Turns this process into a shell that becomes the command, found as a shell finds it; `name` is
/// what the shell's messages begin with. Returns an exit code if there is no shell.
int become_command(const std::vector<std::string> &command, const std::string &name);

} // namespace ptxasw::wrapper
