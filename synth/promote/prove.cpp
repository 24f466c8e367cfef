// The proof of promotion: kernel and version run beside each other (synth/prove/walk.h), and the
// version may leave out a load of which it is known what it would read.
//
// For each load that a loop may repeat it is kept where it read last, and what is there now. A
// store by the thread to that very place makes it what was stored; one that is known to stay away
// changes nothing; any other, and whatever synchronises, makes it unknown. That is all that may
// change it: other threads' stores to the place are races unless something synchronises in between
// (docs/internals/soundness.md, rule 5).
//
// A store stays away if the lemma of loop_values.h says so under conditions that the text has
// tested. The conditions are asked for anew, of the kernel's loop, in terms of what its registers
// held when it was entered; what the text has tested is read from the predicate that it branches
// by, as sums of products of the same terms. Before that branch is decided, a store leaves behind:
// what was there, if the predicate holds, something unknown otherwise.
//
// Where the address of a load moves, it is known what it has read in this iteration, and in the one
// before: where an iteration ends, the one becomes the other. A load whose address the lemma says
// to be that of another one, of this iteration or the one before, reads what is kept of that one.
// What stores do to it the lemma says of either iteration. Each iteration of each activation has a
// token, and what is kept is of no use with another one.
//
// A load on which the end of the loop may depend is done each time: it may be polling.

#include "emulator/facts/waiting.h"
#include "emulator/semantics/effects.h"
#include "emulator/symbolic/generic.h"
#include "grammar/roles.h"
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
        first_(first), always_(kernel.terms.number(1)) {
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
    for (const LoopState &loop : loops_) {
      if (to != loop.header)
        continue;
      if (from != no_index && cfg_.contains(loop.id, cfg_.block_of(from))) {
        next_round(loop, known);
        continue;
      }
      known.values[loop.activation] = known.values[loop.round] = kernel_.terms.fresh();
      for (const auto &[reg, place] : loop.at_entry)
        known.values[place] = known.values[kernel_.first + reg];
    }
  }

  void done(std::uint32_t at, const Knowledge &before, Knowledge &known) override {
    const Effect effect = effect_of(opcode(at));
    for (const LoopState &loop : loops_)
      for (const LoadState &load : loop.loads)
        for (const Slot &slot : load.slots)
          if (effect == Effect::sync)
            keep({}, slot, known);
          else if (effect == Effect::store)
            stored(loop, load, slot, at, before, known);
    has_read(at, address_of(at, before), known);
  }

  bool leave_out(std::uint32_t at, Knowledge &known) override {
    const auto address = address_of(at, known);
    const Slot *const slot = address ? slot_with(at, *address, known) : nullptr;
    if (!slot)
      return false;
    std::vector<Term> parts;
    for (const std::size_t part : slot->parts)
      parts.push_back(known.values[part]);
    const Instruction &left_out = kernel_.function.instructions[at];
    kernel_.write(kernel_.written(at), parts, left_out, known, false);
    has_read(at, address, known);
    return true;
  }

private:
  /// What the lemma says of a store and what a load has read, under conditions.
  struct Lemma {
    bool hits = false; ///< it writes to the place; else it stays away
    std::vector<Condition> needed;
  };

  /// What a load has read: where things are kept.
  struct Slot {
    std::size_t address = 0;
    std::size_t when = 0; ///< in which activation; where the address moves, in which round
    std::vector<std::size_t> parts;
    std::map<std::uint32_t, Lemma> lemmas; ///< by store
  };

  /// Another load that has read what a load would read.
  struct Source {
    std::size_t load = 0; ///< in LoopState::loads
    unsigned ago = 0;     ///< iterations
    std::vector<Condition> needed;
  };

  struct LoadState {
    std::uint32_t instruction = 0;
    bool moves = false;           ///< its address does, from round to round
    bool decides_end = false;     ///< of that loop, maybe: it may be polling, and is done each time
    std::vector<Slot> slots = {}; ///< of this iteration or any; of the one before, where it moves
    std::vector<Source> sources = {};
  };

  struct LoopState {
    LoopId id = 0;
    std::uint32_t header = 0;                        ///< its first instruction
    std::size_t activation = 0, round = 0;           ///< where tokens of them are kept
    std::map<RegisterId, std::size_t> at_entry = {}; ///< where what registers held then is kept
    std::vector<LoadState> loads = {};
  };

  const Opcode &opcode(std::uint32_t i) const {
    return kernel_.module.opcode(kernel_.function.instructions[i]);
  }

  void look_at(LoopId id) {
    LoopValues values(kernel_.module, kernel_.function, cfg_, id, atoms_);
    LoopState &loop = loops_.emplace_back(
        LoopState{id, cfg_.blocks()[cfg_.loops()[id].header].first, next_, next_ + 1});
    next_ += 2;
    for (const std::uint32_t i : instructions_of(cfg_, id)) {
      const Instruction &one = kernel_.function.instructions[i];
      if (!is_repeatable(opcode(i)) || one.guard != no_register)
        continue;
      std::vector<Condition> ignored;
      const auto address = values.address(i, ignored);
      loop.loads.push_back({i, address && !address->step.is_zero(),
                            facts::decides_end(kernel_.module, kernel_.function, cfg_, id, i)});
    }
    std::set<std::size_t> used; // in the next iteration
    for (LoadState &load : loop.loads)
      find_sources(load, values, loop, used);
    for (std::size_t i = 0; i < loop.loads.size(); ++i)
      for (unsigned ago = 0; ago <= used.count(i); ++ago)
        add_slot(loop.loads[i], ago, values, loop);
  }

  /// The loads of the loop that read before what one of them would read.
  void find_sources(LoadState &load, LoopValues &values, LoopState &loop,
                    std::set<std::size_t> &used) {
    for (const unsigned ago : {0U, 1U})
      for (std::size_t i = 0; i < loop.loads.size(); ++i) {
        const std::uint32_t source = loop.loads[i].instruction;
        if (source == load.instruction || !loop.loads[i].moves ||
            load.sources.size() == most_sources || !reads_alike(context_, source, load.instruction))
          continue;
        if (auto needed = values.meets(source, load.instruction, ago)) {
          keep_leaves(*needed, loop);
          load.sources.push_back({i, ago, std::move(*needed)});
          if (ago == 1)
            used.insert(i);
        }
      }
  }

  void add_slot(LoadState &load, unsigned ago, LoopValues &values, LoopState &loop) {
    Slot slot{next_, next_ + 1, {}, {}};
    next_ += 2;
    while (slot.parts.size() < kernel_.written(load.instruction).size())
      slot.parts.push_back(next_++);
    for (const std::uint32_t store : instructions_of(cfg_, loop.id)) {
      if (effect_of(opcode(store)) != Effect::store)
        continue;
      auto found = values.meets(load.instruction, store, ago);
      const bool hits = found.has_value();
      if (!hits)
        found = values.apart(load.instruction, store, ago);
      if (!found)
        continue;
      keep_leaves(*found, loop);
      slot.lemmas.emplace(store, Lemma{hits, std::move(*found)});
    }
    load.slots.push_back(std::move(slot));
  }

  void keep_leaves(const std::vector<Condition> &conditions, LoopState &loop) {
    for (const Condition &condition : conditions)
      for (const auto *one : {&condition.value, &condition.way})
        for (const RegisterId reg : atoms_.leaves(*one))
          if (loop.at_entry.try_emplace(reg, next_).second)
            ++next_;
  }

  std::optional<Term> address_of(std::uint32_t at, const Knowledge &known) const {
    const Operand *place = address_in(kernel_.module, kernel_.function.instructions[at]);
    return place ? kernel_.address(*place, known) : std::nullopt;
  }

  void next_round(const LoopState &loop, Knowledge &known) const {
    const Term ended = known.values[loop.round], begins = kernel_.terms.fresh();
    for (const LoadState &load : loop.loads) {
      const Slot &now = load.slots[0], &before = load.slots.back();
      if (load.slots.size() == 1)
        continue;
      known.values[before.address] = known.values[now.address];
      known.values[before.when] = known.values[now.when] == ended ? begins : kernel_.terms.fresh();
      for (std::size_t i = 0; i < now.parts.size(); ++i)
        known.values[before.parts[i]] = known.values[now.parts[i]];
    }
    known.values[loop.round] = begins;
  }

  /// The token that must be in a load's slots for the lemma to speak of what is there.
  static std::size_t now(const LoopState &loop, const LoadState &load) {
    return load.moves ? loop.round : loop.activation;
  }

  /// A load has read, or would have, what its registers hold now.
  void has_read(std::uint32_t at, std::optional<Term> address, Knowledge &known) const {
    for (const LoopState &loop : loops_)
      for (const LoadState &load : loop.loads) {
        if (load.instruction != at)
          continue;
        const Slot &slot = load.slots[0];
        known.values[slot.address] = address ? *address : kernel_.terms.fresh();
        known.values[slot.when] = known.values[now(loop, load)];
        for (std::size_t i = 0; i < slot.parts.size(); ++i)
          known.values[slot.parts[i]] = known.values[kernel_.first + kernel_.written(at)[i]];
        keep_if_tested(loop, load, slot, known);
      }
  }

  /// What a load from an address would read: of several the first that the other function has;
  /// null: that is not known.
  const Slot *slot_with(std::uint32_t at, Term address, const Knowledge &known) const {
    const Slot *found = nullptr;
    const auto is_current = [&](const LoopState &loop, const LoadState &load, const Slot &slot) {
      return known.values[slot.when] == known.values[now(loop, load)];
    };
    const auto consider = [&](const Slot &slot) {
      if (!found || !is_held(*found, known))
        found = &slot;
    };
    for (const LoopState &loop : loops_)
      for (const LoadState &load : loop.loads) {
        if (load.instruction != at || load.decides_end)
          continue;
        if (const Slot &own = load.slots[0];
            known.values[own.address] == address && is_current(loop, load, own))
          consider(own);
        for (const Source &source : load.sources) {
          const LoadState &from = loop.loads[source.load];
          const Slot &slot = from.slots[source.ago];
          if (is_current(loop, from, slot) && shown(loop, source.needed, known) == always_)
            consider(slot);
        }
      }
    return found;
  }

  /// Returns true if the other function has all that is in a slot in registers that the kernel
  /// lacks. Of loads that have read the same place it has chosen one to keep, and what they gave is
  /// not known to be equal.
  bool is_held(const Slot &slot, const Knowledge &known) const {
    return std::all_of(slot.parts.begin(), slot.parts.end(), [&](std::size_t part) {
      for (RegisterId reg = 0; reg < other_.is_added.size(); ++reg)
        if (other_.is_added[reg] && known.values[other_.first + reg] == known.values[part])
          return true;
      return false;
    });
  }

  void stored(const LoopState &loop, const LoadState &load, const Slot &slot, std::uint32_t at,
              const Knowledge &before, Knowledge &known) const {
    const Spaces spaces = spaces_of(opcode(load.instruction), opcode(at), all_global_);
    if (spaces == Spaces::apart)
      return;
    const auto to = address_of(at, before);
    const auto lemma = slot.lemmas.find(at);
    const bool comparable = spaces == Spaces::comparable;
    const bool told =
        lemma != slot.lemmas.end() && before.values[slot.when] == before.values[now(loop, load)];
    const bool here = comparable && to && to == before.values[slot.address];
    std::optional<Term> how = here                 ? std::optional(always_)
                              : comparable && told ? shown(loop, lemma->second.needed, before)
                                                   : std::nullopt;
    if (how && (here || lemma->second.hits) && !overwritten(load, slot, at, before, known))
      how = std::nullopt;
    if (here && how)
      keep_if_tested(loop, load, slot, known);
    else
      keep(how, slot, known);
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
    now = kernel_.decided(store, before)
              ? next
              : kernel_.under(kernel_.guard(store, before), store, next, now);
    return true;
  }

  /// The predicate that conditions hold with, as far as is tested: always_, or one that is not
  /// decided yet; nothing if that is not known.
  std::optional<Term> shown(const LoopState &loop, const std::vector<Condition> &needed,
                            const Knowledge &known) const {
    TermReader reader(kernel_.terms);
    const auto held = [&](RegisterId reg) { return known.values[loop.at_entry.at(reg)]; };
    std::vector<Condition> conditions = needed;
    for (Condition &condition : conditions)
      condition = reader.in_terms(condition, atoms_, held);
    const auto all_hold = [&](const Tested &tested) {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const Condition &one) { return tested.holds(one); });
    };
    Tested tested(reader);
    for (const auto &[term, holds] : known.truth)
      if (holds)
        tested.add(term);
    if (all_hold(tested))
      return always_;
    for (const RegisterId reg : predicates_) {
      const Term predicate = known.values[other_.first + reg];
      Tested more = tested;
      more.add(predicate);
      if (!known.truth.contains(predicate) && all_hold(more))
        return predicate;
    }
    return std::nullopt;
  }

  /// What is in a slot stays known under a predicate, or not at all.
  void keep(std::optional<Term> how, const Slot &slot, Knowledge &known) const {
    std::map<Term, Term> decided;
    for (const std::size_t part : slot.parts) {
      Term &value = known.values[part];
      if (!how)
        value = kernel_.terms.fresh();
      else if (*how != always_)
        value = kernel_.terms.choice(*how, kernel_.terms.decided(value, *how, true, decided),
                                     kernel_.terms.fresh());
    }
  }

  /// Where a value becomes known that only a test will keep, it is known under that test at once: a
  /// way on which stores follow then meets one without them.
  void keep_if_tested(const LoopState &loop, const LoadState &load, const Slot &slot,
                      Knowledge &known) const {
    for (const Slot &one : load.slots)
      for (const auto &[store, lemma] : one.lemmas)
        if (const auto how = shown(loop, lemma.needed, known); how && *how != always_)
          return keep(how, slot, known);
  }

  const Side &kernel_;
  const Side &other_;
  const KernelContext context_; ///< the kernel's
  const ControlFlowGraph &cfg_;
  const bool all_global_;
  std::size_t next_;
  const std::size_t first_;
  const Term always_;
  Atoms atoms_;
  std::vector<LoopState> loops_;
  std::set<RegisterId> predicates_; ///< by which the version alone branches
};

} // namespace

proof::Proved prove_promoted(const Module &before, const Function &kernel, const Module &after,
                             const Function &promoted) {
  if (lanes_obstacle(before, kernel))
    return proof::not_proved("the kernel asks which lanes are together");
  return proof::prove_same(
      before, kernel, after, promoted,
      {.omissions = [](const proof::Side &own, const proof::Side &other, std::size_t first) {
        return std::make_unique<RepeatedLoads>(own, other, first);
      }});
}

} // namespace ptxasw::synth::promote
