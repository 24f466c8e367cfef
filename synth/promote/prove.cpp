// The proof of promotion: kernel and version run beside each other (synth/prove/walk.h), and the
// version may leave out a load of which it is known what it would read.
//
// For each load that a loop may repeat it is kept where it read last, what is there now, and in
// which activation of the loop that was. A store by the thread to that very place makes it what was
// stored; one that is known to stay away changes nothing; any other, and whatever synchronises,
// makes it unknown. That is all that may change it: other threads' stores to the place are races
// unless something synchronises in between (docs/internals/soundness.md, rule 5).
//
// A store stays away if the law of loop_values.h says so under conditions that the text has tested.
// The conditions are asked for anew, of the kernel's loop, in terms of what its registers held when
// it was entered; what the text has tested is read from the predicate that it branches by, as sums
// of products of the same terms. Before that branch is decided, a store leaves behind: what was
// there, if the predicate holds, something unknown otherwise.
//
// Where the address of a load moves, it is known what it has read in this round, and in the one
// before: each round of each activation has a token, and what is kept is of no use with another
// one. A load whose address the law says to be that of another one, of this round or the one
// before, reads what is kept of that one. What stores do to it the law says of either round.
//
// A load on which the end of the loop may depend is done each time: it may be polling. And what is
// kept of a load counts in one activation of its loop.

#include "synth/promote/promote.h"

#include "emulator/facts/waiting.h"
#include "emulator/semantics/effects.h"
#include "emulator/symbolic/generic.h"
#include "synth/promote/sites.h"
#include "synth/prove/walk.h"
#include "synth/test_reader.h"

#include <algorithm>
#include <map>
#include <set>

namespace ptxasw::synth::promote {
namespace {

using proof::Knowledge;
using proof::Side;
using proof::Term;

constexpr std::size_t most_sources = 16; ///< of a load

class RepeatedLoads : public proof::Omissions {
public:
  RepeatedLoads(const Side &kernel, const Side &other, std::size_t first)
      : kernel_(kernel), other_(other), context_(kernel.module, kernel.function),
        cfg_(context_.cfg()), all_global_(generic_is_global(kernel.module)), next_(first),
        first_(first) {
    if (!cfg_.well_formed())
      return;
    for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop)
      if (!order_in(context_, loop))
        look_at(loop);
    for (const Instruction &one : other.function.instructions)
      if (one.guard != no_register && other.module.opcode(one).op == Op::bra &&
          other.is_added[one.guard])
        predicates_.insert(one.guard);
  }

  std::size_t values() const override { return next_ - first_; }

  void went(std::uint32_t from, std::uint32_t to, Knowledge &known) override {
    if (to >= kernel_.end())
      return;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const LoopState &loop = loops_[i];
      if (to != loop.header)
        continue;
      if (from == no_index || !cfg_.contains(loop.id, cfg_.block_of(from))) {
        known.values[loop.token] = known.values[loop.round] = kernel_.terms.fresh();
        for (const auto &[reg, place] : loop.at_entry)
          known.values[place] = known.values[kernel_.first + reg];
      } else {
        next_round(i, known);
      }
    }
  }

  void done(std::uint32_t at, const Knowledge &before, Knowledge &known) override {
    const Effect effect = effect_of(opcode(at));
    for (const LoadState &load : loads_)
      for (const Slot &slot : load.slots)
        if (effect == Effect::sync)
          forget(slot, known);
        else if (effect == Effect::store)
          stored(load, slot, at, before, known);
    for (const LoadState &load : loads_)
      if (load.instruction == at)
        has_read(load, address_of(at, before), known);
  }

  bool leave_out(std::uint32_t at, Knowledge &known) override {
    const auto address = address_of(at, known);
    if (!address)
      return false;
    std::optional<std::vector<Term>> parts;
    for (const LoadState &load : loads_) {
      if (load.instruction != at || load.decides_end)
        continue;
      std::vector<const Slot *> same;
      const Slot &own = load.slots[0];
      if (known.values[own.address] == address &&
          known.values[own.token] == known.values[loops_[load.loop].token])
        same.push_back(&own);
      for (const Source &source : load.sources)
        if (const LoadState &from = loads_[source.load];
            is_current(from, from.slots[source.ago], known) &&
            shown(load.loop, source.needed, known).by == Shown::By::decided)
          same.push_back(&from.slots[source.ago]);
      for (const Slot *slot : same)
        if (!parts || !is_held(*parts, known))
          parts = read_from(*slot, known);
    }
    if (!parts)
      return false;
    const Instruction &left_out = kernel_.function.instructions[at];
    kernel_.write(kernel_.written(left_out), *parts, left_out, known, false);
    for (const LoadState &load : loads_)
      if (load.instruction == at)
        has_read(load, address, known);
    return true;
  }

private:
  struct LoopState {
    LoopId id = 0;
    std::uint32_t header = 0;                   ///< its first instruction
    std::size_t token = 0;                      ///< where its activation is kept
    std::size_t round = 0;                      ///< where its round is
    std::map<RegisterId, std::size_t> at_entry; ///< where what registers held then is kept
  };

  /// By store, under which conditions the law says something.
  using Law = std::map<std::uint32_t, std::vector<Condition>>;

  /// What a load has read: where things are kept.
  struct Slot {
    std::size_t address = 0, token = 0;
    std::size_t round = 0; ///< the loop's own: of this round, or of the one before
    std::vector<std::size_t> parts;
    Law apart; ///< which stores stay away from the place
    Law same;  ///< which write to it
  };

  /// Another load that has read what a load would read.
  struct Source {
    std::size_t load = 0; ///< in loads_
    unsigned ago = 0;     ///< rounds
    std::vector<Condition> needed;
  };

  struct LoadState {
    std::uint32_t instruction = 0;
    std::size_t loop = 0;     ///< in loops_
    bool moves = false;       ///< its address does, from round to round
    bool decides_end = false; ///< of that loop, maybe: it may be polling, and is done each time
    std::vector<RegisterId> to;
    std::vector<Slot> slots; ///< of this round or any; of the round before, where the address moves
    std::vector<Source> sources;
  };

  std::size_t place() { return next_++; }

  const Opcode &opcode(std::uint32_t i) const {
    return kernel_.module.opcode(kernel_.function.instructions[i]);
  }

  void look_at(LoopId id) {
    LoopValues values(kernel_.module, kernel_.function, cfg_, id, atoms_);
    LoopState loop{id, cfg_.blocks()[cfg_.loops()[id].header].first, place(), place(), {}};
    std::set<RegisterId> leaves;
    const std::size_t first = loads_.size();
    for (const std::uint32_t i : instructions_of(cfg_, id)) {
      const Instruction &one = kernel_.function.instructions[i];
      if (!is_repeatable(kernel_.module.opcode(one)) || one.guard != no_register)
        continue;
      LoadState load;
      load.instruction = i;
      load.loop = loops_.size();
      load.to = kernel_.written(one);
      std::vector<Condition> ignored;
      const auto address = values.address(i, ignored);
      load.moves = address && !address->step.is_zero();
      load.decides_end = facts::decides_end(kernel_.module, kernel_.function, cfg_, id, i);
      loads_.push_back(std::move(load));
    }
    std::set<std::size_t> used;
    for (std::size_t i = first; i < loads_.size(); ++i)
      find_sources(i, first, values, used, leaves);
    for (std::size_t i = first; i < loads_.size(); ++i) {
      LoadState &load = loads_[i];
      add_slot(id, load, 0, values, leaves);
      if (load.moves && used.contains(i))
        add_slot(id, load, 1, values, leaves);
    }
    for (const RegisterId reg : leaves)
      loop.at_entry.emplace(reg, place());
    loops_.push_back(std::move(loop));
  }

  /// The loads of the loop, from `first` on, that read before what one of them would read.
  void find_sources(std::size_t load, std::size_t first, LoopValues &values,
                    std::set<std::size_t> &used, std::set<RegisterId> &leaves) {
    for (const unsigned ago : {0U, 1U})
      for (std::size_t i = first; i < loads_.size(); ++i) {
        const std::uint32_t source = loads_[i].instruction, own = loads_[load].instruction;
        if (source == own || !loads_[i].moves || loads_[load].sources.size() == most_sources ||
            !reads_alike(context_, source, own))
          continue;
        if (auto needed = values.meets(source, own, ago)) {
          collect(*needed, leaves);
          loads_[load].sources.push_back({i, ago, std::move(*needed)});
          if (ago == 1)
            used.insert(i);
        }
      }
  }

  void add_slot(LoopId id, LoadState &load, unsigned ago, LoopValues &values,
                std::set<RegisterId> &leaves) {
    Slot slot{place(), place(), place(), {}, {}, {}};
    for (std::size_t i = 0; i < load.to.size(); ++i)
      slot.parts.push_back(place());
    for (const std::uint32_t store : instructions_of(cfg_, id)) {
      if (effect_of(opcode(store)) != Effect::store)
        continue;
      auto same = values.meets(load.instruction, store, ago);
      const bool is_same = same.has_value();
      auto found = same ? std::move(same) : values.apart(load.instruction, store, ago);
      if (!found)
        continue;
      collect(*found, leaves);
      (is_same ? slot.same : slot.apart).emplace(store, std::move(*found));
    }
    load.slots.push_back(std::move(slot));
  }

  void collect(const std::vector<Condition> &conditions, std::set<RegisterId> &leaves) const {
    for (const Condition &condition : conditions)
      for (const Polynomial *one : {&condition.value, &condition.way})
        leaves.merge(atoms_.leaves(*one));
  }

  std::optional<Term> address_of(std::uint32_t at, const Knowledge &known) const {
    for (const Operand &one : kernel_.module.operands(kernel_.function.instructions[at]))
      if (const auto address = kernel_.address(one, known))
        return address;
    return std::nullopt;
  }

  void forget(const Slot &slot, Knowledge &known) const {
    for (const std::size_t part : slot.parts)
      known.values[part] = kernel_.terms.fresh();
  }

  /// A load has read, or would have, what its registers hold now.
  void has_read(const LoadState &load, std::optional<Term> address, Knowledge &known) const {
    const Slot &slot = load.slots[0];
    known.values[slot.address] = address ? *address : kernel_.terms.fresh();
    known.values[slot.token] = known.values[loops_[load.loop].token];
    known.values[slot.round] = known.values[loops_[load.loop].round];
    for (std::size_t i = 0; i < load.to.size(); ++i)
      known.values[slot.parts[i]] = known.values[kernel_.first + load.to[i]];
    keep_if_tested(load, slot, known);
  }

  void next_round(std::size_t loop, Knowledge &known) const {
    const Term ended = known.values[loops_[loop].round], begins = kernel_.terms.fresh();
    for (const LoadState &load : loads_) {
      if (load.loop != loop || load.slots.size() < 2)
        continue;
      const Slot &now = load.slots[0], &before = load.slots[1];
      known.values[before.address] = known.values[now.address];
      known.values[before.token] = known.values[now.token];
      known.values[before.round] =
          known.values[now.round] == ended ? begins : kernel_.terms.fresh();
      for (std::size_t i = 0; i < now.parts.size(); ++i)
        known.values[before.parts[i]] = known.values[now.parts[i]];
    }
    known.values[loops_[loop].round] = begins;
  }

  /// Returns true if the law speaks of what is in a slot.
  bool is_current(const LoadState &load, const Slot &slot, const Knowledge &known) const {
    const LoopState &loop = loops_[load.loop];
    return known.values[slot.token] == known.values[loop.token] &&
           (!load.moves || known.values[slot.round] == known.values[loop.round]);
  }

  static std::vector<Term> read_from(const Slot &slot, const Knowledge &known) {
    std::vector<Term> parts;
    for (const std::size_t part : slot.parts)
      parts.push_back(known.values[part]);
    return parts;
  }

  /// Returns true if the other function has all of them in registers that the kernel lacks. Of
  /// loads that have read the same place it has chosen one to keep, and what they gave is not known
  /// to be equal.
  bool is_held(const std::vector<Term> &parts, const Knowledge &known) const {
    return std::all_of(parts.begin(), parts.end(), [&](Term part) {
      for (RegisterId reg = 0; reg < other_.is_added.size(); ++reg)
        if (other_.is_added[reg] && known.values[other_.first + reg] == part)
          return true;
      return false;
    });
  }

  void stored(const LoadState &load, const Slot &slot, std::uint32_t at, const Knowledge &before,
              Knowledge &known) const {
    const Spaces spaces = spaces_of(opcode(load.instruction), opcode(at), all_global_);
    if (spaces == Spaces::apart)
      return;
    if (spaces == Spaces::unknown) {
      forget(slot, known);
      return;
    }
    const bool current = is_current(load, slot, before);
    const auto to = address_of(at, before);
    if (to && to == before.values[slot.address]) {
      if (overwritten(load, slot, at, before, known)) {
        keep_if_tested(load, slot, known);
        return;
      }
    } else if (const auto same = slot.same.find(at); current && same != slot.same.end()) {
      const Shown how = shown(load.loop, same->second, before);
      if (how.by != Shown::By::nothing && overwritten(load, slot, at, before, known)) {
        keep(how, slot, known);
        return;
      }
    }
    const auto apart = slot.apart.find(at);
    keep(current && apart != slot.apart.end() ? shown(load.loop, apart->second, before) : Shown(),
         slot, known);
  }

  /// A store writes to the place; returns true if it is known what is there now.
  bool overwritten(const LoadState &load, const Slot &slot, std::uint32_t at,
                   const Knowledge &before, Knowledge &known) const {
    const Operand *const value = forwarded(context_, load.instruction, at);
    if (!value)
      return false;
    const Instruction &store = kernel_.function.instructions[at];
    Term &now = known.values[slot.parts[0]];
    const Term next =
        kernel_.kept(kernel_.value(*value, before), bit_width(opcode(load.instruction).type));
    if (kernel_.decided(store, before))
      now = next;
    else
      now = store.guard_negated ? kernel_.terms.choice(kernel_.guard(store, before), now, next)
                                : kernel_.terms.choice(kernel_.guard(store, before), next, now);
    return true;
  }

  /// What shows that conditions hold.
  struct Shown {
    enum class By : std::uint8_t {
      nothing,
      decided,   ///< what is decided has tested them
      predicate, ///< they do if this one does, which is not decided yet
    } by = By::nothing;
    Term predicate = 0;
  };

  Shown shown(std::size_t of, const std::vector<Condition> &needed, const Knowledge &known) const {
    const LoopState &loop = loops_[of];
    TermReader reader(kernel_.terms);
    const auto held = [&](RegisterId reg) { return known.values[loop.at_entry.at(reg)]; };
    std::vector<Condition> conditions;
    conditions.reserve(needed.size());
    for (const Condition &condition : needed)
      conditions.push_back(reader.in_terms(condition, atoms_, held));
    const auto all_hold = [&](const Tested &tested) {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const Condition &one) { return tested.holds(one); });
    };
    Tested tested(reader);
    for (const auto &[term, holds] : known.truth)
      if (holds)
        tested.add(term);
    if (all_hold(tested))
      return {Shown::By::decided, 0};
    for (const RegisterId reg : predicates_) {
      const Term predicate = known.values[other_.first + reg];
      Tested more = tested;
      more.add(predicate);
      if (!known.truth.contains(predicate) && all_hold(more))
        return {Shown::By::predicate, predicate};
    }
    return {};
  }

  /// What is in a slot stays known as far as something is shown.
  void keep(const Shown &how, const Slot &slot, Knowledge &known) const {
    if (how.by == Shown::By::nothing) {
      forget(slot, known);
    } else if (how.by == Shown::By::predicate) {
      std::map<Term, Term> decided;
      for (const std::size_t part : slot.parts)
        known.values[part] = kernel_.terms.choice(
            how.predicate, kernel_.terms.decided(known.values[part], how.predicate, true, decided),
            kernel_.terms.fresh());
    }
  }

  /// Where a value becomes known that only a test will keep, it is known under that test at once: a
  /// way on which stores follow then meets one without them.
  void keep_if_tested(const LoadState &load, const Slot &slot, Knowledge &known) const {
    for (const Slot &one : load.slots)
      for (const Law *law : {&one.apart, &one.same})
        for (const auto &[store, needed] : *law)
          if (const Shown how = shown(load.loop, needed, known); how.by == Shown::By::predicate) {
            keep(how, slot, known);
            return;
          }
  }

  const Side &kernel_;
  const Side &other_;
  const KernelContext context_; ///< the kernel's
  const ControlFlowGraph &cfg_;
  const bool all_global_;
  std::size_t next_;
  const std::size_t first_;
  Atoms atoms_;
  std::vector<LoopState> loops_;
  std::vector<LoadState> loads_;
  std::set<RegisterId> predicates_; ///< by which the version alone branches
};

} // namespace
} // namespace ptxasw::synth::promote

namespace ptxasw::synth {

proof::Proved prove_promoted(const Module &before, const Function &kernel, const Module &after,
                             const Function &promoted) {
  if (lanes_obstacle(before, kernel))
    return proof::not_proved("the kernel asks which lanes are together");
  return proof::prove_same(
      before, kernel, after, promoted,
      {.own_branches = true,
       .omissions = [](const proof::Side &own, const proof::Side &other, std::size_t first) {
         return std::make_unique<promote::RepeatedLoads>(own, other, first);
       }});
}

} // namespace ptxasw::synth
