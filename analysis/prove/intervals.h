#pragma once

// Barrier intervals: which accesses two threads may do at the same time, though barriers order all
// they do before and after. After GPUVerify (Betts et al., "The design and implementation of a
// verification technique for GPU kernels").

#include "analysis/prove/kernel_paths.h"

#include <memory>
#include <vector>

namespace ptxasw::analysis {

/// Where in a loop's iterations a thread is when it gets to a place from the barrier that it waited
/// at last.
enum class Iteration : std::uint8_t {
  any,   ///< nothing is known
  first, ///< the first one
  same,  ///< that of the barrier
  next,  ///< the one behind that of the barrier
};

/// One way to get to a place: the iterations of the loops around it, by loop. Of others `any`, or
/// `same` if they have been left in the barrier's iteration.
using Rounds = std::vector<Iteration>;

/// A place that a thread gets to without passing a barrier.
struct IntervalPlace {
  std::uint32_t start = no_index; ///< the barrier's instruction; no_index: the kernel's entry
  Rounds rounds;
  /// By block, whether its end is reached from `start` without passing a barrier; null: this is not
  /// asked, and the thread may have come by any way.
  std::shared_ptr<const std::vector<bool>> reached;
};

/// The intervals between some barriers of a kernel, at which all threads that are looked at wait
/// together: the k-th that one comes to is the k-th of each other.
class Intervals {
public:
  Intervals(const ControlFlowGraph &cfg, std::vector<std::uint32_t> barriers);

  /// Every way to get to an instruction from a barrier, or the entry, without passing another one.
  std::vector<IntervalPlace> places(std::uint32_t instruction) const;
  /// The same without barriers: one place, in any iterations.
  static std::vector<IntervalPlace> anywhere(const ControlFlowGraph &cfg);

private:
  bool cut_between(std::uint32_t first, std::uint32_t end) const;
  std::vector<bool> reach(const std::vector<BlockId> &from, LoopId within,
                          const std::vector<LoopId> &closed) const;
  bool crosses(const std::vector<bool> &reached, LoopId loop) const;
  std::vector<LoopId> loops_around(BlockId block) const;
  Rounds rounds_inside(BlockId block) const;

  const ControlFlowGraph &cfg_;
  std::vector<std::uint32_t> barriers_; ///< instructions, sorted
  std::vector<bool> open_;              ///< by block: no barrier is in it
  std::vector<bool> free_round_;        ///< by loop: a whole iteration may pass without a barrier
};

} // namespace ptxasw::analysis
