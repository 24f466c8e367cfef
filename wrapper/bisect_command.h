#pragma once

#include <string>
#include <vector>

namespace ptxasw {

/// What `ptxasw bisect` was asked.
struct BisectRequest {
  unsigned repeats = 1;     ///< runs of the command for one answer; it fails if one of them does
  bool show_output = false; ///< let the command write to our own streams
};

/// Runs a command that compiles and checks what it compiled under ever smaller parts of the
/// rewrites and prints the one that makes it fail. The settings must be in the environment.
/// Returns 0 if one was found, 1 if not.
int bisect_command(const BisectRequest &request, const std::vector<std::string> &command);

} // namespace ptxasw
