#pragma once

// Which units of the two arms run once for all lanes.

#include "synth/meld/arms.h"
#include "synth/meld/leaves.h"

#include <map>
#include <optional>
#include <vector>

namespace ptxasw::synth::meld {

/// How two units become one: by instructions, those of the first unit in order of its parts.
using UnitPair = std::vector<InstructionPair>;

/// A run of units that stay apart, or two units that become one.
struct Step {
  std::vector<std::size_t> when, otherwise; ///< of Site::when and Site::otherwise
  std::optional<UnitPair> melded;           ///< then there is one of each
};

struct Alignment {
  std::vector<Step> steps;
  unsigned saved = 0; ///< steps that melded units stand for
  int gain = 0;       ///< the same less what choosing operands and being apart again costs
};

/// The alignment that gains most. `apart`: what it costs that arms run apart once more.
Alignment align(const Module &module, const Function &function, const Site &site, unsigned apart);

} // namespace ptxasw::synth::meld
