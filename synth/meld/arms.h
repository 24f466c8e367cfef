#pragma once

// The two arms of a branch, each cut into units that follow each other: an instruction, or a loop
// or an inner branch with all that belongs to it. Where this is not possible there is nothing to
// meld.

#include "grammar/cfg.h"
#include "grammar/module.h"
#include "synth/family.h"

#include <cstdint>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::synth::meld {

/// A way that leads out of a unit.
inline constexpr std::uint32_t leaves_unit = no_index;

/// A straight piece of a unit and what follows it.
struct Part {
  std::vector<std::uint32_t> instructions; ///< indices, without the jump at the end
  std::uint32_t branch = no_index;         ///< the guarded `bra` at the end
  std::uint32_t taken = leaves_unit;       ///< a part, where there is a branch
  std::uint32_t next = leaves_unit;        ///< a part
};

/// It is entered at its first part, and left to one place.
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

/// By block, where all ways to the end of the function meet next (grammar/cfg.h).
std::vector<BlockId> meeting_points(const ControlFlowGraph &cfg);

/// Takes the branch at the end of a block apart. Error: what stands in the way.
tl::expected<Site, Refusal> site_at(const Module &module, const Function &function,
                                    const ControlFlowGraph &cfg,
                                    const std::vector<BlockId> &meeting, BlockId block);

} // namespace ptxasw::synth::meld
