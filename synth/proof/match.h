#pragma once

// Lines up a rewritten function with the original, as texts. The proof rests on it: what has no
// counterpart in the original must be added code, and only that has to be shown to be right.

#include "grammar/module.h"

#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// Where an added instruction stands among the original ones.
struct InsertedPlace {
  std::uint32_t instruction = 0; ///< of the original; an added instruction belongs to its block
  bool after = false;            ///< just behind it, at the end of the block; else just before it
  bool entry = false;            ///< before the whole body and any label
};

/// How a rewritten function matches the original one.
struct FunctionMatch {
  /// By rewritten instruction: the index of the original one that it is; no_index: it was added.
  std::vector<std::uint32_t> original;
  std::vector<bool> moved;           ///< by rewritten instruction: an original one, moved up
  std::vector<InsertedPlace> places; ///< by rewritten instruction: of those added or moved
  std::vector<RegisterId> registers; ///< by rewritten register: the original's; no_register: added
};

/// Matches the text of a function with its rewritten form. Every original instruction except the
/// `replaced` ones (sorted indices) must be there, byte for byte and in order, except for loads
/// that moved up; so must everything of the body that is not an instruction. Anything else must
/// mention a register that was added under a name the original does not have. Throws NotProved.
FunctionMatch match(const Module &original, const Function &before, const Module &rewritten,
                    const Function &after, std::span<const std::uint32_t> replaced);

/// Returns true if two modules have the same text outside the bodies of functions with replaced
/// loads.
bool same_beside(const Module &original, const Module &rewritten,
                 const std::vector<std::vector<std::uint32_t>> &replaced);

} // namespace ptxasw::synth
