#pragma once

// What warps of a launch do, found by running them. A walk (warp_walk.h) has to guess how often
// some loops go round, where some branches lead and in what banks lanes meet; versions that keep
// the code of their kernel have many of these.

#include "analysis/cost/request.h"
#include "emulator/machine/warp_launch.h"

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace ptxasw::analysis::cost {

/// What a launch is given, all numbers that matter known.
struct RunInputs {
  const Arguments &arguments;
  const std::vector<std::string_view> &pointers; ///< parameters that stand for buffers far apart
  std::uint32_t dynamic_shared = 0;              ///< bytes
  bool record = true; ///< WarpRuns::steps are wanted; else only how much is done
};

/// Takes parameters that have no value, and may be pointers, for pointers to buffers as cudaMalloc
/// aligns them, 2^40 bytes apart. Returns their names.
std::vector<std::string_view> assume_pointers(const Function &function, Arguments &arguments);

struct WarpRuns {
  /// By the number of the block in the grid, and the warp in it.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<RecordedStep>> steps;
  std::vector<WarpCount> counts; ///< by block, in the order in which they were asked for
};

/// Runs blocks of a launch on the warp emulator. Twice, with different contents of memory: where
/// these decide where control goes or which addresses are accessed, there is no answer, but why.
tl::expected<WarpRuns, std::string> run_warps(const Kernel &kernel, const RunInputs &inputs,
                                              const Extents &grid, const Extents &block,
                                              const std::vector<std::uint64_t> &blocks);

/// What all warps of a launch do together.
struct LaunchCount {
  double instructions = 0, sectors = 0, conflicts = 0, divwarps = 0;
  std::uint64_t run = 0, all = 0; ///< blocks; each between the first and the last stands for others
};

/// Or why it cannot be counted.
tl::expected<LaunchCount, std::string> count_launch(const Module &module, const Function &function,
                                                    Arguments arguments, const Extents &grid,
                                                    const Extents &block,
                                                    std::uint32_t dynamic_shared);

} // namespace ptxasw::analysis::cost
