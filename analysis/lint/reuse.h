#pragma once

// Cache lines that threads walk: what a round of a loop brought for the next one, and whether it is
// still there.

#include "analysis/architecture.h"
#include "emulator/facts/kernel_facts.h"

#include <cstdint>
#include <vector>

namespace ptxasw::lint {

/// What a thread goes through in a loop by less than a sector a round, far from other lanes: the
/// loads of one place and those beside it, as unrolling gives them.
struct Stream {
  std::vector<std::uint32_t> accesses; ///< indices in KernelFacts::accesses(), in source order
  std::int64_t step = 0;               ///< bytes per round
  std::uint32_t bytes_per_warp = 0;    ///< of the lines that hold what all its lanes come to next
};

/// The streams of one loop, without those of loops in it.
struct WalkedLoop {
  LoopId loop = no_index;
  std::vector<Stream> streams;

  std::uint64_t bytes_per_warp() const;
};

/// All loops of a kernel that have streams, by the first access of each.
std::vector<WalkedLoop> walked_loops(const facts::KernelFacts &facts);

/// How many warps share an L1, and what of it they have.
struct Residence {
  std::uint32_t threads = 0; ///< of a block
  std::uint32_t warps = 0;   ///< of a multiprocessor
  std::uint64_t l1 = 0;      ///< bytes, without shared memory of its blocks, and the driver's of it
};

/// Where blocks of so many threads come, with as many as there can be; `shared` is what a block has
/// of shared memory, in bytes.
Residence residence(const Architecture &architecture, std::uint64_t threads, std::uint64_t shared);

/// The shared memory that a kernel declares, in bytes, without what a launch adds.
std::uint64_t declared_shared(const facts::KernelFacts &facts);

} // namespace ptxasw::lint
