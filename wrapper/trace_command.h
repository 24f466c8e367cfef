#pragma once

#include "emulator/launch.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ptxasw {

/// What `ptxasw trace` was asked.
struct TraceRequest {
  std::string input;
  std::vector<std::string> kernels; ///< only these; empty is all
  std::optional<BlockShape> assume_block;
  bool json = false;
};

/// Adds the subcommand; its options go to `request`.
const CLI::App *add_trace_command(CLI::App &app, TraceRequest &request);

/// Prints the symbolic memory trace of a module's kernels. Returns an exit code.
int trace_command(const TraceRequest &request);

} // namespace ptxasw
