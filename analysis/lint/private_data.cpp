// Down to the loads that a value comes from: what one has read is private if its address differs
// within a warp. What is not understood counts as private.

#include "analysis/lint/private_data.h"

#include <algorithm>

namespace ptxasw::inline analysis::lint {

bool PrivateData::operator()(Expr expr) {
  seen_.clear();
  return depends(expr, false);
}

bool PrivateData::depends(Expr expr, bool is_address) {
  if (!seen_.emplace(expr, is_address).second)
    return false;
  if (const auto *values = facts_.lane_values()(expr))
    return is_address && differs_in_a_warp(*values);
  if (expr->kind == ExprKind::symbol)
    return of_symbol(expr, is_address);
  const ExprPool &pool = facts_.emulation().pool();
  const bool loads =
      expr->kind == ExprKind::uf && (pool.function_name(expr).starts_with("const") ||
                                     pool.function_name(expr).starts_with("readonly"));
  return std::any_of(expr->operands().begin(), expr->operands().end(),
                     [&](Expr operand) { return depends(operand, is_address || loads); });
}

bool PrivateData::of_symbol(Expr symbol, bool is_address) {
  Emulation &emulation = facts_.emulation();
  if (const auto instruction = emulation.produced_by(symbol)) {
    for (const facts::Access &access : facts_.accesses())
      if (access.site.instruction == *instruction && access.site.kind == facts::AccessKind::load)
        return !access.address || !access.in_step || depends(access.address, true);
    return true;
  }
  if (const auto join = emulation.join_register(symbol)) {
    for (const auto &[from, value] : join->values)
      if (!value || depends(emulation.expand(value), is_address))
        return true;
    return chosen_by_data(*join);
  }
  if (const auto loop = emulation.loop_register(symbol))
    return depends(emulation.expand(loop->initial), is_address) ||
           depends(emulation.expand(loop->next), is_address);
  // A parameter, an index of the grid, a counter; whatever else varies is not understood.
  return !emulation.uniform(symbol, 0) && !emulation.is_lane_symbol(symbol) && !is_counter(symbol);
}

bool PrivateData::is_counter(Expr symbol) const {
  Emulation &emulation = facts_.emulation();
  for (LoopId loop = 0; loop < facts_.cfg().loops().size(); ++loop)
    if (symbol == emulation.trip_count(loop))
      return true;
  return false;
}

// True if a branch between where flows parted and where they meet tests private data.
bool PrivateData::chosen_by_data(const JoinRegister &join) {
  const ControlFlowGraph &cfg = facts_.cfg();
  std::vector<BlockId> blocks{join.block};
  std::set<BlockId> seen{join.block};
  while (!blocks.empty()) {
    const BlockId block = blocks.back();
    blocks.pop_back();
    for (const BlockId before : cfg.blocks()[block].predecessors) {
      if (!cfg.reachable(before) || !seen.insert(before).second)
        continue;
      if (cfg.blocks()[before].branch != no_index) {
        const Expr choice = facts_.emulation().branch_choice(before);
        if (!choice || depends(facts_.emulation().expand(choice), false))
          return true;
      }
      if (before != cfg.immediate_dominator(join.block))
        blocks.push_back(before);
    }
  }
  return false;
}

bool PrivateData::differs_in_a_warp(const std::vector<std::uint64_t> &values) const {
  const auto &warps = facts_.layout().warps;
  return std::any_of(warps.begin(), warps.end(), [&](const facts::WarpThreads &warp) {
    const auto begin = values.begin() + warp.first, end = begin + warp.count;
    return std::adjacent_find(begin, end, std::not_equal_to<>()) != end;
  });
}

} // namespace ptxasw::analysis::lint
