#pragma once

#include "emulator/launch.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ptxasw {

/// What `ptxasw explain` was asked.
struct ExplainRequest {
  std::string input;
  std::vector<std::string> kernels;
  std::optional<BlockShape> assume_block;
  bool json = false;
  bool opcodes = false;
};

/// Adds the subcommand; its options go to `request`.
const CLI::App *add_explain_command(CLI::App &app, ExplainRequest &request);

/// Prints what is known of every global load, or of every opcode. Returns an exit code.
int explain_command(const ExplainRequest &request);

} // namespace ptxasw
