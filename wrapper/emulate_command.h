#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw {

/// `ptxasw emulate FILE`.
struct EmulateRequest {
  std::string file, kernel;
  std::vector<std::uint32_t> grid{1, 1, 1}, block{32, 1, 1};
  std::uint32_t shared = 0;
  std::uint64_t step_limit = 10'000'000'000, memory_limit = 4096; ///< thread-instructions, MiB
  std::vector<std::string> arguments; ///< in the order of the kernel's parameters
  std::vector<std::string> dumps;
  std::string schedule = "reconverge";
  std::vector<std::string> checks;
  bool profile = false;
};

/// Exit code 0: the kernel ran. 1: it failed, or a check found something. 2: it could not be tried.
int emulate_command(const EmulateRequest &request);

} // namespace ptxasw
