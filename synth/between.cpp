#include "synth/between.h"

#include <algorithm>
#include <unordered_set>

namespace ptxasw {
namespace {

/// Blocks looked at in one kernel to see what lies between loads.
constexpr std::size_t visit_budget = 2'000'000;

} // namespace

Between::Between(Emulation &emulation, bool assume_no_alias)
    : emulation_(emulation), assume_no_alias_(assume_no_alias),
      events_(emulation.cfg().blocks().size()) {
  const auto &trace = emulation.trace();
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (trace[i].effect != Effect::load)
      events_[trace[i].block].push_back(i);
}

// Blocks strictly between the two on some path, going backwards from the load. The source dominates
// the load, so every way back ends at the source's block; and since both are in the same iteration
// of their loop, no way leads around it.
const std::vector<BlockId> *Between::blocks_between(BlockId source, BlockId load) {
  const auto [entry, is_new] = memo_.try_emplace({source, load});
  if (!is_new || source == load)
    return &entry->second;
  std::vector<BlockId> &found = entry->second;
  std::unordered_set<BlockId> seen{source, load};
  std::vector<BlockId> work{load};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId before : emulation_.cfg().blocks()[block].predecessors) {
      if (!emulation_.cfg().reachable(before) || !seen.insert(before).second)
        continue;
      if (++visited_ > visit_budget) {
        memo_.erase(entry);
        return nullptr;
      }
      found.push_back(before);
      work.push_back(before);
    }
  }
  return &found;
}

// Whether a store never touches the bytes of the load, as the same thread executes both.
bool Between::apart(const MemoryAccess &store, const MemoryAccess &load, bool &certainly_same) {
  certainly_same = false;
  if (!store.address || !load.address || store.bytes == 0)
    return false;
  // A store in a loop that does not contain the load ran in other iterations too: nothing in the
  // addresses may change from one to the next.
  const ControlFlowGraph &cfg = emulation_.cfg();
  for (LoopId loop = cfg.loop_of(store.block); loop != no_index; loop = cfg.loops()[loop].parent) {
    if (cfg.contains(loop, load.block))
      break;
    if (!emulation_.invariant(store.address, loop) || !emulation_.invariant(load.address, loop))
      return false;
  }
  const Expr difference =
      emulation_.pool().sub(emulation_.expand(store.address), emulation_.expand(load.address));
  if (difference->kind != ExprKind::constant)
    return false;
  const std::int64_t distance = as_signed(difference->value.low, 64);
  const bool result = distance >= static_cast<std::int64_t>(load.bytes) ||
                      distance <= -static_cast<std::int64_t>(store.bytes);
  certainly_same = !result;
  return result;
}

std::optional<Reason> Between::obstacle(std::size_t source_index, std::size_t load_index,
                                        bool &assumed) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &source = trace[source_index], &load = trace[load_index];
  const std::vector<BlockId> *blocks = blocks_between(source.block, load.block);
  if (!blocks)
    return Reason::budget;
  const auto judge = [&](std::size_t event) -> std::optional<Reason> {
    const MemoryAccess &access = trace[event];
    if (access.effect == Effect::sync)
      return Reason::sync_between;
    if (access.space == StateSpace::shared || access.space == StateSpace::local)
      return std::nullopt;
    bool certainly_same = false;
    if (apart(access, load, certainly_same))
      return std::nullopt;
    if (!assume_no_alias_ || certainly_same)
      return Reason::store_between;
    assumed = true;
    return std::nullopt;
  };
  // In the source's block what comes after it, in the load's what comes before it.
  for (const std::size_t event : events_[source.block])
    if (event > source_index && (source.block != load.block || event < load_index))
      if (const auto reason = judge(event))
        return reason;
  if (source.block == load.block)
    return std::nullopt;
  for (const BlockId block : *blocks)
    for (const std::size_t event : events_[block])
      if (const auto reason = judge(event))
        return reason;
  for (const std::size_t event : events_[load.block])
    if (event < load_index)
      if (const auto reason = judge(event))
        return reason;
  return std::nullopt;
}

} // namespace ptxasw
