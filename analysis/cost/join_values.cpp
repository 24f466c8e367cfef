// From the block that dominates the join every way is followed to it, a block once, and a loop as
// if it were one block. A branch makes a choice between the values that its two ways bring.

#include "analysis/cost/join_values.h"

#include <algorithm>
#include <map>

namespace ptxasw::analysis::cost {
namespace {

constexpr std::size_t region_budget = 256; ///< blocks between a join and its dominator

class JoinRegion {
public:
  JoinRegion(Emulation &emulation, const JoinRegister &join)
      : emulation_(emulation), cfg_(emulation.cfg()), join_(join) {}

  Expr value() {
    const Way way = from(cfg_.immediate_dominator(join_.block));
    return way.arrives ? way.value : nullptr;
  }

private:
  struct Way {
    bool arrives = false; ///< at the join at all
    Expr value = nullptr; ///< null: not understood
    bool operator==(const Way &) const = default;
  };

  Way along(BlockId block, BlockId next) {
    if (next == join_.block) {
      const auto found = std::find_if(join_.values.begin(), join_.values.end(),
                                      [&](const auto &value) { return value.first == block; });
      return found == join_.values.end() ? Way{} : Way{true, found->second};
    }
    const std::uint32_t order = cfg_.order_of(next);
    if (order <= cfg_.order_of(block) || order > cfg_.order_of(join_.block) ||
        !emulation_.feasible(next))
      return {};
    return from(next);
  }

  Way from(BlockId block) {
    if (const auto found = ways_.find(block); found != ways_.end())
      return found->second;
    if (ways_.size() >= region_budget)
      return {true, nullptr};
    return ways_[block] = find_way(block);
  }

  Way find_way(BlockId block) {
    LoopId left = no_index;
    for (LoopId loop = cfg_.loop_of(block); loop != no_index && !cfg_.contains(loop, join_.block);
         loop = cfg_.loops()[loop].parent)
      left = loop;
    if (left != no_index)
      return cfg_.loops()[left].header == block ? behind(left) : Way{true, nullptr};
    const std::vector<BlockId> &next = cfg_.blocks()[block].successors;
    if (next.size() != 2)
      return next.size() == 1 ? along(block, next[0]) : Way{!next.empty(), nullptr};
    const Way yes = along(block, next[0]), no = along(block, next[1]);
    if (yes == no || !no.arrives)
      return yes;
    if (!yes.arrives)
      return no;
    const Expr choice = emulation_.branch_choice(block);
    if (!yes.value || !no.value || !choice || choice->width != 1)
      return {true, nullptr};
    return {true, emulation_.pool().ite(choice, yes.value, no.value)};
  }

  // All ways out of a loop that arrive must bring the same.
  Way behind(LoopId loop) {
    Way result;
    for (const BlockId block : cfg_.reverse_postorder()) {
      if (!cfg_.contains(loop, block) || !emulation_.feasible(block))
        continue;
      for (const BlockId next : cfg_.blocks()[block].successors) {
        if (cfg_.contains(loop, next))
          continue;
        const Way way = along(block, next);
        if (way.arrives && result.arrives && way != result)
          return {true, nullptr};
        if (way.arrives)
          result = way;
      }
    }
    return result;
  }

  Emulation &emulation_;
  const ControlFlowGraph &cfg_;
  const JoinRegister &join_;
  std::map<BlockId, Way> ways_;
};

} // namespace

Expr value_at_join(Emulation &emulation, Expr symbol) {
  const auto join = emulation.join_register(symbol);
  return join ? JoinRegion(emulation, *join).value() : nullptr;
}

} // namespace ptxasw::analysis::cost
