// The proof of promotion: kernel and version run beside each other (synth/beside/same.h), and the
// version may leave out a load of which it is known what it would read.
//
// For each load that a loop may repeat it is kept where it read last, what is there now, and in
// which activation of the loop that was. A store by the thread to that very place makes it what was
// stored; one that is known to stay away changes nothing; any other, and whatever synchronises,
// makes it unknown. That is all that may change it: other threads' stores to the place are races
// unless something synchronises in between (docs/soundness.md, rule 5).
//
// A store stays away if the law of loop_values.h says so under conditions that the text has tested.
// The conditions are asked for anew, of the kernel's loop, in terms of what its registers held when
// it was entered; what the text has tested is read from the predicate that it branches by, as sums
// of products of the same terms. Before that branch is decided, a store leaves behind: what was
// there, if the predicate holds, something unknown otherwise.

#include "synth/promote/prove.h"

#include "emulator/semantics/effects.h"
#include "emulator/symbolic/generic.h"
#include "synth/promote/promote.h"
#include "synth/promote/sites.h"

#include <algorithm>
#include <map>
#include <set>

namespace ptxasw::promote {
namespace {

using beside::Knowledge;
using beside::Side;
using beside::Term;
using beside::term_mark;
using beside::Terms;

constexpr double exact_limit = 9e18;    ///< less than 2^63
constexpr std::size_t longest_sum = 64; ///< of what is taken apart

/// Reads terms as polynomials whose leaves are terms.
class TermReader {
public:
  explicit TermReader(Terms &terms) : terms_(terms) {}

  /// Of 64 bits.
  Polynomial wide(Term term) {
    if (const auto found = known_.find(term); found != known_.end())
      return found->second;
    Polynomial result = taken_apart(term);
    if (result.terms().size() > longest_sum)
      result = atoms.word(term);
    known_.emplace(term, result);
    return result;
  }

  /// Of 32 bits, sign-extended.
  Polynomial narrow(Term term) {
    const auto number = terms_.number_of(term);
    return number ? Polynomial(static_cast<std::int32_t>(*number)) : atoms.narrow(term);
  }

  /// What an instruction computed a term from, if all of it are terms, and the term is all that it
  /// computed: `setp` may give two results.
  std::optional<std::vector<Term>> made_by(std::string_view opcode, Term term) {
    const beside::TermKey &key = terms_.key(term);
    if (key[0] != 3 || key[1] != terms_.text(opcode) || key.size() < 3 || key[2] == 0)
      return std::nullopt;
    const std::size_t end = 3 + 4 * (key[2] - 1); // of the sources; then Side::shape(), part, width
    if (key.size() != end + 5 || key[end] != static_cast<std::uint64_t>(Operand::Kind::reg) ||
        key[end + 1] != 0 || key[end + 2] != 0 || key[end + 3] != 0)
      return std::nullopt;
    std::vector<Term> from;
    for (std::size_t i = 1; i < key[2]; ++i) {
      const std::size_t at = 3 + 4 * (i - 1);
      if (key[at] != 0 || key[at + 1] != 0 || key[at + 2] != 100 || (key[at + 3] & term_mark) == 0)
        return std::nullopt;
      from.push_back(static_cast<Term>(key[at + 3] & ~term_mark));
    }
    return from;
  }

  /// A term as another one plus a number.
  std::pair<Term, std::int64_t> with_number(Term term) const {
    const beside::TermKey &key = terms_.key(term);
    return key[0] == 4 ? std::pair(part(key[1]), static_cast<std::int64_t>(key[2] << 32 | key[3]))
                       : std::pair(term, std::int64_t{0});
  }

  Atoms atoms;

private:
  static Term part(std::uint64_t word) { return static_cast<Term>(word & ~term_mark); }

  /// x of max(x, 0).
  std::optional<Term> at_least_zero(Term term) {
    const auto from = made_by("max.s64", term);
    return from && from->size() == 2 && terms_.number_of((*from)[1]) == 0
               ? std::optional((*from)[0])
               : std::nullopt;
  }

  Polynomial taken_apart(Term term) {
    if (const auto number = terms_.number_of(term))
      return Polynomial(*number);
    const beside::TermKey key = terms_.key(term);
    if (key[0] == 4)
      return wide(part(key[1])) + Polynomial(with_number(term).second);
    if (key[0] == 5)
      return wide(part(key[1])) + wide(part(key[2]));
    if (const auto from = made_by("sub.s64", term))
      return wide((*from)[0]) - wide((*from)[1]);
    if (const auto from = made_by("mul.lo.s64", term))
      return wide((*from)[0]) * wide((*from)[1]);
    if (const auto from = made_by("cvt.s64.s32", term))
      return narrow((*from)[0]);
    if (const auto distance = at_least_zero(term))
      return atoms.rounds(wide(*distance), 1);
    if (const auto from = made_by("div.s64", term)) {
      const auto distance = at_least_zero((*from)[0]);
      const auto step = terms_.number_of((*from)[1]);
      if (distance && step && *step > 0)
        return atoms.rounds(wide(*distance), *step);
    }
    return atoms.word(term);
  }

  Terms &terms_;
  std::map<Term, Polynomial> known_;
};

/// What predicates that hold have tested.
class Tested {
public:
  Tested(TermReader &reader, Terms &terms) : reader_(reader), terms_(terms) {}

  void add(Term predicate) {
    if (!seen_.insert(predicate).second)
      return;
    if (const auto both = reader_.made_by("and.pred", predicate)) {
      add((*both)[0]);
      add((*both)[1]);
    } else if (const auto either = reader_.made_by("or.pred", predicate)) {
      either_.emplace_back((*either)[0], (*either)[1]);
    } else if (const auto ge = reader_.made_by("setp.ge.s64", predicate)) {
      add_order((*ge)[0], (*ge)[1]);
    } else if (const auto eq = reader_.made_by("setp.eq.s64", predicate)) {
      const auto rest = reader_.made_by("and.b64", (*eq)[0]);
      const auto mask = rest ? terms_.number_of((*rest)[1]) : std::nullopt;
      if (mask && terms_.number_of((*eq)[1]) == 0)
        multiples_.emplace_back(reader_.wide((*rest)[0]), *mask + 1);
    }
  }

  /// `value` and `way` are of terms.
  bool holds(const Condition &condition) {
    const auto number = condition.value.number();
    switch (condition.kind) {
    case Condition::Kind::multiple:
      if (number)
        return *number % condition.of == 0;
      return std::any_of(multiples_.begin(), multiples_.end(), [&](const auto &known) {
        return known.first == condition.value && known.second == condition.of;
      });
    case Condition::Kind::apart:
      return is_apart(condition);
    case Condition::Kind::not_negative:
      break;
    }
    if (number)
      return *number >= 0;
    return std::any_of(not_negative_.begin(), not_negative_.end(), [&](const Polynomial &known) {
      const auto more = (condition.value - known).number();
      return more && *more >= 0;
    });
  }

private:
  /// What is larger has no number in it, what is smaller is one. So what says that rounds are few
  /// is their number alone, negated, against a number, and is right however many there are; all
  /// other magnitudes rest on that, which every condition on rounds comes with.
  void add_order(Term larger, Term smaller) {
    const Polynomial a = reader_.wide(larger), b = reader_.wide(smaller);
    if (b.number() && !a.terms().contains({}) &&
        reader_.atoms.magnitude(a) + reader_.atoms.magnitude(b) < exact_limit)
      not_negative_.push_back(a - b);
  }

  /// limit = opcode(way, 0) + bytes, or bytes alone where there is no way; how many bytes.
  std::optional<std::int64_t> bytes_of(Term limit, std::string_view opcode, const Polynomial &way) {
    if (const auto number = terms_.number_of(limit))
      return way.is_zero() ? number : std::nullopt;
    const auto [base, bytes] = reader_.with_number(limit);
    const auto from = reader_.made_by(opcode, base);
    return from && from->size() == 2 && terms_.number_of((*from)[1]) == 0 &&
                   reader_.wide((*from)[0]) == way
               ? std::optional(bytes)
               : std::nullopt;
  }

  bool is_apart(const Condition &condition) {
    const auto is = [&](Term predicate, std::string_view test, std::string_view limit,
                        auto enough) {
      const auto from = reader_.made_by(test, predicate);
      if (!from || reader_.wide((*from)[0]) != condition.value)
        return false;
      const auto bytes = bytes_of((*from)[1], limit, condition.way);
      return bytes && enough(*bytes);
    };
    const auto either = [&](Term a, Term b) {
      return is(a, "setp.ge.s64", "max.s64",
                [&](std::int64_t bytes) { return bytes == condition.stored; }) &&
             is(b, "setp.le.s64", "min.s64",
                [&](std::int64_t bytes) { return bytes == -std::int64_t{condition.loaded}; });
    };
    return std::any_of(either_.begin(), either_.end(), [&](const auto &one) {
      return either(one.first, one.second) || either(one.second, one.first);
    });
  }

  TermReader &reader_;
  Terms &terms_;
  std::set<Term> seen_;
  std::vector<Polynomial> not_negative_;
  std::vector<std::pair<Polynomial, std::int64_t>> multiples_;
  std::vector<std::pair<Term, Term>> either_; ///< one of each holds
};

class RepeatedLoads : public beside::Omissions {
public:
  RepeatedLoads(const Side &kernel, const Side &other, std::size_t first)
      : kernel_(kernel), other_(other), cfg_(kernel.module, kernel.function),
        all_global_(generic_is_global(kernel.module)), next_(first), first_(first) {
    if (!cfg_.well_formed())
      return;
    for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop)
      if (is_plain(kernel.module, kernel.function, cfg_, loop))
        look_at(loop);
    std::set<std::string_view> own;
    for (const Register &reg : kernel.function.registers)
      own.insert(reg.name);
    std::set<RegisterId> predicates;
    for (const Instruction &one : other.function.instructions)
      if (one.guard != no_register && other.module.opcode(one).op == Op::bra &&
          !own.contains(other.function.registers[one.guard].name))
        predicates.insert(one.guard);
    predicates_.assign(predicates.begin(), predicates.end());
  }

  std::size_t values() const override { return next_ - first_; }

  void went(std::uint32_t from, std::uint32_t to, Knowledge &known) override {
    if (to >= kernel_.end())
      return;
    for (const LoopState &loop : loops_)
      if (to == loop.header && (from == no_index || !cfg_.contains(loop.id, cfg_.block_of(from)))) {
        known.values[loop.token] = kernel_.terms.fresh();
        for (const auto &[reg, place] : loop.at_entry)
          known.values[place] = known.values[kernel_.first + reg];
      }
  }

  void done(std::uint32_t at, const Knowledge &before, Knowledge &known) override {
    const Instruction &instruction = kernel_.function.instructions[at];
    const Effect effect = effect_of(kernel_.module.opcode(instruction));
    if (effect == Effect::sync) {
      for (const LoadState &load : loads_)
        forget(load, known);
    } else if (effect == Effect::store) {
      for (const LoadState &load : loads_)
        stored(load, at, before, known);
    }
    for (const LoadState &load : loads_) {
      if (load.instruction != at)
        continue;
      known.values[load.address] = *address_of(at, before);
      known.values[load.token] = known.values[loops_[load.loop].token];
      for (const auto &[reg, place] : load.parts)
        known.values[place] = known.values[kernel_.first + reg];
      keep_if_tested(load, before, known);
    }
  }

  bool tests(RegisterId reg) const override {
    return std::find(predicates_.begin(), predicates_.end(), reg) != predicates_.end();
  }

  bool leave_out(std::uint32_t at, Knowledge &known) override {
    for (const LoadState &load : loads_) {
      if (load.instruction != at || known.values[load.address] != address_of(at, known))
        continue;
      std::vector<Term> parts;
      for (const auto &[reg, place] : load.parts)
        parts.push_back(known.values[place]);
      for (std::size_t i = 0; i < parts.size(); ++i)
        kernel_.write(load.parts[i].first, parts[i], kernel_.function.instructions[at], known,
                      false);
      return true;
    }
    return false;
  }

private:
  /// Registers of the kernel, and where a value of each is kept.
  using Places = std::vector<std::pair<RegisterId, std::size_t>>;

  struct LoopState {
    LoopId id = 0;
    std::uint32_t header = 0; ///< its first instruction
    std::size_t token = 0;    ///< where its activation is kept
    Places at_entry;
  };

  struct LoadState {
    std::uint32_t instruction = 0;
    std::size_t loop = 0; ///< in loops_
    std::size_t address = 0, token = 0;
    Places parts;
    std::map<std::uint32_t, std::vector<Condition>> apart; ///< by store
  };

  std::size_t place() { return next_++; }

  void look_at(LoopId id) {
    LoopValues values(kernel_.module, kernel_.function, cfg_, id, atoms_);
    LoopState loop{id, cfg_.blocks()[cfg_.loops()[id].header].first, place(), {}};
    std::set<RegisterId> leaves;
    for (std::uint32_t i = 0; i < kernel_.end(); ++i) {
      const Instruction &one = kernel_.function.instructions[i];
      if (!contains(id, i) || !is_repeatable(kernel_.module.opcode(one)) ||
          !values.runs_in_each_round(i) || !has_wide_address(i))
        continue;
      LoadState load{i, loops_.size(), place(), place(), {}, {}};
      std::vector<RegisterId> to;
      kernel_.written(kernel_.module.operands(one)[0], to);
      for (const RegisterId reg : to)
        load.parts.emplace_back(reg, place());
      for (std::uint32_t store = 0; store < kernel_.end(); ++store) {
        if (!contains(id, store) ||
            effect_of(kernel_.module.opcode(kernel_.function.instructions[store])) != Effect::store)
          continue;
        if (auto needed = values.apart(i, store)) {
          for (const Condition &condition : *needed)
            for (const Polynomial *one_of : {&condition.value, &condition.way})
              collect(*one_of, leaves);
          load.apart.emplace(store, std::move(*needed));
        }
      }
      loads_.push_back(std::move(load));
    }
    for (const RegisterId reg : leaves)
      loop.at_entry.emplace_back(reg, place());
    loops_.push_back(std::move(loop));
  }

  bool contains(LoopId loop, std::uint32_t i) const {
    const BlockId block = cfg_.block_of(i);
    return cfg_.reachable(block) && cfg_.contains(loop, block);
  }

  void collect(const Polynomial &value, std::set<RegisterId> &leaves) const {
    for (const auto &[product, factor] : value.terms())
      for (const AtomId one : product) {
        if (atoms_[one].kind == Atom::Kind::rounds)
          collect(atoms_[one].distance, leaves);
        else
          leaves.insert(atoms_[one].leaf);
      }
  }

  const Operand *address_operand(std::uint32_t at) const {
    for (const Operand &one : kernel_.module.operands(kernel_.function.instructions[at]))
      if (one.kind == Operand::Kind::address)
        return &one;
    return nullptr;
  }

  bool has_wide_address(std::uint32_t at) const {
    const Operand *const place = address_operand(at);
    if (!place)
      return false;
    const Operand &base = kernel_.module.children(*place)[0];
    return base.kind == Operand::Kind::reg && base.selector == 0 && !base.negated &&
           Side::width(kernel_.function.registers[base.reg]) == 64;
  }

  std::optional<Term> address_of(std::uint32_t at, const Knowledge &known) const {
    if (!has_wide_address(at))
      return std::nullopt;
    const Operand &place = *address_operand(at);
    return kernel_.terms.plus(kernel_.value(kernel_.module.children(place)[0], known), place.value);
  }

  void forget(const LoadState &load, Knowledge &known) const {
    for (const auto &[reg, place] : load.parts)
      known.values[place] = kernel_.terms.fresh();
  }

  void stored(const LoadState &load, std::uint32_t at, const Knowledge &before, Knowledge &known) {
    const Instruction &store = kernel_.function.instructions[at];
    const Opcode &reads = kernel_.module.opcode(kernel_.function.instructions[load.instruction]);
    const Spaces spaces = spaces_of(reads, kernel_.module.opcode(store), all_global_);
    if (spaces == Spaces::apart)
      return;
    if (spaces == Spaces::unknown) {
      forget(load, known);
      return;
    }
    if (const auto to = address_of(at, before); to && to == before.values[load.address])
      if (const Operand *const value =
              forwarded(kernel_.module, kernel_.function, load.instruction, at)) {
        Term &now = known.values[load.parts[0].second];
        const unsigned bits = bit_width(reads.type);
        const Term next = kernel_.kept(kernel_.value(*value, before), bits);
        if (kernel_.decided(store, before))
          now = next;
        else
          now = store.guard_negated ? kernel_.terms.choice(kernel_.guard(store, before), now, next)
                                    : kernel_.terms.choice(kernel_.guard(store, before), next, now);
        keep_if_tested(load, before, known);
        return;
      }
    keep_if_apart(load, at, before, known);
  }

  void keep_if_apart(const LoadState &load, std::uint32_t at, const Knowledge &before,
                     Knowledge &known) {
    const auto needed = load.apart.find(at);
    if (needed == load.apart.end() ||
        before.values[load.token] != before.values[loops_[load.loop].token]) {
      forget(load, known);
      return;
    }
    const Shown shown = apart_if(load, needed->second, before);
    if (shown.by == Shown::By::nothing)
      forget(load, known);
    else if (shown.by == Shown::By::predicate)
      keep_if(shown.predicate, load, known);
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

  Shown apart_if(const LoadState &load, const std::vector<Condition> &needed,
                 const Knowledge &known) const {
    const LoopState &loop = loops_[load.loop];
    TermReader reader(kernel_.terms);
    std::vector<Condition> conditions;
    for (Condition condition : needed) {
      condition.value = in_terms(condition.value, loop, known, reader);
      condition.way = in_terms(condition.way, loop, known, reader);
      conditions.push_back(std::move(condition));
    }
    const auto all_hold = [&](Tested &tested) {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const Condition &one) { return tested.holds(one); });
    };
    Tested tested(reader, kernel_.terms);
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

  /// What is there if a predicate holds is known; what else is not.
  void keep_if(Term predicate, const LoadState &load, Knowledge &known) const {
    std::map<Term, Term> decided;
    for (const auto &[own, place] : load.parts)
      known.values[place] = kernel_.terms.choice(
          predicate, kernel_.terms.decided(known.values[place], predicate, true, decided),
          kernel_.terms.fresh());
  }

  /// Where a value becomes known that only a test will keep, it is known under that test at once: a
  /// way on which stores follow then meets one without them.
  void keep_if_tested(const LoadState &load, const Knowledge &before, Knowledge &known) const {
    for (const auto &[store, needed] : load.apart)
      if (const Shown shown = apart_if(load, needed, before); shown.by == Shown::By::predicate) {
        keep_if(shown.predicate, load, known);
        return;
      }
  }

  /// What the kernel's registers held when the loop was entered stands for them.
  Polynomial in_terms(const Polynomial &value, const LoopState &loop, const Knowledge &known,
                      TermReader &reader) const {
    Polynomial sum;
    for (const auto &[product, factor] : value.terms()) {
      Polynomial term(static_cast<std::int64_t>(factor));
      for (const AtomId one : product)
        term = term * in_terms(atoms_[one], loop, known, reader);
      sum = sum + term;
    }
    return sum;
  }

  Polynomial in_terms(const Atom &atom, const LoopState &loop, const Knowledge &known,
                      TermReader &reader) const {
    if (atom.kind == Atom::Kind::rounds)
      return reader.atoms.rounds(in_terms(atom.distance, loop, known, reader), atom.step);
    const auto found = std::find_if(loop.at_entry.begin(), loop.at_entry.end(),
                                    [&](const auto &one) { return one.first == atom.leaf; });
    const Term term = known.values[found->second];
    return atom.kind == Atom::Kind::word ? reader.wide(term) : reader.narrow(term);
  }

  const Side &kernel_;
  const Side &other_;
  const ControlFlowGraph cfg_;
  const bool all_global_;
  std::size_t next_;
  const std::size_t first_;
  Atoms atoms_;
  std::vector<LoopState> loops_;
  std::vector<LoadState> loads_;
  std::vector<RegisterId> predicates_; ///< by which the version alone branches
};

} // namespace

std::unique_ptr<beside::Omissions> repeated_loads(const beside::Side &kernel,
                                                  const beside::Side &other, std::size_t first) {
  return std::make_unique<RepeatedLoads>(kernel, other, first);
}

} // namespace ptxasw::promote

namespace ptxasw {

std::string prove_promoted(const Module &before, const Function &kernel, const Module &after,
                           const Function &promoted) {
  for (const Instruction &instruction : kernel.instructions)
    if (asks_which_lanes(before.opcode(instruction)))
      return "the kernel asks which lanes are together";
  return beside::prove_same(before, kernel, after, promoted, promote::repeated_loads);
}

} // namespace ptxasw
