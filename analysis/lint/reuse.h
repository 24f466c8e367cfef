#pragma once

// Cache lines that threads walk: what an iteration of a loop brought for the next one, and whether
// it is still there.

#include "analysis/architecture.h"
#include "emulator/facts/kernel_facts.h"

#include <cstdint>
#include <vector>

namespace ptxasw::analysis::lint {

/// What a thread goes through in a loop by less than a sector an iteration, far from other lanes:
/// the loads of one place and those beside it, as unrolling gives them.
struct Stream {
  std::vector<std::uint32_t> accesses; ///< indices in KernelFacts::accesses(), in source order
  std::int64_t step = 0;               ///< bytes per iteration
  /// Of the lines that hold what all lanes of a full warp come to next.
  std::uint32_t bytes_per_warp = 0;
};

/// The streams of one loop, without those of loops in it.
struct WalkedLoop {
  LoopId loop = no_index;
  std::vector<Stream> streams;

  std::uint64_t bytes_per_warp() const;
};

/// All loops of a kernel that have streams, by the first access of each.
std::vector<WalkedLoop> walked_loops(const facts::KernelFacts &facts);

/// How many threads share an L1, and what of it they have.
struct Residence {
  std::uint32_t threads = 0; ///< of a block
  std::uint32_t all = 0;     ///< of a multiprocessor
  std::uint64_t l1 = 0;      ///< bytes, without shared memory of its blocks, and the driver's of it
};

/// What threads hold of lines of which a full warp holds so many bytes. The last warp of a block
/// may not be full, and holds as much less.
std::uint64_t lines_of(std::uint64_t threads, std::uint64_t bytes_per_warp);

/// Where blocks of so many threads come, with as many as there can be; `shared` is what a block has
/// of shared memory, in bytes.
Residence residence(const Architecture &architecture, std::uint64_t threads, std::uint64_t shared);

/// Threads of the block that keeps the most of a loop's lines, and fits if any does: that many, or
/// a smaller power of two.
Residence best_residence(const Architecture &architecture, std::uint64_t threads,
                         std::uint64_t shared, std::uint64_t bytes_per_warp);

/// The shared memory that a kernel declares, in bytes, without what a launch adds.
std::uint64_t declared_shared(const facts::KernelFacts &facts);

} // namespace ptxasw::analysis::lint
