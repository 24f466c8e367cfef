#pragma once

#include "emulator/launch.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw {

/// What `ptxasw explain` was asked.
struct ExplainRequest {
  std::string input;
  std::vector<std::string> kernels;
  std::optional<BlockShape> assume_block;
  bool json = false;
  bool opcodes = false;
};

/// Prints what is known of every global load, or of every opcode. Returns an exit code.
int explain_command(const ExplainRequest &request);

} // namespace ptxasw
