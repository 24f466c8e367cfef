#pragma once

#include "emulator/launch.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw {

/// What `ptxasw trace` was asked.
struct TraceRequest {
  std::string input;
  std::vector<std::string> kernels; ///< only these; empty is all
  std::optional<BlockShape> assume_block;
  bool json = false;
};

/// Prints the symbolic memory trace of a module's kernels. Returns an exit code.
int trace_command(const TraceRequest &request);

} // namespace ptxasw
