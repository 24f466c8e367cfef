// What depends on something that is read is followed through a loop: registers computed from it,
// and the carry flag; whatever stands where the lane comes or not by a branch that depends on it;
// what is read from memory in which something was stored that depends on it, or under such a
// branch. An iteration of the loop is looked at at a time: it ends at the way back, or where the
// loop is left, and a block depends on a branch if it lies between that and the next block through
// which every way to such an end leads. The loop's end depends on what was read if a way out begins
// in a block that does, or is chosen by a register that does.
//
// A thread waits if what decides a loop's end may be written meanwhile by somebody else. By whom?
//
//   - Volatile and ordered loads, atomics, barriers in memory and whatever is not known: by anyone.
//   - A weak load: by each store of the kernel that may go to its array. In a program without races
//     no weak load waits for anybody; this is for those that poll with one all the same, as
//     look-back was written before PTX had ordered loads. So it is enough that the two addresses
//     are made from different parameters or variables (origins.h): a poll and the store that ends
//     it go to one array, by one pointer. What is loaded is no such beginning.
//   - What `ld.const`, `ld.param`, `.nc`, `ldu` and textures read is written by nobody, local
//   memory
//     only by the thread itself.
//
// And if a weak load decides the end of a loop that stores nothing, and nothing else does that goes
// on from one iteration to the next, then the loop ends at once, or by somebody's writing: such a
// loop polls, whatever the kernel stores (the host may write, or another kernel).
//
// On a cycle with several entries (irreducible) everything counts as deciding the end.

#include "emulator/facts/waiting.h"

#include "emulator/semantics/effects.h"
#include "emulator/symbolic/calls.h"
#include "emulator/symbolic/generic.h"
#include "grammar/roles.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace ptxasw::facts {
namespace {

constexpr std::size_t loops_budget = 2'000'000; ///< instructions of all loops, counted with depth
constexpr unsigned calls_budget = 8;            ///< calls within calls

/// May what one instruction has written be what another one reads?
using MayPass = std::function<bool(std::uint32_t store, std::uint32_t load)>;

/// What depends on some values in the iterations of one loop.
class Dependents {
public:
  Dependents(const Module &module, const Function &function, const ControlFlowGraph &cfg,
             LoopId loop, MayPass may_pass)
      : module_(module), function_(function), cfg_(cfg), loop_(loop),
        may_pass_(std::move(may_pass)), body_(blocks_in(cfg, loop)), blocks_(cfg.blocks().size()) {
    std::vector<BlockEdge> ends;
    for (const BlockId block : body_) {
      const std::vector<BlockId> &next = cfg.blocks()[block].successors;
      if (next.empty())
        ends.push_back({block, no_index});
      for (const BlockId to : next)
        if (ends_iteration(to))
          ends.push_back({block, to});
    }
    meeting_ = immediate_postdominators(cfg, ends);
  }

  void add(RegisterId reg) { registers_.insert(reg); }
  /// What an instruction has read and gives, be it in memory (a call's results).
  void add_results(std::uint32_t instruction) {
    add_written(function_.instructions[instruction]);
    if (module_.opcode(function_.instructions[instruction]).op != Op::ld)
      stores_.insert(instruction);
  }

  /// Returns true if the loop's end may depend on what was added.
  bool decide_end() {
    while (grows())
      ;
    return std::any_of(body_.begin(), body_.end(), [&](BlockId block) { return leaves(block); });
  }

private:
  bool ends_iteration(BlockId to) const {
    return to == cfg_.loops()[loop_].header || !cfg_.contains(loop_, to);
  }

  bool add_written(const Instruction &instruction) {
    bool more = false;
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      more = (use != RegisterUse::read && registers_.insert(reg).second) || more;
    });
    return more;
  }

  bool reads(const Instruction &instruction) const {
    const Op op = module_.opcode(instruction).op;
    bool result = carry_ && (op == Op::addc || op == Op::subc || op == Op::madc);
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      result = result || (use == RegisterUse::read && registers_.contains(reg));
    });
    return result;
  }

  /// Adds what depends on what is known to; returns true if that is more.
  bool grows() {
    bool more = false;
    for (const BlockId block : body_) {
      for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i) {
        const Instruction &one = function_.instructions[i];
        const Opcode &opcode = module_.opcode(one);
        const bool own = blocks_[block] || reads(one);
        const bool accesses = traits(opcode.op).memory >= MemoryUse::access &&
                              traits(opcode.op).memory != MemoryUse::silent;
        if (own && accesses && opcode.op != Op::ld && opcode.op != Op::ldu)
          more = stores_.insert(i).second || more;
        if (own || (accesses && std::any_of(stores_.begin(), stores_.end(),
                                            [&](std::uint32_t s) { return may_pass_(s, i); })))
          more = add_written(one) || more;
        if (own && !carry_ && opcode.has(Modifier::cc))
          more = carry_ = true;
      }
      if (const std::uint32_t branch = cfg_.blocks()[block].branch;
          branch != no_index && (blocks_[block] || reads(function_.instructions[branch])))
        more = add_between(block) || more;
    }
    return more;
  }

  /// The blocks between a branch and where its ways meet.
  bool add_between(BlockId branch) {
    bool more = false;
    for (const BlockId block : reached_from(cfg_, branch, [&](BlockId, BlockId to) {
           return to != meeting_[branch] && !ends_iteration(to);
         })) {
      more = more || !blocks_[block];
      blocks_[block] = true;
    }
    return more;
  }

  /// Returns true if the loop may be left from a block, or not, as what was read says.
  bool leaves(BlockId block) const {
    const BasicBlock &range = cfg_.blocks()[block];
    const auto goes_out = [&](BlockId to) { return !cfg_.contains(loop_, to); };
    const bool out = std::any_of(range.successors.begin(), range.successors.end(), goes_out);
    for (std::uint32_t i = range.first; i < range.end; ++i) {
      const Instruction &one = function_.instructions[i];
      const bool ends = ends_thread(module_.opcode(one).op);
      if ((ends || (i == range.branch && out)) && (blocks_[block] || reads(one)))
        return true;
    }
    return blocks_[block] && (out || range.successors.empty());
  }

  const Module &module_;
  const Function &function_;
  const ControlFlowGraph &cfg_;
  const LoopId loop_;
  const MayPass may_pass_;
  const std::vector<BlockId> body_;
  std::vector<BlockId> meeting_;
  std::set<RegisterId> registers_;
  std::vector<bool> blocks_;       ///< those that are executed or not as what was read says
  std::set<std::uint32_t> stores_; ///< of something that depends, or under such a branch
  bool carry_ = false;             ///< the carry flag may depend
};

/// What memory an instruction reads, or writes.
enum class Memory : std::uint8_t {
  none,
  own,      ///< what the thread alone has: local memory, parameters of calls
  at,       ///< global or shared memory at its address
  shared,   ///< anywhere in shared memory
  anywhere, ///< anywhere at all
};

/// A function that is called.
struct Callee {
  Memory reads = Memory::anywhere, writes = Memory::anywhere;
  bool waits = true;
};

/// What is known of all functions that a kernel calls.
class Callees {
public:
  explicit Callees(const Module &module) : module_(module), targets_(module) {}

  Callee of(const Instruction &call);

private:
  static Callee external(std::string_view name);
  Callee examined(const Function &function);

  const Module &module_;
  const CallTargets targets_;
  std::map<const Function *, Callee> known_;
  std::set<const Function *> at_work_;
  unsigned depth_ = 0;
  bool recursive_ = false; ///< some function calls itself
};

/// The instructions of one function, as far as others are concerned.
class Waits {
public:
  Waits(const KernelContext &context, Callees &callees)
      : context_(context), module_(context.module), function_(context.kernel), callees_(callees),
        cfg_(context.cfg()), all_global_(generic_is_global(module_)) {}

  std::optional<std::uint32_t> first();
  bool is_awaited(std::uint32_t load);
  Memory reads(std::uint32_t i);
  Memory writes(std::uint32_t i);

private:
  /// Of a weak access by address.
  Memory by_space(const Instruction &instruction) const;
  StateSpace space_of(std::uint32_t i) const;
  const std::set<Origin> &origins_of(std::uint32_t i) const;
  bool may_meet(std::uint32_t store, std::uint32_t load);
  bool may_pass(std::uint32_t store, std::uint32_t load);
  bool is_read(std::uint32_t i);
  bool is_ordered(std::uint32_t i) const;
  bool may_be_written(std::uint32_t load);
  bool only_polls(LoopId loop, const std::vector<BlockId> &body);
  bool decide(LoopId loop, std::span<const std::uint32_t> some);
  const std::vector<std::uint32_t> &written_meanwhile(LoopId loop);
  std::optional<std::uint32_t> waits_in(LoopId loop);

  const KernelContext &context_;
  const Module &module_;
  const Function &function_;
  Callees &callees_;
  const ControlFlowGraph &cfg_;
  const bool all_global_;
  std::map<std::uint32_t, bool> written_;                  ///< by load
  std::map<LoopId, std::vector<std::uint32_t>> meanwhile_; ///< written_meanwhile()
  std::optional<std::vector<std::uint32_t>> writers_;      ///< of what others may read; likewise
};

Callee Callees::external(std::string_view name) {
  if (name == "__assertfail" || name == "free")
    return {Memory::own, Memory::own, false};
  // What they return depends on what others gave back, or on a format that others may write.
  if (name == "malloc" || name == "vprintf")
    return {Memory::anywhere, Memory::own, false};
  return {};
}

Callee Callees::of(const Instruction &call) {
  if (const Function *const function = targets_.of(call))
    return examined(*function);
  const Symbol *const callee = callee_of(module_, call);
  return callee ? external(callee->name) : Callee();
}

Callee Callees::examined(const Function &function) {
  if (depth_ >= calls_budget)
    return {};
  const Callee harmless{Memory::own, Memory::own, false};
  const auto [entry, is_new] = known_.try_emplace(&function, harmless);
  if (!is_new) {
    recursive_ = recursive_ || at_work_.contains(&function);
    return entry->second;
  }
  ++depth_;
  at_work_.insert(&function);
  const KernelContext context(module_, function);
  Waits waits(context, *this);
  Callee result{Memory::own, Memory::own, waits.first().has_value()};
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    if (waits.reads(i) > Memory::own)
      result.reads = Memory::anywhere;
    if (waits.writes(i) > Memory::own)
      result.writes = Memory::anywhere;
  }
  // What calls itself is a loop, too. Until it is known, it was taken for harmless.
  if (recursive_ && (result.reads > Memory::own || result.writes > Memory::own))
    result.waits = true;
  at_work_.erase(&function);
  --depth_;
  return known_[&function] = result;
}

Memory Waits::by_space(const Instruction &instruction) const {
  switch (module_.opcode(instruction).space) {
  case StateSpace::global:
  case StateSpace::generic:
  case StateSpace::shared:
    return address_in(module_, instruction) ? Memory::at : Memory::anywhere;
  case StateSpace::local:
  case StateSpace::param:
    return Memory::own;
  case StateSpace::constant:
    return Memory::none;
  default:
    return Memory::anywhere;
  }
}

Memory Waits::reads(std::uint32_t i) {
  const Instruction &instruction = function_.instructions[i];
  const Opcode &opcode = module_.opcode(instruction);
  if (!instruction.well_formed)
    return Memory::anywhere;
  switch (opcode.op) {
  case Op::ld:
  case Op::ldu: {
    const Operand *const address = address_in(module_, instruction);
    const Operand *const base = address ? &module_.children(*address)[0] : nullptr;
    const bool parameter = opcode.space == StateSpace::param && base &&
                           base->kind == Operand::Kind::symbol &&
                           module_.symbol(*base).kind == Symbol::Kind::parameter;
    return parameter || reads_constant_memory(opcode) ? Memory::none : by_space(instruction);
  }
  case Op::call:
    return callees_.of(instruction).reads;
  case Op::red:
  case Op::mma:
  case Op::movmatrix:
    return Memory::none;
  default:
    return traits(opcode.op).memory == MemoryUse::any ? Memory::anywhere : Memory::none;
  }
}

Memory Waits::writes(std::uint32_t i) {
  const Instruction &instruction = function_.instructions[i];
  const Opcode &opcode = module_.opcode(instruction);
  if (!instruction.well_formed)
    return Memory::anywhere;
  switch (opcode.op) {
  case Op::st:
  case Op::red:
  case Op::atom: // asynchronous ones arrive somewhere, too
    return opcode.has(Modifier::async) ? Memory::anywhere : by_space(instruction);
  case Op::call:
    return callees_.of(instruction).writes;
  case Op::ldmatrix:
  case Op::mma:
  case Op::movmatrix:
    return Memory::none;
  case Op::mbarrier:
  case Op::stmatrix:
    return Memory::shared;
  case Op::cp:
    return leaves_global_alone(opcode) ? Memory::shared : Memory::anywhere;
  default:
    return traits(opcode.op).memory == MemoryUse::any ? Memory::anywhere : Memory::none;
  }
}

StateSpace Waits::space_of(std::uint32_t i) const {
  const StateSpace space = module_.opcode(function_.instructions[i]).space;
  return space == StateSpace::generic && all_global_ ? StateSpace::global : space;
}

const std::set<Origin> &Waits::origins_of(std::uint32_t i) const {
  return context_.origins().of_address(*address_in(module_, function_.instructions[i]));
}

/// Of two accesses by address.
bool Waits::may_meet(std::uint32_t store, std::uint32_t load) {
  const StateSpace to = space_of(store), from = space_of(load);
  if (to != from && to != StateSpace::generic && from != StateSpace::generic)
    return false;
  // What a function is given may all be one array.
  return !function_.is_entry || !Origins::are_apart(origins_of(load), origins_of(store));
}

bool Waits::may_pass(std::uint32_t store, std::uint32_t load) {
  const Memory to = writes(store), from = reads(load);
  const auto is_generic = [&](std::uint32_t i) { return space_of(i) == StateSpace::generic; };
  const auto may_be = [&](Memory memory, std::uint32_t i, bool shared) {
    return memory == Memory::anywhere ||
           (memory == Memory::at &&
            (is_generic(i) || (shared && space_of(i) == StateSpace::shared)));
  };
  if (to == Memory::none || from == Memory::none)
    return false;
  if (to == Memory::at && from == Memory::at)
    return may_meet(store, load);
  if (to == Memory::own || from == Memory::own)
    return to == from || may_be(to, store, false) || may_be(from, load, false);
  if (to == Memory::shared || from == Memory::shared)
    return to == from || may_be(to, store, true) || may_be(from, load, true);
  return true; // one of them anywhere
}

bool Waits::is_read(std::uint32_t i) { return reads(i) > Memory::own; }

/// Returns true if what is read is meant to be written by others meanwhile.
bool Waits::is_ordered(std::uint32_t i) const {
  return effect_of(module_.opcode(function_.instructions[i])) != Effect::load;
}

bool Waits::may_be_written(std::uint32_t load) {
  if (is_ordered(load) || !function_.is_entry)
    return true;
  const auto [entry, is_new] = written_.try_emplace(load, false);
  if (!writers_) {
    writers_.emplace();
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (writes(i) > Memory::own)
        writers_->push_back(i);
  }
  if (is_new)
    entry->second = std::any_of(writers_->begin(), writers_->end(),
                                [&](std::uint32_t i) { return may_pass(i, load); });
  return entry->second;
}

/// Returns true if nothing but what a loop reads can end it: it stores nothing, and no register
/// that goes from one iteration to the next decides.
bool Waits::only_polls(LoopId loop, const std::vector<BlockId> &body) {
  Dependents carried(module_, function_, cfg_, loop, [&](std::uint32_t store, std::uint32_t load) {
    return may_pass(store, load);
  });
  for (const BlockId block : body)
    for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i) {
      if (writes(i) != Memory::none)
        return false;
      for_each_register(module_, function_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read && context_.liveness().live_in(cfg_.loops()[loop].header, reg))
          carried.add(reg);
      });
    }
  return !carried.decide_end();
}

/// Returns true if the end of a loop may depend on what some instructions in it read.
bool Waits::decide(LoopId loop, std::span<const std::uint32_t> some) {
  Dependents dependents(
      module_, function_, cfg_, loop,
      [&](std::uint32_t store, std::uint32_t load) { return may_pass(store, load); });
  for (const std::uint32_t i : some)
    dependents.add_results(i);
  return !some.empty() && dependents.decide_end();
}

/// What is read in a loop and may be written while it runs; nothing if all of it together does not
/// decide the loop's end.
const std::vector<std::uint32_t> &Waits::written_meanwhile(LoopId loop) {
  const auto [entry, is_new] = meanwhile_.try_emplace(loop);
  std::vector<std::uint32_t> &all = entry->second;
  if (!is_new)
    return all;
  const std::vector<BlockId> body = blocks_in(cfg_, loop);
  for (const BlockId block : body)
    for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i)
      if (is_read(i))
        all.push_back(i);
  if (decide(loop, all) && !only_polls(loop, body))
    std::erase_if(all, [&](std::uint32_t i) { return !may_be_written(i); });
  if (!decide(loop, all))
    all.clear();
  return all;
}

std::optional<std::uint32_t> Waits::waits_in(LoopId loop) {
  const std::vector<std::uint32_t> &some = written_meanwhile(loop);
  if (some.empty())
    return std::nullopt;
  const auto one = std::find_if(some.begin(), some.end(),
                                [&](std::uint32_t i) { return decide(loop, std::span(&i, 1)); });
  return one == some.end() ? some.front() : *one;
}

bool Waits::is_awaited(std::uint32_t load) {
  for (LoopId loop = cfg_.loop_of(cfg_.block_of(load)); loop != no_index;
       loop = cfg_.loops()[loop].parent)
    if (const auto &some = written_meanwhile(loop);
        std::find(some.begin(), some.end(), load) != some.end() &&
        decide(loop, std::span(&load, 1)))
      return true;
  return false;
}

std::optional<std::uint32_t> Waits::first() {
  if (!cfg_.well_formed())
    return 0;
  std::size_t looked_at = 0;
  for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
    const Instruction &instruction = function_.instructions[i];
    const BlockId block = cfg_.block_of(i);
    if (!cfg_.reachable(block))
      continue;
    for (LoopId loop = cfg_.loop_of(block); loop != no_index; loop = cfg_.loops()[loop].parent)
      ++looked_at;
    if (module_.opcode(instruction).op == Op::call && callees_.of(instruction).waits)
      return i;
    if (looked_at > loops_budget || (cfg_.irreducible(block) && is_read(i) && may_be_written(i)))
      return i;
  }
  for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop)
    if (const auto read = waits_in(loop))
      return read;
  return std::nullopt;
}

} // namespace

bool decides_end(const Module &module, const Function &function, const ControlFlowGraph &cfg,
                 LoopId loop, std::uint32_t load) {
  const auto within = [&](LoopId one) {
    return cfg.contains(loop, cfg.loops()[one].header) && cfg.contains(one, cfg.block_of(load));
  };
  const auto may_change = [&](std::uint32_t i) {
    const StateSpace space = module.opcode(function.instructions[i]).space;
    return space != StateSpace::param && space != StateSpace::constant;
  };
  const auto may_pass = [&](std::uint32_t from, std::uint32_t to) {
    return may_change(from) && may_change(to);
  };
  for (LoopId one = loop; one < cfg.loops().size(); ++one) {
    if (!within(one))
      continue;
    Dependents dependents(module, function, cfg, one, may_pass);
    dependents.add_results(load);
    if (dependents.decide_end())
      return true;
  }
  return false;
}

std::optional<std::uint32_t> waits_at(const KernelContext &context) {
  Callees callees(context.module);
  return Waits(context, callees).first();
}

std::vector<std::uint32_t> awaited(const KernelContext &context,
                                   std::span<const std::uint32_t> loads) {
  Callees callees(context.module);
  Waits waits(context, callees);
  std::vector<std::uint32_t> result(loads.begin(), loads.end());
  std::erase_if(result, [&](std::uint32_t load) { return !waits.is_awaited(load); });
  return result;
}

} // namespace ptxasw::facts
