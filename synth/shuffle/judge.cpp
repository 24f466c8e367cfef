// The rules of soundness.md for one load and who might have its value. What the algebra does not
// show is left to a test of the covering lane if the value is at hand in a register there; what
// neither shows or tests is refused under the name of the rule.

#include "synth/shuffle/judge.h"

#include "emulator/facts/waiting.h"
#include "grammar/pragmas.h"
#include "synth/proof/candidate.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

/// Stores that one load may be tested against at run time; with more a load is cheaper.
constexpr std::size_t store_tests = 4;

/// Returns true if an access addresses by a 64-bit register, so that a test can compare addresses.
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

} // namespace

// Rule 6, and that a register of the one holds the value as a register of the other would.
bool Judge::same_kind(const Holder &a, const Holder &b) const {
  const Opcode &first = module_.opcode(instruction(a.access)),
               &second = module_.opcode(instruction(b.access));
  const auto width = [&](const Holder &holder) {
    return bit_width(function_.registers[elements(holder.access)[holder.element].reg].type);
  };
  const unsigned bits = bit_width(first.type);
  return bits == bit_width(second.type) && width(a) == width(b) &&
         (width(a) == bits || is_signed(first.type) == is_signed(second.type));
}

std::span<const Operand> Judge::elements(std::size_t access) const {
  return elements_of(module_, instruction(access));
}

Expr Judge::element_address(const Holder &holder) {
  ExprPool &pool = emulation_.pool();
  const Expr address = emulation_.expand(emulation_.trace()[holder.access].address);
  return within_access(pool, address, std::uint64_t{holder.element} * element_bytes(holder.access));
}

Verdict Judge::judge(const Holder &source_holder, const Holder &load_holder, int delta) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &source = trace[source_holder.access], &load = trace[load_holder.access];
  const ControlFlowGraph &cfg = emulation_.cfg();
  Verdict verdict;
  const auto no = [&](Reason reason) { return verdict.no(reason); };
  if (std::abs(delta) > options_.max_delta)
    return no(Reason::delta_too_large);
  if (elements(source_holder.access)[source_holder.element].kind != Operand::Kind::reg ||
      elements(load_holder.access)[load_holder.element].kind != Operand::Kind::reg ||
      !same_kind(source_holder, load_holder))
    return no(Reason::type_mismatch);
  // Rule 1: the source ran, in this iteration, in every lane that asks. A lane's own value it also
  // keeps while it goes round a deeper loop, unless that may be waiting for another one.
  const bool fixed = reads_constant_memory(module_.opcode(instruction(load_holder.access)));
  if (!cfg.dominates(source.block, load.block))
    return no(Reason::not_dominated);
  const LoopId source_loop = cfg.loop_of(source.block);
  if (source_loop != cfg.loop_of(load.block) &&
      (delta != 0 || (source_loop != no_index && !cfg.contains(source_loop, load.block))))
    return no(Reason::other_iteration);
  if (source.guard && !runs_with(source, load, delta))
    return no(Reason::source_predicated);
  verdict = judge_address(source_holder, load_holder, delta);
  if (verdict.reason)
    return verdict;
  // Rule 5: memory in between. What is only read cannot change.
  if (!fixed) {
    std::vector<Expr> tested; // addresses of the verdict's store_tests
    const auto spares = [&](const MemoryAccess &store) {
      const facts::Overlap met = facts::overlap(emulation_, store, source.block, load);
      const bool assumed = met == facts::Overlap::unknown && options_.assume_no_alias;
      verdict.assumed_no_alias |= assumed;
      return met == facts::Overlap::never || assumed ||
             (met == facts::Overlap::unknown && test(store, source, load, verdict, tested));
    };
    const facts::Passage passage = between_.passage(behind(source_holder), load, spares);
    if (passage.obstacle)
      return no(*passage.obstacle == facts::MetBetween::sync    ? Reason::sync_between
                : *passage.obstacle == facts::MetBetween::store ? Reason::store_between
                                                                : Reason::budget);
  }
  if (source_loop != cfg.loop_of(load.block) && !fixed) {
    if (!waits_)
      waits_ = facts::waits_at({module_, function_, emulation_.cfg()}).has_value();
    if (*waits_)
      return no(Reason::other_iteration);
  }
  return verdict;
}

// True if the lane can see for itself that a store goes elsewhere: compare its address with the
// load's when it reaches the load, as the store ran exactly once since the source did.
bool Judge::test(const MemoryAccess &store, const MemoryAccess &source, const MemoryAccess &load,
                 Verdict &verdict, std::vector<Expr> &tested) const {
  const ControlFlowGraph &cfg = emulation_.cfg();
  const LoopId loop = cfg.loop_of(load.block);
  const auto has_base = [&](const MemoryAccess &access) {
    return has_base_register(module_, function_, function_.instructions[access.instruction]);
  };
  if (store.effect != Effect::store || store.bytes == 0 || cfg.irreducible(store.block) ||
      cfg.loop_of(source.block) != loop || cfg.loop_of(store.block) != loop ||
      !cfg.dominates(store.block, load.block) || !has_base(store) || !has_base(load))
    return false;
  // Of several stores to one place one test is enough.
  const auto text = [&](std::uint32_t at) {
    return module_.opcode(function_.instructions[at]).text;
  };
  const Expr address = store.address ? emulation_.expand(store.address) : nullptr;
  for (std::size_t i = 0; address && i < tested.size(); ++i)
    if (tested[i] == address && text(verdict.store_tests[i]) == text(store.instruction))
      return true;
  if (tested.size() == store_tests)
    return false;
  tested.push_back(address);
  verdict.store_tests.push_back(store.instruction);
  return true;
}

// Rule 1: where the load runs, a source with a guard ran, too; in the lane itself if its guard
// follows from the load's, or from the branches before it. In another one if all agree on the
// guard; or if it follows from the branches alone, as the other lane, which is active at the load
// as well, has taken them, too.
bool Judge::runs_with(const MemoryAccess &source, const MemoryAccess &load, int delta) {
  const Expr guard = emulation_.expand(source.guard);
  Known known = known_at(load.block);
  if (known.decide(guard) == true)
    return true;
  for (const Expr own : {load.guard, load.decided})
    if (own)
      known.assume(emulation_.expand(own), true);
  return known.decide(guard) == true &&
         (delta == 0 || emulation_.uniform(source.guard, load.block));
}

// Rules 2 to 4, and what else one source and the load must have in common.
Verdict Judge::judge_address(const Holder &source_holder, const Holder &load_holder, int delta) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &source = trace[source_holder.access], &load = trace[load_holder.access];
  Verdict verdict;
  const auto no = [&](Reason reason) { return verdict.no(reason); };
  // A pragma belongs to the very next statement; nothing may come in between.
  // And of a source that loads only some of its bytes there is not enough (PTX ISA 12.2).
  if (leaves_bytes_undefined(function_, source.instruction) ||
      std::any_of(function_.pragmas.begin(), function_.pragmas.end(),
                  [&](const Pragma &pragma) { return pragma.position == load.instruction; }))
    return no(Reason::predicate_form);
  const bool other_lane = delta != 0;
  const Expr source_address = element_address(source_holder);
  const Expr load_address = element_address(load_holder);
  if (other_lane && !emulation_.uniform_but_lane(source_address, source.block))
    return no(Reason::varying_address);
  if (other_lane && !emulation_.in_step(load.block))
    return no(Reason::out_of_step);
  ExprPool &pool = emulation_.pool();
  verdict.from = {{source.instruction, source_holder.element}, delta};
  const Expr shifted = emulation_.shift_lane(source_address, delta);
  auto conditions = equal_unless_wrapped(pool, shifted, load_address);
  if (!conditions && has_base_register(module_, function_, instruction(source_holder.access)) &&
      has_base_register(module_, function_, instruction(load_holder.access))) {
    // The two are built differently: whether they are a step apart the lane can see for itself, so
    // all that is left to show is that the source's address steps evenly from lane to lane.
    const std::int64_t step = source_holder.group->form.lane_stride * delta;
    conditions = equal_unless_wrapped(
        pool, shifted,
        pool.add(source_address, pool.constant(64, static_cast<std::uint64_t>(step))));
    const auto begin = [&](const Holder &holder) {
      return offset(holder.access) +
             std::int64_t{holder.element} * std::int64_t{element_bytes(holder.access)};
    };
    verdict.distance_test = {source.instruction, step + begin(source_holder) - begin(load_holder)};
  }
  if (!conditions)
    return no(Reason::wrap_not_testable);
  for (const WrapCondition &condition : *conditions) {
    if (always_holds(condition) ||
        known_at(load.block).no_wrap(condition.value, condition.is_signed, condition.offset))
      continue;
    // That the row reaches that far is what the corner predicate tests anyway.
    if (other_lane && emulation_.is_lane_symbol(condition.value) && condition.offset == delta)
      continue;
    if (options_.assume_no_wrap && !condition.is_divisor) {
      verdict.assumed_no_wrap = true;
      continue;
    }
    const auto test = find_test(condition, load);
    if (!test)
      return no(Reason::wrap_not_testable);
    verdict.wrap_tests.push_back(*test);
  }
  return verdict;
}

const Known &Judge::known_at(BlockId block) {
  auto known = known_.find(block);
  if (known == known_.end())
    known = known_.emplace(block, known_on_path(emulation_, block)).first;
  return known->second;
}

// A register that holds the value where the covering lane can test it: read by an instruction that
// runs before the load in the same iteration of every loop around it.
std::optional<WrapTest> Judge::find_test(const WrapCondition &condition, const MemoryAccess &load) {
  const std::vector<RegisterRead> *reads = emulation_.reads_of(condition.value);
  if (!reads || condition.value->width != 32)
    return std::nullopt;
  const ControlFlowGraph &cfg = emulation_.cfg();
  for (const RegisterRead &read : *reads) {
    const BlockId block = cfg.block_of(read.instruction);
    const LoopId loop = cfg.loop_of(block);
    const bool before = block == load.block ? read.instruction < load.instruction
                                            : cfg.dominates(block, load.block);
    const bool same_iteration = loop == no_index || cfg.contains(loop, load.block);
    // The test is placed behind the reader, which must not change the register itself.
    const auto operands = module_.operands(function_.instructions[read.instruction]);
    const bool kept = operands[0].kind == Operand::Kind::reg && operands[0].reg != read.reg;
    if (before && same_iteration && kept)
      return WrapTest{read, condition.is_signed, condition.offset};
  }
  return std::nullopt;
}

} // namespace ptxasw::synth
