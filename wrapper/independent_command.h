#pragma once

#include <string>
#include <vector>

namespace ptxasw {

/// What `ptxasw independent` was asked.
struct IndependentRequest {
  std::string input;
  std::vector<std::string> kernels; ///< only these; empty is all
  bool json = false;
};

/// Prints of each kernel and axis whether what it writes depends on how the axis is cut into
/// blocks. Exit code 0, or 1 if the file cannot be read.
int independent_command(const IndependentRequest &request);

} // namespace ptxasw
