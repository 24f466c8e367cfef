#pragma once

// The way of a module that gets siblings:
//
//     propose -> decide -> write -> prove -> print
//
// What families could do with each kernel is known before anything is decided. What is written
// follows the module's own text, of which no byte changes: nothing launches a sibling without
// knowing of it. What is not proved from the whole text is withdrawn.

#include "synth/family.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::inline emulator {
struct StandIn;
}

namespace ptxasw::inline synth {

struct SiblingOptions {
  std::vector<std::string> kernels; ///< only these; empty: all
  /// Which re-tilings and wide versions are wanted, as Proposal::variant; empty: all that are
  /// proposed.
  std::vector<std::string> retile;
  /// Which limits of registers are wanted, as Proposal::variant; empty: none.
  std::vector<std::string> registers;
  /// Only siblings of these names, whatever limits of registers, meldings and the like are wanted;
  /// unset: all.
  std::optional<std::vector<std::string>> names;
  /// Which meldings of branches are wanted, as Proposal::variant; empty: none.
  std::vector<std::string> meld;
  /// Which promotions of repeated loads are wanted, as Proposal::variant; empty: none.
  std::vector<std::string> promote;
  /// Which carryings of loads from round to round are wanted, as Proposal::variant; empty: none.
  std::vector<std::string> carry;
  /// Which qualifiers of loads are wanted, as Proposal::variant; empty: none. Who names a variant
  /// gives the promise that it rests on.
  std::vector<std::string> cache;
  /// Which replacements of loads by shuffles and copies are wanted, as Proposal::variant; empty:
  /// none.
  std::vector<std::string> shuffle;
  /// Which other extents of blocks are wanted, as Proposal::variant; empty: none.
  std::vector<std::string> resize;
  /// Which stagings of loops are wanted, as Proposal::variant; empty: none.
  std::vector<std::string> stage;
  /// By how many iterations loops load ahead, as Proposal::variant; empty: none.
  std::vector<std::string> ahead;
  unsigned most = ~0u; ///< siblings per kernel
};

/// All variants of re-tiling, and those with wide accesses: `x2`, `y2-rows`, `wide-x4`, ...
const std::vector<std::string> &retile_variants();

/// All limits of registers per thread that are offered: `32`, `40`, ...
const std::vector<std::string> &register_limits();

/// A proposal that was written and is not proved.
struct UnprovedSibling {
  std::string name;
  std::string why;
};

/// The result for one kernel.
struct KernelSiblings {
  std::string kernel;
  std::vector<Proposal> written;
  std::vector<UnprovedSibling> unproved;
  std::vector<Refusal> refusals;
};

struct SiblingResult {
  std::string text; ///< the module's own, followed by siblings and tables
  bool changed = false;
  std::vector<KernelSiblings> kernels; ///< all that are wanted and have a body
};

/// The tables among a module's variables.
std::vector<SiblingTable> sibling_tables(const Module &module);

/// How the warp emulator launches a sibling for a launch of its kernel
/// (emulator/machine/warp_verify.h).
StandIn stand_in(const Sibling &sibling);

/// Adds siblings to a module.
SiblingResult add_siblings(const Module &module, const SiblingOptions &options);

} // namespace ptxasw::synth
