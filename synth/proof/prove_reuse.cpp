// What must hold for one replaced load. Its destination is taken apart by cases; in each there must
// stand the load itself or a source's value, under conditions that imply the rules of soundness.md:
// the same address in the other lane, nothing in between, the other lane active and in its row.

#include "synth/proof/prove_implementation.h"

#include "emulator/facts/waiting.h"
#include "emulator/symbolic/address.h"
#include "grammar/pragmas.h"
#include "synth/differ.h"
#include "synth/ways.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

/// Blocks examined in one function to see what lies between loads.
constexpr std::size_t reuse_visit_budget = 4'000'000;

/// Questions to the solver in one function.
constexpr unsigned proof_solver_questions = 2;

} // namespace

// Case by case: the load's own value, or a source's.
Missing FunctionProver::check(Expr value, std::uint32_t load, unsigned element, Expr wanted,
                              const Known &known, int &budget) {
  if (known.contradictory() || value == wanted)
    return {};
  if (--budget < 0)
    return {Obligation::equal_value, "too many cases"};
  if (value->kind == ExprKind::ite) {
    const Expr condition = value->children[0];
    for (const bool holds : {true, false}) {
      if (known.decide(condition) == !holds)
        continue;
      Known narrower = known;
      narrower.assume(condition, holds);
      const auto why =
          check(value->children[holds ? 1 : 2], load, element, wanted, narrower, budget);
      if (!why.empty())
        return why;
    }
    return {};
  }
  return check_reuse(value, load, element, known);
}

Missing FunctionProver::check_reuse(Expr value, std::uint32_t load, unsigned element,
                                    const Known &known) {
  std::optional<SourceLane> lane;
  Substitution without_shuffles(pool());
  Missing why;
  bool read_here = false;
  for_each_node(value, [&](Expr node) {
    if (node->kind != ExprKind::symbol)
      return;
    const auto found = shuffles_.find(node);
    if (found == shuffles_.end()) {
      read_here = true;
      return;
    }
    const Shuffle &shuffle = found->second;
    if (lane && *lane != shuffle.lane)
      why = {Obligation::equal_value, "shuffles over different distances make up one value"};
    lane = shuffle.lane;
    const Expr all = pool().constant(32, 0xffffffff);
    bool full = false;
    if (const auto masks = masks_of_.find(shuffle.region); masks != masks_of_.end())
      for (const Expr mask : masks->second)
        full |= known.decide(pool().eq(mask, all)) == true;
    if (!full)
      why = {Obligation::full_warp, "the shuffled value is used without a full warp"};
    if (shuffle.block != block_)
      why = {Obligation::full_warp, "the shuffle stands in another block"};
    without_shuffles.map(node, shuffle.source);
  });
  if (lane && read_here)
    why = {Obligation::equal_value, "shuffled and own values make up one value"};
  if (!why.empty())
    return why;
  const auto alone = shuffles_.find(value);
  const Expr plain = alone == shuffles_.end() ? without_shuffles(value) : alone->second.source;
  const std::vector<Loaded> sources = sources_of(plain);
  if (sources.empty())
    return {Obligation::equal_value, "the value is not that of a source"};
  return serve(sources, {load, element}, lane.value_or(SourceLane()), known);
}

// The loads of which one gave a value; none if that is not all that may have given it.
std::vector<FunctionProver::Loaded> FunctionProver::sources_of(Expr value) const {
  if (const auto source = loaded_.find(value); source != loaded_.end())
    return {source->second};
  std::vector<Loaded> result;
  const auto unsure = if_executed_.find(value);
  if (unsure == if_executed_.end())
    return result;
  for (const auto &[block, written] : written_as_.at(unsure->second)) {
    const auto source = loaded_.find(written);
    // In the block where the value is read it would be that of another iteration; and the value
    // must have been read in the block that carries it on.
    if (source == loaded_.end() || block == block_ || block == entry_block ||
        cfg().block_of(source->second.load) != block)
      return {};
    result.push_back(source->second);
  }
  return result;
}

// soundness.md: each source may stand in, and one of them ran on each way.
Missing FunctionProver::serve(const std::vector<Loaded> &sources, Loaded load, SourceLane lane,
                              const Known &known) {
  for (const Loaded &source : sources)
    if (const auto why = serves(source, load, lane, known); !why.empty())
      return why;
  const auto block_of = [&](std::uint32_t instruction) { return cfg().block_of(instruction); };
  if (sources.size() > 1 || (block_of(sources[0].load) != block_of(load.load) &&
                             !cfg().dominates(block_of(sources[0].load), block_of(load.load))))
    return precede(sources, load, lane, known);
  if (const auto why = precedes(sources[0].load, load.load, lane); !why.empty())
    return why;
  if (!reads_constant_memory(a_.opcode(fa_.instructions[load.load])) &&
      !nothing_between(sources[0].load, load.load, known))
    return {Obligation::nothing_between, "something in between may change the value"};
  return {};
}

// Rule 1 for a source that stands on every way to the load.
Missing FunctionProver::precedes(std::uint32_t source, std::uint32_t load, SourceLane lane) {
  const MemoryAccess *const from = access(source), *const to = access(load);
  const bool first =
      from->block == to->block
          ? position(source) < load || (position(source) == load && moved_to_.contains(source))
          : cfg().dominates(from->block, to->block);
  const LoopId loop = cfg().loop_of(from->block);
  if (!first || cfg().irreducible(to->block) || cfg().irreducible(from->block))
    return {Obligation::runs_before, "the source does not dominate the load"};
  if (loop != no_index && !cfg().contains(loop, to->block))
    return {Obligation::runs_before, "the source is in another iteration"};
  if (loop == cfg().loop_of(to->block))
    return {};
  if (!lane.is_own())
    return {Obligation::runs_before, "the source is in another iteration"};
  if (!waits_)
    waits_ = facts::waits_at(a_, fa_).has_value();
  if (*waits_ && !reads_constant_memory(a_.opcode(fa_.instructions[load])))
    return {Obligation::runs_before, "the loop may wait for what the load reads"};
  return {};
}

// Rules 1 and 5 for sources of which each stands on some of the ways to the load.
Missing FunctionProver::precede(const std::vector<Loaded> &sources, Loaded load, SourceLane lane,
                                const Known &known) {
  const MemoryAccess &to = *access(load.load);
  std::vector<BlockId> blocks;
  for (const Loaded &source : sources) {
    const MemoryAccess &from = *access(source.load);
    if (from.guard || moved_to_.contains(source.load))
      return {Obligation::runs_before, "the source may be switched off"};
    if (!lane.is_own() && !emulation_->uniform_but_lane(emulation_->expand(from.address), to.block))
      return {Obligation::equal_address, "the source's address may vary"};
    if (std::find(blocks.begin(), blocks.end(), from.block) != blocks.end())
      return {Obligation::runs_before, "two sources in one block"};
    blocks.push_back(from.block);
  }
  // What holds in every lane that is here, not in this one alone: another one's way counts, too.
  const auto ways = ways_since(*emulation_, blocks, to.block, known_in(to.block));
  if (!ways)
    return {Obligation::runs_before, "a way to the load has no source"};
  if (reads_constant_memory(a_.opcode(fa_.instructions[load.load])))
    return {};
  Passed passed;
  const std::uint32_t any = sources[0].load;
  bool clean =
      harmless(to.block, cfg().blocks()[to.block].first, load.load, any, to, known, passed);
  for (const Loaded &source : sources) {
    const BlockId block = access(source.load)->block;
    clean = clean &&
            harmless(block, source.load + 1, cfg().blocks()[block].end, any, to, known, passed);
  }
  for (const BlockId block : ways->between)
    clean = clean && harmless(block, cfg().blocks()[block].first, cfg().blocks()[block].end, any,
                              to, known, passed);
  return clean ? Missing()
               : Missing{Obligation::nothing_between, "something in between may change the value"};
}

// soundness.md, rule by rule, except for what the way from the source to the load decides.
Missing FunctionProver::serves(Loaded source, Loaded load, SourceLane lane, const Known &known) {
  const bool other_lane = !lane.is_own();
  const MemoryAccess *const from = access(source.load), *const to = access(load.load);
  if (!from || !to || !from->address || !to->address || from->effect != Effect::load)
    return {Obligation::understood, "the source is not understood"};
  const Opcode &from_opcode = a_.opcode(fa_.instructions[source.load]);
  const Opcode &to_opcode = a_.opcode(fa_.instructions[load.load]);
  const unsigned bits = bit_width(to_opcode.type);
  const unsigned width = width_of(fa_, destinations(load.load)[load.element]);
  if (!in_global_memory(*from) || !in_global_memory(*to))
    return {Obligation::same_kind, "the memory may not be global"};
  // Rule 6.
  if (bits == 0 || bit_width(from_opcode.type) != bits ||
      width_of(fa_, destinations(source.load)[source.element]) != width ||
      (bits < width && is_signed(from_opcode.type) != is_signed(to_opcode.type)))
    return {Obligation::same_kind, "the source loads another type"};
  if (leaves_bytes_undefined(fa_, source.load))
    return {Obligation::same_kind, "the source loads only some of its bytes"};
  // Rule 1.
  if (other_lane && !in_step(to->block))
    return {Obligation::runs_before, "lanes may be in different iterations"};
  if (from->guard) {
    // In another lane it ran if all agree on it, or if it follows from branches that all lanes here
    // have taken.
    const Expr guard = emulation_->expand(from->guard);
    if (known.decide(guard) != true || (other_lane && !emulation_->uniform(guard, to->block) &&
                                        known_in(to->block).decide(guard) != true))
      return {Obligation::runs_before, "the source may be switched off"};
  }
  // Rule 8.
  if (other_lane && !in_row(lane, known))
    return {Obligation::in_row, "the source lane may lie outside the row"};
  // Rules 2 to 4.
  const auto element = [&](const MemoryAccess &access, unsigned index) {
    return within_access(pool(), emulation_->expand(access.address),
                         std::uint64_t{index} * (bits / 8));
  };
  const Expr from_address = element(*from, source.element), to_address = element(*to, load.element);
  Missing why;
  if (other_lane) {
    const auto [known_uniform, is_new] = uniform_.try_emplace(source.load, false);
    if (is_new)
      known_uniform->second = emulation_->uniform_but_lane(from_address, from->block);
    if (!known_uniform->second)
      why = {Obligation::equal_address, "the source's address may vary"};
  }
  if (why.empty() && !same_address(from_address, to_address, lane, known, true))
    why = {Obligation::equal_address, "the addresses are not shown to be equal"};
  if (why.empty())
    return {};
  // Or as they are on one flow, the one by which every lane came that is at the load.
  for (const Flow &flow : flows_of(*emulation_, to_address)) {
    const Expr from_there = on_flow(pool(), flow, from_address),
               to_there = on_flow(pool(), flow, to_address);
    if (same_address(from_there, to_there, lane, known, false) &&
        (!other_lane || (emulation_->uniform_but_lane(from_there, from->block) &&
                         emulation_->uniform_but_lane(from_there, to->block))) &&
        paths_->always_on(flow, to->block) != Shown::no)
      return {};
  }
  return why;
}

bool FunctionProver::in_global_memory(const MemoryAccess &access) const {
  return access.space == StateSpace::global ||
         (access.space == StateSpace::generic &&
          generic_.is_global(fa_, fa_.instructions[access.instruction]));
}

bool FunctionProver::in_row(SourceLane from, const Known &known) {
  const Expr lane = emulation_->special("%laneid"), tid = emulation_->special("%tid.x");
  const Expr extent = emulation_->special("%ntid.x");
  if (from.flip != 0) // a number below 32 in any case
    return facts_.whole_warps() ||
           known.decide(
               pool().ult(pool().add(tid, butterfly_step(*emulation_, from.flip)), extent)) == true;
  const auto distance = static_cast<std::uint64_t>(std::abs(from.delta));
  if (from.delta < 0)
    return known.at_least(lane, distance) &&
           (facts_.whole_warps() || known.at_least(tid, distance));
  const auto number = [&](std::uint64_t value) { return pool().constant(32, value); };
  if (!known.at_least(pool().sub(number(31), lane), distance))
    return false;
  if (facts_.whole_warps())
    return true;
  // tid.x + distance < ntid.x
  return known.at_least(pool().sub(pool().sub(extent, tid), number(1)), distance) ||
         known.decide(pool().ult(pool().add(tid, number(distance)), extent)) == true;
}

bool FunctionProver::same_address(Expr source, Expr load, SourceLane lane, const Known &known,
                                  bool may_ask) {
  const auto bytes = [&](std::int64_t value) {
    return pool().constant(64, static_cast<std::uint64_t>(value));
  };
  const auto steps_evenly = [&](std::int64_t stride, int delta) {
    const auto conditions = equal_unless_wrapped(pool(), emulation_->shift_lane(source, delta),
                                                 pool().add(source, bytes(stride * delta)));
    return conditions && holds(*conditions, lane, known);
  };
  const LinearForm form =
      linear_form(source, [&](Expr symbol) { return emulation_->is_lane_symbol(symbol); });
  if (lane.flip != 0) {
    if (equal_in_each_lane(*emulation_, facts_, source, load, lane))
      return true;
    // The lane may have tested that its own two addresses are as far apart as the lanes say.
    const Expr step = pool().sext(butterfly_step(*emulation_, lane.flip), 64);
    const Expr stepped = pool().add(source, pool().mul(step, bytes(form.lane_stride)));
    const auto deltas = lane.steps();
    return known.decide(pool().eq(load, stepped)) == true &&
           std::all_of(deltas.begin(), deltas.end(),
                       [&](int delta) { return steps_evenly(form.lane_stride, delta); });
  }
  const Expr shifted = emulation_->shift_lane(source, lane.delta);
  if (const auto conditions = equal_unless_wrapped(pool(), shifted, load))
    return holds(*conditions, lane, known);
  // Built differently: the lane may have tested that its own two addresses are a step apart.
  const Expr stepped = pool().add(source, bytes(form.lane_stride * lane.delta));
  if (known.decide(pool().eq(load, stepped)) == true &&
      equal_unless_wrapped(pool(), shifted, stepped))
    return steps_evenly(form.lane_stride, lane.delta);
  return equal_in_each_lane(*emulation_, facts_, source, load, lane) ||
         (may_ask && solved(shifted, load, known));
}

// True if every condition under which two addresses are equal is known to hold.
bool FunctionProver::holds(const std::vector<WrapCondition> &conditions, SourceLane lane,
                           const Known &known) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const WrapCondition &condition) {
    // That tid.x plus the distance stays in the row is known here.
    const bool in_row = emulation_->is_lane_symbol(condition.value) &&
                        (lane.flip != 0 || condition.offset == lane.delta);
    return always_holds(condition) || (in_row && !condition.is_divisor) ||
           (options_.assume_no_wrap && !condition.is_divisor) ||
           known.no_wrap(condition.value, condition.is_signed, condition.offset);
  });
}

// The last resort: that they differ contradicts what is known.
bool FunctionProver::solved(Expr a, Expr b, const Known &known) {
  const Expr difference = pool().sub(a, b);
  bool hidden = false; // parts that the normal form does not see through
  for_each_node(difference, [&](Expr node) {
    hidden |= node->kind > ExprKind::sext && node->kind != ExprKind::uf &&
              !(node->kind == ExprKind::extract && node->index == 0);
  });
  if (!hidden || ++questions_ > proof_solver_questions)
    return false;
  std::vector<std::pair<Expr, bool>> all = known.literals();
  if (const Expr whole = lane_of_row(*emulation_, facts_))
    all.emplace_back(whole, true);
  return solver_.check("equal addresses, again", ways_to_differ(pool(), a, b, all)) ==
         SolverAnswer::unsat;
}

// Rule 5 for the instructions of a block from `first` up to `end`: none may write the load's bytes
// or order another thread's store in between. What orders nothing by itself may stand between loads
// in one iteration, if nothing is stored there, too.
bool FunctionProver::harmless(BlockId block, std::uint32_t first, std::uint32_t end,
                              std::uint32_t source, const MemoryAccess &load, const Known &known,
                              Passed &passed) {
  const auto &trace = emulation_->trace();
  const auto &events = events_[block]; // in the order of the text
  auto event =
      std::lower_bound(events.begin(), events.end(), first,
                       [&](std::size_t e, std::uint32_t at) { return trace[e].instruction < at; });
  for (; event != events.end() && trace[*event].instruction < end; ++event) {
    const MemoryAccess &other = trace[*event];
    Passed with = passed;
    if (leaves_alone(other, source, load, known, with))
      passed = with;
    else if (paths_->never_passed(block, other.guard, cfg().block_of(source), load.block) ==
             Shown::no) // in the other lane neither: that the load's block was reached says it
      return false;
  }
  return true;
}

bool FunctionProver::leaves_alone(const MemoryAccess &other, std::uint32_t source,
                                  const MemoryAccess &load, const Known &known, Passed &passed) {
  const bool same_iteration = cfg().loop_of(cfg().block_of(source)) == cfg().loop_of(load.block);
  if (other.effect == Effect::sync) {
    passed.exchange = true;
    if (!same_iteration || !leaves_global_alone(a_.opcode(fa_.instructions[other.instruction])))
      return false;
  } else {
    passed.store =
        passed.store || (other.space != StateSpace::shared && other.space != StateSpace::local);
    if (!apart(other, load, source, known))
      return false;
  }
  return !(passed.exchange && passed.store);
}

// Rule 5, backwards from the load to the source. The source dominates the load, so every way ends
// there; the load's own block counts in full if a loop leads back to it.
bool FunctionProver::nothing_between(std::uint32_t source, std::uint32_t load, const Known &known) {
  const MemoryAccess &from = *access(source), &to = *access(load);
  Passed passed;
  const auto clean = [&](BlockId block, std::uint32_t first, std::uint32_t end) {
    return harmless(block, first, end, source, to, known, passed);
  };
  const std::uint32_t begin = moved_to_.contains(source) ? moved_to_.at(source) : source + 1;
  if (from.block == to.block)
    return clean(to.block, begin, load);
  if (!clean(to.block, cfg().blocks()[to.block].first, load) ||
      !clean(from.block, begin, cfg().blocks()[from.block].end))
    return false;
  std::unordered_set<BlockId> seen{from.block};
  std::vector<BlockId> work{to.block};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId before : cfg().blocks()[block].predecessors) {
      if (!cfg().reachable(before) || !seen.insert(before).second)
        continue;
      if (++visited_ > reuse_visit_budget ||
          !clean(before, cfg().blocks()[before].first, cfg().blocks()[before].end))
        return false;
      work.push_back(before);
    }
  }
  return true;
}

// True if a store between source and load leaves the load's bytes alone.
bool FunctionProver::apart(const MemoryAccess &store, const MemoryAccess &load,
                           std::uint32_t source, const Known &known) {
  if (store.space == StateSpace::shared || store.space == StateSpace::local)
    return true; // the load is from global memory
  if (!store.address || !load.address || store.bytes == 0 || load.bytes == 0)
    return options_.assume_no_alias && store.bytes != 0;
  const Expr written = emulation_->expand(store.address);
  const Expr loaded = emulation_->expand(load.address);
  const BlockId source_block = cfg().block_of(source);
  // In a loop around the store but not the source it may have run several times.
  bool once = true, invariant = true;
  for (LoopId loop = cfg().loop_of(store.block); loop != no_index;
       loop = cfg().loops()[loop].parent) {
    if (cfg().contains(loop, source_block))
      break;
    once = false;
    invariant = invariant && emulation_->invariant(store.address, loop) &&
                emulation_->invariant(load.address, loop);
  }
  const Expr difference = pool().sub(written, loaded);
  const bool fixed = difference->kind == ExprKind::constant && invariant;
  if (fixed) {
    const std::int64_t distance = as_signed(difference->value.low, 64);
    return distance >= static_cast<std::int64_t>(load.bytes) ||
           distance <= -static_cast<std::int64_t>(store.bytes);
  }
  if (options_.assume_no_alias)
    return true;
  if (!once)
    return false;
  // Accesses are aligned to their size (PTX ISA 6.4.1): of one size they are apart unless they are
  // the same, of two sizes unless they lie in the same piece of the larger size.
  Expr a = written, b = loaded;
  if (store.bytes != load.bytes) {
    const std::uint64_t size = std::max(store.bytes, load.bytes);
    const Expr piece = pool().constant(64, ~(size - 1));
    a = pool().bit_and(a, piece);
    b = pool().bit_and(b, piece);
  }
  const Expr same = pool().eq(a, b);
  if (known.decide(same) == false)
    return true;
  // Or the load's start lies nowhere from just too far below the store's to its end.
  const Expr meets =
      pool().ult(pool().add(pool().sub(loaded, written), pool().constant(64, load.bytes - 1)),
                 pool().constant(64, load.bytes + store.bytes - 1));
  if (known.decide(meets) == false)
    return true;
  // The test may rest on registers that were written if the store's block was passed; it matters
  // only if it was.
  Substitution passed(pool());
  bool any = false;
  for (const auto &[symbol, reg] : if_executed_)
    if (written_in_[reg] == store.block && value_[reg]) {
      passed.map(symbol, as_emulated(value_[reg]));
      any = true;
    }
  if (any)
    for (const auto &[literal, holds] : known.literals())
      if (const Expr now = holds ? nullptr : passed(literal); now && (now == same || now == meets))
        return true;
  return false;
}

} // namespace ptxasw::synth
