#pragma once

// Kernel multiversioning: a module's kernels get variants beside them, called siblings.
//
//     propose -> decide -> write -> prove -> print
//
// What families could do with each kernel is known before anything is decided. What is written
// follows the module's own text, of which no byte changes: nothing launches a sibling without
// knowing of it. What is not proved from the whole text is withdrawn.
//   add_siblings(module, {}).text // with the kernels' siblings, and the table of them

#include "synth/family.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth {

struct SiblingOptions {
  std::vector<std::string> kernels; ///< only these; empty: all
  /// By option of a family (Family::option), which variants are wanted. Who names one gives the
  /// promise that it rests on. Nothing: what the family proposes by default.
  std::map<std::string, std::vector<std::string>, std::less<>> wanted = {};
  bool defaults = true; ///< what is proposed by default is wanted, too
  bool promises = true; ///< false: nothing that rests on a promise is written, named or not
  /// Only siblings of these names, of families that are on by default and of those that are not;
  /// unset: all.
  std::optional<std::vector<std::string>> names = {};
  unsigned most = ~0u; ///< siblings per kernel
  /// And so many more for launches in which loops over the grid have one iteration.
  unsigned once = 0;
  /// How many times as long the assembler may take, about, as for the module alone, by what there
  /// is to assemble; 0: as long as it takes. Small modules have what all of their siblings need.
  unsigned budget = 0;

  /// The variants that an option names.
  std::span<const std::string> variants(std::string_view option) const {
    const auto found = wanted.find(option);
    return found == wanted.end() ? std::span<const std::string>() : found->second;
  }
};

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
  std::vector<std::string> left_out; ///< names of what was beyond the budget
  std::vector<Refusal> refusals;
};

struct SiblingResult {
  std::string text; ///< the module's own, followed by siblings and tables
  bool changed = false;
  std::vector<KernelSiblings> kernels; ///< all that are wanted and have a body
  /// What ptxas takes, as estimated from the text, in tenths of a millisecond: for the module
  /// alone, and for what is added.
  std::size_t own_work = 0, added_work = 0;
};

/// Why a module must not get siblings of a kernel at all; nothing: it may.
std::optional<Refusal> siblings_obstacle(const Module &module, const Function &kernel);

/// The table of a kernel without siblings.
SiblingTable empty_table(const Module &module, const Function &kernel);

/// Adds siblings to a module.
SiblingResult add_siblings(const Module &module, const SiblingOptions &options);

} // namespace ptxasw::synth
