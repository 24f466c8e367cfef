#pragma once

// Loops whose iterations all go one way, load, and write nothing.

#include "synth/family.h"

#include "grammar/cfg.h"

#include <cstdint>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::inline synth::ahead {

/// A branch by which a loop can be left.
struct Exit {
  std::size_t step = 0;    ///< of the branch, in AheadLoop::steps
  bool when_taken = false; ///< the loop is left where it is taken; else where it is not
  BlockId out = 0;         ///< where to
};

/// Why an instruction of a loop is done for several iterations before the rest of these.
enum class Early : std::uint8_t {
  no,
  test, ///< the loop's end depends on it
  load, ///< it is a load, or what one needs to be done
};

struct Step {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  Early early = Early::no;
};

struct AheadLoop {
  std::uint32_t header = 0;  ///< the first instruction of an iteration
  std::uint32_t back = 0;    ///< the branch to it
  std::vector<Step> steps;   ///< of an iteration, branches among them
  std::vector<Exit> exits;   ///< in the order of the steps
  std::size_t last_load = 0; ///< index in `steps`
};

/// All such loops of a kernel, and why others are none; found once.
const Sites<AheadLoop> &ahead_loops(const KernelContext &context);

} // namespace ptxasw::synth::ahead
