// What may happen to memory between two loads: everything on every path from one to the other is
// examined. Blocks on such paths are those reachable from the source and reaching the load without
// passing the source again. Stores are compared by address; what is neither a plain store nor
// harmless is an obstacle.

#include "emulator/facts/between.h"

#include "grammar/roles.h"

#include <algorithm>
#include <unordered_set>

namespace ptxasw::facts {
namespace {

/// Blocks examined in one kernel to see what lies between loads.
constexpr std::size_t between_visit_budget = 2'000'000;

} // namespace

Between::Between(const Module &module, const Function &function, Emulation &emulation)
    : module_(module), function_(function), emulation_(emulation),
      events_(emulation.cfg().blocks().size()) {
  const auto &trace = emulation.trace();
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (trace[i].effect != Effect::load)
      events_[trace[i].block].push_back(i);
}

// Blocks strictly between the two on some path, going backwards from the load. The source dominates
// the load, so every way back ends at the source's block; and since both are in the same iteration
// of their loop, no way leads around it.
const std::set<BlockId> *Between::blocks_between(BlockId source, BlockId load) {
  const auto [entry, is_new] = memo_.try_emplace({source, load});
  if (is_new && source != load) {
    entry->second = leading_to(emulation_.cfg(), load, [&](BlockId from, BlockId) {
      return from != source && from != load;
    });
    visited_ += entry->second.size();
  }
  return visited_ > between_visit_budget ? nullptr : &entry->second;
}

// Takes account of one event between two loads; returns false if it is an obstacle.
bool Between::passes(const MemoryAccess &event, BlockId source, const MemoryAccess &load,
                     const Spares &spares, Passage &result) const {
  const ControlFlowGraph &cfg = emulation_.cfg();
  const bool is_sync = event.effect == Effect::sync;
  if (!is_sync && (event.space == StateSpace::shared || event.space == StateSpace::local))
    return true; // the load is of global memory
  // What orders nothing by itself may stand between loads of one iteration; not where a loop waits
  // for something, nor where lanes might count on having written in step.
  const bool is_exchange =
      is_sync && leaves_global_alone(module_.opcode(function_.instructions[event.instruction])) &&
      cfg.loop_of(source) == cfg.loop_of(load.block);
  result.exchanges |= is_exchange;
  result.written |= !is_sync;
  if ((is_sync && !is_exchange) || (result.exchanges && result.written))
    result.obstacle = MetBetween::sync;
  else if (!is_exchange && !spares(event))
    result.obstacle = MetBetween::store;
  return !result.obstacle;
}

Passage Between::passage(Behind source, const MemoryAccess &load, const Spares &spares) {
  const std::set<BlockId> *const blocks = blocks_between(source.block, load.block);
  if (!blocks)
    return {.obstacle = MetBetween::budget};
  const ControlFlowGraph &cfg = emulation_.cfg();
  Passage result;
  // In a source's block what comes after it, in the load's what comes before it; all of the load's
  // if it runs again and again after one run of the source.
  const auto &trace = emulation_.trace();
  const auto passes_in = [&](BlockId block, std::uint32_t first, std::uint32_t end) {
    const auto &events = events_[block]; // in the order of the text
    auto event = std::partition_point(events.begin(), events.end(), [&](std::size_t at) {
      return trace[at].instruction < first;
    });
    while (event != events.end() && trace[*event].instruction < end)
      if (!passes(trace[*event++], source.block, load, spares, result))
        return false;
    return true;
  };
  const bool one_block = source.block == load.block;
  const bool again = cfg.loop_of(source.block) != cfg.loop_of(load.block);
  if (!passes_in(source.block, source.first, one_block ? load.instruction : no_index) || one_block)
    return result;
  for (const BlockId block : *blocks)
    if (!passes_in(block, 0, no_index))
      return result;
  passes_in(load.block, 0, again ? no_index : load.instruction);
  return result;
}

bool touched_between(const Module &module, const Function &function, std::uint32_t first,
                     std::uint32_t load) {
  std::unordered_set<RegisterId> reads, writes;
  for_each_register(module, function.instructions[load], [&](RegisterId reg, RegisterUse use) {
    (use == RegisterUse::read ? reads : writes).insert(reg);
  });
  bool touched = false;
  for (std::uint32_t i = first; i < load; ++i)
    for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
      touched |= writes.contains(reg) || (use != RegisterUse::read && reads.contains(reg));
    });
  return touched;
}

// A store in a loop that does not contain both loads ran in other iterations too: nothing in the
// addresses may change from one to the next. In an irreducible region nobody knows what changes.
Overlap overlap(Emulation &emulation, const MemoryAccess &store, BlockId source,
                const MemoryAccess &load) {
  const ControlFlowGraph &cfg = emulation.cfg();
  if (!store.address || !load.address || store.bytes == 0 || load.bytes == 0)
    return Overlap::unknown;
  for (LoopId loop = cfg.loop_of(store.block); loop != no_index; loop = cfg.loops()[loop].parent) {
    if (cfg.contains(loop, load.block) && cfg.contains(loop, source))
      break;
    if (!emulation.invariant(store.address, loop) || !emulation.invariant(load.address, loop))
      return Overlap::unknown;
  }
  const Expr difference =
      emulation.pool().sub(emulation.expand(store.address), emulation.expand(load.address));
  if (difference->kind != ExprKind::constant)
    return Overlap::unknown;
  const std::int64_t distance = as_signed(difference->value.low, 64);
  if (distance < static_cast<std::int64_t>(load.bytes) &&
      distance > -static_cast<std::int64_t>(store.bytes))
    return Overlap::always;
  return cfg.irreducible(store.block) ? Overlap::unknown : Overlap::never;
}

} // namespace ptxasw::facts
