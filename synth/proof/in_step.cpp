// Decides if lanes that are active together in a loop are in the same iteration of it, for the
// proof: from the definitions, by other means than detection, which has
// emulator/symbolic/convergence.cpp.
//
// Two lanes of a row come together where all ways from the branch that parted them to some end lead
// through, so for every such branch and every block of the loop the ways are walked. And they come
// together where lanes meet (`.sync`, barriers): there the two have met equally often, so it is
// enough that how often a lane has met, up to any place from which the loop can be reached, is a
// matter of its row and its iterations alone. That is a flow of numbers through the graph: equal
// numbers stand for equal histories, and where different ones meet behind a branch on which lanes
// differ there is none.

#include "synth/proof/lemmas.h"

#include "emulator/symbolic/calls.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ptxasw::synth {
namespace {

/// Blocks examined in one function.
constexpr std::size_t step_visit_budget = 2'000'000;

/// Calls within calls that are followed.
constexpr int call_depth = 4;

/// Returns true if lanes may be brought together by an instruction, or by what it calls.
bool gathers(const Module &module, const CallTargets &targets, const Instruction &instruction,
             int depth) {
  if (!gathers_lanes(module.opcode(instruction)))
    return false;
  const Function *const called =
      module.opcode(instruction).op == Op::call ? targets.of(instruction) : nullptr;
  return !called || depth == 0 ||
         std::any_of(called->instructions.begin(), called->instructions.end(),
                     [&](const Instruction &inside) {
                       return gathers(module, targets, inside, depth - 1);
                     });
}

} // namespace

// True if lanes of a row may leave a block by different edges.
bool LoopsInStep::parts(BlockId block) const {
  if (cfg_.blocks()[block].successors.size() < 2)
    return false;
  const Expr choice = emulation_.branch_choice(block);
  return emulation_.feasible(block) && (!choice || !emulation_.uniform(choice, block));
}

bool LoopsInStep::in_step(BlockId block) {
  for (LoopId loop = cfg_.loop_of(block); loop != no_index; loop = cfg_.loops()[loop].parent) {
    const auto [entry, is_new] = in_step_.try_emplace(loop, false);
    if (is_new)
      entry->second = comes_together_in_step(loop) && meets_in_step(loop);
    if (!entry->second)
      return false;
  }
  return true;
}

bool LoopsInStep::comes_together_in_step(LoopId loop) {
  const auto &blocks = cfg_.blocks();
  const BlockId header = cfg_.loops()[loop].header;
  std::vector<BlockId> inside;
  bool any_parts = false;
  for (const BlockId block : cfg_.reverse_postorder()) {
    if (!cfg_.contains(loop, block))
      continue;
    if (cfg_.irreducible(block))
      return false;
    inside.push_back(block);
    any_parts = any_parts || parts(block);
  }
  if (!any_parts)
    return true;
  // What can be reached from behind a block without passing another one; and, of ends, the blocks
  // that end threads and the headers of the loops around that can be reached again.
  const auto reach = [&](BlockId from, BlockId without) {
    std::set<BlockId> seen =
        reached_from(cfg_, from, [&](BlockId, BlockId next) { return next != without; });
    visited_ += seen.size() + 1;
    return seen;
  };
  std::vector<BlockId> ends;
  for (const BlockId block : cfg_.reverse_postorder())
    if (blocks[block].successors.empty())
      ends.push_back(block);
  for (LoopId outer = cfg_.loops()[loop].parent; outer != no_index;
       outer = cfg_.loops()[outer].parent)
    ends.push_back(cfg_.loops()[outer].header);
  for (const BlockId branch : inside) {
    if (!parts(branch))
      continue;
    const std::set<BlockId> anywhere = reach(branch, no_index);
    const std::set<BlockId> this_time = reach(branch, header);
    for (const BlockId meet : inside) {
      if (meet == header || !this_time.contains(meet))
        continue;
      const std::set<BlockId> around = reach(branch, meet);
      if (visited_ > step_visit_budget)
        return false;
      const bool all_meet = std::any_of(ends.begin(), ends.end(), [&](BlockId end) {
        return anywhere.contains(end) && !around.contains(end);
      });
      if (all_meet && around.contains(header))
        return false;
    }
  }
  return true;
}

bool LoopsInStep::meets_in_step(LoopId loop) {
  constexpr std::uint32_t unknown = 0; // numbers of histories; the first is that of the entry
  std::uint32_t last = 1;
  const auto &blocks = cfg_.blocks();
  const auto &loops = cfg_.loops();
  const BlockId header = loops[loop].header;
  const CallTargets targets(module_);
  enum class Meets : std::uint8_t { no, evenly, unevenly };
  std::vector<Meets> meets(blocks.size(), Meets::no);
  std::vector<bool> loop_meets(loops.size(), false);
  for (const BlockId block : cfg_.reverse_postorder()) {
    for (std::uint32_t i = blocks[block].first; i < blocks[block].end; ++i)
      if (gathers(module_, targets, function_.instructions[i], call_depth))
        meets[block] =
            meets[block] != Meets::unevenly && function_.is_entry && emulation_.meets_evenly(i)
                ? Meets::evenly
                : Meets::unevenly;
    if (meets[block] != Meets::no)
      for (LoopId around = cfg_.loop_of(block); around != no_index; around = loops[around].parent)
        loop_meets[around] = true;
  }
  if (!loop_meets[loop])
    return true;
  // The header, too, as the loop leads back to it.
  const std::set<BlockId> leads_there =
      leading_to(cfg_, header, [](BlockId, BlockId) { return true; });
  visited_ += 4 * blocks.size();
  // A branch matters if two of its ways lead to the loop.
  const auto chooses = [&](BlockId block) {
    unsigned ways = 0;
    for (const BlockId next : blocks[block].successors)
      ways += leads_there.contains(next);
    return ways > 1 && parts(block);
  };
  // True if lanes agree on all branches on the paths from `top` to `block`.
  const auto agreed = [&](BlockId top, BlockId block) {
    std::set<BlockId> ways =
        leading_to(cfg_, block, [&](BlockId, BlockId to) { return to != top; });
    ways.erase(block);
    visited_ += ways.size();
    return visited_ <= step_visit_budget && std::none_of(ways.begin(), ways.end(), chooses);
  };
  std::vector<std::uint32_t> behind(blocks.size(), unknown); // by block: when it is left
  // On an edge that leaves loops: known if lanes leave them in the same iteration.
  const auto on_edge = [&](BlockId from, BlockId to) {
    for (LoopId left = cfg_.loop_of(from); left != no_index && !cfg_.contains(left, to);
         left = loops[left].parent) {
      visited_ += loop_meets[left] ? blocks.size() : 1;
      if (loop_meets[left])
        for (const BlockId block : cfg_.reverse_postorder())
          if (cfg_.contains(left, block) && chooses(block) &&
              std::any_of(blocks[block].successors.begin(), blocks[block].successors.end(),
                          [&](BlockId next) { return !cfg_.contains(left, next); }))
            return unknown;
    }
    return behind[from];
  };
  for (const BlockId block : cfg_.reverse_postorder()) {
    if (!leads_there.contains(block))
      continue;
    if (cfg_.irreducible(block) || visited_ > step_visit_budget)
      return false;
    std::uint32_t before = block == 0 ? 1 : unknown;
    bool first = block != 0, same = true, known = true;
    for (const BlockId from : blocks[block].predecessors) {
      if (!cfg_.reachable(from) || cfg_.dominates(block, from))
        continue; // a back edge, examined below
      const std::uint32_t history = on_edge(from, block);
      known = known && history != unknown;
      same = same && (first || history == before);
      before = history;
      first = false;
    }
    if (!known)
      before = unknown;
    else if (!same)
      before = agreed(cfg_.immediate_dominator(block), block) ? ++last : unknown;
    const LoopId own = cfg_.loop_of(block);
    if (before != unknown && own != no_index && loops[own].header == block && loop_meets[own])
      before = ++last; // in any iteration
    behind[block] = before == unknown || meets[block] == Meets::unevenly ? unknown
                    : meets[block] == Meets::evenly                      ? ++last
                                                                         : before;
  }
  // Every path around a loop that leads here must also be known.
  for (LoopId other = 0; other < loops.size(); ++other)
    if (loop_meets[other] && leads_there.contains(loops[other].header))
      for (const BlockId latch : loops[other].latches)
        if (behind[latch] == unknown)
          return false;
  return behind[header] != unknown;
}

} // namespace ptxasw::synth
