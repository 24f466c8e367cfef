#pragma once

// Where code is shared by several ways, tells the search for launches which one of them leads to a
// place (launch_model.h).

#include "grammar/cfg.h"

#include <optional>
#include <vector>

namespace ptxasw::emulator {

/// Blocks that have run before another one, beyond those that dominate it.
///
/// Code that several ways share may leave for where each of them goes on: each stores a number of
/// its own in a register before, and branches ask for it behind. Who gets to where the number leads
/// has come that way.
class EarlierBlocks {
public:
  EarlierBlocks(const Module &module, const Function &function, const ControlFlowGraph &cfg)
      : module_(module), function_(function), cfg_(cfg) {}

  /// A block that lanes have left exactly once before they enter `block`, because only there the
  /// register got the number that leads here; nothing if none is known.
  std::optional<BlockId> before(BlockId block);
  /// The instruction that gave a register what it holds where `block` is left; nothing if that
  /// depends on the way there.
  std::optional<std::uint32_t> writer_at_end(BlockId block, RegisterId reg);

private:
  /// A register was a number when an edge was taken, or was not.
  struct Answer {
    RegisterId reg = no_register;
    std::int64_t number = 0;
    bool equal = false;
  };
  std::optional<Answer> answer_on_edge(BlockId from, BlockId to) const;
  /// The last instruction before `end` in a block that may write a register.
  std::optional<std::uint32_t> last_write(BlockId block, std::uint32_t end, RegisterId reg) const;
  std::optional<BlockId> source(BlockId top, const std::vector<Answer> &answers) const;
  /// True if control may get from a block, left, to the beginning of another.
  bool leads_to(BlockId from, BlockId to) const;
  std::optional<BlockId> find_before(BlockId block) const;

  const Module &module_;
  const Function &function_;
  const ControlFlowGraph &cfg_;
  std::vector<std::optional<std::optional<BlockId>>> known_; ///< by block, what before() says
};

} // namespace ptxasw::emulator
