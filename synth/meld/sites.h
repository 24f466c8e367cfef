#pragma once

// What is melded, in four steps: the two arms of a branch, cut into units that follow each other;
// which units of the two run once for all lanes; how two instructions become one; and the text.

#include "synth/family.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth::meld {

// --- Arms ---

/// A way that leads out of a unit.
inline constexpr std::uint32_t leaves_unit = no_index;

/// A straight piece of a unit and what follows it.
struct Part {
  std::vector<std::uint32_t> instructions; ///< indices, without the jump at the end
  std::uint32_t branch = no_index;         ///< the guarded `bra` at the end
  std::uint32_t taken = leaves_unit;       ///< a part, where there is a branch
  std::uint32_t next = leaves_unit;        ///< a part
};

/// An instruction, or a loop or an inner branch with all that belongs to it. It is entered at its
/// first part, and left to one place.
struct Unit {
  std::vector<Part> parts;
  BlockId after = 0;   ///< the block that follows; only for units that are no single instruction
  unsigned weight = 0; ///< steps that it stands for, roughly

  bool is_single() const { return parts.size() == 1 && parts[0].branch == no_index; }
  std::uint32_t single() const { return parts[0].instructions[0]; }
  std::uint32_t first() const {
    return parts[0].instructions.empty() ? parts[0].branch : parts[0].instructions[0];
  }
};

/// A branch with two arms that meet.
struct Site {
  std::uint32_t branch = no_index;   ///< instruction
  std::vector<Unit> when, otherwise; ///< what runs where its predicate is true, and where it is not
  std::vector<BlockId> blocks;       ///< of both arms, ascending
  BlockId join = 0;
};

/// Takes the branch at the end of a block apart. Throws a Refusal: what stands in the way.
Site site_at(const KernelContext &context, BlockId block);

// --- Leaves: what an instruction reads and writes, place by place in its text ---

/// What stands in a place: a register, or text that is the same wherever it stands.
struct Source {
  RegisterId reg = no_register;
  std::string text;                                 ///< of anything but a register
  auto operator<=>(const Source &) const = default; // NOLINT(modernize-use-nullptr)
};

/// What stands in one place of two instructions: where the predicate is true and where it is not.
struct SourcePair {
  Source when, otherwise;
  std::string type; ///< what `selp` takes to choose between them: `b32`; or `pred`
  auto operator<=>(const SourcePair &) const = default; // NOLINT(modernize-use-nullptr)
};

/// A place of an instruction's text.
struct Leaf {
  Span span;
  SourcePair pair;
  bool is_written = false;
};

/// Two addresses with different offsets: the whole operand is replaced by a sum.
struct OffsetPair {
  Span span; ///< of the operand in the first instruction
  SourcePair base;
  std::int64_t when = 0, otherwise = 0; ///< bytes
};

/// How two instructions become one: the text of the first with its places filled anew.
struct InstructionPair {
  std::uint32_t when = no_index, otherwise = no_index;
  std::vector<Leaf> leaves; ///< the guard is none of them
  std::optional<SourcePair> guard;
  std::vector<OffsetPair> offsets;
};

/// Nothing if they are not the same but for places that may differ. `offsets`: those of addresses
/// may, too.
std::optional<InstructionPair> pair_of(const KernelContext &context, std::uint32_t when,
                                       std::uint32_t otherwise, bool offsets);

// --- Which units become one ---

/// How two units become one: by instructions, those of the first unit in order of its parts.
using UnitPair = std::vector<InstructionPair>;

/// A run of units that stay apart, or two units that become one.
struct Step {
  std::vector<std::size_t> when, otherwise; ///< of Site::when and Site::otherwise
  std::optional<UnitPair> melded;           ///< then there is one of each
};

struct Alignment {
  std::vector<Step> steps;
  unsigned saved = 0; ///< steps that melded units stand for
  int gain = 0;       ///< the same less what choosing operands and being apart again costs
};

/// The alignment that gains most. `apart`: what it costs that arms run apart once more.
Alignment align(const KernelContext &context, const Site &site, unsigned apart);

// --- The text ---

/// The module's text with that branch melded; nothing if no edit fits. Every byte outside the two
/// arms and the branch stays, except for declarations at the head of the body and a label.
std::optional<std::string> write_melded(const KernelContext &context, const Site &site,
                                        const Alignment &alignment);

} // namespace ptxasw::synth::meld
