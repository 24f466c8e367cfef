#pragma once

// What a launch asks of each part of a multiprocessor and of the memory behind it.

#include "analysis/cost/kernel.h"
#include "analysis/cost/warp_walk.h"

#include <optional>

namespace ptxasw::analysis::cost {

/// Sums over a whole launch, of what was seen of some of its blocks.
struct LaunchTraffic {
  PipeCycles cycles; ///< of pipes, all warps together
  double instructions = 0;
  double requests = 0;        ///< of global memory
  double load_cycles = 0;     ///< of the load-store units
  double store_cycles = 0;    ///< the same, of stores
  double l1_sectors = 0;      ///< that loads ask the L1 for
  double l2_read_sectors = 0; ///< that the L1 does not have
  double l2_write_sectors = 0, partial_write_sectors = 0;
  double dram_read_bytes = 0, dram_write_bytes = 0;
  /// The slowest warp of a block from its first to its last instruction, if it had the
  /// multiprocessor to itself: cycles without waiting for loads of global memory, and loads that it
  /// has to wait for, by where they find their data.
  double chain_cycles = 0, loads_from_l1 = 0, loads_from_l2 = 0;
  double longest_block = 1; ///< the same of the slowest block, over the mean
  /// Share of L2 reads that go on to DRAM.
  double dram_share = 0;
  /// What the GPU's blocks touch between two uses of a sector does not fit the L2.
  bool thrashes_l2 = false;
  bool guessed_iterations = false, guessed_branches = false, guessed_addresses = false;
};

struct RunInputs;

/// What the sampling needs to know about the GPU and the launch.
struct Surroundings {
  Extents grid, block;
  std::uint32_t resident_blocks = 1; ///< of a multiprocessor
  std::uint64_t l1_bytes = 0, l2_bytes = 0;
  std::uint32_t registers = 0; ///< of a thread
  std::uint32_t multiprocessors = 1;
};

/// Walks blocks that are on one multiprocessor at a time through the kernel. They share an L1 as
/// large as their share of it would be if all of them were there.
LaunchTraffic traffic_of(Kernel &kernel, WarpWalk &walk, const Surroundings &around);
/// The same, but they are run, so that nothing is guessed; nothing if they cannot be.
std::optional<LaunchTraffic> traffic_of(Kernel &kernel, const RunInputs &inputs,
                                        const Surroundings &around);

} // namespace ptxasw::analysis::cost
