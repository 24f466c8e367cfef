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

namespace ptxasw::synth {
namespace {

/// Blocks looked at for one load.
constexpr std::size_t ways_budget = 64;

/// Returns true if the way from `before` to `block` was not taken in the iteration of `to`.
bool contradicts(Emulation &emulation, LoopId loop, BlockId before, BlockId block,
                 const Known &known) {
  if (emulation.cfg().loop_of(before) != loop)
    return false;
  const auto fact = emulation.fact_on_edge(before, block);
  return fact && known.decide(emulation.expand(fact->condition)) == !fact->holds;
}

} // namespace

Known known_on_path(Emulation &emulation, BlockId block) {
  std::vector<std::pair<Expr, bool>> conditions;
  for (const PathFact &fact : emulation.facts_in(block))
    conditions.emplace_back(emulation.expand(fact.condition), fact.holds);
  Known known(emulation.pool());
  known.assume_all(conditions);
  return known;
}

std::vector<BlockId> blocks_before(Emulation &emulation, BlockId to, const Known &known) {
  const ControlFlowGraph &cfg = emulation.cfg();
  const LoopId loop = cfg.loop_of(to);
  std::vector<BlockId> found{to};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const BlockId block = found[i];
    if (loop != no_index && block == cfg.loops()[loop].header)
      continue;
    for (const BlockId before : cfg.blocks()[block].predecessors) {
      if (found.size() > ways_budget)
        return found;
      if (cfg.reachable(before) && !contradicts(emulation, loop, before, block, known) &&
          std::find(found.begin(), found.end(), before) == found.end())
        found.push_back(before);
    }
  }
  return found;
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
      if (contradicts(emulation, loop, before, block, known) || !seen.insert(before).second)
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

} // namespace ptxasw::synth
