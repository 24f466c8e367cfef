#pragma once

// The interface of what makes variants of a kernel. A family looks at a kernel and proposes, as
// data, what it could make of it; its caller decides which proposals are written; the family writes
// one as a whole function; and it proves from the text alone that the function may stand in for the
// kernel. What is not proved is not emitted (synth/siblings.h has the order).

#include "grammar/sibling_table.h"
#include "synth/kernel_context.h"
#include "synth/prove/not_proved.h"

#include "grammar/module.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::synth {

/// One version that a family could write.
struct Proposal {
  std::string_view family;
  std::string variant;    ///< within the family, as options spell it: "x4"
  unsigned registers = 0; ///< per thread at most (`.maxnreg`); 0: as the assembler likes
  /// What the proof takes from the user, who must have asked for this very variant; empty: nothing.
  std::string_view promise;
  Sibling sibling; ///< what the table says about it
};

/// What a family says about a kernel.
struct FamilyAnswer {
  std::vector<Proposal> proposals; ///< the most promising first
  std::vector<Refusal> refusals;   ///< why there are none, or no more
};

/// Where a version stands: behind the kernel's module, as an entry of its own; in the place of the
/// kernel's body; or in the kernel, before its body (synth/in_kernel).
enum class Place : std::uint8_t { beside, in_place, inside };

/// Everything that the rest of the program knows of a family. Each is an object NAME_family in its
/// folder, and a line in families.def; words of commands, settings, help and tests are made of it.
struct Family {
  std::string_view name;   ///< in proposals and names of functions
  std::string_view option; ///< what asks for its variants; families may share the one of the first
  std::string_view setting = {}; ///< the same as a setting, where that has another name
  std::string_view values = {};  ///< of the option, for people; empty: all variants
  std::string_view help;         ///< what the option does, for people
  bool by_default = false;       ///< proposed also where the option is not given
  bool if_measured = false;      ///< the same where each launch is measured (`ptxasw faster`)
  bool same_launch = false;      ///< launched as the kernel is (synth/same_launch.h)
  /// Only of kernels whose threads do not see each other (spread_obstacle()), if its variants are
  /// asked for inside a kernel (synth/in_kernel).
  bool threads_apart = false;
  /// Everything that Proposal::variant may be, as options spell it.
  const std::vector<std::string> &(*variants)();
  /// What could be made of a kernel to which nothing is an obstacle that propose() asks for.
  FamilyAnswer (*propose)(const KernelContext &context);
  /// The whole function, from its linkage to its closing brace.
  std::string (*write)(const KernelContext &context, const Proposal &proposal);
  /// The proof of a written sibling. The context is of the kernel in the module that has both, and
  /// the only trusted part of the proposal is what the table publishes.
  proof::Proved (*prove)(const KernelContext &context, const Function &sibling,
                         const Proposal &proposal);
  /// The module's text with a variant in the kernel's place; nothing: it cannot be done. Null: the
  /// search (synth/search) tries the family's versions beside the kernel.
  std::optional<std::string> (*in_place)(const KernelContext &context,
                                         std::string_view variant) = nullptr;
  /// The proof of a kernel after that; null: what is not proved is not written.
  proof::Proved (*prove_in_place)(const Module &before, const Function &kernel, const Module &after,
                                  const Function &changed) = nullptr;
  /// Variants for its place that do a part of what there is to do, as `54:all` melds the branch in
  /// that line. Null: what propose() has, once.
  std::vector<std::string> (*parts)(const KernelContext &context) = nullptr;
  bool changes_no_bound = false; ///< so in place it comes last, and beside only where times count
  /// In place it rests on tests in the text: the module as if all of these came out well, to be
  /// counted. Null: on none.
  std::string (*without_tests)(const Module &module) = nullptr;
};

// Each, defined in its folder.
#define PTXASW_FAMILY(name) extern const Family name##_family;
#include "synth/families.def"
#undef PTXASW_FAMILY

/// Family::variants of words that are always the same.
template <const auto &words> const std::vector<std::string> &listed() {
  static const std::vector<std::string> all(std::begin(words), std::end(words));
  return all;
}

/// The number in a variant: `k4`, `16k`; 0: there is none.
unsigned number_in(std::string_view variant);

/// All of them, in the order of families.def.
std::span<const Family> families();

/// What a family could make of a kernel for a place; the obstacles that all families have in common
/// there, or all whose versions are launched as the kernel is, are asked for here.
FamilyAnswer propose(const Family &family, const KernelContext &context,
                     Place place = Place::beside);

/// A version that is written and proved.
struct ProvedVersion {
  std::unique_ptr<Module> module; ///< the kernel's own, followed by the version or with it
  /// In it; the kernel with what the proof has found out about it.
  std::optional<KernelContext> kernel = {};
  const Function *version = nullptr; ///< the kernel itself, if that is in place
};

/// The module's text with a version beside the kernel or in its place; nothing: it cannot be
/// written.
std::optional<std::string> with_version(const KernelContext &context, const Family &family,
                                        const Proposal &proposal, Place place = Place::beside);

/// Proves what with_version() wrote.
tl::expected<ProvedVersion, proof::NotProved>
proved_version(const KernelContext &context, const Family &family, const Proposal &proposal,
               std::optional<std::string> text, Place place = Place::beside);

/// The one of a name; null: there is none.
const Family *find_family(std::string_view name);

/// What asks for variants: `--NAME` of `ptxasw siblings`, and a setting.
struct FamilyOption {
  std::string_view name, setting;
  std::string values;
  std::string_view help;
  std::vector<std::string> variants; ///< of all families that share it

  bool has(std::string_view variant) const;
};

/// The options of all families, in their order.
std::span<const FamilyOption> family_options();

/// The one of a name that there is.
const FamilyOption &family_option(std::string_view name);

} // namespace ptxasw::synth
