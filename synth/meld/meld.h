#pragma once

// Branch melding (COpPER, section 5.1, "branch distribution"): where lanes of a warp part at a
// branch, what both arms do runs once for all of them.
//
// Which branches: arms.cpp. What becomes one: align.cpp. How it is written: write.cpp. Why it is
// right: synth/prove/walk.h, which knows nothing of all that.

#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ptxasw::synth {

/// How much a common part must be worth: any gain in steps, or a large one.
enum class MeldCutoff : std::uint8_t { all, costly };

/// A branch that lanes may take differently and whose arms have something in common.
struct MeldSite {
  std::uint32_t instruction = 0; ///< the branch, an index in Function::instructions
  std::uint32_t line = 0;
  unsigned saved = 0; ///< steps of the common part, roughly; a loop counts for 8 rounds
  int gain = 0;       ///< the same less what it costs to choose operands and to part again
};

/// The branches of a kernel that may be melded with a gain.
Sites<MeldSite> meld_sites(const KernelContext &context, MeldCutoff cutoff);

/// The module's text with one of these branches melded.
std::optional<std::string> meld_branch(const KernelContext &context, std::uint32_t branch,
                                       MeldCutoff cutoff);

/// Proves that in a kernel with a branch melded each thread does what it did, in the same order,
/// for the same launch. Both functions may be of one module.
proof::Proved prove_melded(const Module &before, const Function &kernel, const Module &after,
                           const Function &melded);

} // namespace ptxasw::synth
