// Three kinds of candidates.
//
// A register that steps by an invariant amount is written out as initial + step * trip, modulo
// 2^32. That it does not wrap around (the same equation over 64 bits, signed or unsigned) is what
// keeps indices of different iterations apart; it follows if the loop goes on only while `i < n`.
//
// Of a register that changes in another way (it is halved, say): that it stays at most, or at
// least, what it began with, and that it stays a power of two.
//
// Of a loop that goes on while a number that steps evenly is not 0: that it is not past 0. So
// compilers count the iterations of a loop that they unroll, and of the one that does the rest.
//
// Registers that go on by themselves, whatever the threads do (d = 2 * d; from, to = to, from), are
// followed iteration by iteration until the loop cannot go on, or they are what they were before.
// What they are together in these iterations is all that there is.

#include "analysis/prove/invariants.h"

#include "analysis/prove/products.h"

#include <algorithm>

namespace ptxasw::analysis {
namespace {

/// Loops with more candidates get none.
constexpr std::size_t candidates_budget = 48;
/// What one question may take, in the solver's units.
constexpr std::uint64_t most_of_question = 800'000;
/// Iterations that are followed; of loops in which only the trip count changes. And nodes of a
/// value.
constexpr std::size_t most_states = 72, most_trips = 32, most_nodes = 40;

} // namespace

std::vector<LoopInvariants::Candidate> LoopInvariants::candidates(LoopId loop) {
  Emulation &emulation = paths_.emulation();
  ExprPool &pool = paths_.pool();
  const Expr trip = emulation.trip_count(loop);
  const Expr zero = pool.constant(64, 0), one = pool.constant(64, 1);
  std::vector<std::pair<Expr, LoopRegister>> registers, uneven;
  for (const Expr symbol : paths_.symbols())
    if (const auto found = emulation.loop_register(symbol); found && found->loop == loop)
      (emulation.expand(symbol) == symbol ? uneven : registers).emplace_back(symbol, *found);
  std::vector<Candidate> result;
  for (const auto &[symbol, found] : registers) {
    if (symbol->width != 32)
      continue;
    const Expr initial = emulation.expand(found.initial);
    const Expr step = pool.sub(emulation.expand(found.next), emulation.expand(symbol));
    if (step->kind == ExprKind::constant && step->value.is_zero())
      continue;
    const auto in_round = [&](Expr round, bool is_signed) {
      const auto wide = [&](Expr e) { return is_signed ? pool.sext(e, 64) : pool.zext(e, 64); };
      const Expr now = pool.add(initial, pool.mul(step, pool.truncate(round, 32)));
      return pool.eq(wide(now), pool.add(wide(initial), pool.mul(wide(step), round)));
    };
    if (launch_.no_wrap)
      continue; // the order of multiples is enough
    for (const bool is_signed : {true, false})
      result.push_back({in_round(trip, is_signed), in_round(zero, is_signed),
                        in_round(pool.add(trip, one), is_signed)});
  }
  for (const auto &[key, found] : uneven) {
    const Expr symbol = key;
    if (symbol->width != 32 && symbol->width != 64)
      continue;
    const Expr initial = emulation.expand(found.initial), next = emulation.expand(found.next);
    const auto add = [&](auto says) {
      result.push_back({says(symbol), says(initial), says(next)});
    };
    add([&](Expr e) { return pool.ule(e, initial); });
    add([&](Expr e) { return pool.ule(initial, e); });
    add([&](Expr e) { return pool.sle(e, initial); });
    add([&](Expr e) { return pool.sle(initial, e); });
    add([&](Expr e) { return pool.sle(pool.constant(e->width, 0), e); });
    add([&](Expr e) {
      return pool.eq(pool.bit_and(e, pool.sub(e, pool.constant(e->width, 1))),
                     pool.constant(e->width, 0));
    });
  }
  for (const BlockId latch : paths_.cfg().loops()[loop].latches) {
    const Expr ends = pool.bit_not(paths_.edge(latch, paths_.cfg().loops()[loop].header));
    if (ends->kind != ExprKind::eq0 || ends->children[0]->width < 2)
      continue;
    // What else changes from round to round would be another number in the next one.
    bool changes = false;
    for_each_node(ends->children[0], [&](Expr node) {
      changes |= node->kind == ExprKind::symbol && node != trip && !emulation.invariant(node, loop);
    });
    if (changes)
      continue;
    const auto in_round = [&](Expr round) {
      Substitution then(pool);
      then.map(trip, round);
      return then(ends->children[0]);
    };
    const Expr left = in_round(pool.sub(trip, one)), next = in_round(trip);
    const Expr step = pool.sub(next, left);
    if (step->kind != ExprKind::constant || step->value.is_zero())
      continue;
    const Expr none = pool.constant(left->width, 0);
    const auto is_left = [&](Expr number) {
      return as_signed(step->value.low, step->width) < 0 ? pool.slt(none, number)
                                                         : pool.slt(number, none);
    };
    result.push_back({is_left(left), is_left(in_round(pool.neg(one))), is_left(next)});
  }
  return result.size() > candidates_budget ? std::vector<Candidate>() : result;
}

void LoopInvariants::find_states(LoopId loop, LoopKnowledge &known) {
  Emulation &emulation = paths_.emulation();
  ExprPool &pool = paths_.pool();
  const Expr trip = emulation.trip_count(loop);
  struct Changing {
    Expr symbol, initial, next;
  };
  std::vector<Changing> all;
  for (const Expr symbol : paths_.symbols())
    if (const auto found = emulation.loop_register(symbol);
        found && found->loop == loop && emulation.expand(symbol) == symbol)
      all.push_back({symbol, emulation.expand(found->initial), emulation.expand(found->next)});
  const auto depends = [&](Expr on, const auto &is_known) {
    bool other = false;
    for_each_node(on, [&](Expr node) {
      other |= node->kind == ExprKind::symbol && node != trip && !is_known(node) &&
               !emulation.invariant(node, loop);
    });
    return other;
  };
  const auto is_followed = [&](Expr symbol) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Changing &one) { return one.symbol == symbol; });
  };
  for (bool changed = true; changed;)
    changed =
        std::erase_if(all, [&](const Changing &one) {
          return depends(one.initial, [](Expr) { return false; }) || depends(one.next, is_followed);
        }) != 0;
  const auto has_trip = [&](Expr expr) {
    bool has = false;
    for_each_node(expr, [&](Expr node) { has |= node == trip; });
    return has;
  };
  const bool by_trip =
      std::any_of(all.begin(), all.end(), [&](const Changing &one) { return has_trip(one.next); });
  Substitution given(pool); // what the launch says of parameters and extents
  for (const Expr symbol : paths_.symbols())
    if (const Expr shared = ThreadCopy::shared_symbol(paths_, launch_, symbol))
      given.map(symbol, shared);
  const Expr goes_on = given(paths_.another_round(loop));
  std::vector<std::vector<Expr>> states;
  std::vector<Expr> now;
  for (Changing &one : all) {
    one.next = given(one.next);
    known.symbols.push_back(one.symbol);
    now.push_back(given(one.initial));
  }
  const auto size = [](Expr expr) {
    std::size_t nodes = 0;
    for_each_node(expr, [&](Expr) { ++nodes; });
    return nodes;
  };
  while (states.size() < (all.empty() ? most_trips : most_states)) {
    if (!all.empty() && !by_trip && std::find(states.begin(), states.end(), now) != states.end()) {
      known.states = std::move(states);
      return;
    }
    Substitution in_round(pool);
    for (std::size_t i = 0; i < all.size(); ++i)
      in_round.map(all[i].symbol, now[i]);
    in_round.map(trip, pool.constant(64, states.size()));
    states.push_back(now);
    if (const Expr more = in_round(goes_on);
        more->kind == ExprKind::constant && more->value.is_zero()) {
      known.symbols.push_back(trip);
      for (std::size_t i = 0; i < states.size(); ++i)
        states[i].push_back(pool.constant(64, i));
      known.states = std::move(states);
      return;
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      now[i] = in_round(all[i].next);
    if (std::any_of(now.begin(), now.end(), [&](Expr e) { return size(e) > most_nodes; }))
      break;
  }
  known.symbols.clear();
}

// If it holds at the beginning of every iteration, as the states are all that there are; nothing:
// they do not say.
std::optional<bool> LoopInvariants::told_by_states(Expr candidate, const LoopKnowledge &known) {
  bool all = !known.states.empty();
  for (const std::vector<Expr> &state : known.states) {
    Substitution in_round(paths_.pool());
    for (std::size_t i = 0; i < state.size(); ++i)
      in_round.map(known.symbols[i], state[i]);
    const Expr holds = in_round(candidate);
    if (holds->kind != ExprKind::constant)
      all = false;
    else if (holds->value.is_zero())
      return false;
  }
  return all ? std::optional(true) : std::nullopt;
}

// True if the formulas cannot hold together in one thread at the loop's header.
bool LoopInvariants::excluded(LoopId loop, std::vector<Expr> formulas,
                              const std::vector<Candidate> &known) {
  const std::uint64_t left = effort_left_();
  if (left == 0)
    return false;
  static const InvariantsOf none = [](LoopId) -> const LoopKnowledge & {
    static const LoopKnowledge empty;
    return empty;
  };
  for (const Candidate &candidate : known)
    formulas.push_back(candidate.now);
  const BlockId header = paths_.cfg().loops()[loop].header;
  const Rounds rounds(paths_.cfg().loops().size(), Iteration::any);
  ThreadCopy thread(paths_, launch_, {}, 1, header, rounds, none);
  formulas.push_back(paths_.way(header));
  for (Expr &formula : formulas)
    formula = thread(formula);
  for (const Expr fact : thread.facts())
    formulas.push_back(fact);
  ProductAbstraction abstract(paths_.pool(), nullptr);
  for (Expr &formula : formulas)
    formula = abstract(formula);
  for (const Expr axiom : abstract.axioms())
    formulas.push_back(axiom);
  return solver_.check("an invariant", formulas, std::min(left, most_of_question)) ==
         SolverAnswer::unsat;
}

const LoopKnowledge &LoopInvariants::of(LoopId loop) {
  const auto [entry, is_new] = known_.try_emplace(loop);
  if (!is_new)
    return entry->second;
  ExprPool &pool = paths_.pool();
  LoopKnowledge result;
  find_states(loop, result);
  std::vector<Candidate> left = candidates(loop), told;
  std::erase_if(left, [&](const Candidate &candidate) {
    const std::optional<bool> holds = told_by_states(candidate.now, result);
    if (holds.value_or(false))
      told.push_back(candidate);
    return holds || !excluded(loop, {pool.bit_not(candidate.first)}, {});
  });
  const auto known = [&] {
    std::vector<Candidate> all = told;
    all.insert(all.end(), left.begin(), left.end());
    return all;
  };
  const Expr goes_on = paths_.another_round(loop);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!excluded(loop, {goes_on, pool.bit_not(left[i].next)}, known())) {
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i--));
        changed = true;
      }
  }
  for (const Candidate &candidate : known())
    result.always.push_back(candidate.now);
  return known_[loop] = std::move(result);
}

} // namespace ptxasw::analysis
