// What may happen to memory between two loads: everything on every path from one to the other is
// examined. Blocks on such paths are those reachable from the source and reaching the load without
// passing the source again. Stores are compared by address; what is neither a plain store nor
// harmless is an obstacle, unless no lane that comes to the load has run it (paths.h).

#include "synth/shuffle/between.h"

#include <algorithm>
#include <unordered_set>

namespace ptxasw::synth {
namespace {

/// Blocks examined in one kernel to see what lies between loads.
constexpr std::size_t between_visit_budget = 2'000'000;

/// Stores that one load may be tested against at run time; with more a load is cheaper.
constexpr std::size_t store_tests = 4;

} // namespace

Between::Between(const Module &module, const Function &function, Emulation &emulation, Paths &paths,
                 bool assume_no_alias)
    : module_(module), function_(function), emulation_(emulation), paths_(paths),
      assume_no_alias_(assume_no_alias), events_(emulation.cfg().blocks().size()) {
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
      if (++visited_ > between_visit_budget) {
        memo_.erase(entry);
        return nullptr;
      }
      found.push_back(before);
      work.push_back(before);
    }
  }
  return &found;
}

// True if a store touches the bytes of the load, as the same thread executes both.
Between::Overlap Between::overlap(const MemoryAccess &store, const MemoryAccess &source,
                                  const MemoryAccess &load) {
  if (!store.address || !load.address || store.bytes == 0)
    return Overlap::unknown;
  // A store in a loop that does not contain both loads ran in other iterations too: nothing in the
  // addresses may change from one to the next.
  const ControlFlowGraph &cfg = emulation_.cfg();
  if (cfg.irreducible(store.block))
    return Overlap::unknown;
  for (LoopId loop = cfg.loop_of(store.block); loop != no_index; loop = cfg.loops()[loop].parent) {
    if (cfg.contains(loop, load.block) && cfg.contains(loop, source.block))
      break;
    if (!emulation_.invariant(store.address, loop) || !emulation_.invariant(load.address, loop))
      return Overlap::unknown;
  }
  const Expr difference =
      emulation_.pool().sub(emulation_.expand(store.address), emulation_.expand(load.address));
  if (difference->kind != ExprKind::constant)
    return Overlap::unknown;
  const std::int64_t distance = as_signed(difference->value.low, 64);
  const bool apart = distance >= static_cast<std::int64_t>(load.bytes) ||
                     distance <= -static_cast<std::int64_t>(store.bytes);
  return apart ? Overlap::never : Overlap::always;
}

// True if the lane can compare the store's address with the load's when it reaches the load: the
// store ran exactly once since the source did.
bool Between::testable(const MemoryAccess &store, const MemoryAccess &source,
                       const MemoryAccess &load) {
  const ControlFlowGraph &cfg = emulation_.cfg();
  const LoopId loop = cfg.loop_of(load.block);
  return store.effect == Effect::store && store.bytes != 0 && !cfg.irreducible(store.block) &&
         cfg.loop_of(source.block) == loop && cfg.loop_of(store.block) == loop &&
         cfg.dominates(store.block, load.block) &&
         has_base_register(module_, function_, function_.instructions[store.instruction]) &&
         has_base_register(module_, function_, function_.instructions[load.instruction]);
}

// Takes account of one event between two loads; returns false if it is an obstacle.
bool Between::passes(std::size_t event, const MemoryAccess &source, const MemoryAccess &load,
                     bool may_test, Passage &result) {
  const bool exchanges = result.exchanges, written = result.written;
  if (harmless(event, source, load, may_test, result))
    return true;
  const MemoryAccess &access = emulation_.trace()[event];
  const Shown never = paths_.never_passed(access.block, access.guard, source.block, load.block);
  if (never == Shown::no)
    return false;
  result.obstacle.reset();
  result.exchanges = exchanges;
  result.written = written;
  result.by_solver |= never == Shown::by_solver;
  return true;
}

// The same for one that is run.
bool Between::harmless(std::size_t event, const MemoryAccess &source, const MemoryAccess &load,
                       bool may_test, Passage &result) {
  const MemoryAccess &access = emulation_.trace()[event];
  const ControlFlowGraph &cfg = emulation_.cfg();
  const Opcode &opcode = module_.opcode(function_.instructions[access.instruction]);
  const bool is_sync = access.effect == Effect::sync;
  if (!is_sync && (access.space == StateSpace::shared || access.space == StateSpace::local))
    return true; // the load is of global memory
  // What orders nothing by itself may stand between loads of one iteration; not where a loop waits
  // for something, nor where lanes might count on having written in step.
  const bool is_exchange = is_sync && leaves_global_alone(opcode) &&
                           cfg.loop_of(source.block) == cfg.loop_of(load.block);
  result.exchanges |= is_exchange;
  result.written |= !is_sync;
  if ((is_sync && !is_exchange) || (result.exchanges && result.written)) {
    result.obstacle = Reason::sync_between;
    return false;
  }
  if (is_exchange)
    return true;
  const Overlap met = overlap(access, source, load);
  if (met == Overlap::never)
    return true;
  if (met == Overlap::unknown && assume_no_alias_) {
    result.assumed = true;
    return true;
  }
  if (met == Overlap::unknown && may_test && testable(access, source, load)) {
    // Of several stores to one place one test is enough.
    const Expr address = access.address ? emulation_.expand(access.address) : nullptr;
    for (std::size_t i = 0; address && i < result.tested.size(); ++i)
      if (result.tested[i] == address &&
          module_.opcode(function_.instructions[result.stores[i]]).text == opcode.text)
        return true;
    if (result.tested.size() < store_tests) {
      result.tested.push_back(address);
      result.stores.push_back(access.instruction);
      return true;
    }
  }
  result.obstacle = Reason::store_between;
  return false;
}

Passage Between::passage(std::size_t source, std::size_t load, bool may_test) {
  const auto &trace = emulation_.trace();
  if (const auto *blocks = blocks_between(trace[source].block, trace[load].block))
    return passage({&source, 1}, load, *blocks, may_test);
  Passage none;
  none.obstacle = Reason::budget;
  return none;
}

Passage Between::passage(std::span<const std::size_t> sources, std::size_t load_index,
                         std::span<const BlockId> between, bool may_test) {
  const auto &trace = emulation_.trace();
  const ControlFlowGraph &cfg = emulation_.cfg();
  const MemoryAccess &first = trace[sources[0]], &load = trace[load_index];
  Passage result;
  const auto passes_here = [&](std::size_t event) {
    return passes(event, first, load, may_test, result);
  };
  // In a source's block what comes after it, in the load's what comes before it; all of the load's
  // if it runs again and again after one run of the source.
  const bool one_block = first.block == load.block;
  const bool again = cfg.loop_of(first.block) != cfg.loop_of(load.block);
  for (const std::size_t source : sources) {
    const std::vector<std::size_t> &after = events_[trace[source].block];
    for (auto event = std::upper_bound(after.begin(), after.end(), source);
         event != after.end() && (!one_block || *event < load_index); ++event)
      if (!passes_here(*event))
        return result;
  }
  if (one_block)
    return result;
  for (const BlockId block : between)
    for (const std::size_t event : events_[block])
      if (!passes_here(event))
        return result;
  for (const std::size_t event : events_[load.block])
    if ((again || event < load_index) && !passes_here(event))
      return result;
  return result;
}

bool has_base_register(const Module &module, const Function &function,
                       const Instruction &instruction) {
  for (const Operand &operand : module.operands(instruction))
    if (operand.kind == Operand::Kind::address) {
      const auto base = module.children(operand);
      return !base.empty() && base[0].kind == Operand::Kind::reg && !base[0].selector &&
             bit_width(function.registers[base[0].reg].type) == 64 &&
             function.registers[base[0].reg].vector == 1;
    }
  return false;
}

} // namespace ptxasw::synth
