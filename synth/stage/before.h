#pragma once

// What of a kernel decides whether a thread comes to a loop, and with what in some registers: what
// a version does a first time to find that out before the kernel itself begins.

#include "synth/family.h"

#include <cstdint>
#include <set>
#include <vector>

namespace ptxasw::synth::stage {

/// The ways to a loop, without another one among them.
struct Before {
  std::vector<BlockId> blocks; ///< from which it can be reached, in the order of the text
  /// Those of their instructions that decide which way is taken, and that compute from parameters
  /// and special registers what these and the registers asked for hold; in the order of the text.
  /// Whoever runs them, and follows the ways, comes to the loop where the kernel does, and has in
  /// these registers what it has.
  std::vector<std::uint32_t> instructions;
};

/// What tells that before the kernel runs. Throws a Refusal where nothing does.
Before before_loop(const KernelContext &context, LoopId loop, std::set<RegisterId> registers);

/// Returns true if all threads of a block that go around a loop as often as the others come to one
/// of its blocks equally often, and in the same rounds, without a look at what they have in
/// registers. `end` is the block that the loop is left from; `place` is the header of a
/// loop that is in this one and in none within.
bool come_alike(const KernelContext &context, LoopId loop, BlockId end, BlockId place);

} // namespace ptxasw::synth::stage
