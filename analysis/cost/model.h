#pragma once

// How long a launch takes, and what it waits for.

#include "analysis/cost/gpu.h"
#include "analysis/cost/traffic.h"
#include "analysis/occupancy.h"

#include <optional>

namespace ptxasw::analysis::cost {

/// What can be the limit. The names are to_string()'s.
enum class Term : std::uint8_t {
  issue,       ///< instructions of all kinds
  integer,     ///< multiplications of integers
  wide,        ///< double precision
  special,     ///< special functions, conversions
  shared,      ///< shared memory and shuffles
  memory_unit, ///< the load-store units: banks, lookups, the way of stores out
  l2,          ///< sectors between the multiprocessors and the L2
  partial,     ///< sectors that are written in part
  dram,        ///< bytes of device memory
  latency,     ///< waiting, with too few warps to hide it
  start,       ///< starting blocks
};
inline constexpr std::size_t terms = 11;

std::string_view to_string(Term term);

/// A launch of a kernel as ptxas made it.
struct CostLaunch {
  Extents grid, block;
  BlockNeeds needs;               ///< `threads` is taken from `block`
  std::uint64_t spill_stores = 0; ///< bytes per thread, as ptxas -v reports them
  std::uint64_t spill_loads = 0;  ///< the same
  /// With these, warps are run if they can be (warp_runs.h); null: they are not.
  const RunInputs *inputs = nullptr;
};

struct Prediction {
  Occupancy occupancy;
  double waves = 0;           ///< grid over what the GPU holds
  double tail = 0;            ///< share of the last wave's places that stay empty
  double microseconds = 0;    ///< from event to event
  double least = 0, most = 0; ///< the time is between these, four times out of five
  Term limit = Term::issue;
  double term[terms] = {}; ///< microseconds each would take on its own
  LaunchTraffic traffic;
};

/// Nothing if the launch is not possible.
std::optional<Prediction> predict(Kernel &kernel, const Gpu &gpu, const CostLaunch &launch);

} // namespace ptxasw::analysis::cost
