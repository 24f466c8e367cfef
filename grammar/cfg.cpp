// Blocks, edges, loops and what dominates what. A loop is a back edge whose head dominates its
// tail, with all that reaches the tail without passing the head; a cycle that can be entered past
// its head is irreducible, and nothing is claimed about its blocks. Dominators are dominators.h's.

#include "grammar/cfg.h"

#include "grammar/dominators.h"

#include <algorithm>
#include <map>

namespace ptxasw::ptx {
ControlFlowGraph::ControlFlowGraph(const Module &module, const Function &function) {
  split(module, function);
  number_blocks();
  find_dominators();
  find_loops();
}

void ControlFlowGraph::split(const Module &module, const Function &function) {
  const auto count = static_cast<std::uint32_t>(function.instructions.size());
  // Labels by name and scope; positions start blocks.
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> labels;
  std::vector<bool> starts(count + 1, false);
  starts[0] = true;
  bool label_at_end = count == 0;
  for (const Label &label : function.labels) {
    starts[label.position] = true;
    label_at_end |= label.position == count;
    labels.try_emplace({label.name, label.scope}, label.position);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Op op = module.opcode(function.instructions[i]).op;
    if (ends_thread(op) || is_branch(op))
      starts[i + 1] = true;
  }
  block_of_.resize(count);
  for (std::uint32_t i = 0; i <= count; ++i) {
    if (starts[i] && (i < count || label_at_end)) {
      if (!blocks_.empty())
        blocks_.back().end = i;
      blocks_.push_back({i, count, {}, {}, no_index});
    }
    if (i < count)
      block_of_[i] = static_cast<BlockId>(blocks_.size() - 1);
  }

  const auto target = [&](std::string_view name, std::uint32_t scope) -> BlockId {
    for (std::uint32_t s = scope; s != no_index; s = function.scopes[s].parent)
      if (const auto label = labels.find({name, s}); label != labels.end())
        return label->second < count ? block_of_[label->second]
                                     : static_cast<BlockId>(blocks_.size() - 1);
    return no_index;
  };
  std::vector<BlockId> led_to_by(blocks_.size(), no_index); // the last block that got an edge there
  const auto add_edge = [&](BlockId from, BlockId to) {
    if (to == no_index) {
      well_formed_ = false;
      return;
    }
    if (led_to_by[to] != from) {
      led_to_by[to] = from;
      blocks_[from].successors.push_back(to);
      blocks_[to].predecessors.push_back(from);
    }
  };
  for (BlockId b = 0; b < blocks_.size(); ++b) {
    BasicBlock &block = blocks_[b];
    const BlockId next = b + 1 < blocks_.size() ? b + 1 : no_index;
    if (block.first == block.end) { // a label at the end of the body
      if (next != no_index)
        add_edge(b, next);
      continue;
    }
    const Instruction &last = function.instructions[block.end - 1];
    const Opcode &opcode = module.opcode(last);
    const auto operands = module.operands(last);
    bool falls_through = last.guard != no_register;
    if (opcode.op == Op::bra) {
      add_edge(b, operands.empty() ? no_index : target(module.text(operands[0].span), last.scope));
    } else if (opcode.op == Op::brx) {
      const TargetList *table =
          operands.size() > 1 ? function.find_target_list(module.text(operands[1].span), last.scope)
                              : nullptr;
      if (!table)
        well_formed_ = false;
      else // its labels are those that the list itself sees
        for (const std::string_view name : table->targets)
          add_edge(b, target(name, table->scope));
    } else if (!ends_thread(opcode.op)) {
      falls_through = true;
    }
    if (falls_through && next != no_index)
      add_edge(b, next);
    const bool chooses = is_branch(opcode.op) || ends_thread(opcode.op);
    if (chooses && (last.guard != no_register || opcode.op == Op::brx))
      block.branch = block.end - 1;
  }
}

void ControlFlowGraph::number_blocks() {
  order_index_.assign(blocks_.size(), no_index);
  std::vector<bool> seen(blocks_.size(), false);
  std::vector<std::pair<BlockId, std::size_t>> stack;
  std::vector<BlockId> postorder;
  if (blocks_.empty())
    return;
  stack.emplace_back(0, 0);
  seen[0] = true;
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    // The last successor first, so that a fall-through side comes after the taken one in the end.
    const auto &successors = blocks_[block].successors;
    if (next < successors.size()) {
      const BlockId successor = successors[successors.size() - 1 - next++];
      if (!seen[successor]) {
        seen[successor] = true;
        stack.emplace_back(successor, 0);
      }
    } else {
      postorder.push_back(block);
      stack.pop_back();
    }
  }
  order_.assign(postorder.rbegin(), postorder.rend());
  for (std::uint32_t i = 0; i < order_.size(); ++i)
    order_index_[order_[i]] = i;
}

void ControlFlowGraph::find_dominators() {
  children_.resize(blocks_.size());
  enter_.assign(blocks_.size(), ~0u);
  leave_.assign(blocks_.size(), 0);
  if (order_.empty())
    return;
  idom_ = immediate_dominators(
      static_cast<std::uint32_t>(blocks_.size()),
      0, [&](BlockId block) -> const auto & { return blocks_[block].successors; },
      [&](BlockId block) -> const auto & { return blocks_[block].predecessors; });
  for (std::size_t i = 1; i < order_.size(); ++i)
    children_[idom_[order_[i]]].push_back(order_[i]);
  std::uint32_t clock = 0;
  std::vector<std::pair<BlockId, std::size_t>> stack{{0, 0}};
  enter_[0] = clock++;
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next < children_[block].size()) {
      const BlockId child = children_[block][next++];
      enter_[child] = clock++;
      stack.emplace_back(child, 0);
    } else {
      leave_[block] = clock++;
      stack.pop_back();
    }
  }
}

// Headers from the inside out; a block already in a loop stands for that loop's header, so every
// block and edge is visited at most once per nesting level.
void ControlFlowGraph::find_loops() {
  loop_of_.assign(blocks_.size(), no_index);
  irreducible_.assign(blocks_.size(), false);
  std::vector<std::pair<BlockId, BlockId>> irreducible_edges;
  std::vector<Loop> found; // innermost first
  std::vector<std::uint32_t> parent_of_found;
  const auto outermost = [&](std::uint32_t loop) {
    while (parent_of_found[loop] != no_index)
      loop = parent_of_found[loop];
    return loop;
  };
  for (auto i = order_.size(); i-- > 0;) {
    const BlockId header = order_[i];
    std::vector<BlockId> latches;
    for (const BlockId predecessor : blocks_[header].predecessors) {
      if (!reachable(predecessor) || order_index_[predecessor] < order_index_[header])
        continue;
      if (dominates(header, predecessor))
        latches.push_back(predecessor);
      else
        irreducible_edges.emplace_back(predecessor, header);
    }
    if (latches.empty())
      continue;
    const auto loop = static_cast<std::uint32_t>(found.size());
    found.push_back({header, no_index, 1, latches});
    parent_of_found.push_back(no_index);
    std::vector<BlockId> work = latches;
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      BlockId entry = block;
      if (loop_of_[block] == no_index) {
        if (!reachable(block))
          continue;
        loop_of_[block] = loop;
      } else {
        const std::uint32_t inner = outermost(loop_of_[block]);
        if (inner == loop)
          continue;
        parent_of_found[inner] = loop;
        entry = found[inner].header;
      }
      if (entry == header)
        continue;
      for (const BlockId predecessor : blocks_[entry].predecessors)
        if (reachable(predecessor) && dominates(header, predecessor))
          work.push_back(predecessor);
    }
    if (loop_of_[header] == no_index)
      loop_of_[header] = loop;
  }
  // Renumber from the outside in.
  const auto last = static_cast<std::uint32_t>(found.size());
  loops_.resize(last);
  for (std::uint32_t i = 0; i < last; ++i) {
    Loop &loop = loops_[last - 1 - i] = found[i];
    loop.parent = parent_of_found[i] == no_index ? no_index : last - 1 - parent_of_found[i];
  }
  for (Loop &loop : loops_)
    loop.depth = loop.parent == no_index ? 1 : loops_[loop.parent].depth + 1;
  for (LoopId &loop : loop_of_)
    if (loop != no_index)
      loop = last - 1 - loop;
  number_loops();
  find_irreducible(irreducible_edges);
}

// A loop's number and how many loops lie in it, itself included, give its interval.
void ControlFlowGraph::number_loops() {
  const auto count = static_cast<LoopId>(loops_.size());
  std::vector<std::uint32_t> size(count, 1), next(count, 0);
  for (LoopId loop = count; loop-- > 0;)
    if (loops_[loop].parent != no_index)
      size[loops_[loop].parent] += size[loop];
  loop_enter_.resize(count);
  loop_leave_.resize(count);
  std::uint32_t outermost = 0;
  for (LoopId loop = 0; loop < count; ++loop) { // parents come first
    const LoopId parent = loops_[loop].parent;
    std::uint32_t &begin = parent == no_index ? outermost : next[parent];
    loop_enter_[loop] = begin;
    loop_leave_[loop] = begin + size[loop];
    next[loop] = begin + 1;
    begin += size[loop];
  }
}

void ControlFlowGraph::find_irreducible(const std::vector<std::pair<BlockId, BlockId>> &edges) {
  // Beyond a handful of such edges nothing is gained by telling regions apart.
  constexpr std::size_t few = 16;
  if (edges.size() > few) {
    irreducible_.assign(blocks_.size(), true);
    return;
  }
  const auto reach = [&](BlockId start, bool forward) {
    std::vector<bool> seen(blocks_.size(), false);
    std::vector<BlockId> work{start};
    seen[start] = true;
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      for (const BlockId next : forward ? blocks_[block].successors : blocks_[block].predecessors)
        if (!seen[next]) {
          seen[next] = true;
          work.push_back(next);
        }
    }
    return seen;
  };
  for (const auto &[from, to] : edges) {
    const std::vector<bool> ahead = reach(to, true);
    const std::vector<bool> behind = reach(from, false);
    for (BlockId b = 0; b < blocks_.size(); ++b)
      if (ahead[b] && behind[b])
        irreducible_[b] = true;
  }
}

std::vector<BlockId> blocks_in(const ControlFlowGraph &cfg, LoopId loop) {
  std::vector<BlockId> result;
  for (BlockId block = 0; block < cfg.blocks().size(); ++block)
    if (cfg.reachable(block) && cfg.contains(loop, block))
      result.push_back(block);
  return result;
}

// Dominators of the reversed graph, whose root is one more node behind the ends.
std::vector<BlockId> immediate_postdominators(const ControlFlowGraph &cfg,
                                              const std::vector<BlockEdge> &ends) {
  const auto &blocks = cfg.blocks();
  const auto end = static_cast<BlockId>(blocks.size());
  std::vector<std::vector<BlockId>> ahead(end + 1), behind(end + 1);
  const auto connect = [&](BlockId from, BlockId to) {
    ahead[from].push_back(to);
    behind[to].push_back(from);
  };
  for (const BlockEdge &edge : ends)
    if (cfg.reachable(edge.from))
      connect(edge.from, end);
  for (const BlockId block : cfg.reverse_postorder())
    for (const BlockId successor : blocks[block].successors)
      if (std::find(ends.begin(), ends.end(), BlockEdge{block, successor}) == ends.end())
        connect(block, successor);
  std::vector<BlockId> result = immediate_dominators(
      end + 1, end, [&](BlockId block) -> const auto & { return behind[block]; },
      [&](BlockId block) -> const auto & { return ahead[block]; });
  result.pop_back();
  return result;
}

} // namespace ptxasw::ptx
