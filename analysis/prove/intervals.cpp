// A thread that waits at barrier S gets to an instruction I without passing another barrier in one
// of these ways. Let L1, L2, ... be the loops around both, the outermost first.
//
//   no back edge of any of them is taken: it is in the same iteration of all. Loops around S alone
//   it has left in that iteration, if none of their back edges is taken, either; Lj's is taken, and
//   of no loop around that: the same iteration of L1 to Lj-1, the next one of Lj, and from the
//   header on it is in the first iteration of what lies inside, unless an iteration may pass
//   without a barrier.
//
// Lj's back edge may be taken several times if a whole iteration of it has a way without a barrier;
// then nothing is known of the iteration. A loop around I alone has been entered since S: its first
// iteration, or any one if an iteration may pass without a barrier.

#include "analysis/prove/intervals.h"

#include <algorithm>

namespace ptxasw::analysis {

Intervals::Intervals(const ControlFlowGraph &cfg, std::vector<std::uint32_t> barriers)
    : cfg_(cfg), barriers_(std::move(barriers)), open_(cfg.blocks().size(), true) {
  std::sort(barriers_.begin(), barriers_.end());
  for (const std::uint32_t barrier : barriers_)
    open_[cfg.block_of(barrier)] = false;
  for (LoopId loop = 0; loop < cfg.loops().size(); ++loop) {
    const BlockId header = cfg.loops()[loop].header;
    const bool begins = open_[header];
    free_round_.push_back(begins && crosses(reach({header}, loop, {loop}), loop));
  }
}

bool Intervals::cut_between(std::uint32_t first, std::uint32_t end) const {
  const auto at = std::lower_bound(barriers_.begin(), barriers_.end(), first);
  return at != barriers_.end() && *at < end;
}

// Blocks whose end is reached from the ends of `from`, through blocks without barriers, inside a
// loop if one is given, and without the back edges of `closed`.
std::vector<bool> Intervals::reach(const std::vector<BlockId> &from, LoopId within,
                                   const std::vector<LoopId> &closed) const {
  std::vector<bool> reached(cfg_.blocks().size(), false);
  std::vector<BlockId> work = from;
  for (const BlockId block : from)
    reached[block] = true;
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId next : cfg_.blocks()[block].successors) {
      const bool back = std::any_of(closed.begin(), closed.end(), [&](LoopId loop) {
        return cfg_.loops()[loop].header == next && cfg_.contains(loop, block);
      });
      if (back || reached[next] || !open_[next] ||
          (within != no_index && !cfg_.contains(within, next)))
        continue;
      reached[next] = true;
      work.push_back(next);
    }
  }
  return reached;
}

// True if from one of these blocks' ends the header is next.
bool Intervals::crosses(const std::vector<bool> &reached, LoopId loop) const {
  const auto &latches = cfg_.loops()[loop].latches;
  return std::any_of(latches.begin(), latches.end(), [&](BlockId latch) { return reached[latch]; });
}

// The outermost first.
std::vector<LoopId> Intervals::loops_around(BlockId block) const {
  std::vector<LoopId> loops;
  for (LoopId loop = cfg_.loop_of(block); loop != no_index; loop = cfg_.loops()[loop].parent)
    loops.push_back(loop);
  std::reverse(loops.begin(), loops.end());
  return loops;
}

// Of loops that were entered since the last barrier.
Rounds Intervals::rounds_inside(BlockId block) const {
  Rounds rounds(cfg_.loops().size(), Iteration::any);
  for (const LoopId loop : loops_around(block))
    if (!free_round_[loop])
      rounds[loop] = Iteration::first;
  return rounds;
}

std::vector<IntervalPlace> Intervals::places(std::uint32_t instruction) const {
  std::vector<IntervalPlace> result;
  const BlockId block = cfg_.block_of(instruction);
  const BasicBlock &info = cfg_.blocks()[block];
  const bool head_open = !cut_between(info.first, instruction);
  // True if the instruction is next, without a barrier, after the ends of these blocks.
  const auto arrives = [&](const std::vector<bool> &reached, const std::vector<LoopId> &closed) {
    return head_open &&
           std::any_of(info.predecessors.begin(), info.predecessors.end(), [&](BlockId before) {
             return reached[before] && std::none_of(closed.begin(), closed.end(), [&](LoopId loop) {
                      return cfg_.loops()[loop].header == block && cfg_.contains(loop, before);
                    });
           });
  };
  const auto from_end = [&](BlockId start, bool is_open) {
    return std::make_shared<const std::vector<bool>>(
        is_open ? reach({start}, no_index, {}) : std::vector<bool>(cfg_.blocks().size(), false));
  };
  // From the entry.
  if (head_open && (block == 0 || (open_[0] && arrives(reach({0}, no_index, {}), {}))))
    result.push_back({no_index, rounds_inside(block), from_end(0, open_[0])});
  for (const std::uint32_t start : barriers_) {
    const BlockId at = cfg_.block_of(start);
    if (!cfg_.reachable(at))
      continue;
    std::vector<LoopId> common;
    for (const LoopId loop : loops_around(at))
      if (cfg_.contains(loop, block))
        common.push_back(loop);
    const bool tail_open = !cut_between(start + 1, cfg_.blocks()[at].end);
    const auto reached = from_end(at, tail_open);
    const bool direct = at == block && start < instruction && !cut_between(start + 1, instruction);
    const auto add_same = [&](const std::vector<LoopId> &loops) {
      IntervalPlace place{start, rounds_inside(block), reached};
      for (const LoopId loop : loops)
        place.rounds[loop] = Iteration::same;
      result.push_back(std::move(place));
    };
    // Loops around the barrier alone are left in its iteration, unless another one begins on the
    // way.
    const std::vector<LoopId> around = loops_around(at);
    const std::vector<bool> in_round = reach({at}, no_index, around);
    const bool left_in_round = tail_open && arrives(in_round, around);
    if (direct || left_in_round)
      add_same(around);
    std::vector<BlockId> again; // headers
    for (const LoopId loop : around)
      if (!cfg_.contains(loop, block) && open_[cfg_.loops()[loop].header] &&
          crosses(in_round, loop))
        again.push_back(cfg_.loops()[loop].header);
    if (tail_open && arrives(reach(again, no_index, common), common))
      add_same(common);
    for (std::size_t j = 0; tail_open && j < common.size(); ++j) {
      const LoopId loop = common[j];
      const BlockId header = cfg_.loops()[loop].header;
      const std::vector<LoopId> outer(common.begin(),
                                      common.begin() + static_cast<std::ptrdiff_t>(j));
      std::vector<LoopId> closed = outer;
      closed.push_back(loop);
      if (!crosses(reach({at}, loop, closed), loop))
        continue;
      const bool arrives_behind =
          block == header ? head_open
                          : open_[header] && arrives(reach({header}, loop, outer), outer);
      if (!arrives_behind)
        continue;
      IntervalPlace place{start, rounds_inside(block), reached};
      for (const LoopId outside : outer)
        place.rounds[outside] = Iteration::same;
      place.rounds[loop] = free_round_[loop] ? Iteration::any : Iteration::next;
      result.push_back(std::move(place));
    }
  }
  return result;
}

std::vector<IntervalPlace> Intervals::anywhere(const ControlFlowGraph &cfg) {
  return {{no_index, Rounds(cfg.loops().size(), Iteration::any), nullptr}};
}

} // namespace ptxasw::analysis
