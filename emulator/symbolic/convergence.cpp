// Which loops keep the lanes of a row in step.
//
// A shuffle asks another lane for what it read in *its* current iteration. So lanes that are active
// together inside a loop must be in the same iteration of it, and there are two ways to lose that:
//
//   LOOP: i = i + 1;
//         if (c) goto LOOP;      // (1) lanes with c wait for nobody: they come to P later, with a
//   P:    ...                    //     larger i, and P post-dominates the branch
//         if (d) goto LOOP;
//
//   LOOP: if (c && i == 0) goto NEXT;
//         bar.warp.sync -1;      // (2) matches lanes by mask, whatever their i
//         ...
//   NEXT: i = i + 1; if (i < n) goto LOOP;
//
// Let a and b be two lanes of one row that are active together at a place in loop L. They came
// together at a post-dominator of the branch that parted them, or at a meeting.
//
// (1) Let X be that branch and P the post-dominator. If P is not in L, they were not together in L.
// If it is, they are in step unless one may go around L on the way from X to P and the other need
// not: unless the header can be reached from X without passing P. (If P is the header, each of them
// has taken one back edge. If X is outside L, P can only be the header, where both come in.) Which
// blocks post-dominate X depends on which ends count, since lanes that leave for good are not
// waited for; every block that ends threads is examined separately, and so are the back edges of
// the loops around L. Later post-dominators of X need not be examined: between the first and a
// later one the two go the same way, or another branch has parted them.
//
// (2) Meetings: each lane's k-th meeting is the other's k-th meeting, as both name each other and
// neither goes on before both have come. So they are in step if both pass the same events in the
// same order, an event being a meeting, an entry into L or a path around it. That is so if no
// branch that parts lanes decides about events: between it and the nearest block through which
// every way to the next arrival at the header leads there must be none. Only blocks from which L
// can be reached count: what leaves for good meets no lane in L (it may still take part in a
// bar.warp.sync, as the others' k-th).
//
// `parts` knows what is the same function of row and iterations for all lanes; it does not rest on
// what is shown here.

#include "emulator/symbolic/convergence.h"

#include "grammar/dominators.h"

#include <algorithm>
#include <unordered_set>

namespace ptxasw::emulator {
namespace {

/// Blocks examined in one function; loops that are left over count as out of step.
constexpr std::size_t visit_budget = 4'000'000;

/// Blocks that end threads; in a function with more no loop is in step that parts lanes.
constexpr std::size_t ends_budget = 32;

} // namespace

Convergence::Convergence(const ControlFlowGraph &cfg, std::function<bool(BlockId)> parts,
                         std::vector<ConvergencePoint> meetings)
    : cfg_(cfg), parts_branch_(std::move(parts)), meetings_(std::move(meetings)),
      parts_(cfg.blocks().size()), in_step_(cfg.loops().size()) {
  for (const Loop &loop : cfg.loops()) {
    std::vector<BlockEdge> &back = ends_.emplace_back();
    for (const BlockId latch : loop.latches)
      back.push_back({latch, loop.header});
  }
  for (const BlockId block : cfg.reverse_postorder())
    if (cfg.blocks()[block].successors.empty())
      ends_.push_back({{block, no_index}});
  postdominators_.resize(ends_.size());
}

bool Convergence::in_step(LoopId loop) {
  if (!in_step_[loop])
    in_step_[loop] = regroups_in_step(loop) && meets_in_step(loop);
  return *in_step_[loop];
}

bool Convergence::spend(std::size_t blocks) {
  visited_ += blocks;
  return visited_ <= visit_budget;
}

bool Convergence::parts(BlockId block) {
  if (!parts_[block])
    parts_[block] = cfg_.blocks()[block].successors.size() > 1 && parts_branch_(block);
  return *parts_[block];
}

const std::vector<BlockId> &Convergence::postdominators(std::size_t end) {
  std::vector<BlockId> &result = postdominators_[end];
  if (result.empty())
    result = immediate_postdominators(cfg_, ends_[end]);
  return result;
}

// True if a path leads from behind `from` to `to` without passing `without`.
bool Convergence::reaches(BlockId from, BlockId to, BlockId without) {
  std::unordered_set<BlockId> seen{without};
  std::vector<BlockId> work{from};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId next : cfg_.blocks()[block].successors) {
      if (next == to && next != without)
        return true;
      if (seen.insert(next).second)
        work.push_back(next);
    }
  }
  return !spend(seen.size());
}

bool Convergence::regroups_in_step(LoopId loop) {
  const auto count = static_cast<BlockId>(cfg_.blocks().size());
  const BlockId header = cfg_.loops()[loop].header;
  std::vector<BlockId> parting;
  if (!spend(count))
    return false;
  for (const BlockId block : cfg_.reverse_postorder()) {
    if (!cfg_.contains(loop, block))
      continue;
    if (cfg_.irreducible(block))
      return false;
    if (parts(block))
      parting.push_back(block);
  }
  if (parting.empty())
    return true;
  if (ends_.size() - cfg_.loops().size() > ends_budget)
    return false;
  for (std::size_t end = 0; end < ends_.size(); ++end) {
    // Back edges of loops around this one, and the blocks that end threads.
    if (end < cfg_.loops().size() &&
        (end == loop || !cfg_.contains(static_cast<LoopId>(end), header)))
      continue;
    if (postdominators_[end].empty() && !spend(count))
      return false;
    const std::vector<BlockId> &next = postdominators(end);
    for (const BlockId block : parting) {
      const BlockId meet = next[block];
      if (meet >= count || meet == header || !cfg_.contains(loop, meet))
        continue;
      if (reaches(block, header, meet))
        return false;
    }
  }
  return true;
}

bool Convergence::meets_in_step(LoopId loop) {
  const auto &blocks = cfg_.blocks();
  const auto count = static_cast<BlockId>(blocks.size());
  const BlockId header = cfg_.loops()[loop].header;
  const auto &order = cfg_.reverse_postorder();
  if (std::all_of(order.begin(), order.end(), [&](BlockId block) {
        return meetings_[block] == ConvergencePoint::none || !cfg_.contains(loop, block);
      }))
    return true;
  // The blocks from which the loop can be reached.
  std::vector<bool> leads_there(count, false);
  std::vector<BlockId> work{header};
  leads_there[header] = true;
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (meetings_[block] == ConvergencePoint::uneven)
      return false;
    for (const BlockId before : blocks[block].predecessors)
      if (cfg_.reachable(before) && !leads_there[before]) {
        leads_there[before] = true;
        work.push_back(before);
      }
  }
  // Every way to the next arrival at the header, by a back edge or from outside: two events of
  // their own, and behind them the end.
  const BlockId round = count, entry = count + 1, end = count + 2;
  std::vector<std::vector<BlockId>> ahead(count + 3), behind(count + 3);
  const auto connect = [&](BlockId from, BlockId to) {
    ahead[from].push_back(to);
    behind[to].push_back(from);
  };
  connect(round, end);
  connect(entry, end);
  for (const BlockId block : order) {
    if (!leads_there[block])
      continue;
    for (const BlockId next : blocks[block].successors)
      if (next == header)
        connect(block, cfg_.contains(loop, block) ? round : entry);
      else if (leads_there[next])
        connect(block, next);
  }
  const std::vector<BlockId> postdominator = immediate_dominators(
      count + 3, end, [&](BlockId block) -> const auto & { return behind[block]; },
      [&](BlockId block) -> const auto & { return ahead[block]; });
  if (!spend(2 * std::size_t{count}))
    return false;
  for (const BlockId block : order) {
    if (!leads_there[block] || ahead[block].size() < 2 || !parts(block))
      continue;
    const BlockId join = postdominator[block];
    std::unordered_set<BlockId> seen{join};
    for (work = {block}; !work.empty();) {
      const BlockId at = work.back();
      work.pop_back();
      for (const BlockId next : ahead[at]) {
        if (!seen.insert(next).second)
          continue;
        if (next >= count || meetings_[next] != ConvergencePoint::none)
          return false;
        work.push_back(next);
      }
    }
    if (!spend(seen.size()))
      return false;
  }
  return true;
}

} // namespace ptxasw::emulator
