// Which results are one value for lanes although they are not functions of what lanes agree on.
//
// What gathers lanes (a shuffle from one lane, a vote) gives the same to all that its mask names if
// they execute the same instance of it: if all that get there name the same lanes, and if lanes
// that are together are in the same iteration. Then they are found by the instruction.
//
// Nothing makes lanes execute a weak load together; they need not. Let a and b be two lanes that
// load from one address, in the same iteration. They read two values only if another thread's
// store is ordered behind a's load and before b's (a store that is not ordered is a race, b's own
// one, too). So a releases something behind its load, and b acquires, before its own, what follows
// from that. Let the two have been at one barrier P of the block together, or at the kernel's
// beginning, with nothing between P and the load, on any way, that could acquire. Then b acquired
// before P, and a released behind it: but what stands before a barrier comes before what stands
// behind it. So they read the same.
//
// P may also be a `bar.warp.sync` of all lanes, which orders memory among them. Any other one may
// answer it, so they must come to the same ones in the same order. In a loop that is in step and in
// which lanes meet they do (convergence.cpp): up to the load in one iteration of it both have
// passed the same events, and the k-th of one is the k-th of the other, the last before the load as
// well, wherever it stands.
//
// Programs count on more than the model promises, and less is claimed for their sake: nothing is
// one value if a store of the kernel may have gone to the same array since P (lanes may think that
// they write in step); or if it decides when a loop around it ends (the loop may wait for it).

#include "emulator/symbolic/emulate_implementation.h"

#include "emulator/symbolic/address.h"

#include <algorithm>
#include <unordered_set>

namespace ptxasw::emulator {
namespace {

/// Blocks examined to see what lies before loads, for each block of the function, and beyond that;
/// what is left over counts as varying.
constexpr std::size_t visits_per_block = 64, more_visits = 4096;

} // namespace

// The conditions under which an instruction's results are one value; nothing if they cannot be
// said.
std::optional<Emulation::Implementation::Shared>
Emulation::Implementation::shared_at(BlockId block, std::uint32_t index, const OneValue &one) {
  // Under a guard what is written is this or what was there before.
  if (guard_->kind != ExprKind::constant || guard_->value.is_zero() || role_ != Role::trace ||
      !function_.is_entry || cfg_.irreducible(block))
    return std::nullopt;
  // A generic address of local memory is the same number for all lanes, and other bytes for each.
  const Instruction &instruction = function_.instructions[index];
  if (one.is_load && module_.opcode(instruction).space == StateSpace::generic) {
    if (!generic_addresses_)
      generic_addresses_.emplace(module_);
    if (!generic_addresses_->is_global(function_, instruction))
      return std::nullopt;
  }
  Shared result{.block = block, .instruction = index};
  for (const Operand *operand : one.agreed) {
    const Expr value = operand->kind == Operand::Kind::address ? address_value(block, *operand)
                                                               : operand_value(block, *operand, 32);
    if (!value)
      return std::nullopt;
    result.agreed.push_back(value);
  }
  const auto last_is_this = [&](const auto &list) {
    return !list.empty() && list.back().instruction == index;
  };
  if (one.is_load && last_is_this(trace_))
    result.access = static_cast<std::uint32_t>(trace_.size()) - 1;
  else if (!one.is_load && last_is_this(gatherings_))
    result.gathering = static_cast<std::uint32_t>(gatherings_.size()) - 1;
  else
    return std::nullopt;
  return result;
}

// Takes for varying the results for which something does not hold; true if there were any.
bool Emulation::Implementation::lower_shared(const std::function<bool(const Shared &)> &holds) {
  bool changed = false;
  for (const Shared &shared : shared_) {
    if (!infos_[shared.symbols[0]->index].uniform || holds(shared))
      continue;
    for (const Expr symbol : shared.symbols)
      infos_[symbol->index].uniform = false;
    changed = true;
  }
  return changed;
}

bool Emulation::Implementation::executed_as_one(const Shared &shared) {
  if (shared.access != no_index)
    return unchanged_meanwhile(trace_[shared.access]);
  return meeting_of(gatherings_[shared.gathering]) == ConvergencePoint::even &&
         in_step(shared.block);
}

// Loads on which the end of a loop around them depends, by whatever is computed in the loop and,
// where flows meet in it, by whatever decides which way is taken.
void Emulation::Implementation::lower_awaited_loads() {
  const auto is_load = [](const Shared &shared) { return shared.access != no_index; };
  if (std::none_of(shared_.begin(), shared_.end(), is_load))
    return;
  std::unordered_set<Expr> awaited;
  for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop) {
    if (std::none_of(shared_.begin(), shared_.end(), [&](const Shared &shared) {
          return is_load(shared) && cfg_.contains(loop, shared.block);
        }))
      continue;
    std::vector<Expr> work;
    std::unordered_set<Expr> seen;
    const auto follow = [&](Expr expr) {
      if (expr && seen.insert(expr).second)
        work.push_back(expr);
    };
    for (const BlockId block : exits_[loop])
      follow(branch_choice_[block]);
    bool by_ways = false;
    while (!work.empty()) {
      const Expr expr = work.back();
      work.pop_back();
      for (const Expr child : expr->operands())
        follow(child);
      if (expr->kind != ExprKind::symbol)
        continue;
      const SymbolInfo &info = infos_[expr->index];
      if (!cfg_.contains(loop, info.block))
        continue;
      if (info.kind == SymbolKind::shared)
        awaited.insert(expr);
      if (info.kind != SymbolKind::loop_phi && info.kind != SymbolKind::join_phi)
        continue;
      for (const auto &[from, value] : phis_[info.phi].operands)
        follow(value);
      if (info.kind == SymbolKind::join_phi && !by_ways) {
        by_ways = true;
        for (const BlockId block : cfg_.reverse_postorder())
          if (cfg_.contains(loop, block))
            follow(branch_choice_[block]);
      }
    }
  }
  lower_shared([&](const Shared &shared) {
    return !is_load(shared) || std::none_of(shared.symbols.begin(), shared.symbols.end(),
                                            [&](Expr symbol) { return awaited.contains(symbol); });
  });
}

// Goes back from a load on all ways to barriers at which all lanes that are here were together, or
// to the function's beginning.
bool Emulation::Implementation::unchanged_meanwhile(const MemoryAccess &load) {
  if (events_.empty()) {
    events_.resize(cfg_.blocks().size());
    for (std::uint32_t i = 0; i < trace_.size(); ++i)
      if (trace_[i].effect != Effect::load)
        events_[trace_[i].block].push_back(i);
  }
  // True if the way back ends in this block, at a barrier.
  bool unchanged = true;
  const auto ends_in = [&](BlockId block, std::uint32_t before) {
    const auto &events = events_[block];
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (trace_[*event].instruction >= before)
        continue;
      if (regroups(trace_[*event], load))
        return true;
      if (separates(trace_[*event], load)) {
        unchanged = false;
        return true;
      }
    }
    return false;
  };
  std::vector<BlockId> work;
  std::vector<bool> seen(cfg_.blocks().size(), false);
  const std::size_t budget = visits_per_block * cfg_.blocks().size() + more_visits;
  const auto go_back = [&](BlockId block) {
    for (const BlockId before : cfg_.blocks()[block].predecessors)
      if (cfg_.reachable(before) && feasible_[before] && !seen[before]) {
        seen[before] = true;
        work.push_back(before);
      }
  };
  if (!ends_in(load.block, load.instruction))
    go_back(load.block);
  while (unchanged && !work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (++unchanged_visited_ > budget)
      return false;
    if (!ends_in(block, no_index))
      go_back(block);
  }
  return unchanged;
}

// The same of a barrier of all lanes of the warp, in a loop with meetings that is in step: between
// a branch at which lanes part and where they join again lies no meeting there (E1), so in each
// iteration all lanes come to the same meetings in the same order, whichever barrier answers which,
// and those before the load are as many for each of two lanes.
bool Emulation::Implementation::regroups_warp(const MemoryAccess &event, const MemoryAccess &load) {
  const Instruction &barrier = function_.instructions[event.instruction];
  const auto operands = module_.operands(barrier);
  if (!module_.opcode(barrier).has(Modifier::warp) || barrier.guard != no_register ||
      operands.size() != 1 || operands[0].kind != Operand::Kind::integer ||
      static_cast<std::uint32_t>(operands[0].value) != ~std::uint32_t{0})
    return false;
  LoopId loop = cfg_.loop_of(load.block);
  while (loop != no_index &&
         std::none_of(gatherings_.begin(), gatherings_.end(), [&](const Gathering &gathering) {
           return cfg_.contains(loop, gathering.block);
         }))
    loop = cfg_.loops()[loop].parent;
  return loop != no_index && in_step(load.block);
}

// True if two lanes at the load in the same iteration have been at one instance of a barrier, the
// last time each of them was there.
bool Emulation::Implementation::regroups(const MemoryAccess &event, const MemoryAccess &load) {
  const Opcode &opcode = module_.opcode(function_.instructions[event.instruction]);
  if (event.effect == Effect::sync && is_one_of(opcode.op, {Op::bar, Op::barrier}) &&
      regroups_warp(event, load))
    return true;
  if (event.effect != Effect::sync || !is_one_of(opcode.op, {Op::bar, Op::barrier}) ||
      !waits_at_itself(opcode))
    return false;
  const LoopId loop = cfg_.loop_of(event.block);
  const bool before = event.block == load.block ? event.instruction < load.instruction
                                                : cfg_.dominates(event.block, load.block);
  if (!before || cfg_.irreducible(event.block) ||
      (loop != no_index && !cfg_.contains(loop, load.block)))
    return false;
  const auto gathering =
      std::find_if(gatherings_.begin(), gatherings_.end(),
                   [&](const Gathering &one) { return one.instruction == event.instruction; });
  return gathering != gatherings_.end() && meeting_of(*gathering) == ConvergencePoint::even &&
         in_step(event.block);
}

// True if what a thread does there may let a store of another one come in between, or may be such
// a store.
bool Emulation::Implementation::separates(const MemoryAccess &event, const MemoryAccess &load) {
  const Opcode &opcode = module_.opcode(function_.instructions[event.instruction]);
  if (event.effect == Effect::sync) {
    const bool exchanges = is_one_of(opcode.op, {Op::shfl, Op::vote, Op::match, Op::redux});
    return !leaves_global_alone(opcode) || !(exchanges || load.space == StateSpace::global);
  }
  if (event.space == StateSpace::local || event.space == StateSpace::param)
    return false;
  if (event.space != load.space && event.space != StateSpace::generic &&
      load.space != StateSpace::generic)
    return false;
  const Expr written = event.address ? beginning(event.address) : nullptr;
  const Expr read = load.address ? beginning(load.address) : nullptr;
  return !written || !read || written == read;
}

// The parameter, variable or loaded pointer that an address is an offset from; null if there is
// none, or more than one number that may be it.
Expr Emulation::Implementation::beginning(Expr address) {
  const LinearForm form = linear_form((*expansion_)(address), [](Expr) { return false; });
  Expr result = nullptr;
  for (const auto &[atom, factor] : form.terms) {
    if (factor != 1)
      continue;
    if (result || atom->kind != ExprKind::symbol || atom->width != 64)
      return nullptr;
    const SymbolInfo &info = infos_[atom->index];
    if (info.kind != SymbolKind::uniform && info.instruction == no_index)
      return nullptr;
    result = atom;
  }
  return result;
}

} // namespace ptxasw::emulator
