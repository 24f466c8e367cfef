#pragma once

// Loops whose iterations all go one way and load, and in which nothing else can be seen of a thread
// but weak stores.

#include "synth/family.h"

#include "grammar/cfg.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth::ahead {

/// A branch by which a loop can be left.
struct Exit {
  std::size_t step = 0;    ///< of the branch, in AheadLoop::steps
  bool when_taken = false; ///< the loop is left where it is taken; else where it is not
  BlockId out = 0;         ///< where to
};

/// Why an instruction of a loop is done for several iterations before the rest of these.
enum class Early : std::uint8_t {
  no,
  test,    ///< the loop's end depends on it
  address, ///< it tells where something is loaded or stored that may lie in one place
  load,    ///< it is a load, or what one needs to be done
};

struct Step {
  std::uint32_t instruction = 0; ///< index in Function::instructions
  Early early = Early::no;
};

/// A load and a store of a loop that may be of one place.
struct Meeting {
  std::size_t load = 0, store = 0;                 ///< index in AheadLoop::steps
  RegisterId from = no_register, to = no_register; ///< of 64 bits, with their addresses
};

struct AheadLoop {
  std::uint32_t header = 0;  ///< the first instruction of an iteration
  std::uint32_t back = 0;    ///< the branch to it
  std::vector<Step> steps;   ///< of an iteration, branches among them
  std::vector<Exit> exits;   ///< in the order of the steps
  std::size_t last_load = 0; ///< index in `steps`
  std::vector<Meeting> meetings;
};

/// All such loops of a kernel, and why others are none; found once.
const Sites<AheadLoop> &ahead_loops(const KernelContext &context);

/// The module's text with the loads of some of these loops ahead by `iterations`, 2 or more.
std::optional<std::string> write_ahead_loops(const KernelContext &context,
                                             const std::vector<AheadLoop> &loops,
                                             unsigned iterations);

} // namespace ptxasw::synth::ahead
