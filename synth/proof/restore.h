#pragma once

// The one text that the proof reads: the rewritten function with the replaced loads beside what
// stands in their place.

#include "grammar/module.h"

#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// Where the values of a replaced load are written: by added instructions of the rewritten
/// function, with nothing but added ones in between.
struct WrittenValues {
  std::uint32_t load = 0; ///< in the original
  std::uint32_t first = 0, last = 0;
};

/// How a rewritten function matches the original one.
struct FunctionMatch {
  /// By rewritten instruction: the index of the original one that it is; no_index: it was added.
  std::vector<std::uint32_t> original;
  std::vector<bool> moved;           ///< by rewritten instruction: an original one, moved up
  std::vector<WrittenValues> values; ///< in the order of the text; of loads that have any
};

/// Matches the text of a function with its rewritten form. Every original instruction except the
/// `replaced` ones (sorted indices) must be there, byte for byte and in order, except for loads
/// that moved up over what touches no register of theirs; so must everything of the body that is
/// not an instruction. Anything else must mention a register that was added under a name the
/// original does not have. Throws NotProved.
FunctionMatch match(const Module &original, const Function &before, const Module &rewritten,
                    const Function &after, std::span<const std::uint32_t> replaced);

/// Returns true if two modules have the same text outside the bodies of functions with replaced
/// loads.
bool same_beside(const Module &original, const Module &rewritten,
                 const std::vector<std::vector<std::uint32_t>> &replaced);

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
