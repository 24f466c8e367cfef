#pragma once

// The control-flow graph of a function: basic blocks, dominators, post-dominators, natural loops.
// Who makes one asks first if it may be relied on:
//   const ControlFlowGraph cfg(module, kernel);
//   if (!cfg.well_formed()) // a branch has a target that is not there

#include "grammar/module.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ptxasw::ptx {

/// Index of a basic block; blocks are numbered in text order.
using BlockId = std::uint32_t;
/// Index of a loop; an enclosing loop has a smaller index than the loops in it.
using LoopId = std::uint32_t;

/// A maximal run of instructions entered at its first and left after its last.
struct BasicBlock {
  std::uint32_t first = 0;         ///< index in Function::instructions
  std::uint32_t end = 0;           ///< one past the last
  std::vector<BlockId> successors; ///< for a conditional branch: taken first, then fall-through
  std::vector<BlockId> predecessors;
  /// The last instruction if it goes elsewhere under a guard or by an index; else `no_index`. There
  /// is a single successor after a guarded exit, and when a branch leads to the next block or is
  /// the body's last instruction.
  std::uint32_t branch = no_index;
};

/// A natural loop: the header dominates all its blocks.
struct Loop {
  BlockId header = 0;
  LoopId parent = no_index;
  unsigned depth = 1;
  std::vector<BlockId> latches; ///< sources of the back edges
};

/// The control-flow graph of a function body with dominators and loops.
class ControlFlowGraph {
public:
  ControlFlowGraph(const Module &module, const Function &function);

  /// False if a branch has a target that cannot be found: nothing below may be relied on.
  bool well_formed() const { return well_formed_; }
  const std::vector<BasicBlock> &blocks() const { return blocks_; }
  const std::vector<Loop> &loops() const { return loops_; }
  BlockId block_of(std::uint32_t instruction) const { return block_of_[instruction]; }
  /// Reachable blocks, each after all its predecessors except those of back edges.
  const std::vector<BlockId> &reverse_postorder() const { return order_; }
  /// Position of a block in that order; `no_index` if unreachable.
  std::uint32_t order_of(BlockId block) const { return order_index_[block]; }
  bool reachable(BlockId block) const { return order_index_[block] != no_index; }
  /// The immediate dominator; the entry's is the entry itself.
  BlockId immediate_dominator(BlockId block) const { return idom_[block]; }
  /// Blocks that a block immediately dominates, in reverse postorder.
  const std::vector<BlockId> &dominated(BlockId block) const { return children_[block]; }
  bool dominates(BlockId a, BlockId b) const {
    return enter_[a] <= enter_[b] && leave_[b] <= leave_[a];
  }
  /// The innermost loop around a block, or `no_index`.
  LoopId loop_of(BlockId block) const { return loop_of_[block]; }
  bool contains(LoopId loop, BlockId block) const {
    const LoopId inner = loop_of_[block];
    return inner != no_index && loop_enter_[loop] <= loop_enter_[inner] &&
           loop_enter_[inner] < loop_leave_[loop];
  }
  /// True if every round of a loop that is followed by another comes to a block.
  bool in_each_round(LoopId loop, BlockId block) const {
    return std::all_of(loops_[loop].latches.begin(), loops_[loop].latches.end(),
                       [&](BlockId latch) { return dominates(block, latch); });
  }
  /// True if the block lies on a cycle that has several entries.
  bool irreducible(BlockId block) const { return irreducible_[block]; }

private:
  void split(const Module &module, const Function &function);
  void number_blocks();
  void find_dominators();
  void find_loops();
  void number_loops();
  void find_irreducible(const std::vector<std::pair<BlockId, BlockId>> &edges);

  bool well_formed_ = true;
  std::vector<BasicBlock> blocks_;
  std::vector<BlockId> block_of_;
  std::vector<BlockId> order_;
  std::vector<std::uint32_t> order_index_;
  std::vector<BlockId> idom_;
  std::vector<std::vector<BlockId>> children_;
  std::vector<std::uint32_t> enter_, leave_; // of a walk over the dominator tree
  std::vector<Loop> loops_;
  std::vector<LoopId> loop_of_;
  std::vector<std::uint32_t> loop_enter_, loop_leave_; // of a walk over the tree of loops
  std::vector<bool> irreducible_;
};

/// The reachable blocks of a loop, in the order of the text.
std::vector<BlockId> blocks_in(const ControlFlowGraph &cfg, LoopId loop);

/// The blocks that ways lead to from one block, by edges of which `goes(from, to)` is true; the
/// block itself is among them if a way leads back to it.
template <typename Goes>
std::set<BlockId> reached_from(const ControlFlowGraph &cfg, BlockId start, Goes goes) {
  std::set<BlockId> found;
  std::vector<BlockId> open{start};
  while (!open.empty()) {
    const BlockId from = open.back();
    open.pop_back();
    for (const BlockId to : cfg.blocks()[from].successors)
      if (goes(from, to) && found.insert(to).second)
        open.push_back(to);
  }
  return found;
}

/// The same backwards: the reachable blocks from which ways lead to one block.
template <typename Goes>
std::set<BlockId> leading_to(const ControlFlowGraph &cfg, BlockId end, Goes goes) {
  std::set<BlockId> found;
  std::vector<BlockId> open{end};
  while (!open.empty()) {
    const BlockId to = open.back();
    open.pop_back();
    for (const BlockId from : cfg.blocks()[to].predecessors)
      if (cfg.reachable(from) && goes(from, to) && found.insert(from).second)
        open.push_back(from);
  }
  return found;
}

/// An edge of the graph; `to` is `no_index` where threads leave the function.
struct BlockEdge {
  BlockId from = 0;
  BlockId to = no_index;
  bool operator==(const BlockEdge &) const = default;
};

/// By block, the nearest block behind it through which every way to one of the `ends` leads; one
/// past the last block if there is none but the end itself, `no_index` if no way leads to an end.
/// What leaves by another way than the ends (an early exit) does not count.
std::vector<BlockId> immediate_postdominators(const ControlFlowGraph &cfg,
                                              const std::vector<BlockEdge> &ends);

} // namespace ptxasw::ptx
