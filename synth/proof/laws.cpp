// soundness.md, rule by rule: the source is of the same kind and ran in this iteration, the address
// is the same in the other lane, nothing lies in between, the other lane is active and in its row.
// Nothing is taken from detection, which asks the same of its own expressions (judge.cpp); what
// both have of one place is what stands between two loads (between.h) and what is the same whoever
// asks: conditions (known.h) and ways (ways.h).

#include "synth/proof/laws.h"

#include "emulator/facts/waiting.h"
#include "grammar/pragmas.h"
#include "synth/differ.h"
#include "synth/ways.h"

#include <algorithm>
#include <cstdlib>

namespace ptxasw::synth {
namespace {

/// Questions to the solver in one function.
constexpr unsigned proof_solver_questions = 2;

constexpr std::string_view otherwise_stored = "something in between may change the value",
                           may_vary = "the source's address may vary",
                           elsewhere = "the source is in another iteration",
                           switched_off = "the source may be switched off";

} // namespace

// Each source may stand in, and one of them ran on each way.
void Laws::serve(const std::vector<LoadedElement> &sources, LoadedElement load, SourceLane lane,
                 const Known &known) {
  for (const LoadedElement &source : sources)
    serves(source, load, lane, known);
  const std::uint32_t first = sources[0].load;
  if (sources.size() > 1 || (block_of(first) != block_of(load.load) &&
                             !original_.cfg().dominates(block_of(first), block_of(load.load))))
    return precede(sources, load, lane, known);
  precedes(first, load.load, lane);
  const MemoryAccess &to = *original_.access(load.load);
  const auto spares = [&](const MemoryAccess &store) {
    return apart(store, block_of(first), to, known);
  };
  demand(reads_constants(load.load) || !between_.passage(behind(first), to, spares).obstacle,
         Obligation::nothing_between, otherwise_stored);
}

// Where what comes behind a source begins.
Behind Laws::behind(std::uint32_t source) const {
  const auto moved = original_.moved_to.find(source);
  return {block_of(source), moved == original_.moved_to.end() ? source + 1 : moved->second};
}

void Laws::check_move_up(std::uint32_t load, std::uint32_t from) {
  const MemoryAccess *const what = original_.load(load);
  demand(what && original_.is_in_global_memory(*what), Obligation::lined_up,
         "a load was moved that is not understood");
  if (reads_constants(load))
    return;
  const Known nothing(original_.pool());
  const auto spares = [&](const MemoryAccess &store) {
    return apart(store, what->block, *what, nothing);
  };
  const Passage passage = between_.passage({what->block, from}, *what, spares);
  demand(!passage.obstacle && !passage.exchanges, Obligation::lined_up,
         "a load was moved past a store");
}

// Rule 1 for a source that stands on every way to the load.
void Laws::precedes(std::uint32_t source, std::uint32_t load, SourceLane lane) {
  const ControlFlowGraph &cfg = original_.cfg();
  const BlockId from = block_of(source), to = block_of(load);
  const bool first = from == to ? behind(source).first <= load : cfg.dominates(from, to);
  const LoopId loop = cfg.loop_of(from);
  demand(first && !cfg.irreducible(to) && !cfg.irreducible(from), Obligation::runs_before,
         "the source does not dominate the load");
  demand(loop == no_index || cfg.contains(loop, to), Obligation::runs_before, elsewhere);
  if (loop == cfg.loop_of(to))
    return;
  demand(lane.is_own(), Obligation::runs_before, elsewhere);
  if (!waits_)
    waits_ = facts::waits_at({original_.module, original_.function, original_.cfg()}).has_value();
  demand(!*waits_ || reads_constants(load), Obligation::runs_before,
         "the loop may wait for what the load reads");
}

// Rules 1 and 5 for sources of which each stands on some of the ways to the load.
void Laws::precede(const std::vector<LoadedElement> &sources, LoadedElement load, SourceLane lane,
                   const Known &known) {
  const MemoryAccess &to = *original_.access(load.load);
  std::vector<BlockId> blocks;
  std::vector<Behind> begins;
  for (const LoadedElement &source : sources) {
    const MemoryAccess &from = *original_.access(source.load);
    demand(!from.guard && !original_.moved_to.contains(source.load), Obligation::runs_before,
           switched_off);
    demand(lane.is_own() || emulation_.uniform_but_lane(emulation_.expand(from.address), to.block),
           Obligation::equal_address, may_vary);
    demand(std::find(blocks.begin(), blocks.end(), from.block) == blocks.end(),
           Obligation::runs_before, "two sources in one block");
    blocks.push_back(from.block);
    begins.push_back(behind(source.load));
  }
  // What holds in every lane that is here, not in this one alone: another one's way counts, too.
  const auto ways = ways_since(emulation_, blocks, to.block, original_.known_in(to.block));
  demand(ways.has_value(), Obligation::runs_before, "a way to the load has no source");
  const auto spares = [&](const MemoryAccess &store) { return apart(store, blocks[0], to, known); };
  demand(reads_constants(load.load) ||
             !between_.passage(begins, to, ways->between, spares).obstacle,
         Obligation::nothing_between, otherwise_stored);
}

// All rules except for what the way from the source to the load decides.
void Laws::serves(LoadedElement source, LoadedElement load, SourceLane lane, const Known &known) {
  const bool other_lane = !lane.is_own();
  const MemoryAccess *const from = original_.load(source.load);
  const MemoryAccess *const to = original_.access(load.load);
  demand(from && to && to->address, Obligation::understood, "the source is not understood");
  const Opcode &from_opcode = original_.opcode(source.load);
  const Opcode &to_opcode = original_.opcode(load.load);
  const unsigned bits = bit_width(to_opcode.type), width = original_.width(load);
  demand(original_.is_in_global_memory(*from) && original_.is_in_global_memory(*to),
         Obligation::same_kind, "the memory may not be global");
  // Rule 6.
  demand(bits != 0 && bit_width(from_opcode.type) == bits && original_.width(source) == width &&
             (bits >= width || is_signed(from_opcode.type) == is_signed(to_opcode.type)),
         Obligation::same_kind, "the source loads another type");
  demand(!leaves_bytes_undefined(original_.function, source.load), Obligation::same_kind,
         "the source loads only some of its bytes");
  // Rule 1.
  demand(!other_lane || in_step_.in_step(to->block), Obligation::runs_before,
         "lanes may be in different iterations");
  if (from->guard) {
    // In another lane it ran if all agree on it, or if it follows from branches that all lanes here
    // have taken.
    const Expr guard = emulation_.expand(from->guard);
    demand(known.decide(guard) == true && (!other_lane || emulation_.uniform(guard, to->block) ||
                                           original_.known_in(to->block).decide(guard) == true),
           Obligation::runs_before, switched_off);
  }
  // Rule 8.
  demand(!other_lane || in_row(lane, known), Obligation::in_row,
         "the source lane may lie outside the row");
  equal_addresses(source, load, lane, known);
}

// Rules 2 to 4.
void Laws::equal_addresses(LoadedElement source, LoadedElement load, SourceLane lane,
                           const Known &known) {
  const std::uint64_t bytes = bit_width(original_.opcode(load.load).type) / 8;
  const auto address = [&](LoadedElement of) {
    return within_access(original_.pool(), emulation_.expand(original_.access(of.load)->address),
                         of.element * bytes);
  };
  const Expr from_address = address(source);
  if (!lane.is_own()) {
    const auto [known_uniform, is_new] = uniform_.try_emplace(source.load, false);
    if (is_new)
      known_uniform->second = emulation_.uniform_but_lane(from_address, block_of(source.load));
    demand(known_uniform->second, Obligation::equal_address, may_vary);
  }
  demand(same_address(from_address, address(load), lane, known), Obligation::equal_address,
         "the addresses are not shown to be equal");
}

bool Laws::in_row(SourceLane from, const Known &known) {
  ExprPool &pool = original_.pool();
  const Expr lane = emulation_.special("%laneid"), tid = emulation_.special("%tid.x");
  const Expr extent = emulation_.special("%ntid.x");
  const bool whole = original_.launch.whole_warps();
  if (from.flip != 0) // a number below 32 in any case
    return whole || known.decide(pool.ult(pool.add(tid, butterfly_step(emulation_, from.flip)),
                                          extent)) == true;
  const auto distance = static_cast<std::uint64_t>(std::abs(from.delta));
  if (from.delta < 0)
    return known.at_least(lane, distance) && (whole || known.at_least(tid, distance));
  const auto number = [&](std::uint64_t value) { return pool.constant(32, value); };
  if (!known.at_least(pool.sub(number(31), lane), distance))
    return false;
  // tid.x + distance < ntid.x
  return whole || known.at_least(pool.sub(pool.sub(extent, tid), number(1)), distance) ||
         known.decide(pool.ult(pool.add(tid, number(distance)), extent)) == true;
}

bool Laws::same_address(Expr source, Expr load, SourceLane lane, const Known &known) {
  ExprPool &pool = original_.pool();
  const auto bytes = [&](std::int64_t value) {
    return pool.constant(64, static_cast<std::uint64_t>(value));
  };
  const auto steps_evenly = [&](std::int64_t stride, int delta) {
    const auto conditions = equal_unless_wrapped(pool, emulation_.shift_lane(source, delta),
                                                 pool.add(source, bytes(stride * delta)));
    return conditions && holds(*conditions, lane, known);
  };
  const LinearForm form =
      linear_form(source, [&](Expr symbol) { return emulation_.is_lane_symbol(symbol); });
  if (lane.flip != 0) {
    if (equal_in_each_lane(emulation_, original_.launch, source, load, lane))
      return true;
    // The lane may have tested that its own two addresses are as far apart as the lanes say.
    const Expr step = pool.sext(butterfly_step(emulation_, lane.flip), 64);
    const Expr stepped = pool.add(source, pool.mul(step, bytes(form.lane_stride)));
    const auto deltas = lane.steps();
    return known.decide(pool.eq(load, stepped)) == true &&
           std::all_of(deltas.begin(), deltas.end(),
                       [&](int delta) { return steps_evenly(form.lane_stride, delta); });
  }
  const Expr shifted = emulation_.shift_lane(source, lane.delta);
  if (const auto conditions = equal_unless_wrapped(pool, shifted, load))
    return holds(*conditions, lane, known);
  // Built differently: the lane may have tested that its own two addresses are a step apart.
  const Expr stepped = pool.add(source, bytes(form.lane_stride * lane.delta));
  if (known.decide(pool.eq(load, stepped)) == true && equal_unless_wrapped(pool, shifted, stepped))
    return steps_evenly(form.lane_stride, lane.delta);
  return equal_in_each_lane(emulation_, original_.launch, source, load, lane) ||
         solved(shifted, load, known);
}

// True if every condition under which two addresses are equal is known to hold.
bool Laws::holds(const std::vector<WrapCondition> &conditions, SourceLane lane,
                 const Known &known) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const WrapCondition &condition) {
    // That tid.x plus the distance stays in the row is known here.
    const bool in_row = emulation_.is_lane_symbol(condition.value) &&
                        (lane.flip != 0 || condition.offset == lane.delta);
    return always_holds(condition) ||
           (!condition.is_divisor && (in_row || original_.options.assume_no_wrap)) ||
           known.no_wrap(condition.value, condition.is_signed, condition.offset);
  });
}

// The last resort: that they differ contradicts what is known.
bool Laws::solved(Expr a, Expr b, const Known &known) {
  ExprPool &pool = original_.pool();
  if (!has_bit_operations(pool.sub(a, b)) || ++questions_ > proof_solver_questions)
    return false;
  std::vector<std::pair<Expr, bool>> all = known.literals();
  if (const Expr whole = lane_of_row(emulation_, original_.launch))
    all.emplace_back(whole, true);
  return solver_.check("equal addresses, again", ways_to_differ(pool, a, b, all)) ==
         SolverAnswer::unsat;
}

// True if a store behind the source, which is in a block, leaves the load's bytes alone.
bool Laws::apart(const MemoryAccess &store, BlockId source, const MemoryAccess &load,
                 const Known &known) {
  if (const Overlap met = overlap(emulation_, store, source, load); met != Overlap::unknown)
    return met == Overlap::never;
  if (original_.options.assume_no_alias)
    return store.bytes != 0;
  if (!store.address || !load.address || store.bytes == 0 || load.bytes == 0)
    return false;
  // In a loop around the store but not the source it may have run several times.
  const ControlFlowGraph &cfg = original_.cfg();
  const LoopId loop = cfg.loop_of(store.block);
  if (cfg.irreducible(store.block) || (loop != no_index && !cfg.contains(loop, source)))
    return false;
  const Expr written = emulation_.expand(store.address), loaded = emulation_.expand(load.address);
  // Accesses are aligned to their size (PTX ISA 6.4.1): of one size they are apart unless they are
  // the same, of two sizes unless they lie in the same piece of the larger size.
  ExprPool &pool = original_.pool();
  const std::uint64_t size = std::max(store.bytes, load.bytes);
  const Expr piece = pool.constant(64, ~(size - 1));
  const Expr same = store.bytes == load.bytes
                        ? pool.eq(written, loaded)
                        : pool.eq(pool.bit_and(written, piece), pool.bit_and(loaded, piece));
  // Or the load's start lies nowhere from just too far below the store's to its end.
  const Expr meets =
      pool.ult(pool.add(pool.sub(loaded, written), pool.constant(64, load.bytes - 1)),
               pool.constant(64, load.bytes + store.bytes - 1));
  if (known.decide(same) == false || known.decide(meets) == false)
    return true;
  // The test may rest on registers that were written if the store's block was passed; it matters
  // only if it was.
  Substitution passed(pool);
  const auto if_passed = values_.if_passed(store.block);
  for (const auto &[symbol, value] : if_passed)
    passed.map(symbol, value);
  return !if_passed.empty() &&
         std::any_of(known.literals().begin(), known.literals().end(), [&](const auto &literal) {
           const Expr now = literal.second ? nullptr : passed(literal.first);
           return now && (now == same || now == meets);
         });
}

} // namespace ptxasw::synth
