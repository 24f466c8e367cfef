#pragma once

// The one text that the proof reads: the rewritten function with the replaced loads beside what
// stands in their place.

#include "grammar/module.h"
#include "synth/proof/match.h"

#include <vector>

namespace ptxasw::synth {

/// A replaced load in the function that has it again.
struct RestoredLoad {
  std::uint32_t load = 0;            ///< in the original
  std::uint32_t first = 0;           ///< before what is added for it
  std::uint32_t at = 0;              ///< where it is, with others as its destinations
  std::uint32_t place = 0;           ///< behind what is added for it; here it gets its registers
  std::uint32_t slot = 0;            ///< so many original instructions that stayed stand before it
  std::vector<RegisterId> registers; ///< that it wrote
};

/// An instruction that was added.
struct AddedInstruction {
  std::uint32_t at = 0;
  std::uint32_t slot = 0;   ///< as of a RestoredLoad
  std::uint32_t region = 0; ///< so many original ones that synchronise stand before it
};

/// Where everything is in that function, by instruction index.
struct Restored {
  std::vector<std::uint32_t> original; ///< by instruction: that of the original; no_index: none
  std::vector<bool> moved;             ///< by instruction: an original one, moved up
  std::vector<RegisterId> added;       ///< registers that the original does not have
  std::vector<RestoredLoad> loads;
  std::vector<AddedInstruction> added_loads, shuffles, masks;
};

/// Brings the replaced loads back into a rewritten function. Throws NotProved if a register is not
/// the original's, or an added instruction is none that may be there.
Restored restore(const Module &original, const Function &before, Module &rewritten, Function &after,
                 const FunctionMatch &match);

} // namespace ptxasw::synth
