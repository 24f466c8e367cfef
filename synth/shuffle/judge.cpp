// The rules of soundness.md for one load and who might have its value. What the algebra does not
// show is left to a test of the covering lane if the value is at hand in a register there; what
// neither shows or tests is refused under the name of the rule.

#include "synth/shuffle/judge.h"

#include "emulator/facts/waiting.h"
#include "grammar/pragmas.h"
#include "synth/differ.h"
#include "synth/shuffle/candidate.h"
#include "synth/ways.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

/// Questions to the solver in one kernel.
constexpr unsigned solver_questions = 2;

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

/// Rule 5 for the stores between a source and a load.
class Stores {
public:
  /// `verdict` gets what has to be tested, and what is promised.
  Stores(const Module &module, const Function &function, Emulation &emulation,
         const MemoryAccess &source, const MemoryAccess &load, Verdict &verdict)
      : module_(module), function_(function), emulation_(emulation), source_(source), load_(load),
        verdict_(verdict) {}

  /// Returns true if a store is shown to go elsewhere, or the user says so.
  bool spare(const MemoryAccess &store, bool assume_no_alias) {
    met_ = overlap(emulation_, store, source_.block, load_);
    const bool assumed = met_ == Overlap::unknown && assume_no_alias;
    verdict_.assumed_no_alias |= assumed;
    return met_ == Overlap::never || assumed;
  }
  /// Returns true if the lane can see for itself if one that is not spared does.
  bool test(const MemoryAccess &store) {
    if (met_ != Overlap::unknown || !testable(store))
      return false;
    // Of several stores to one place one test is enough.
    const Expr address = store.address ? emulation_.expand(store.address) : nullptr;
    for (std::size_t i = 0; address && i < tested_.size(); ++i)
      if (tested_[i] == address && text(verdict_.store_tests[i]) == text(store.instruction))
        return true;
    if (tested_.size() == store_tests)
      return false;
    tested_.push_back(address);
    verdict_.store_tests.push_back(store.instruction);
    return true;
  }

private:
  /// True if the lane can compare the store's address with the load's when it reaches the load: the
  /// store ran exactly once since the source did.
  bool testable(const MemoryAccess &store) const {
    const ControlFlowGraph &cfg = emulation_.cfg();
    const LoopId loop = cfg.loop_of(load_.block);
    return store.effect == Effect::store && store.bytes != 0 && !cfg.irreducible(store.block) &&
           cfg.loop_of(source_.block) == loop && cfg.loop_of(store.block) == loop &&
           cfg.dominates(store.block, load_.block) &&
           has_base_register(module_, function_, function_.instructions[store.instruction]) &&
           has_base_register(module_, function_, function_.instructions[load_.instruction]);
  }
  std::string_view text(std::uint32_t instruction) const {
    return module_.opcode(function_.instructions[instruction]).text;
  }

  const Module &module_;
  const Function &function_;
  Emulation &emulation_;
  const MemoryAccess &source_, &load_;
  Verdict &verdict_;
  Overlap met_ = Overlap::unknown; ///< of the last that was asked for
  std::vector<Expr> tested_;       ///< addresses of the verdict's store_tests
};

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

Verdict Judge::judge(const Holder &source_holder, const Holder &load_holder, SourceLane from) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &source = trace[source_holder.access], &load = trace[load_holder.access];
  const ControlFlowGraph &cfg = emulation_.cfg();
  Verdict verdict;
  const auto no = [&](Reason reason) { return verdict.no(reason); };
  if (from.reach() > options_.max_delta)
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
      (!from.is_own() || (source_loop != no_index && !cfg.contains(source_loop, load.block))))
    return no(Reason::other_iteration);
  if (source.guard && !runs_with(source, load, from))
    return no(Reason::source_predicated);
  verdict = judge_address(source_holder, load_holder, from);
  if (verdict.reason)
    return verdict;
  // Rule 5: memory in between. What is only read cannot change.
  if (!fixed) {
    Stores stores(module_, function_, emulation_, source, load, verdict);
    const auto spares = [&](const MemoryAccess &store) {
      return stores.spare(store, options_.assume_no_alias) || stores.test(store);
    };
    const Passage passage = between_.passage(behind(source_holder), load, spares);
    if (passage.obstacle)
      return no(*passage.obstacle);
  }
  if (source_loop != cfg.loop_of(load.block) && !fixed) {
    if (!waits_)
      waits_ = facts::waits_at({module_, function_, emulation_.cfg()}).has_value();
    if (*waits_)
      return no(Reason::other_iteration);
  }
  return verdict;
}

// Rule 1: where the load runs, a source with a guard ran, too; in the lane itself if its guard
// follows from the load's, or from the branches before it. In another one if all agree on the
// guard; or if it follows from the branches alone, as the other lane, which is active at the load
// as well, has taken them, too.
bool Judge::runs_with(const MemoryAccess &source, const MemoryAccess &load, SourceLane from) {
  const Expr guard = emulation_.expand(source.guard);
  Known known = known_at(load.block);
  if (known.decide(guard) == true)
    return true;
  for (const Expr own : {load.guard, load.decided})
    if (own)
      known.assume(emulation_.expand(own), true);
  return known.decide(guard) == true &&
         (from.is_own() || emulation_.uniform(source.guard, load.block));
}

Verdict Judge::judge_together(std::vector<Holder> sources, const Holder &load_holder,
                              SourceLane from) {
  const auto &trace = emulation_.trace();
  const MemoryAccess &load = trace[load_holder.access];
  Verdict verdict;
  const auto no = [&](Reason reason) { return verdict.no(reason); };
  auto nearby = before_.find(load.block);
  if (nearby == before_.end())
    nearby =
        before_.emplace(load.block, blocks_before(emulation_, load.block, known_at(load.block)))
            .first;
  std::erase_if(sources, [&](const Holder &source) {
    const BlockId block = trace[source.access].block;
    return std::find(nearby->second.begin(), nearby->second.end(), block) == nearby->second.end();
  });
  if (sources.empty())
    return no(Reason::not_dominated);
  std::sort(sources.begin(), sources.end(),
            [](const Holder &a, const Holder &b) { return a.access < b.access; });
  std::vector<BlockId> blocks;
  blocks.reserve(sources.size());
  for (const Holder &source : sources)
    blocks.push_back(trace[source.access].block);
  const auto ways = ways_since(emulation_, blocks, load.block, known_at(load.block));
  if (!ways)
    return no(Reason::not_dominated);
  // Of several in one block the last.
  std::vector<Holder> last;
  for (const Holder &source : sources) {
    const BlockId block = trace[source.access].block;
    if (!std::binary_search(ways->from.begin(), ways->from.end(), block))
      continue;
    if (!last.empty() && trace[last.back().access].block == block)
      last.pop_back();
    last.push_back(source);
  }
  const Expr address = element_address(last[0]);
  std::vector<Behind> positions;
  for (const Holder &source : last) {
    positions.push_back(behind(source));
    if (trace[source.access].guard || source.position != source.access ||
        element_address(source) != address)
      return no(Reason::not_dominated);
    if (elements(source.access)[source.element].kind != Operand::Kind::reg ||
        !same_kind(source, load_holder))
      return no(Reason::type_mismatch);
    verdict = judge_address(source, load_holder, from);
    if (verdict.reason)
      return verdict;
    if (verdict.distance_test) // its base register is another one on each way
      return no(Reason::wrap_not_testable);
  }
  if (!from.is_own() && !emulation_.uniform_but_lane(address, load.block))
    return no(Reason::varying_address);
  verdict.from = {{}, from};
  for (const Holder &source : last)
    verdict.from.sources.push_back({trace[source.access].instruction, source.element});
  if (!reads_constant_memory(module_.opcode(instruction(load_holder.access)))) {
    Stores stores(module_, function_, emulation_, trace[last[0].access], load, verdict);
    const auto spares = [&](const MemoryAccess &store) {
      return stores.spare(store, options_.assume_no_alias);
    };
    const Passage passage = between_.passage(positions, load, ways->between, spares);
    if (passage.obstacle)
      return no(*passage.obstacle);
  }
  return verdict;
}

// Rules 2 to 4, and what else one source and the load must have in common.
Verdict Judge::judge_address(const Holder &source_holder, const Holder &load_holder,
                             SourceLane from) {
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
  const bool other_lane = !from.is_own();
  const Expr source_address = element_address(source_holder);
  const Expr load_address = element_address(load_holder);
  if (other_lane && !emulation_.uniform_but_lane(source_address, source.block))
    return no(Reason::varying_address);
  if (other_lane && !emulation_.in_step(load.block))
    return no(Reason::out_of_step);
  ExprPool &pool = emulation_.pool();
  verdict.from = {{{source.instruction, source_holder.element}}, from};
  const Expr shifted = emulation_.shift_lane(source_address, from.delta);
  std::optional<std::vector<WrapCondition>> conditions;
  if (from.flip == 0)
    conditions = equal_unless_wrapped(pool, shifted, load_address);
  // Of two that are built differently, one of them stepping evenly, the lane can test the distance
  // below: no question is worth that.
  const bool steps_evenly = !source_holder.group->hides_lane;
  const bool test_will_do = source_holder.group != load_holder.group && steps_evenly;
  const std::int64_t stride = source_holder.group->form.lane_stride;
  if (!conditions && (!test_will_do || from.flip != 0) &&
      equal_in_each_lane(emulation_, facts_, source_address, load_address, from))
    conditions.emplace();
  if (!conditions && !test_will_do && from.flip == 0 &&
      proved_by_solver(shifted, load_address, from, load.block)) {
    conditions.emplace();
    verdict.by_solver = true;
  }
  if (!conditions && (from.flip == 0 || steps_evenly) &&
      has_base_register(module_, function_, instruction(source_holder.access)) &&
      has_base_register(module_, function_, instruction(load_holder.access))) {
    // The two are built differently: whether they are a step apart the lane can see for itself, so
    // all that is left to show is that the source's address steps evenly from lane to lane.
    conditions.emplace();
    for (const int delta : from.flip == 0 ? std::set{from.delta} : from.steps()) {
      const auto stepped =
          pool.add(source_address, pool.constant(64, static_cast<std::uint64_t>(stride * delta)));
      const auto evenly =
          equal_unless_wrapped(pool, emulation_.shift_lane(source_address, delta), stepped);
      if (!evenly)
        return no(Reason::wrap_not_testable);
      conditions->insert(conditions->end(), evenly->begin(), evenly->end());
    }
    const auto begin = [&](const Holder &holder) {
      return offset(holder.access) +
             std::int64_t{holder.element} * std::int64_t{element_bytes(holder.access)};
    };
    verdict.distance_test = {source.instruction,
                             stride * from.delta + begin(source_holder) - begin(load_holder),
                             from.flip, from.flip == 0 ? 0 : stride};
  }
  if (!conditions)
    return no(Reason::wrap_not_testable);
  for (const WrapCondition &condition : *conditions) {
    if (always_holds(condition) ||
        known_at(load.block).no_wrap(condition.value, condition.is_signed, condition.offset))
      continue;
    // That the row reaches that far is what the corner predicate tests anyway.
    if (other_lane && emulation_.is_lane_symbol(condition.value) &&
        (from.flip != 0 || condition.offset == from.delta))
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

// The last resort: that the addresses differ contradicts what the path to the load established.
bool Judge::proved_by_solver(Expr a, Expr b, SourceLane from, BlockId block) {
  ExprPool &pool = emulation_.pool();
  if (!has_bit_operations(pool.sub(a, b)) || ++questions_ > solver_questions)
    return false;
  std::vector<std::pair<Expr, bool>> known;
  for (const PathFact &fact : emulation_.facts_in(block))
    known.emplace_back(emulation_.expand(fact.condition), fact.holds);
  if (!from.is_own()) { // what the covering lane tests anyway: the other lane is in the warp
    const Expr lane = emulation_.special("%laneid");
    const Expr other = pool.add(lane, pool.constant(32, static_cast<std::uint32_t>(from.delta)));
    known.emplace_back(pool.ult(other, pool.constant(32, warp_lanes)), true);
    if (const Expr whole = lane_of_row(emulation_, facts_))
      known.emplace_back(whole, true);
  }
  return solver_.check("equal addresses", ways_to_differ(pool, a, b, known)) == SolverAnswer::unsat;
}

} // namespace ptxasw::synth
