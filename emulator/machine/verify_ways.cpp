// What no way leads to on which no index wraps around.
//
// Code that several ways share is entered under no single condition: the last copy of a re-tiled
// loop runs alone because a test before the loop parted it from the others, or one in it, and both
// do that only where an index wraps around. So ways are followed from the kernel's entry, edge by
// edge. Of an edge to what no launch has executed the solver is asked whether it can be taken by
// whoever has come to it by a given edge, while all indices are the numbers that people think of.
// If it cannot, no way goes on there; what no way gets to is entered, if at all, behind something
// that has wrapped around.
//
// Too little is known of an edge rather than too much, and more edges are taken than can be.

#include "emulator/machine/verifier.h"

#include <algorithm>
#include <set>

namespace ptxasw::emulator::verification {
namespace {

/// Edges about which the solver is asked.
constexpr unsigned ways_budget = 1000;

} // namespace

void Verifier::follow_ways(bool in_rewritten) {
  const std::uint32_t own = in_rewritten ? second_ : first_;
  KernelModel &model = in_rewritten ? other_model_ : model_;
  if (!model.complete())
    return;
  const Function &kernel = in_rewritten ? other_ : kernel_;
  const ControlFlowGraph &cfg = model.emulation().cfg();
  // What was not executed: blocks, and branches that were never taken.
  enum class Known : std::uint8_t { executed, open, closed };
  std::vector<Known> blocks(cfg.blocks().size()), branches(cfg.blocks().size());
  bool any = false;
  for (const Target &target : targets_) {
    if (target.in_rewritten != in_rewritten || target.function != own || target.outcome ||
        target.reached)
      continue;
    const BlockId block = cfg.block_of(target.instruction);
    const Known known = target.is_open() ? Known::open : Known::closed;
    any |= target.is_open();
    if (kernel.instructions[target.instruction].guard == no_register)
      blocks[block] = std::max(blocks[block], known);
    else if (target.instruction == cfg.blocks()[block].branch)
      branches[block] = known;
  }
  if (!any)
    return;
  unsigned asked = 0;
  const auto is_closed = [&](BlockId from, BlockId block, BlockId next) {
    const auto &ways = cfg.blocks()[block].successors;
    const bool is_branch = ways.size() == 2 && ways[0] != ways[1] && next == ways[0];
    const Known known = std::max(blocks[next], is_branch ? branches[block] : Known::executed);
    if (known == Known::closed || ways.size() < 2 || asked == ways_budget)
      return known == Known::closed;
    ++asked;
    const KernelModel::Wish wish = model.to_turn(from, block, next);
    const Question question = question_of(model, wish);
    return only_wraps(model, wish, question, true);
  };
  std::set<std::pair<BlockId, BlockId>> taken;
  std::vector<std::pair<BlockId, BlockId>> open;
  std::vector<bool> entered(cfg.blocks().size(), false), jumped(cfg.blocks().size(), false);
  const auto take = [&](BlockId from, BlockId to) {
    if (taken.emplace(from, to).second)
      open.emplace_back(from, to);
    entered[to] = true;
    jumped[from] = jumped[from] || to == cfg.blocks()[from].successors[0];
  };
  entered[0] = true;
  for (const BlockId next : cfg.blocks()[0].successors)
    take(0, next);
  while (!open.empty()) {
    const auto [from, block] = open.back();
    open.pop_back();
    for (const BlockId next : cfg.blocks()[block].successors)
      if (!is_closed(from, block, next))
        take(block, next);
  }
  for (Target &target : targets_) {
    if (target.in_rewritten != in_rewritten || target.function != own || !target.is_open())
      continue;
    const BlockId block = cfg.block_of(target.instruction);
    target.wraps = !entered[block] || (target.instruction == cfg.blocks()[block].branch &&
                                       !target.outcome && !jumped[block]);
  }
}

} // namespace ptxasw::emulator::verification
