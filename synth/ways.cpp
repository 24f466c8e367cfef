// A load that no single source dominates may still have one on each of its ways: in both arms of a
// branch, or in one arm where what holds at the load says that this arm was taken.
//
// The walk goes backwards from the load's block, edge by edge, and ends at the blocks with sources.
// An edge is left out if its branch would have gone the other way: the condition, an expression in
// the values of this iteration, contradicts what is known at the load in the same iteration. That
// is only so in the load's own innermost loop: a deeper one may have gone round before, with other
// values under the same names. A walk that comes to the loop's header, or to the function's entry,
// has found a way without a source; so whoever arrives has passed one in this iteration.

#include "synth/ways.h"

#include <algorithm>
#include <unordered_set>

namespace ptxasw {
namespace {

/// Blocks looked at for one load.
constexpr std::size_t ways_budget = 256;

} // namespace

Known known_on_path(Emulation &emulation, BlockId block) {
  Known known(emulation.pool());
  for (const PathFact &fact : emulation.facts_in(block))
    known.assume(emulation.expand(fact.condition), fact.holds);
  return known;
}

std::optional<Ways> ways_since(Emulation &emulation, std::span<const BlockId> from, BlockId to,
                               const Known &known) {
  const ControlFlowGraph &cfg = emulation.cfg();
  const LoopId loop = cfg.loop_of(to);
  const auto is_source = [&](BlockId block) {
    return std::find(from.begin(), from.end(), block) != from.end();
  };
  for (const BlockId block : from)
    if (block == to || cfg.loop_of(block) != loop || cfg.irreducible(block))
      return std::nullopt;
  if (cfg.irreducible(to))
    return std::nullopt;
  Ways result;
  std::unordered_set<BlockId> seen{to};
  std::vector<BlockId> work{to};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    const auto &predecessors = cfg.blocks()[block].predecessors;
    if (predecessors.empty() || block == 0 || cfg.irreducible(block) ||
        (loop != no_index && block == cfg.loops()[loop].header))
      return std::nullopt;
    for (const BlockId before : predecessors) {
      if (!cfg.reachable(before))
        continue;
      if (cfg.loop_of(before) == loop)
        if (const auto fact = emulation.fact_on_edge(before, block))
          if (known.decide(emulation.expand(fact->condition)) == !fact->holds)
            continue;
      if (!seen.insert(before).second)
        continue;
      if (seen.size() > ways_budget)
        return std::nullopt;
      if (is_source(before)) {
        result.from.push_back(before);
      } else {
        result.between.push_back(before);
        work.push_back(before);
      }
    }
  }
  if (result.from.empty())
    return std::nullopt;
  std::sort(result.from.begin(), result.from.end());
  return result;
}

} // namespace ptxasw
