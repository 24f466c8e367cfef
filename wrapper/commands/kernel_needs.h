#pragma once

// Registers and shared memory of kernels, for the commands that need an occupancy: `advise`, `cost`
// and `optimize`. The real ptxas says them, unless the user does.

#include "analysis/occupancy.h"
#include "emulator/semantics/launch.h"
#include "wrapper/settings/settings.h"

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// A kernel, and what the real ptxas gives it.
struct KernelNeeds {
  std::string name;
  const Function *function = nullptr; ///< null: the command line describes a kernel
  BlockNeeds needs;
  std::optional<BlockShape> required; ///< by `.reqntid`
  std::uint64_t spill_stores = 0;     ///< bytes per thread
  std::uint64_t spill_loads = 0;      ///< the same
};

/// The module's kernels with a body, or those of them in `kernels`, as the real ptxas assembles
/// `input` for `target`. With `registers`, ptxas is not asked, and `static_shared` is the bytes per
/// block. Errors: what the real ptxas, or looking for it, says.
tl::expected<std::vector<KernelNeeds>, std::string>
needs_of_kernels(const Settings &settings, const Module &module, const std::string &input,
                 const std::vector<std::string> &kernels, const std::string &target,
                 std::optional<std::uint32_t> registers, std::uint64_t static_shared);

/// The limits that keep a multiprocessor from holding more blocks: "warps, registers".
std::string reached_text(const Occupancy &found);

} // namespace ptxasw::wrapper
