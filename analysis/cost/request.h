#pragma once

// What one access of a warp asks of the multiprocessor's load-store unit and L1.

#include "analysis/cost/kernel.h"
#include "analysis/cost/warp_walk.h"

namespace ptxasw::analysis::cost {

struct Request {
  Traffic traffic = Traffic::load;
  double cycles = 0;                  ///< of the unit
  double partial = 0;                 ///< sectors that are written in part
  std::vector<std::uint64_t> sectors; ///< address / 32, ascending, each once
  std::vector<std::uint32_t> written; ///< of stores: the bytes of each of these, a bit each
  bool known = true;                  ///< Access::known
};

/// What a warp asks for in a piece of code.
struct RecordedStep {
  double weight = 0; ///< how often
  const CodeBlock *block = nullptr;
  bool guessed = false;          ///< Step::guessed
  std::vector<Request> requests; ///< of global memory
  double shared = 0;             ///< cycles of shared memory beyond those of the block
};

/// The request of the lanes in `active`, whose addresses the kernel's values are.
///
/// Loads (`rate.load*` of the probe): each of 32 banks of 4 bytes gives a word per cycle, four
/// lines can be looked up per cycle, and lanes take 4 bytes per cycle each; the slowest of the
/// three counts. Stores (`rate.store*`): a cycle per sector, 1.25 if it is written in part, at
/// least two per line.
Request request_of(Kernel &kernel, const Access &access, LaneMask active);
/// The same of an access that so many bytes of each of these lanes take part in.
Request request_of(Traffic traffic, unsigned bytes, const std::uint64_t *addresses,
                   LaneMask active);

} // namespace ptxasw::analysis::cost
