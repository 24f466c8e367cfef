// Down to the loads that a value comes from: what one has read is private if its address differs
// within a warp. Nothing else is: a register that a branch has stepped, or a count of iterations,
// may differ from lane to lane, but no data says so, and what is not understood is not claimed.

#include "analysis/lint/private_data.h"

#include "emulator/machine/warp_program.h"

#include <algorithm>

namespace ptxasw::analysis::lint {

bool PrivateData::operator()(Expr expr) {
  seen_.clear();
  return depends(expr, false);
}

bool PrivateData::depends(Expr expr, bool is_address) {
  if (!seen_.emplace(expr, is_address).second)
    return false;
  if (const auto *values = facts_.lane_values()(is_address ? in_some_launch(expr) : expr))
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

// With numbers for what all lanes share, so that what a warp shares by them (`i / 32` of a global
// index) does not count as the lane's own.
Expr PrivateData::in_some_launch(Expr expr) {
  Emulation &emulation = facts_.emulation();
  ExprPool &pool = emulation.pool();
  Substitution some(pool);
  bool known = true;
  for_each_node(expr, [&](Expr node) {
    if (node->kind == ExprKind::uf)
      known = false;
    if (node->kind != ExprKind::symbol || facts_.lane_values().is_lane_symbol(node))
      return;
    const std::string_view name = pool.symbols()[node->index].name;
    known = known && !emulation.produced_by(node) && !emulation.join_register(node) &&
            !emulation.loop_register(node);
    // Blocks of 1024 threads, the first one; other numbers have nothing to do with a warp's.
    some.map(node, pool.constant(node->width, name.starts_with("%ntid.")    ? 1024
                                              : name.starts_with("%ctaid.") ? 0
                                                                            : 1009));
  });
  return known ? some(expr) : expr;
}

bool PrivateData::of_symbol(Expr symbol, bool is_address) {
  Emulation &emulation = facts_.emulation();
  if (const auto instruction = emulation.produced_by(symbol)) {
    for (const facts::Access &access : facts_.accesses())
      if (access.site.instruction == *instruction && access.site.kind == facts::AccessKind::load)
        return access.address && depends(access.address, true);
    // What an atomic returns, a texture holds at the lane's coordinates, another lane has. (Votes
    // and reductions of the warp are the same for all who take part.)
    return is_one_of(facts_.module().opcode(facts_.function().instructions[*instruction]).op,
                     {Op::atom, Op::tex, Op::tld4, Op::suld, Op::shfl});
  }
  if (const auto join = emulation.join_register(symbol)) {
    for (const auto &[from, value] : join->values)
      if (value && depends(emulation.expand(value), is_address))
        return true;
    return chosen_by_data(*join);
  }
  if (const auto loop = emulation.loop_register(symbol))
    return depends(emulation.expand(loop->initial), is_address) ||
           depends(emulation.expand(loop->next), is_address);
  return false;
}

// True if a branch between where flows parted and where they meet tests private data. One whose
// ways meet again on the way there chooses nothing: they all come on from that place.
bool PrivateData::chosen_by_data(const JoinRegister &join) {
  const ControlFlowGraph &cfg = facts_.cfg();
  if (meetings_.empty())
    meetings_ =
        immediate_postdominators(cfg, return_edges(facts_.module(), facts_.function(), cfg));
  std::vector<BlockId> blocks{join.block};
  std::set<BlockId> between{join.block};
  for (std::size_t i = 0; i < blocks.size(); ++i) // all of them, to where flows parted
    if (blocks[i] != cfg.immediate_dominator(join.block))
      for (const BlockId before : cfg.blocks()[blocks[i]].predecessors)
        if (cfg.reachable(before) && between.insert(before).second)
          blocks.push_back(before);
  return std::any_of(blocks.begin() + 1, blocks.end(), [&](BlockId block) {
    const bool chooses = cfg.blocks()[block].branch != no_index &&
                         (meetings_[block] == join.block || !between.contains(meetings_[block]));
    const Expr choice = chooses ? facts_.emulation().branch_choice(block) : nullptr;
    return choice && depends(facts_.emulation().expand(choice), false);
  });
}

bool PrivateData::differs_in_a_warp(const std::vector<std::uint64_t> &values) const {
  const auto &warps = facts_.layout().warps;
  return std::any_of(warps.begin(), warps.end(), [&](const facts::WarpThreads &warp) {
    const auto begin = values.begin() + warp.first, end = begin + warp.count;
    return std::adjacent_find(begin, end, std::not_equal_to<>()) != end;
  });
}

} // namespace ptxasw::analysis::lint
