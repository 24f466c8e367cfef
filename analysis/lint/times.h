#pragma once

// How often something in a loop happens.
//   Times(facts).of(block) // how often a thread that enters the loop executes it

#include "emulator/facts/kernel_facts.h"
#include "emulator/facts/loops.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::analysis::lint {

/// The iterations of a kernel's loops (facts::trip_counts).
class Times {
public:
  explicit Times(const facts::KernelFacts &facts);

  /// How often a thread that enters the outermost loop around a block executes it: a number, or a
  /// formula over parameters, extents and indices; 1 outside of loops. Nothing if that is not known
  /// exactly, or holds only under conditions on the launch.
  std::optional<std::string> of(BlockId block);
  /// Returns true if it is known that all lanes of a warp leave a loop in one iteration, by the
  /// branch of that block, the only one that leaves it.
  bool left_together(LoopId loop, BlockId exit);

private:
  std::optional<facts::Amount> in_loop(LoopId loop, BlockId block) const;
  bool certain(LoopId loop) const;

  const facts::KernelFacts &facts_;
  facts::AmountPool amounts_;
  facts::IntegerReader reader_;
  std::vector<facts::TripCount> trips_;
};

} // namespace ptxasw::analysis::lint
