#pragma once

// The one text that the proof reads: the rewritten function with the replaced loads beside what
// stands in their place.

#include "grammar/edits.h"
#include "grammar/module.h"
#include "synth/proof/match.h"

#include <string>
#include <vector>

namespace ptxasw::synth {

/// A replaced load in the text that has it again. All but `load` are instruction indices there.
struct RestoredLoad {
  std::uint32_t load = 0;  ///< in the original
  std::uint32_t count = 0; ///< of the registers that it writes
  std::uint32_t first = 0; ///< so many copies of what they held before; then the load itself
  std::uint32_t place = 0; ///< so many copies of the values that stand in its place
  std::uint32_t slot = 0;  ///< of the original instructions that stayed, how many stand before

  std::uint32_t at() const { return first + count; }
};

/// A shuffle: copies of what it takes and of its member mask, then what it gives.
struct Exchange {
  std::uint32_t at = 0;
  int delta = 0; ///< lanes up to the one whose value is taken
};

/// A load that was added, now to registers of its own.
struct AddedLoad {
  std::uint32_t at = 0;
  std::uint32_t slot = 0; ///< as of a RestoredLoad
};

/// Where everything is in the text that has the replaced loads again.
struct Restored {
  std::vector<std::uint32_t> original; ///< by instruction: that of the original; no_index: none
  std::vector<bool> moved;             ///< by instruction: an original one, moved up
  std::vector<RestoredLoad> loads;
  std::vector<AddedLoad> added_loads;
  std::vector<Exchange> shuffles;
  std::vector<std::uint32_t> masks; ///< of active lanes
};

/// Makes the edits that bring the replaced loads back into a rewritten function. `prefix` begins no
/// word of either module. Throws NotProved if an added instruction is none that may be there.
Restored restore(const Module &original, const Function &before, const Module &rewritten,
                 const Function &after, const FunctionMatch &match, const std::string &prefix,
                 Edits &edits);

} // namespace ptxasw::synth
