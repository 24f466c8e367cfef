#pragma once

// What one warp of a launch does, loops cut down to some of their iterations.

#include "analysis/cost/kernel.h"

#include <functional>

namespace ptxasw::analysis::cost {

/// Lanes of a warp, one bit each.
using LaneMask = std::uint32_t;

/// A warp runs a piece of code once, which stands for `weight` times.
struct Step {
  const CodeBlock *block = nullptr;
  double weight = 0;    ///< 0: only its addresses matter
  bool guessed = false; ///< whether it is run at all depends on data
  LaneMask active = 0;
};

/// Walks through kernels. Of a loop with many iterations it takes two far apart or, if no loop is
/// in it, a first one and the eight that follow, from the middle. Code behind a branch that depends
/// on data counts one time out of four, for all lanes.
class WarpWalk {
public:
  explicit WarpWalk(Kernel &kernel);

  /// Calls visit(step) for all that the warp at `moment` does; the kernel's values are then those
  /// of the step.
  void run(Moment moment, const std::function<void(const Step &)> &visit);
  /// True if some loop's number of iterations was not known.
  bool guessed_iterations() const { return guessed_; }

private:
  /// What stands directly in a loop, or in none, in order of execution.
  struct Item {
    const CodeBlock *block = nullptr;
    LoopId loop = no_index;
  };
  struct Region {
    std::vector<Item> items;
    std::vector<std::uint32_t> slots;
    bool innermost = true;
  };

  /// How often lanes go round a loop, and the number of the iteration in which each leaves it.
  struct Iterations {
    Lanes count, last;
  };

  void enter(LoopId loop, LaneMask mask, double weight);
  void go_round(LoopId loop, LaneMask mask, double weight);
  Iterations rounds_of(LoopId loop, LaneMask mask);
  Lanes leaves_in(LoopId loop, const LoopExit &exit, LaneMask mask, bool &found);
  LaneMask holding(const Condition &condition) const;
  LaneMask leaving(LoopId loop, const LoopExit &exit, const Lanes &at);
  Region &region(LoopId loop) { return loop == no_index ? regions_.back() : regions_[loop]; }

  Kernel &kernel_;
  std::vector<Region> regions_; ///< by loop; last, what is in none
  std::vector<std::vector<std::vector<std::uint32_t>>> exit_slots_;
  std::vector<std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>> comparisons_;
  Moment moment_;
  const std::function<void(const Step &)> *visit_ = nullptr;
  bool guessed_ = false;
};

} // namespace ptxasw::analysis::cost
