#pragma once

// Which lanes of a warp go on together, and which of its fragments is next. Internal to the warp
// emulator.

#include "emulator/machine/warp_state.h"

#include <algorithm>
#include <utility>

namespace ptxasw::emulator {

/// Fragments of warps under the policy of a run (WarpSchedule): it counts how often lanes have
/// parted and met, so that those that did can be told from others at the same place.
class WarpScheduler {
public:
  explicit WarpScheduler(MachineRun &run) : run_(run) {}

  /// Which of the fragments that are ready is next.
  std::size_t choose(WarpState &warp, const std::vector<std::size_t> &ready);
  /// Merges fragments that may be: all of them, or those that chance picks.
  void merge(WarpState &warp, bool all);
  /// Takes lanes out of a fragment into a new one at the same place; returns its index. None or all
  /// of the lanes: nothing happens. `where`: the instruction at which they may come together again.
  std::size_t split(WarpState &warp, std::size_t index, LaneMask lanes, std::uint32_t where);
  /// Where the ways out of the block that an activation is in meet.
  std::uint32_t meeting_place(const Activation &activation) const;
  /// True if a fragment stands where others that have parted from it may come.
  bool awaits_others(const Fragment &fragment) const;
  /// Leaves the place where others might have come.
  void go_on(Fragment &fragment) const;
  void move_to(Activation &activation, std::uint32_t pc) const;
  void advance(Fragment &fragment) const {
    move_to(fragment.stack.back(), fragment.stack.back().pc + 1);
  }
  /// The policy's order of two fragments that differ in the last of their activations.
  bool runs_before(const Activation &x, const Activation &y) const {
    return order(x, y) == Order::before;
  }
  /// Returns true of two that come to one place in the same iterations of the loops around it.
  bool are_level(const Activation &x, const Activation &y) const {
    return order(x, y) == Order::level;
  }
  /// The number of a new meeting, of lanes that have waited for each other.
  std::uint64_t meet() { return ++meetings_; }
  /// The warp waits for others: its turn is over.
  void yield() { yields_ = true; }
  /// Returns true if it has yielded since it was last asked.
  bool take_yield() { return std::exchange(yields_, false); }

private:
  bool may_merge(const Fragment &a, const Fragment &b) const;
  enum class Order : std::uint8_t { before, behind, level };
  Order order(const Activation &x, const Activation &y) const;
  bool runs_before(const Fragment &a, const Fragment &b) const;
  static void forget_partings(const WarpState &warp, Fragment &fragment, const Fragment *gone);

  MachineRun &run_;
  std::uint64_t partings_ = 0, meetings_ = 0; ///< so far
  bool yields_ = false;
};

// Asked at every instruction.

inline bool WarpScheduler::awaits_others(const Fragment &fragment) const {
  return std::any_of(fragment.partings.begin(), fragment.partings.end(), [&](const Parting &p) {
    return p.where == fragment.stack.back().pc && p.depth == fragment.stack.size();
  });
}

// Leaves the place where others might have come: the next chance is behind the next post-dominator.
inline void WarpScheduler::go_on(Fragment &fragment) const {
  fragment.met = 0;
  for (Parting &parting : fragment.partings)
    if (parting.where == fragment.stack.back().pc && parting.depth == fragment.stack.size())
      parting.where = meeting_place(fragment.stack.back());
}

inline void WarpScheduler::move_to(Activation &activation, std::uint32_t pc) const {
  const WarpFunction &function = run_.program.function(activation.function);
  const LoopId loop = function.header_of[pc];
  if (loop != no_index) {
    const bool inside = function.cfg->contains(loop, function.cfg->block_of(activation.pc));
    activation.iterations[loop] = inside ? activation.iterations[loop] + 1 : 0;
  }
  activation.pc = pc;
}

} // namespace ptxasw::emulator
