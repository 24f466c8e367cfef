#pragma once

// Control-flow melding (COpPER, section 5.1, "branch distribution"; DARM, Saumya and others 2022):
// in a divergent region, what both arms of the branch do runs once for all lanes.
//
// In four steps: the two arms of a branch, cut into units that follow each other (arms.cpp); which
// units of the two run once for all lanes (align.cpp); how two instructions become one
// (leaves.cpp); and the text (write.cpp). Why it is right: synth/prove/walk.h, which knows nothing
// of all that.
//
// What there is of each arm stands in an array: first that of the lanes in which the branch's
// predicate is true, then that of the others.

#include "synth/family.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth::meld {

// --- Arms ---

/// An instruction, or a loop or an inner branch with all that belongs to it: blocks, of which the
/// first is entered, and which are left to one place.
struct Unit {
  std::uint32_t first = 0;     ///< the first instruction
  std::vector<BlockId> blocks; ///< none of a single instruction; what precedes `first` is not in it
  BlockId after = 0;           ///< the block that follows them
  unsigned weight = 0; ///< steps that it stands for, roughly; a loop counts for 8 iterations

  bool is_single() const { return blocks.empty(); }
};

/// What a unit has of one of its blocks, without the jump at the end.
std::vector<std::uint32_t> computing(const KernelContext &context, const Unit &unit, BlockId block);

// --- Leaves: what an instruction reads and writes, place by place in its text ---

/// What stands in a place: a register, or text that is the same wherever it stands.
struct Source {
  RegisterId reg = no_register;
  std::string text;                                 ///< of anything but a register
  auto operator<=>(const Source &) const = default; // NOLINT(modernize-use-nullptr)
};

/// What stands in one place of two instructions.
struct SourcePair {
  std::array<Source, 2> of;
  std::string type; ///< what `selp` takes to choose between them: `b32`; or `pred`
  auto operator<=>(const SourcePair &) const = default; // NOLINT(modernize-use-nullptr)
};

/// A place of an instruction's text.
struct Leaf {
  Span span;
  SourcePair pair;
  bool is_written = false;
  /// Of two addresses with different offsets, which a sum takes the place of: these.
  std::optional<std::array<std::int64_t, 2>> offsets = {};
};

/// How two instructions become one: the text of the first with its places filled anew.
struct InstructionPair {
  std::uint32_t when = no_index; ///< the first
  std::vector<Leaf> leaves;      ///< the guard is none of them
  std::optional<SourcePair> guard;
};

/// Nothing if they are not the same but for places that may differ. `offsets`: those of addresses
/// may, too.
std::optional<InstructionPair> pair_of(const KernelContext &context, std::uint32_t when,
                                       std::uint32_t otherwise, bool offsets);

// --- Which units become one ---

/// How two units become one: by instructions, those of the first unit in order of its blocks.
using UnitPair = std::vector<InstructionPair>;

/// A run of units that stay apart, or two units that become one.
struct Step {
  std::array<std::vector<std::size_t>, 2> units; ///< of Site::arms
  std::optional<UnitPair> melded;                ///< then there is one of each
};

/// How much a common part must be worth: any gain in steps, or a large one.
enum class Cutoff : std::uint8_t { all, costly };

/// A branch that lanes may take differently, with two arms that meet and have something in common.
struct Site {
  std::uint32_t branch = no_index; ///< instruction
  std::uint32_t line = 0;
  std::array<std::vector<Unit>, 2> arms;
  std::vector<BlockId> blocks; ///< of both arms, ascending
  BlockId join = 0;
  std::vector<Step> steps;
  int gain = 0; ///< steps that melded units stand for, less what choosing operands and being apart
                ///< again costs
};

/// Takes the branch at the end of a block apart. Throws a Refusal: what stands in the way.
Site site_at(const KernelContext &context, BlockId block);

/// Finds the steps that gain most. `apart`: what it costs that arms run apart once more.
void align(const KernelContext &context, Site &site, unsigned apart);

/// The branches of a kernel that may be melded with a gain.
Sites<Site> meld_sites(const KernelContext &context, Cutoff cutoff);

// --- The text ---

/// The module's text with that branch melded; nothing if no edit fits. Every byte outside the two
/// arms and the branch stays, except for declarations at the head of the body and a label.
std::optional<std::string> write_melded(const KernelContext &context, const Site &site);

} // namespace ptxasw::synth::meld
