#pragma once

// Lines up a rewritten function with the original, as texts. The proof rests on it: what has no
// counterpart in the original must be added code, and only that has to be shown to be right.

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

} // namespace ptxasw::synth
