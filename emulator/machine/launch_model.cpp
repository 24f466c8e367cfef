// What decides what a kernel does, so that launches can be drawn in which it does that.
//
// The symbolic emulation knows for every block the conditions under which it is reached, and for
// every predicate and address how it depends on parameters and on the thread. All that is missing
// is to tell its symbols apart: which are bytes of the parameters, which are the thread's place.
//
// A slot is a pointer if an address is its value plus something: it stands in the address's linear
// form by itself, with the factor 1.

#include "emulator/machine/launch_model.h"

#include "emulator/symbolic/address.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>
#include <unordered_set>

namespace ptxasw::emulator {
namespace {

/// Comparisons and extensions of one kernel that launches are drawn around.
constexpr std::size_t boundaries_budget = 400;

/// Instructions whose predicates and guards are examined.
constexpr std::size_t probes_budget = 20'000;

/// True if an instruction computes a predicate of one bit.
bool computes_predicate(const Module &module, const Function &kernel,
                        const Instruction &instruction) {
  const auto operands = module.operands(instruction);
  if (!instruction.well_formed || operands.empty())
    return false;
  const Op op = module.opcode(instruction).op;
  const Operand &to =
      operands[0].kind == Operand::Kind::pair ? module.children(operands[0])[0] : operands[0];
  return op != Op::st && op != Op::bra && to.kind == Operand::Kind::reg &&
         kernel.registers[to.reg].type == ScalarType::pred;
}

RegisterId predicate_of(const Module &module, const Instruction &instruction) {
  const Operand &first = module.operands(instruction)[0];
  return first.kind == Operand::Kind::pair ? module.children(first)[0].reg : first.reg;
}

/// What the first instruction that computes with a register takes it for, if that is a number with
/// a point: loads of parameters often name the bits only.
ScalarType used_as(const Module &module, const Function &kernel, RegisterId reg) {
  for (const Instruction &instruction : kernel.instructions) {
    const Opcode &opcode = module.opcode(instruction);
    if (!is_float(opcode.type))
      continue;
    bool reads = false;
    for_each_register(module, instruction, [&](RegisterId other, RegisterUse use) {
      reads |= other == reg && use != RegisterUse::written;
    });
    if (reads && bit_width(opcode.type) == bit_width(kernel.registers[reg].type))
      return opcode.type;
  }
  return ScalarType::none;
}

/// What is extended or cut.
Expr without_width(Expr e) {
  while (e->kind == ExprKind::sext || e->kind == ExprKind::zext ||
         (e->kind == ExprKind::extract && e->index == 0))
    e = e->children[0];
  return e;
}

} // namespace

std::vector<ParameterSlot> parameter_slots(const Module &module, const Function &kernel) {
  std::vector<ParameterSlot> slots;
  for (const Instruction &instruction : kernel.instructions) {
    const Opcode &opcode = module.opcode(instruction);
    const auto operands = module.operands(instruction);
    if (opcode.op != Op::ld || opcode.space != StateSpace::param || operands.size() < 2 ||
        operands[1].kind != Operand::Kind::address)
      continue;
    const auto base = module.children(operands[1]);
    if (base.empty() || base[0].kind != Operand::Kind::symbol)
      continue;
    const auto parameter =
        std::find_if(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const Variable &p) { return p.name == module.text(base[0].span); });
    if (parameter == kernel.parameters.end())
      continue;
    const std::uint32_t start = kernel_parameter_offset(
        kernel, static_cast<std::size_t>(parameter - kernel.parameters.begin()));
    const bool vector = operands[0].kind == Operand::Kind::vector;
    const auto destinations = vector ? module.children(operands[0]) : operands.subspan(0, 1);
    const unsigned bytes = bit_width(opcode.type) / 8;
    for (std::size_t i = 0; i < destinations.size() && bytes > 0; ++i) {
      const auto within =
          static_cast<std::uint32_t>(operands[1].value) + static_cast<std::uint32_t>(i) * bytes;
      ParameterSlot slot;
      slot.name = within == 0 ? std::string(parameter->name)
                              : fmt::format("{}+{}", parameter->name, within);
      slot.offset = start + within;
      slot.type = opcode.type;
      slot.width = bytes * 8;
      if (destinations[i].kind == Operand::Kind::reg && !is_float(opcode.type))
        if (const ScalarType used = used_as(module, kernel, destinations[i].reg);
            used != ScalarType::none)
          slot.type = used;
      // If something is loaded both in pieces and whole, the whole counts.
      const auto covers = [](const ParameterSlot &a, const ParameterSlot &b) {
        return a.offset <= b.offset && b.offset + b.width / 8 <= a.offset + a.width / 8;
      };
      if (std::any_of(slots.begin(), slots.end(),
                      [&](const ParameterSlot &known) { return covers(known, slot); }))
        continue;
      std::erase_if(slots, [&](const ParameterSlot &known) { return covers(slot, known); });
      slots.push_back(std::move(slot));
    }
  }
  std::sort(slots.begin(), slots.end(),
            [](const ParameterSlot &a, const ParameterSlot &b) { return a.offset < b.offset; });
  return slots;
}

KernelModel::KernelModel(const Module &module, const Function &kernel,
                         std::vector<ParameterSlot> &slots)
    : module_(module), kernel_(kernel), slots_(slots), probes_(probes(module, kernel)),
      emulation_(module, kernel, launch_facts(kernel), probes_) {
  if (!complete())
    return;
  mark_pointers();
  mark_steps();
}

std::vector<Probe> KernelModel::probes(const Module &module, const Function &kernel) {
  std::vector<Probe> result;
  guard_probe_.assign(kernel.instructions.size(), no_index);
  test_probe_.assign(kernel.instructions.size(), no_index);
  mask_probe_.assign(kernel.instructions.size(), no_index);
  for (std::uint32_t i = 0; i < kernel.instructions.size() && result.size() < probes_budget; ++i) {
    const Instruction &instruction = kernel.instructions[i];
    if (instruction.guard != no_register) {
      guard_probe_[i] = static_cast<std::uint32_t>(result.size());
      result.push_back({i, instruction.guard, false});
    }
    if (computes_predicate(module, kernel, instruction)) {
      tests_.push_back(i);
      test_probe_[i] = static_cast<std::uint32_t>(result.size());
      result.push_back({i, predicate_of(module, instruction), true});
    }
    if (const auto operands = module.operands(instruction);
        module.opcode(instruction).op == Op::activemask && instruction.well_formed &&
        operands[0].kind == Operand::Kind::reg) {
      masks_.push_back(i);
      mask_probe_[i] = static_cast<std::uint32_t>(result.size());
      result.push_back({i, operands[0].reg, true});
    }
  }
  return result;
}

Expr KernelModel::probed(std::uint32_t instruction, bool after) {
  const std::uint32_t probe = (after ? test_probe_ : guard_probe_)[instruction];
  const Expr value = probe == no_index ? nullptr : emulation_.probed(probe);
  return value ? emulation_.expand(value) : nullptr;
}

// Of its dominators and of blocks that have run before those, once: what these compare does not
// change anymore.
const std::vector<PathFact> &KernelModel::facts_before(BlockId block) {
  const ControlFlowGraph &cfg = emulation_.cfg();
  facts_before_.resize(cfg.blocks().size());
  if (facts_before_[block])
    return *facts_before_[block];
  std::vector<PathFact> facts;
  std::vector<BlockId> blocks{block};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (PathFact fact : emulation_.facts_in(blocks[i])) {
      fact.condition = emulation_.expand(fact.condition);
      if (std::none_of(facts.begin(), facts.end(), [&](const PathFact &known) {
            return known.condition == fact.condition && known.holds == fact.holds;
          }))
        facts.push_back(fact);
    }
    for (BlockId at = blocks[i]; at != 0; at = cfg.immediate_dominator(at))
      if (const auto earlier = earlier_.before(at);
          earlier && std::find(blocks.begin(), blocks.end(), *earlier) == blocks.end())
        blocks.push_back(*earlier);
  }
  facts_before_[block] = std::move(facts);
  return *facts_before_[block];
}

std::optional<KernelModel::Wish> KernelModel::to_run(std::uint32_t instruction) {
  if (!complete())
    return std::nullopt;
  const BlockId block = emulation_.cfg().block_of(instruction);
  if (!emulation_.cfg().reachable(block) || !emulation_.feasible(block))
    return std::nullopt;
  Wish wish;
  wish.conditions = facts_before(block);
  if (kernel_.instructions[instruction].guard != no_register)
    if (const Expr guard = probed(instruction, false))
      wish.conditions.push_back({guard, !kernel_.instructions[instruction].guard_negated});
  return wish;
}

std::optional<KernelModel::Wish> KernelModel::to_decide(std::uint32_t instruction, bool outcome) {
  std::optional<Wish> wish = to_run(instruction);
  const Expr condition = wish ? probed(instruction, true) : nullptr;
  if (!condition)
    return std::nullopt;
  wish->conditions.push_back({condition, outcome});
  return wish;
}

// A block that only branches goes on by what its ways brought: the test is of the block that
// control came from, or of an earlier one, and so is all that is known. Else it is of the block
// itself.
KernelModel::Wish KernelModel::to_turn(BlockId from, BlockId block, BlockId next) {
  const ControlFlowGraph &cfg = emulation_.cfg();
  Wish wish;
  const auto add_edge = [&](BlockId before, BlockId behind) {
    if (const auto fact = emulation_.fact_on_edge(before, behind))
      wish.conditions.push_back({emulation_.expand(fact->condition), fact->holds});
  };
  const BasicBlock &at = cfg.blocks()[block];
  if (at.branch == at.first && at.successors.size() == 2 && at.successors[0] != at.successors[1]) {
    const Instruction &branch = kernel_.instructions[at.branch];
    wish.conditions = facts_before(from);
    add_edge(from, block);
    const auto writer =
        branch.guard == no_register ? std::nullopt : earlier_.writer_at_end(from, branch.guard);
    if (const Expr value = writer ? probed(*writer, true) : nullptr)
      wish.conditions.push_back({value, (next == at.successors[0]) != branch.guard_negated});
    return wish;
  }
  wish.conditions = facts_before(block);
  add_edge(block, next);
  return wish;
}

std::vector<Expr> KernelModel::mask_facts(const std::vector<Expr> &formulas) {
  std::vector<Expr> facts;
  ExprPool &pool = emulation_.pool();
  const auto speaks_of = [&](Expr mask) {
    bool found = false;
    for (const Expr formula : formulas)
      for_each_node(formula, [&](Expr node) { found |= node == mask; });
    return found;
  };
  const auto number = [&](std::uint64_t value) { return pool.constant(32, value); };
  const auto in_block = [&](const Expr(&tid)[3]) { // PTX ISA 10.1: x runs fastest
    const Expr x = emulation_.special("%ntid.x"), y = emulation_.special("%ntid.y");
    return pool.add(tid[0], pool.mul(x, pool.add(tid[1], pool.mul(y, tid[2]))));
  };
  for (const std::uint32_t mask : masks_) {
    const Expr value = emulation_.probed(mask_probe_[mask]);
    const auto wish =
        value && value->kind == ExprKind::symbol && speaks_of(value) ? to_run(mask) : std::nullopt;
    if (!wish)
      continue;
    const Expr own[3] = {emulation_.special("%tid.x"), emulation_.special("%tid.y"),
                         emulation_.special("%tid.z")};
    const Expr warp = pool.bit_and(in_block(own), number(0xffffffe0));
    Expr full = pool.constant(1, 1);
    for (const unsigned lane : {0u, warp_lanes - 1}) {
      // The same block, grid and parameters; everything else may differ for that lane.
      Substitution as_lane(pool);
      Expr tid[3];
      for (int axis = 0; axis < 3; ++axis) {
        tid[axis] = own[axis]->kind == ExprKind::constant
                        ? own[axis]
                        : pool.symbol(fmt::format("tid.{} of lane {}", "xyz"[axis], lane), 32);
        full = pool.bit_and(
            full, pool.ult(tid[axis], emulation_.special(fmt::format("%ntid.{}", "xyz"[axis]))));
      }
      full = pool.bit_and(full, pool.eq(in_block(tid), pool.add(warp, number(lane))));
      std::unordered_set<Expr> seen;
      for (const PathFact &fact : wish->conditions)
        for_each_node(fact.condition, [&](Expr node) {
          if (node->kind != ExprKind::symbol || !seen.insert(node).second)
            return;
          const Meaning &what = meaning(node);
          if (what.kind == Meaning::Kind::tid)
            as_lane.map(node, tid[what.index]);
          else if (what.kind == Meaning::Kind::laneid)
            as_lane.map(node, number(lane));
          else if (what.kind == Meaning::Kind::unknown || what.kind == Meaning::Kind::trip)
            as_lane.map(node, pool.symbol("of another lane", node->width));
        });
      for (const PathFact &fact : wish->conditions) {
        const Expr there = as_lane(fact.condition);
        full = pool.bit_and(full, fact.holds ? there : pool.bit_not(there));
      }
    }
    facts.push_back(pool.bit_or(pool.bit_not(pool.eq(value, number(0xffffffff))), full));
  }
  return facts;
}

ExprProgram &KernelModel::program(Expr expr) {
  constexpr std::size_t most = 1'000'000; // 28 bytes each and more
  if (const auto found = programs_.find(expr); found != programs_.end())
    return found->second;
  if (steps_ > most) {
    programs_.clear();
    steps_ = 0;
  }
  ExprProgram &program = programs_.try_emplace(expr, expr).first->second;
  steps_ += program.size();
  return program;
}

const KernelModel::Meaning &KernelModel::meaning(Expr symbol) {
  using Kind = Meaning::Kind;
  if (symbol->index >= meanings_.size()) {
    meanings_.resize(emulation_.pool().symbols().size());
    known_meaning_.resize(meanings_.size(), false);
  }
  Meaning &meaning = meanings_[symbol->index];
  if (known_meaning_[symbol->index])
    return meaning;
  known_meaning_[symbol->index] = true;
  const std::string &name = emulation_.pool().symbols()[symbol->index].name;
  if (const auto field = emulation_.parameter_field(symbol)) {
    const auto parameter =
        std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                     [&](const Variable &p) { return p.name == field->parameter; });
    const std::int64_t begin =
        field->offset +
        kernel_parameter_offset(kernel_,
                                static_cast<std::size_t>(parameter - kernel_.parameters.begin()));
    for (std::uint32_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].offset <= begin &&
          begin + field->width / 8 <= slots_[i].offset + slots_[i].width / 8)
        meaning = {Kind::slot, i, static_cast<unsigned>(begin - slots_[i].offset) * 8};
    return meaning;
  }
  static constexpr std::pair<std::string_view, Kind> places[] = {{"%tid.", Kind::tid},
                                                                 {"%ctaid.", Kind::ctaid},
                                                                 {"%ntid.", Kind::ntid},
                                                                 {"%nctaid.", Kind::nctaid}};
  for (const auto &[prefix, kind] : places)
    if (name.size() == prefix.size() + 1 && name.starts_with(prefix))
      meaning = {kind, static_cast<std::uint32_t>(name.back() - 'x'), 0};
  if (name == "%laneid")
    meaning.kind = Kind::laneid;
  else if (name.starts_with("trip"))
    meaning.kind = Kind::trip;
  return meaning;
}

void KernelModel::mark_pointers() {
  for (const MemoryAccess &access : emulation_.trace()) {
    if (!access.address || access.space == StateSpace::shared || access.space == StateSpace::local)
      continue;
    const LinearForm form =
        linear_form(emulation_.expand(access.address), [](Expr) { return false; });
    // Of several, the one that is known to be a pointer, or the first.
    std::vector<std::uint32_t> candidates;
    for (const auto &[atom, factor] : form.terms)
      if (factor == 1 && atom->kind == ExprKind::symbol && atom->width == 64)
        if (const Meaning &what = meaning(atom);
            what.kind == Meaning::Kind::slot && what.shift == 0)
          candidates.push_back(what.index);
    const auto known = std::find_if(candidates.begin(), candidates.end(),
                                    [&](std::uint32_t i) { return slots_[i].is_pointer; });
    if (candidates.empty())
      continue;
    ParameterSlot &slot =
        slots_[known != candidates.end() ? *known
                                         : *std::min_element(candidates.begin(), candidates.end())];
    slot.is_pointer = true;
    if (slot.element == ScalarType::none)
      slot.element = module_.opcode(kernel_.instructions[access.instruction]).type;
  }
}

// What a loop's index has gone on by is the number of the iteration, times its step; where it ends
// is compared with that. In an address the product may be with the width of a row as well.
void KernelModel::mark_steps() {
  for (const std::uint32_t test : tests_)
    if (const Expr condition = probed(test, true))
      for_each_node(condition, [&](Expr node) {
        if (node->kind != ExprKind::product || node->child_count != 2)
          return;
        const auto kind = [&](Expr symbol) {
          return symbol->kind == ExprKind::symbol ? meaning(symbol).kind : Meaning::Kind::unknown;
        };
        const Expr a = without_width(node->children[0]), b = without_width(node->children[1]);
        for (const auto &[round, step] : {std::pair(a, b), std::pair(b, a)})
          if (kind(round) == Meaning::Kind::trip && kind(step) == Meaning::Kind::slot)
            slots_[meaning(step).index].is_step = true;
      });
}

const std::vector<KernelModel::Wish> &KernelModel::boundaries() {
  if (!boundaries_found_)
    find_boundaries();
  boundaries_found_ = true;
  return boundaries_;
}

// Either side of every predicate; and for every index that is extended on its way to an address,
// the numbers at which it wraps around.
void KernelModel::find_boundaries() {
  if (!complete())
    return;
  std::vector<std::pair<Expr, bool>> wraps;
  for (const std::uint32_t test : tests_)
    for (const bool outcome : {true, false})
      if (auto wish = to_decide(test, outcome);
          wish && wish->conditions.back().condition->kind != ExprKind::constant &&
          boundaries_.size() < boundaries_budget)
        boundaries_.push_back(std::move(*wish));
  // Indices that are a few apart wrap around in the same launches.
  std::unordered_set<Expr> seen;
  const auto is_near_another = [&](Expr value, bool is_signed) {
    ExprPool &pool = emulation_.pool();
    return std::any_of(wraps.begin(), wraps.end(), [&](const std::pair<Expr, bool> &other) {
      if (other.second != is_signed || other.first->width != value->width)
        return false;
      const Expr apart = pool.sub(value, other.first);
      return apart->kind == ExprKind::constant &&
             std::abs(as_signed(apart->value.low, value->width)) < 32;
    });
  };
  // And parameters that decide something, where their sign changes.
  for (std::size_t i = 0, tests = boundaries_.size(); i < tests; ++i)
    for_each_node(boundaries_[i].conditions.back().condition, [&](Expr node) {
      if (node->kind != ExprKind::symbol || node->width < 32 || node->width > 64 ||
          boundaries_.size() >= boundaries_budget)
        return;
      const Meaning &what = meaning(node);
      if (what.kind != Meaning::Kind::slot || slots_[what.index].is_pointer ||
          is_float(slots_[what.index].type) || !seen.insert(node).second)
        return;
      Wish wish;
      wish.conditions = boundaries_[i].conditions;
      wish.conditions.pop_back();
      wish.near = node;
      wish.bound = mask64(node->width) / 2;
      boundaries_.push_back(std::move(wish));
    });
  for (const MemoryAccess &access : emulation_.trace()) {
    if (!access.address)
      continue;
    for_each_node(emulation_.expand(access.address), [&](Expr node) {
      const bool is_signed = node->kind == ExprKind::sext;
      if ((!is_signed && node->kind != ExprKind::zext) || !seen.insert(node).second ||
          node->children[0]->width > 64 || boundaries_.size() >= boundaries_budget)
        return;
      const Expr value = node->children[0];
      if (is_near_another(value, is_signed))
        return;
      wraps.emplace_back(value, is_signed);
      const std::uint64_t top = is_signed ? mask64(value->width) / 2 : mask64(value->width);
      auto wish = to_run(access.instruction);
      if (!wish)
        return;
      wish->near = value;
      wish->bound = top;
      boundaries_.push_back(*wish);
      // And in the middle of a warp: at its ends lanes often load for themselves.
      ExprPool &pool = emulation_.pool();
      const Expr lane =
          pool.bit_and(emulation_.special("%tid.x"), pool.constant(32, warp_lanes - 1));
      wish->conditions.push_back(
          {pool.ult(pool.sub(lane, pool.constant(32, 6)), pool.constant(32, warp_lanes - 12)),
           true});
      boundaries_.push_back(std::move(*wish));
    });
  }
}

} // namespace ptxasw::emulator
