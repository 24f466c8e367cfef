#pragma once

// The model of a kernel's time by Hong and Kim, to compare with: `ptxasw advise --model mwp-cwp`
// orders block shapes by it instead of by ptxasw's own model (analysis/cost).

#include "grammar/namespaces.h"

#include <cstdint>
#include <optional>

namespace ptxasw::analysis {

/// A GPU as the model sees it.
struct MwpCwpDevice {
  std::uint64_t multiprocessors = 0;
  std::uint64_t clock_mhz = 0;
  std::uint64_t bandwidth = 0;             ///< of device memory, GB/s
  std::uint64_t memory_latency = 0;        ///< cycles
  std::uint64_t departure_uncoalesced = 0; ///< cycles between two transactions of a warp
  std::uint64_t departure_coalesced = 0;
  std::uint64_t issue_cycles = 1;
  std::uint64_t load_bytes_per_warp = 128;
};

/// A kernel at a launch. Instructions are those of one warp.
struct MwpCwpLaunch {
  std::uint64_t threads = 0;                    ///< of a block
  std::uint64_t blocks = 0;                     ///< of the grid
  std::uint64_t resident_blocks = 0;            ///< on a multiprocessor (occupancy.h)
  std::uint64_t computations = 0;               ///< instructions that access no memory
  std::uint64_t uncoalesced = 0, coalesced = 0; ///< memory instructions
  std::uint64_t transactions = 0; ///< of 32 bytes, for one warp's uncoalesced accesses
  std::uint64_t barriers = 0;
};

/// The prediction.
struct MwpCwp {
  double mwp = 0;                ///< warps whose memory accesses overlap
  std::uint64_t cwp = 0;         ///< warps whose computations fit into one memory access
  std::uint64_t repetitions = 0; ///< waves of blocks
  unsigned regime = 0;           ///< 1 not enough warps, 2 bound by memory, 3 by computation
  double cycles = 0;
};

/// The model of Hong and Kim (ISCA 2009) as KLARAPTOR computes it, in exact rational arithmetic. It
/// models neither caches nor reuse, and is here for fidelity to the published system; no decision
/// of ptxasw rests on it. Nothing if the launch has no memory access, no thread or no resident
/// block.
std::optional<MwpCwp> mwp_cwp(const MwpCwpDevice &device, const MwpCwpLaunch &launch);

} // namespace ptxasw::analysis
