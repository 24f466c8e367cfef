#pragma once

#include "emulator/launch.h"
#include "wrapper/settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw {

/// What `ptxasw occupancy` was asked.
struct OccupancyRequest {
  std::string input;                      ///< PTX; empty: the numbers below
  std::vector<std::string> kernels;       ///< only these; empty is all
  std::string arch;                       ///< empty: the module's target
  std::optional<BlockShape> block;        ///< nothing: every number of warps
  std::optional<std::uint32_t> registers; ///< instead of what ptxas gives
  std::uint64_t static_shared = 0;        ///< bytes, without a module
  std::uint64_t dynamic_shared = 0;       ///< bytes
  bool opted_in = false;
  bool json = false;
};

/// Prints how many blocks and warps of each kernel a multiprocessor holds, and what is in the way
/// of more. Exit code 0; 1 if the module, the architecture or the real ptxas does not say.
int occupancy_command(const Settings &settings, const OccupancyRequest &request);

} // namespace ptxasw
