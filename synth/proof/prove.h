#pragma once

// The proof that rewritten loads are right, which does not know how they were found or written.
// rewrite_module() withdraws what it does not show:
//   prove(module, rewritten, replaced, options)[function].unproved.empty()

#include "grammar/module.h"
#include "synth/prove/not_proved.h"
#include "synth/rewrite.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// A part of the proof of one replaced load; what they are and mean is in obligations.def.
enum class Obligation : std::uint8_t {
#define PTXASW_OBLIGATION(enumerator, name, meaning) enumerator,
#include "synth/proof/obligations.def"
#undef PTXASW_OBLIGATION
};

/// The stable spelling of an obligation ("equal-address", ...).
std::string_view to_string(Obligation obligation);

/// That an obligation is not met, and what is missing in particular.
inline proof::NotProved unmet(Obligation obligation, std::string_view why) {
  return {std::string(why), to_string(obligation)};
}

/// Throws that unless something holds.
inline void demand(bool holds, Obligation obligation, std::string_view otherwise) {
  if (!holds)
    throw unmet(obligation, otherwise);
}

/// A replaced load that could not be shown to be right, and what was missing.
struct Unproved {
  std::uint32_t load = 0;   ///< instruction index in the original function
  proof::NotProved missing; ///< its part: an obligation's name
};

/// What the proof says about one function of the original module.
struct FunctionProof {
  std::vector<Unproved> unproved;
  double milliseconds = 0;
};

/// Shows from the text of a rewritten module that it computes what the original does
/// (soundness.md). `replaced` are, by function, the indices of the loads that are said to have been
/// replaced, sorted; nothing else is taken from detection or emission. One result per function.
/// When the text around the loads cannot be accounted for, none of the function's loads is proved.
std::vector<FunctionProof> prove(const Module &original, std::string_view rewritten,
                                 const std::vector<std::vector<std::uint32_t>> &replaced,
                                 const RewriteOptions &options);

/// The same of the bodies of two functions, which may be of one module.
FunctionProof prove_replaced(const Module &original, const Function &before,
                             const Module &rewritten, const Function &after,
                             const std::vector<std::uint32_t> &replaced,
                             const RewriteOptions &options);

} // namespace ptxasw::synth
