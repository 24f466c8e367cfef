// The symbolic emulator's walk: blocks in reverse postorder down the dominator tree, a register
// environment that branches share until they write, facts of branches on a stack. Every block is
// met after its dominators, so whatever an expression mentions has been computed; a loop's head is
// met before its back edges, so what the loop writes becomes a symbol there and is resolved when
// the loop has been seen (uniformity.cpp).

#include "emulator/symbolic/emulate_implementation.h"

#include "grammar/roles.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace ptxasw::emulator {
namespace {

/// Entries of dominance frontiers; beyond it the emulation is incomplete.
constexpr std::size_t frontier_budget = 20'000'000;

/// A register with more places where flows that write it meet gets no phi where nothing reads it;
/// and the number of blocks examined to find that out.
constexpr std::size_t few_joins = 8;
constexpr std::size_t liveness_budget = 10'000'000;

/// Facts that are reported for one block, the nearest first.
constexpr std::size_t facts_budget = 64;

std::uint64_t edge(BlockId from, BlockId to) { return std::uint64_t{from} << 32 | to; }

/// True if lanes that execute it do not go on. A branch may also have a single successor: the next
/// block, or by a table that names only that one.
bool ends_lanes(const Opcode &opcode) { return opcode.op == Op::exit || opcode.op == Op::ret; }

/// What all lanes that meet must agree on: who meets (the member mask, which comes last) or where
/// (barrier and number of threads; not the predicate that bar.red reduces).
std::vector<const Operand *> agreed_operands(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  std::vector<const Operand *> result;
  const auto operands = module.operands(instruction);
  if (opcode.op == Op::bar || opcode.op == Op::barrier) {
    const std::size_t ends = opcode.has(Modifier::red) ? 1 : 0;
    for (std::size_t i = ends; i + ends < operands.size(); ++i)
      result.push_back(&operands[i]);
  } else if (!opcode.has(Modifier::aligned) && opcode.op != Op::call && !operands.empty()) {
    result.push_back(&operands.back());
  }
  return result;
}

template <class Visit>
void each_agreed_register(const Module &module, const Instruction &instruction, Visit visit) {
  if (instruction.guard != no_register)
    visit(instruction.guard);
  for (const Operand *operand : agreed_operands(module, instruction))
    if (operand->kind == Operand::Kind::reg)
      visit(operand->reg);
}

} // namespace

const Emulation::Implementation::OpcodeInfo &
Emulation::Implementation::opcode_info(const Instruction &instruction) {
  OpcodeInfo &info = opcode_infos_[instruction.opcode];
  if (!info.known) {
    const Opcode &opcode = module_.opcode(instruction);
    info.known = true;
    info.line = find_line<ExprPool>(opcode);
    info.form = decode(opcode);
    info.effect = effect_of(opcode);
    info.is_call = opcode.op == Op::call;
    info.gathers = gathers_lanes(opcode);
    info.stores_parameter = opcode.op == Op::st && opcode.space == StateSpace::param;
  }
  return info;
}

void Emulation::Implementation::run() {
  opcode_infos_.resize(module_.opcodes.size());
  probed_.assign(probes_.size(), nullptr);
  if (!probes_.empty()) {
    const auto slot = [&](std::uint32_t probe) {
      return 2 * probes_[probe].instruction + (probes_[probe].after ? 1 : 0);
    };
    probe_order_.resize(probes_.size());
    std::iota(probe_order_.begin(), probe_order_.end(), 0u);
    std::stable_sort(probe_order_.begin(), probe_order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return slot(a) < slot(b); });
    probes_at_.assign(2 * function_.instructions.size() + 1, 0);
    for (const std::uint32_t probe : probe_order_)
      ++probes_at_[slot(probe) + 1];
    std::partial_sum(probes_at_.begin(), probes_at_.end(), probes_at_.begin());
  }
  if (!cfg_.well_formed())
    return;
  find_slice();
  if (!place_phis())
    return;
  walk();
  resolve_loops();
  find_uniformity();
  complete_ = true;
}

// Registers that addresses, guards of accesses and branches depend on, whatever the flow.
void Emulation::Implementation::find_slice() {
  const auto count = static_cast<std::uint32_t>(function_.instructions.size());
  const std::size_t registers = function_.registers.size() + 1;
  needed_.assign(registers, false);
  // Writers by register, as one array of lists.
  std::vector<std::uint32_t> begin(registers + 1, 0), writers;
  std::vector<RegisterId> work;
  bool calls = false;
  const auto need = [&](RegisterId reg) {
    if (!needed_[reg]) {
      needed_[reg] = true;
      work.push_back(reg);
    }
  };
  const auto each_written = [&](const Instruction &instruction, auto visit) {
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      if (use != RegisterUse::read)
        visit(reg);
    });
    if (module_.opcode(instruction).has(Modifier::cc))
      visit(carry_);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const Instruction &instruction = function_.instructions[i];
    each_written(instruction, [&](RegisterId reg) { ++begin[reg + 1]; });
    const Opcode &opcode = module_.opcode(instruction);
    const Effect effect = opcode_info(instruction).effect;
    calls |= opcode_info(instruction).is_call;
    if (opcode_info(instruction).gathers) {
      each_agreed_register(module_, instruction, need);
    } else if (effect == Effect::load || effect == Effect::store) {
      if (follows(opcode.space))
        for (const Operand &operand : module_.operands(instruction))
          if (operand.kind == Operand::Kind::address)
            for (const Operand &base : module_.children(operand))
              if (base.kind == Operand::Kind::reg)
                need(base.reg);
      if (instruction.guard != no_register)
        need(instruction.guard);
    } else if (opcode.op == Op::bra || opcode.op == Op::exit || opcode.op == Op::ret) {
      if (instruction.guard != no_register)
        need(instruction.guard);
    } else if (opcode.op == Op::brx) {
      for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse) { need(reg); });
    }
  }
  if (calls || role_ == Role::callee)
    each_passed_register(need);
  for (const Probe &probe : probes_)
    need(probe.reg);
  for (std::size_t r = 0; r < registers; ++r)
    begin[r + 1] += begin[r];
  writers.resize(begin.back());
  std::vector<std::uint32_t> fill(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < count; ++i)
    each_written(function_.instructions[i], [&](RegisterId reg) { writers[fill[reg]++] = i; });
  while (!work.empty()) {
    const RegisterId reg = work.back();
    work.pop_back();
    for (std::uint32_t w = begin[reg]; w < begin[reg + 1]; ++w) {
      const Instruction &instruction = function_.instructions[writers[w]];
      for_each_register(module_, instruction, [&](RegisterId source, RegisterUse use) {
        if (use == RegisterUse::read)
          need(source);
      });
      const Op op = module_.opcode(instruction).op;
      if (op == Op::addc || op == Op::subc || op == Op::madc)
        need(carry_);
    }
  }
}

// Phis go to the iterated dominance frontiers of the blocks that write a needed register (Cytron et
// al., "Efficiently computing static single assignment form"). Registers that no block reads before
// it writes them need none (Briggs et al., "Practical improvements to the construction and
// destruction of static single assignment form"), nor do those with one writing block that
// dominates all that read. Without that, a switch of n cases with temporaries of their own would
// have n times n operands.
bool Emulation::Implementation::place_phis() {
  const auto &blocks = cfg_.blocks();
  phis_at_.resize(blocks.size());
  std::vector<std::vector<BlockId>> frontier(blocks.size());
  std::size_t size = 0;
  for (const BlockId block : cfg_.reverse_postorder()) {
    const auto &predecessors = blocks[block].predecessors;
    if (predecessors.size() < 2)
      continue;
    for (BlockId runner : predecessors) {
      if (!cfg_.reachable(runner))
        continue;
      while (runner != cfg_.immediate_dominator(block)) {
        if (!frontier[runner].empty() && frontier[runner].back() == block)
          break; // from here on up this has been done
        frontier[runner].push_back(block);
        if (++size > frontier_budget)
          return false;
        runner = cfg_.immediate_dominator(runner);
      }
    }
  }
  // Blocks that write each needed register.
  std::vector<std::vector<BlockId>> writing(function_.registers.size());
  // Blocks that read what they have not written.
  std::vector<std::vector<BlockId>> reading(function_.registers.size());
  const auto read_in = [&](BlockId block, RegisterId reg) {
    const bool own = !writing[reg].empty() && writing[reg].back() == block;
    if (!own && (reading[reg].empty() || reading[reg].back() != block))
      reading[reg].push_back(block);
  };
  const auto probes_read_in = [&](BlockId block, std::size_t slot) {
    for (std::uint32_t i = probes_at_[slot]; i < probes_at_[slot + 1]; ++i)
      read_in(block, probes_[probe_order_[i]].reg);
  };
  std::vector<RegisterId> written;
  for (const BlockId block : cfg_.reverse_postorder())
    for (std::uint32_t i = blocks[block].first; i < blocks[block].end; ++i) {
      for_each_register(module_, function_.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (!needed(reg))
          return;
        // A write that may not happen leaves the old value, and so reads it.
        if (use != RegisterUse::written)
          read_in(block, reg);
        if (use != RegisterUse::read)
          written.push_back(reg);
      });
      if (!probes_.empty())
        probes_read_in(block, 2 * std::size_t{i});
      // An instruction reads before it writes, in whatever order its operands stand.
      for (const RegisterId reg : written)
        if (writing[reg].empty() || writing[reg].back() != block)
          writing[reg].push_back(block);
      written.clear();
      if (!probes_.empty())
        probes_read_in(block, 2 * std::size_t{i} + 1);
    }
  // What comes behind a block in any order: at the earliest the header of the outermost loop around
  // it. Where no read does, a phi would be of no use.
  std::vector<std::uint32_t> earliest_behind(blocks.size(), 0);
  const bool reducible =
      std::none_of(cfg_.reverse_postorder().begin(), cfg_.reverse_postorder().end(),
                   [&](BlockId block) { return cfg_.irreducible(block); });
  for (const BlockId block : cfg_.reverse_postorder()) {
    const LoopId loop = cfg_.loop_of(block);
    if (reducible && loop == no_index)
      earliest_behind[block] = cfg_.order_of(block);
    else if (reducible) // headers come before what is in their loops
      earliest_behind[block] =
          cfg_.loops()[loop].parent == no_index
              ? cfg_.order_of(cfg_.loops()[loop].header)
              : earliest_behind[cfg_.loops()[cfg_.loops()[loop].parent].header];
  }
  std::vector<RegisterId> placed(blocks.size(), no_register);
  // The last register that was found to be live at the entry of each block; and found to be
  // written.
  std::vector<RegisterId> live_in(blocks.size(), no_register),
      written_in(blocks.size(), no_register);
  std::size_t live_visits = 0;
  const auto find_live = [&](RegisterId reg, const std::vector<BlockId> &writers,
                             const std::vector<BlockId> &readers) {
    for (const BlockId block : writers)
      written_in[block] = reg;
    std::vector<BlockId> work = readers;
    for (const BlockId block : work)
      live_in[block] = reg;
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      if (++live_visits > liveness_budget)
        return false;
      for (const BlockId before : blocks[block].predecessors)
        if (live_in[before] != reg && written_in[before] != reg) {
          live_in[before] = reg;
          work.push_back(before);
        }
    }
    return true;
  };
  for (RegisterId reg = 0; reg < writing.size(); ++reg) {
    std::vector<BlockId> work = std::move(writing[reg]);
    const auto sees_only_one = [&](BlockId block) {
      return work.size() == 1 && work[0] != block && cfg_.dominates(work[0], block);
    };
    if (std::all_of(reading[reg].begin(), reading[reg].end(), sees_only_one))
      continue;
    std::uint32_t last_read = 0;
    for (const BlockId block : reading[reg])
      last_read = std::max(last_read, cfg_.order_of(block));
    // A register that many blocks might join: only where something reads what is joined.
    std::size_t joins = 0;
    for (const BlockId block : work)
      joins += frontier[block].size();
    const bool pruned = joins > few_joins && find_live(reg, work, reading[reg]);
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      for (const BlockId join : frontier[block])
        if (placed[join] != reg && earliest_behind[join] <= last_read &&
            (!pruned || live_in[join] == reg)) {
          placed[join] = reg;
          phis_at_[join].push_back(static_cast<std::uint32_t>(phis_.size()));
          phis_.push_back({join, reg, {}, nullptr});
          work.push_back(join);
        }
    }
  }
  return true;
}

// Blocks in reverse postorder over the dominator tree: when a block is reached, all blocks that
// lead to it, except by back edges, have been.
void Emulation::Implementation::walk() {
  struct Frame {
    BlockId block;
    std::size_t next_child;
    std::size_t undo_size;
    PathKnowledge::Mark known;
  };
  feasible_.assign(cfg_.blocks().size(), false);
  branch_condition_.assign(cfg_.blocks().size(), nullptr);
  branch_choice_.assign(cfg_.blocks().size(), nullptr);
  current_.assign(function_.registers.size() + 1, nullptr);
  for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop)
    trips_.push_back(
        fresh(fmt::format("trip{}", loop), 64, SymbolKind::trip, cfg_.loops()[loop].header));
  std::vector<Frame> stack;
  const auto open = [&](BlockId block) {
    const Frame frame{block, 0, undo_.size(), path_.mark()};
    if (!enter(block))
      return;
    for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i)
      execute(block, i);
    leave(block);
    stack.push_back(frame);
  };
  if (!cfg_.blocks().empty())
    open(0);
  while (!stack.empty()) {
    Frame &frame = stack.back();
    const auto &children = cfg_.dominated(frame.block);
    if (frame.next_child < children.size()) {
      open(children[frame.next_child++]);
      continue;
    }
    for (; undo_.size() > frame.undo_size; undo_.pop_back())
      current_[undo_.back().first] = undo_.back().second;
    path_.forget_since(frame.known);
    stack.pop_back();
  }
}

bool Emulation::Implementation::enter(BlockId block) {
  const BasicBlock &info = cfg_.blocks()[block];
  bool entered = block == 0;
  for (const BlockId predecessor : info.predecessors) {
    // An edge into an irreducible cycle from a block that is yet to be walked.
    const bool later = cfg_.reachable(predecessor) &&
                       cfg_.order_of(predecessor) > cfg_.order_of(block) &&
                       !cfg_.dominates(block, predecessor);
    entered |= later || (cfg_.reachable(predecessor) && feasible_[predecessor] &&
                         !dead_edges_.contains(edge(predecessor, block)));
  }
  if (!entered)
    return false;
  feasible_[block] = true;
  evaluate_phis(block);
  write(carry_, nullptr);
  if (role_ == Role::trace)
    parameters_.clear();
  if (info.predecessors.size() == 1 && block != 0) {
    const BlockId before = info.predecessors[0];
    const Expr condition = branch_condition_[before];
    if (condition && takes_paths_)
      if (const std::optional<bool> holds = holds_on_edge(before, block))
        path_.assume(condition, *holds);
  }
  return true;
}

void Emulation::Implementation::evaluate_phis(BlockId block) {
  const LoopId loop = cfg_.loop_of(block);
  const bool header = loop != no_index && cfg_.loops()[loop].header == block;
  for (const std::uint32_t index : phis_at_[block]) {
    Phi &phi = phis_[index];
    const unsigned width = register_width(phi.reg);
    if (width == 0 || width > 128) {
      write(phi.reg, nullptr);
      continue;
    }
    bool agree = !phi.operands.empty();
    for (const auto &[from, value] : phi.operands)
      agree &= value != nullptr && value == phi.operands[0].second;
    if (cfg_.irreducible(block) || block == 0) { // the entry is also reached from outside
      phi.symbol = fresh(fmt::format("join({})", function_.registers[phi.reg].name), width,
                         SymbolKind::varying, block);
    } else if (header) {
      phi.symbol = fresh(fmt::format("loop({}, {})", loop, function_.registers[phi.reg].name),
                         width, SymbolKind::loop_phi, block, index);
    } else if (agree) {
      write(phi.reg, phi.operands[0].second);
      continue;
    } else {
      phi.symbol = fresh(fmt::format("join({})", function_.registers[phi.reg].name), width,
                         SymbolKind::join_phi, block, index);
    }
    write(phi.reg, phi.symbol);
  }
}

// What a branch depends on: its guard, and the index if it has one. Null if that is not understood.
Expr Emulation::Implementation::choice_of(BlockId block, const Instruction &branch) {
  if (branch.guard != no_register && !needed(branch.guard))
    return nullptr;
  const Expr guard = guard_of(block, branch);
  if (module_.opcode(branch).op != Op::brx)
    return guard;
  const auto operands = module_.operands(branch);
  const Expr index = operands.empty() ? nullptr : operand_value(block, operands[0], 32);
  return index ? pool_.ite(guard, index, pool_.constant(32, ~0u)) : nullptr;
}

void Emulation::Implementation::leave(BlockId block) {
  const BasicBlock &info = cfg_.blocks()[block];
  if (info.branch != no_index)
    branch_choice_[block] = choice_of(block, function_.instructions[info.branch]);
  if (info.branch != no_index && info.successors.size() == 2) {
    const Instruction &branch = function_.instructions[info.branch];
    const Opcode &opcode = module_.opcode(branch);
    if (opcode.op == Op::bra) {
      const Expr condition = branch_choice_[block];
      branch_condition_[block] = condition;
      const std::optional<bool> decided = path_.decide(condition);
      if (decided)
        dead_edges_[edge(block, info.successors[*decided ? 1 : 0])] = true;
      else
        ++undecided_branches_;
    }
  } else if (info.branch != no_index && info.successors.size() == 1) {
    // A guarded exit: the flow goes on where the guard does not hold.
    const Instruction &exit = function_.instructions[info.branch];
    if (branch_choice_[block] && ends_lanes(module_.opcode(exit))) {
      branch_condition_[block] = branch_choice_[block];
      if (path_.decide(branch_condition_[block]) == std::optional(true))
        dead_edges_[edge(block, info.successors[0])] = true;
    }
  } else if (info.successors.size() > 2) {
    undecided_branches_ += static_cast<unsigned>(info.successors.size()) - 1;
  }
  for (const BlockId successor : info.successors)
    if (!dead_edges_.contains(edge(block, successor)))
      for (const std::uint32_t index : phis_at_[successor])
        phis_[index].operands.emplace_back(block, current_[phis_[index].reg]);
}

void Emulation::Implementation::answer_probes(BlockId block, std::uint32_t index, bool after) {
  const std::size_t slot = 2 * std::size_t{index} + (after ? 1 : 0);
  for (std::uint32_t i = probes_at_[slot]; i < probes_at_[slot + 1]; ++i)
    probed_[probe_order_[i]] = read(block, probes_[probe_order_[i]].reg);
}

// True if the condition of a block's branch holds where control goes on to `to`; nothing if it may
// or may not. After an exit with a guard are the lanes for which the guard does not hold.
std::optional<bool> Emulation::Implementation::holds_on_edge(BlockId from, BlockId to) const {
  const BasicBlock &block = cfg_.blocks()[from];
  if (block.successors.size() == 2)
    return block.successors[0] == to;
  if (block.branch == no_index || block.successors.size() != 1 ||
      !ends_lanes(module_.opcode(function_.instructions[block.branch])))
    return std::nullopt;
  return false;
}

Effort Emulation::Implementation::effort() const {
  Effort result{pool_.size(), phis_.size(), 0};
  for (const Phi &phi : phis_)
    result.phi_operands += phi.operands.size();
  return result;
}

void Emulation::Implementation::execute(BlockId block, std::uint32_t index) {
  const Instruction &instruction = function_.instructions[index];
  if (!probes_.empty())
    answer_probes(block, index, false);
  const OpcodeInfo &info = opcode_info(instruction);
  const Function *const called = info.is_call ? call_targets_.of(instruction) : nullptr;
  if (info.effect != Effect::none && !(called && harmless(*called, 0)))
    record_access(block, index, instruction, info);
  if (info.gathers && role_ == Role::trace)
    record_gathering(block, index, instruction);
  bool writes = module_.opcode(instruction).has(Modifier::cc) && needed(carry_);
  for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
    writes |= use != RegisterUse::read && needed(reg);
  });
  if (writes)
    compute(block, index, instruction);
  if (info.is_call) // which does not preserve it (PTX ISA 9.7.2)
    write(carry_, nullptr);
  if (follows_parameters_ && info.is_call)
    call(block, instruction);
  else if (follows_parameters_ && info.stores_parameter)
    store_parameter(block, instruction);
  if (!probes_.empty())
    answer_probes(block, index, true);
}

// A call gathers what the called function does.
void Emulation::Implementation::record_gathering(BlockId block, std::uint32_t index,
                                                 const Instruction &instruction) {
  if (opcode_info(instruction).is_call)
    if (const Function *const called = call_targets_.of(instruction))
      if (!gathers(*called, 0))
        return;
  Gathering gathering{block, index, {}};
  if (instruction.guard != no_register)
    gathering.agreed.push_back(guard_of(block, instruction));
  for (const Operand *operand : agreed_operands(module_, instruction))
    gathering.agreed.push_back(operand_value(block, *operand, 32));
  gatherings_.push_back(std::move(gathering));
}

void Emulation::Implementation::record_access(BlockId block, std::uint32_t index,
                                              const Instruction &instruction,
                                              const OpcodeInfo &info) {
  const Opcode &opcode = module_.opcode(instruction);
  MemoryAccess access;
  access.instruction = index;
  access.effect = info.effect;
  access.block = block;
  access.space = opcode.space;
  access.bytes = opcode.bytes();
  if (info.effect == Effect::load || info.effect == Effect::store) {
    if (instruction.guard != no_register) {
      access.guard = guard_of(block, instruction);
      if (const std::optional<bool> decided = path_.decide(access.guard)) {
        if (!*decided)
          return; // never happens
        access.decided = access.guard;
        access.guard = nullptr;
      }
    }
    if (const Operand *const address = address_in(module_, instruction);
        address && follows(opcode.space))
      access.address = address_value(block, *address);
  }
  trace_.push_back(access);
}

Emulation::Emulation(const Module &module, const Function &function, const LaunchFacts &facts,
                     std::span<const Probe> probes, LaneGroup lanes, bool takes_paths)
    : implementation_(std::make_unique<Implementation>(module, function, facts, lanes)) {
  implementation_->probes_ = probes;
  implementation_->takes_paths_ = takes_paths;
  implementation_->run();
}
Emulation::~Emulation() = default;

bool Emulation::complete() const { return implementation_->complete_; }
const ControlFlowGraph &Emulation::cfg() const { return implementation_->cfg_; }
ExprPool &Emulation::pool() { return implementation_->pool_; }
const std::vector<MemoryAccess> &Emulation::trace() const { return implementation_->trace_; }
unsigned Emulation::undecided_branches() const { return implementation_->undecided_branches_; }
Effort Emulation::effort() const { return implementation_->effort(); }
Expr Emulation::expand(Expr expr) { return (*implementation_->expansion_)(expr); }
bool Emulation::uniform_but_lane(Expr expr, BlockId block) const {
  return implementation_->uniform(expr, block, false);
}
bool Emulation::uniform(Expr expr, BlockId block) const {
  return implementation_->uniform(expr, block, true);
}
bool Emulation::invariant(Expr expr, LoopId loop) const {
  return implementation_->invariant(expr, loop);
}
std::optional<ParameterField> Emulation::parameter_field(Expr symbol) const {
  const auto &own = implementation_->own_parameters_;
  const auto found = own.find(symbol);
  if (found == own.end())
    return std::nullopt;
  return ParameterField{found->second.name, found->second.offset, found->second.width};
}
Expr Emulation::branch_choice(BlockId block) const {
  return implementation_->branch_choice_[block];
}
bool Emulation::meets_evenly(std::uint32_t instruction) const {
  const auto &gatherings = implementation_->gatherings_;
  const auto found = std::find_if(gatherings.begin(), gatherings.end(), [&](const auto &gathering) {
    return gathering.instruction == instruction;
  });
  return found != gatherings.end() && implementation_->meeting_of(*found) == ConvergencePoint::even;
}
bool Emulation::in_step(BlockId block) { return implementation_->in_step(block); }
bool Emulation::feasible(BlockId block) const { return implementation_->feasible_[block]; }

Expr Emulation::probed(std::size_t index) const { return implementation_->probed_[index]; }
Expr Emulation::special(std::string_view name) { return implementation_->special_value(0, name); }
Expr Emulation::symbol_address(std::string_view name) {
  return implementation_->symbol_address(name);
}

Expr Emulation::shift_lane(Expr expr, int delta) {
  if (delta == 0)
    return expr;
  auto &shift = implementation_->shifts_[delta];
  if (!shift) {
    shift = std::make_unique<Substitution>(pool());
    const Expr distance = pool().constant(32, static_cast<std::uint64_t>(std::int64_t{delta}));
    for (const Expr symbol : {implementation_->tid_x_, implementation_->laneid_})
      if (symbol)
        shift->map(symbol, pool().add(symbol, distance));
  }
  return (*shift)(expr);
}

Expr Emulation::by_lane(Expr expr) { return implementation_->by_lane(expr); }
Expr Emulation::warp_in_row() {
  by_lane(pool().constant(1, 0));
  return implementation_->warp_in_row_;
}

bool Emulation::is_lane_symbol(Expr expr) const {
  return expr == implementation_->tid_x_ || expr == implementation_->laneid_;
}

std::optional<LoopRegister> Emulation::loop_register(Expr symbol) const {
  return implementation_->loop_register(symbol);
}

std::optional<JoinRegister> Emulation::join_register(Expr symbol) const {
  return implementation_->join_register(symbol);
}

std::optional<std::uint32_t> Emulation::produced_by(Expr symbol) const {
  return implementation_->produced_by(symbol);
}

Expr Emulation::trip_count(LoopId loop) const { return implementation_->trips_[loop]; }

const std::vector<RegisterRead> *Emulation::reads_of(Expr value) {
  auto &reads = implementation_->expanded_reads_;
  if (reads.empty())
    for (const auto &[read_value, read] : implementation_->reads_)
      reads[expand(read_value)].push_back(read);
  const auto found = reads.find(value);
  return found == reads.end() ? nullptr : &found->second;
}

std::vector<PathFact> Emulation::facts_in(BlockId block) const {
  const ControlFlowGraph &graph = cfg();
  std::vector<PathFact> facts;
  for (BlockId at = block; at != 0 && facts.size() < facts_budget;
       at = graph.immediate_dominator(at)) {
    const auto &predecessors = graph.blocks()[at].predecessors;
    if (predecessors.size() != 1)
      continue;
    if (const auto fact = fact_on_edge(predecessors[0], at);
        fact && fact->condition->kind != ExprKind::constant)
      facts.push_back(*fact);
  }
  return facts;
}

std::optional<PathFact> Emulation::fact_on_edge(BlockId from, BlockId to) const {
  const Expr condition = implementation_->branch_condition_[from];
  const auto holds = implementation_->holds_on_edge(from, to);
  if (!condition || !holds)
    return std::nullopt;
  return PathFact{condition, *holds};
}

} // namespace ptxasw::emulator
