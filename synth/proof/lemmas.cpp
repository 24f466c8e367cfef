// soundness.md, rule by rule: the source is of the same kind and ran in this iteration, the address
// is the same in the other lane, nothing lies in between, the other lane is active and in its row.
// Nothing is taken from detection, which asks the same of its own expressions (judge.cpp); what
// both have of one place is what stands between two loads (between.h) and what is the same whoever
// asks: conditions (known.h).

#include "synth/proof/lemmas.h"

#include "emulator/facts/waiting.h"
#include "grammar/pragmas.h"

#include <algorithm>
#include <cstdlib>

namespace ptxasw::synth {

void Lemmas::check_move_up(std::uint32_t load, std::uint32_t place) {
  const MemoryAccess *const what = text_.load(load);
  demand(what && text_.is_in_global_memory(*what), Obligation::lined_up,
         "a load was moved that is not understood");
  if (reads_constants(load))
    return;
  MemoryAccess before = *what;
  before.instruction = place;
  const Known nothing(text_.pool());
  const auto spares = [&](const MemoryAccess &store) {
    return apart(store, what->block, *what, nothing);
  };
  const facts::Passage passage = between_.passage({what->block, load + 1}, before, spares);
  demand(!passage.obstacle && !passage.exchanges, Obligation::lined_up,
         "a load was moved past a store");
}

void Lemmas::serve(LoadedElement source, LoadedElement load, std::uint32_t place, int delta,
                   const Known &known) {
  const bool other_lane = delta != 0;
  const MemoryAccess *const from = text_.load(source.load), *const to = text_.load(load.load);
  demand(from && to, Obligation::understood, "the source is not understood");
  const Opcode &from_opcode = text_.opcode(source.load);
  const Opcode &to_opcode = text_.opcode(load.load);
  const unsigned bits = bit_width(to_opcode.type), width = text_.width(load);
  demand(text_.is_in_global_memory(*from) && text_.is_in_global_memory(*to), Obligation::same_kind,
         "the memory may not be global");
  // Rule 6.
  demand(bits != 0 && bit_width(from_opcode.type) == bits && text_.width(source) == width &&
             (bits >= width || is_signed(from_opcode.type) == is_signed(to_opcode.type)),
         Obligation::same_kind, "the source loads another type");
  demand(!leaves_bytes_undefined(text_.function, source.load), Obligation::same_kind,
         "the source loads only some of its bytes");
  // Rule 1.
  demand(!other_lane || in_step_.in_step(to->block), Obligation::runs_before,
         "lanes may be in different iterations");
  if (from->guard) {
    // In another lane it ran if all agree on it, or if it follows from branches that all lanes here
    // have taken.
    const Expr guard = emulation_.expand(from->guard);
    demand(known.decide(guard) == true && (!other_lane || emulation_.uniform(guard, to->block) ||
                                           text_.known_in(to->block).decide(guard) == true),
           Obligation::runs_before, "the source may be switched off");
  }
  // Rule 8.
  demand(!other_lane || in_row(delta, known), Obligation::in_row,
         "the source lane may lie outside the row");
  // Rules 2 to 4.
  const auto address = [&](const MemoryAccess &of, unsigned element) {
    return within_access(text_.pool(), emulation_.expand(of.address),
                         std::uint64_t{element} * (bits / 8));
  };
  const Expr from_address = address(*from, source.element);
  demand(!other_lane || emulation_.uniform_but_lane(from_address, from->block),
         Obligation::equal_address, "the source's address may vary");
  demand(same_address(from_address, address(*to, load.element), delta, known),
         Obligation::equal_address, "the addresses are not shown to be equal");
  // Rule 1 again.
  const ControlFlowGraph &cfg = text_.cfg();
  demand(
      !cfg.irreducible(to->block) && !cfg.irreducible(from->block) &&
          (from->block == to->block ? source.load < place : cfg.dominates(from->block, to->block)),
      Obligation::runs_before, "the source does not dominate the load");
  if (const LoopId loop = cfg.loop_of(from->block); loop != cfg.loop_of(to->block)) {
    demand(!other_lane && (loop == no_index || cfg.contains(loop, to->block)),
           Obligation::runs_before, "the source is in another iteration");
    if (!waits_)
      waits_ = facts::waits_at({text_.module, text_.function, cfg}).has_value();
    demand(!*waits_ || reads_constants(load.load), Obligation::runs_before,
           "the loop may wait for what the load reads");
  }
  // Rule 5.
  const auto spares = [&](const MemoryAccess &store) {
    return apart(store, from->block, *to, known);
  };
  MemoryAccess there = *to;
  there.instruction = place;
  demand(reads_constants(load.load) ||
             !between_.passage({from->block, source.load + 1}, there, spares).obstacle,
         Obligation::nothing_between, "something in between may change the value");
}

bool Lemmas::in_row(int delta, const Known &known) {
  ExprPool &pool = text_.pool();
  const Expr lane = emulation_.special("%laneid"), tid = emulation_.special("%tid.x");
  const bool whole = text_.launch.whole_warps();
  const auto distance = static_cast<std::uint64_t>(std::abs(delta));
  if (delta < 0)
    return known.at_least(lane, distance) && (whole || known.at_least(tid, distance));
  const auto number = [&](std::uint64_t value) { return pool.constant(32, value); };
  // tid.x + distance < ntid.x
  return known.at_least(pool.sub(number(31), lane), distance) &&
         (whole || known.at_least(pool.sub(pool.sub(emulation_.special("%ntid.x"), tid), number(1)),
                                  distance));
}

bool Lemmas::same_address(Expr source, Expr load, int delta, const Known &known) {
  ExprPool &pool = text_.pool();
  const Expr shifted = emulation_.shift_lane(source, delta);
  if (const auto conditions = equal_unless_wrapped(pool, shifted, load))
    return holds(*conditions, delta, known);
  // Built differently: the lane may have tested that its own two addresses are a step apart.
  const LinearForm form =
      linear_form(source, [&](Expr symbol) { return emulation_.is_lane_symbol(symbol); });
  const Expr stepped =
      pool.add(source, pool.constant(64, static_cast<std::uint64_t>(form.lane_stride * delta)));
  const auto conditions = equal_unless_wrapped(pool, shifted, stepped);
  return known.decide(pool.eq(load, stepped)) == true && conditions &&
         holds(*conditions, delta, known);
}

// True if every condition under which two addresses are equal is known to hold.
bool Lemmas::holds(const std::vector<WrapCondition> &conditions, int delta, const Known &known) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const WrapCondition &condition) {
    // That tid.x plus the distance stays in the row is known here.
    const bool in_row = emulation_.is_lane_symbol(condition.value) && condition.offset == delta;
    return always_holds(condition) ||
           (!condition.is_divisor && (in_row || text_.options.assume_no_wrap)) ||
           known.no_wrap(condition.value, condition.is_signed, condition.offset);
  });
}

// True if a store behind the source, which is in a block, leaves the load's bytes alone.
bool Lemmas::apart(const MemoryAccess &store, BlockId source, const MemoryAccess &load,
                   const Known &known) {
  if (const facts::Overlap met = facts::overlap(emulation_, store, source, load);
      met != facts::Overlap::unknown)
    return met == facts::Overlap::never;
  if (text_.options.assume_no_alias)
    return store.bytes != 0;
  if (!store.address || !load.address || store.bytes == 0 || load.bytes == 0)
    return false;
  // In a loop around the store but not the source it may have run several times.
  const ControlFlowGraph &cfg = text_.cfg();
  const LoopId loop = cfg.loop_of(store.block);
  if (cfg.irreducible(store.block) || (loop != no_index && !cfg.contains(loop, source)))
    return false;
  const Expr written = emulation_.expand(store.address), loaded = emulation_.expand(load.address);
  // Accesses are aligned to their size (PTX ISA 6.4.1): of one size they are apart unless they are
  // the same, of two sizes unless they lie in the same piece of the larger size.
  ExprPool &pool = text_.pool();
  const std::uint64_t size = std::max(store.bytes, load.bytes);
  const Expr piece = pool.constant(64, ~(size - 1));
  const Expr same = store.bytes == load.bytes
                        ? pool.eq(written, loaded)
                        : pool.eq(pool.bit_and(written, piece), pool.bit_and(loaded, piece));
  // Or the load's start lies nowhere from just too far below the store's to its end.
  const Expr meets =
      pool.ult(pool.add(pool.sub(loaded, written), pool.constant(64, load.bytes - 1)),
               pool.constant(64, load.bytes + store.bytes - 1));
  return known.decide(same) == false || known.decide(meets) == false;
}

} // namespace ptxasw::synth
