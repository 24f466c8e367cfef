#pragma once

// The table of what a multiprocessor of each architecture has. The numbers are those of the CUDA
// C++ Programming Guide and of the toolkit's own calculator (architecture.cpp says which). Who
// computes an occupancy or a cost looks its target up: `find_architecture(module.target)`.

#include "grammar/namespaces.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ptxasw::analysis {

/// What one multiprocessor of an architecture has, and what a block may have of it. Sizes are
/// bytes.
struct Architecture {
  std::string_view name; ///< "sm_90"
  std::uint32_t threads_per_block;
  std::uint32_t warps;                     ///< resident on a multiprocessor
  std::uint32_t blocks;                    ///< the same
  std::uint32_t registers;                 ///< of 32 bits, of a multiprocessor
  std::uint32_t registers_per_block;       ///< at most
  std::uint32_t registers_granularity;     ///< a warp gets a multiple of it
  std::uint32_t partitions;                ///< warp schedulers, among which registers are divided
  std::uint32_t shared;                    ///< shared memory of a multiprocessor
  std::uint32_t shared_per_block;          ///< what a block may have without being asked for
  std::uint32_t shared_per_block_opt_in;   ///< and with cudaFuncAttributeMaxDynamicSharedMemorySize
  std::uint32_t shared_reserved_per_block; ///< that the driver takes of a block
  std::uint32_t shared_granularity;
  std::uint32_t l1; ///< L1 cache of a multiprocessor, shared memory included
  /// Block barriers of a multiprocessor for each block it can hold; 0: they limit nothing.
  std::uint32_t barriers_per_block_slot;
  std::uint32_t multiprocessors; ///< of the example
  std::string_view example;      ///< a GPU of this architecture
  bool confirmed;                ///< all of the above is in the CUDA C++ Programming Guide
};

/// All that are known, oldest first.
std::span<const Architecture> architectures();

/// A target without the letter that says it is of one architecture, or of a family: `sm_90` of
/// `sm_90a`.
std::string_view base_target(std::string_view target);

/// The architecture of a target: `sm_90`, also `sm_90a` and `sm_100f`. Null if it is not known.
const Architecture *find_architecture(std::string_view target);

} // namespace ptxasw::analysis
