#pragma once

// Occupancy: how many warps a multiprocessor has to hide latencies with, and which resource allows
// no more. The cost model, the baseline of `lint` and the search for staged tiles ask for it:
//   const std::uint32_t blocks = occupancy(architecture, {.threads = 256, .registers = 40}).blocks;

#include "analysis/architecture.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::analysis {

/// What a kernel needs, as ptxas reports it, and how it is launched. Sizes are bytes.
struct BlockNeeds {
  std::uint64_t threads = 0;   ///< of a block
  std::uint32_t registers = 0; ///< of a thread
  std::uint64_t static_shared = 0, dynamic_shared = 0;
  std::uint32_t barriers = 1; ///< block barriers; every kernel has one
  /// The most threads per block that the kernel can have: `.maxntid`, `.reqntid`; 0: what the
  /// device allows.
  std::uint64_t most_threads = 0;
  /// The program raised the limit of dynamic shared memory for this kernel
  /// (cudaFuncAttributeMaxDynamicSharedMemorySize).
  bool opted_in = false;
};

/// What can bound the number of blocks on a multiprocessor.
enum class OccupancyLimit : std::uint8_t { warps, blocks, registers, shared, barriers };
inline constexpr std::size_t occupancy_limits = 5;

std::string_view to_string(OccupancyLimit limit);

/// How many blocks of a kernel one multiprocessor holds.
struct Occupancy {
  std::uint32_t blocks = 0; ///< 0: the kernel cannot be launched like this
  std::uint32_t warps = 0;  ///< of these blocks
  double share = 0;         ///< of the warps that the multiprocessor can hold, 0 to 1
  /// Blocks by each limit; nothing where it does not bound them.
  std::optional<std::uint32_t> by_limit[occupancy_limits];
  std::uint64_t registers_per_block = 0; ///< allocated
  std::uint64_t shared_per_block = 0;    ///< allocated, with what the driver takes

  /// The limits that are reached first.
  std::vector<OccupancyLimit> reached() const;
};

/// What CUDA's own calculator says (cuda_occupancy.h,
/// cudaOccMaxActiveBlocksPerMultiprocessor, without a preference for caches).
Occupancy occupancy(const Architecture &architecture, const BlockNeeds &needs);

} // namespace ptxasw::analysis
