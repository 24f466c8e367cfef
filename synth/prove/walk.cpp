// Both functions run beside each other for one thread. A thread's steps are seen from outside as
// the sequence of what it does besides computing: accesses, barriers, everything that is not known
// to compute from its operands alone. The claim is that both do the same sequence, with the same
// operands, and that each gets the same results.
//
// The walk is over pairs of places, one in each function, at which something of that kind comes
// next, or a branch that is not decided. At a pair it is known which registers hold the same value,
// which hold a number, and which predicates are decided (terms.h). A branch of the kernel is walked
// both ways, with its predicate decided; the rewritten function waits for that where it chooses by
// that predicate, with selp or under a guard, and so it is known what. A branch of its own is
// walked both ways, too, where it may have any; but it must not come back to it while the kernel
// stands still, so that no thread stays in a loop that is not the kernel's. Where several ways come
// to one pair, what holds on all of them is kept, and the pair is walked again if that is less than
// before.
//
// So whatever a thread finds, it does what it did, and in the same order. Lanes see each other only
// at barriers and collectives, which are among what is compared and must belong to each other one
// by one, and by races, which PTX gives no meaning.
//
// A load may be done early (Liberties::loads_ahead): the other function then steps alone, and the
// kernel later, when it comes to the same load from the same address, on a way without a branch. A
// weak load is seen by nobody else. It reads what the kernel's would if no store in between writes
// its bytes: because nothing does while the kernel runs (`.nc`, PTX ISA 9.7.9.8), because they lie
// in different state spaces, or because a branch was taken by which the addresses are so far apart:
//
//     sub.s64 %t, %load, %store;   add.s64 %t, %t, bytes of the load - 1;
//     setp.lt.u64 %p, %t, bytes of the load + bytes of the store - 1;      false
//
// Weak accesses of one thread to different places have no order that others could see (PTX ISA
// 8.9.1), and a barrier or whatever else orders is not passed.
//
// Loads of which it is known what they would read (Omissions) may be left out: the kernel then
// steps alone. A load that is not ordered is seen by nobody else.

#include "synth/prove/walk.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "synth/prove/header.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::proof {
namespace {

/// Of all pragmas the one that changes no value.
constexpr std::string_view harmless_pragma = "nounroll";

/// Registers that are looked at, and sixteen for an instruction.
constexpr std::size_t effort_budget = 64'000'000;
/// In how many steps a value may be made from registers so that this is known; and the same where
/// one function may lag behind the other.
constexpr unsigned usual_depth = 6, longest_lag = 240;

class SameProof {
public:
  SameProof(const Module &before, const Function &kernel, const Module &after,
            const Function &other, const Liberties &liberties)
      : loads_ahead_(liberties.loads_ahead),
        own_branches_(liberties.loads_ahead || liberties.omissions),
        kernel_(before, kernel, 0, terms_, kernel),
        other_(after, other, kernel.registers.size(), terms_, kernel) {
    terms_.sums_as_written = liberties.loads_ahead;
    const std::size_t registers = kernel.registers.size() + other.registers.size();
    omissions_ = liberties.omissions ? liberties.omissions(kernel_, other_, registers)
                                     : std::make_unique<Omissions>();
    first_early_ = registers + omissions_->values();
    kernel_.went = [this](Position from, Position to, Knowledge &known) {
      omissions_->went(from, to, known);
    };
  }

  void run() {
    Knowledge known = initial();
    kernel_.went(no_index, 0, known);
    arrive(0, 0, std::move(known));
    while (!open_.empty()) {
      const auto [mine, theirs] = *open_.begin();
      open_.erase(open_.begin());
      step(mine, theirs, known_.at({mine, theirs}));
    }
  }

private:
  using Position = std::uint32_t;
  using Pair = std::pair<Position, Position>; ///< the kernel's and the other function's

  [[noreturn]] void fail(Position theirs, std::string_view why) const {
    const auto &list = other_.function.instructions;
    throw NotProved{fmt::format("line {}: {}", theirs < list.size() ? list[theirs].line : 0, why)};
  }

  /// Registers of one name hold whatever they hold at the start; all others are new.
  Knowledge initial() {
    Knowledge known;
    std::map<std::string_view, std::vector<RegisterId>> by_name;
    const auto &own = kernel_.function.registers;
    for (RegisterId reg = 0; reg < own.size(); ++reg) {
      known.values.push_back(terms_.fresh());
      by_name[own[reg].name].push_back(reg);
    }
    for (const Register &reg : other_.function.registers) {
      std::vector<RegisterId> &same = by_name[reg.name];
      const bool is_own = same.size() == 1 && Side::width(own[same[0]]) == Side::width(reg);
      known.values.push_back(is_own ? known.values[same[0]] : terms_.fresh());
      same.clear();
    }
    while (known.values.size() < first_early_)
      known.values.push_back(terms_.fresh());
    return known;
  }

  /// `from`: the pair from which this one is reached, if the other function went there alone by a
  /// branch or with loads that the kernel still has to do.
  void arrive(Position mine, Position theirs, Knowledge known, std::optional<Pair> from = {}) {
    mine = kernel_.run(mine, known, budget_);
    theirs = other_.run(theirs, known, budget_);
    while (mine != kernel_.end() && !kernel_.is_branch(mine) && is_ahead(mine, theirs, known) &&
           omissions_->leave_out(mine, known)) {
      spend(known.values.size());
      kernel_.went(mine, mine + 1, known);
      mine = kernel_.run(mine + 1, known, budget_);
    }
    const bool ends = mine == kernel_.end();
    const bool other_ends = theirs == other_.end();
    if (ends && !known.early.empty())
      fail(theirs, "it loads what the kernel does not");
    if (ends && other_ends)
      return;
    if (from && (!known.early.empty() || (mine == from->first && other_.is_branch(theirs))))
      go_on(*from, {mine, theirs});
    if (!kernel_.is_branch(mine) &&
        (other_.is_branch(theirs) ? !own_branches_ : ends != other_ends))
      fail(theirs, ends != other_ends ? "the thread ends elsewhere"
                                      : "it branches where the kernel does not");
    spend(known.values.size());
    const auto [found, added] = known_.try_emplace({mine, theirs}, known);
    if (known.early != found->second.early)
      fail(theirs, "ways meet between a load and its place in the kernel");
    Terms::Met met = terms_.meet(found->second, known, depth());
    met.known.early = std::move(known.early);
    if (!added && !met.is_less)
      return;
    found->second = std::move(met.known);
    open_.insert({mine, theirs});
  }

  /// Returns true if the other function does not do what the kernel, which is at no branch, does
  /// next, and is at no branch of its own that may lead there.
  bool is_ahead(Position mine, Position theirs, const Knowledge &known) const {
    return other_.is_branch(theirs) ? !is_test(theirs) : !difference(mine, theirs, known).empty();
  }

  bool is_test(Position theirs) const {
    return own_branches_ && other_.is_branch(theirs) &&
           other_.is_added[other_.function.instructions[theirs].guard];
  }

  /// From one pair to another while the kernel stands still, or has not done a load: never in a
  /// circle, or a thread may stay in a loop that is not the kernel's, or load what it does not.
  void go_on(const Pair &from, const Pair &to) {
    if (!unsettled_[from].insert(to).second)
      return;
    std::set<Pair> seen{to};
    std::vector<Pair> open{to};
    while (!open.empty()) {
      const Pair one = open.back();
      open.pop_back();
      if (one == from)
        fail(to.second, "it may stay in a loop where the kernel stands still");
      for (const Pair &next : unsettled_[one])
        if (seen.insert(next).second)
          open.push_back(next);
    }
  }

  unsigned depth() const { return terms_.sums_as_written ? longest_lag : usual_depth; }

  void spend(std::size_t effort) { budget_ -= std::min(budget_, effort * depth() / usual_depth); }

  /// What is known where a predicate is decided.
  Knowledge where(Term predicate, bool holds, const Knowledge &known) {
    Knowledge result;
    std::map<Term, Term> decided;
    for (const Term term : known.values)
      result.values.push_back(terms_.decided(term, predicate, holds, decided));
    for (const auto &[term, truth] : known.truth)
      result.truth.emplace(terms_.decided(term, predicate, holds, decided), truth);
    result.truth.insert_or_assign(predicate, holds);
    result.early = known.early;
    return result;
  }

  void step(Position mine, Position theirs, Knowledge known) {
    const std::optional<Pair> from =
        known.early.empty() ? std::nullopt : std::optional(Pair{mine, theirs});
    if (take_early(mine, known))
      return arrive(mine + 1, theirs, std::move(known), from);
    // A test of the other function goes first, before the kernel is iterations ahead of it.
    const bool own = kernel_.is_branch(mine) && !is_test(theirs);
    if (own || other_.is_branch(theirs)) {
      const Side &side = own ? kernel_ : other_;
      const Term predicate = side.guard(side.function.instructions[own ? mine : theirs], known);
      for (const bool holds : {true, false})
        arrive(mine, theirs, where(predicate, holds, known), own ? from : Pair{mine, theirs});
      return;
    }
    if (loads_ahead_ && !difference(mine, theirs, known).empty() && load_early(theirs, known))
      return arrive(mine, theirs + 1, std::move(known), from);
    const Opcode &opcode = kernel_.module.opcode(kernel_.function.instructions[mine]);
    if (asks_which_lanes(opcode))
      fail(theirs, "it asks which lanes are together");
    if (gathers_lanes(opcode) || wants_agreement(opcode))
      pair_up(mine, theirs);
    if (const std::string_view why = difference(mine, theirs, known); !why.empty())
      fail(theirs, why);
    pass_early(mine, theirs, known);
    const Knowledge before = known;
    perform(mine, theirs, known);
    omissions_->done(mine, before, known);
    kernel_.went(mine, mine + 1, known);
    arrive(mine + 1, theirs + 1, std::move(known), from);
  }

  /// Lanes that meet at one instruction of the kernel meet at one here, and no others do.
  void pair_up(Position mine, Position theirs) {
    const bool same = partner_.try_emplace(mine, theirs).first->second == theirs;
    const bool other = other_partner_.try_emplace(theirs, mine).first->second == mine;
    if (!same || !other)
      fail(theirs, "other lanes meet there");
  }

  /// Why an instruction of the second function does not do what one of the kernel does; empty: it
  /// does.
  std::string_view difference(Position mine, Position theirs, const Knowledge &known) const {
    if (theirs == other_.end())
      return "the thread ends elsewhere";
    if (!is_alike(mine, theirs))
      return "not what the kernel does there";
    const Instruction &a = kernel_.function.instructions[mine];
    const Instruction &b = other_.function.instructions[theirs];
    const bool maybe = !kernel_.decided(a, known);
    if (maybe != !other_.decided(b, known) ||
        (maybe &&
         (a.guard_negated != b.guard_negated || kernel_.guard(a, known) != other_.guard(b, known))))
      return "under another condition";
    const Opcode &opcode = kernel_.module.opcode(a);
    const auto left = kernel_.module.operands(a), right = other_.module.operands(b);
    const FirstOperand role = first_operand(opcode);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (Side::is_written(role, i) && role != FirstOperand::unknown && opcode.op != Op::wgmma)
        continue;
      TermKey key, other;
      kernel_.read(left[i], known, key);
      other_.read(right[i], known, other);
      if (key != other)
        return "with another operand";
    }
    return "";
  }

  /// Returns true if they do the same but for guards, registers that are written and operands that
  /// are read, and the second has no pragma of its own (`used_bytes_mask`, say).
  bool is_alike(Position mine, Position theirs) const {
    const auto &own = kernel_.function.pragmas, &others = other_.function.pragmas;
    return kernel_.is_alike(mine, other_, theirs) &&
           std::all_of(others.begin(), others.end(), [&](const Pragma &pragma) {
             return pragma.position != theirs || pragma.text == harmless_pragma ||
                    std::any_of(own.begin(), own.end(), [&](const Pragma &one) {
                      return one.position == mine && one.text == pragma.text;
                    });
           });
  }

  /// The other function alone does a load, before what the kernel does next; false: it is at none.
  bool load_early(Position theirs, Knowledge &known) {
    constexpr std::size_t most = 256;
    if (theirs == other_.end() || known.early.size() >= most)
      return false;
    const Instruction &one = other_.function.instructions[theirs];
    const Opcode &opcode = other_.module.opcode(one);
    const auto operands = other_.module.operands(one);
    // After a last use (.lu) another load need not find what was there.
    const bool is_last_use =
        std::find(opcode.modifiers.begin(), opcode.modifiers.end(), "lu") != opcode.modifiers.end();
    if (opcode.op != Op::ld || effect_of(opcode) != Effect::load || is_last_use ||
        !one.well_formed || other_.decided(one, known) != true || operands.size() != 2)
      return false;
    const auto address = other_.address(operands[1], known);
    if (!address)
      return false;
    const std::vector<RegisterId> &to = other_.written(theirs);
    const std::vector<Term> results = something(to.size());
    other_.write(to, results, one, known, false);
    known.early.push_back(theirs);
    known.values.push_back(*address);
    known.values.insert(known.values.end(), results.begin(), results.end());
    return true;
  }

  /// The kernel alone does a load that the other function has done before; false: it is at none,
  /// or at another one than the first of these.
  bool take_early(Position mine, Knowledge &known) const {
    if (known.early.empty() || mine == kernel_.end())
      return false;
    const Instruction &one = kernel_.function.instructions[mine];
    const auto operands = kernel_.module.operands(one);
    if (!is_alike(mine, known.early[0]) || kernel_.decided(one, known) != true)
      return false;
    const auto first = known.values.begin() + static_cast<std::ptrdiff_t>(first_early_);
    if (kernel_.address(operands[1], known) != *first)
      return false;
    const std::vector<RegisterId> &to = kernel_.written(mine);
    const auto end = first + 1 + static_cast<std::ptrdiff_t>(to.size());
    kernel_.write(to, {first + 1, end}, one, known, false);
    known.values.erase(first, end);
    known.early.erase(known.early.begin());
    return true;
  }

  /// Both do an instruction over which loads were brought forward.
  void pass_early(Position mine, Position theirs, Knowledge &known) {
    if (known.early.empty())
      return;
    const Instruction &one = kernel_.function.instructions[mine];
    const Opcode &opcode = kernel_.module.opcode(one);
    const Effect effect = effect_of(opcode);
    if (opcode.op == Op::ld && (effect == Effect::load || effect == Effect::none))
      return;
    if (opcode.op != Op::st || effect != Effect::store)
      fail(theirs, "a load comes before something that orders it");
    std::size_t at = first_early_;
    for (const Position load : known.early) {
      const Opcode &before = other_.module.opcode(other_.function.instructions[load]);
      if (!lie_apart(before, known.values[at], one, known))
        fail(theirs, "it may write what was loaded before");
      at += 1 + other_.written(load).size();
    }
  }

  /// Returns true if no byte of a load, whose address is known, is one that the kernel's store
  /// writes.
  bool lie_apart(const Opcode &load, Term address, const Instruction &one, const Knowledge &known) {
    const Opcode &store = kernel_.module.opcode(one);
    if (reads_constant_memory(load))
      return true;
    const Spaces spaces = spaces_of(load, store);
    const auto to = kernel_.address(kernel_.module.operands(one)[0], known);
    if (spaces != Spaces::comparable || !to)
      return spaces == Spaces::apart;
    const std::int64_t loaded = load.bytes(), stored = store.bytes();
    const auto [base, offset] = terms_.with_number(address);
    const auto [other_base, other_offset] = terms_.with_number(*to);
    const Term distance = terms_.made_of("sub.s64", {base, other_base}, 64);
    const Term moved = terms_.made_of(
        "add.s64", {distance, terms_.number(offset - other_offset + loaded - 1)}, 64);
    const Term near = terms_.made_of("setp.lt.u64", {moved, terms_.number(loaded + stored - 1)}, 1);
    const auto found = known.truth.find(near);
    return found != known.truth.end() && !found->second;
  }

  /// What memory, say, has for so many registers.
  std::vector<Term> something(std::size_t count) {
    std::vector<Term> results(count);
    std::generate(results.begin(), results.end(), [&] { return terms_.fresh(); });
    return results;
  }

  /// Both do the same, and get the same.
  void perform(Position mine, Position theirs, Knowledge &known) {
    const Instruction &a = kernel_.function.instructions[mine];
    const Instruction &b = other_.function.instructions[theirs];
    const bool maybe = !kernel_.decided(a, known);
    const std::vector<RegisterId> &to = kernel_.written(mine);
    const std::vector<Term> results = something(to.size());
    kernel_.write(to, results, a, known, maybe);
    other_.write(other_.written(theirs), results, b, known, maybe);
  }

  const bool loads_ahead_, own_branches_;
  Terms terms_;
  Side kernel_, other_;
  std::unique_ptr<Omissions> omissions_;
  std::map<Pair, Knowledge> known_;
  std::set<Pair> open_;
  std::map<Pair, std::set<Pair>> unsettled_;             ///< steps of go_on()
  std::map<Position, Position> partner_, other_partner_; ///< of what gathers lanes
  std::size_t first_early_ = 0; ///< in Knowledge::values, of what loads that were done early read
  std::size_t budget_ = effort_budget;
};

/// What surrounds the code is the kernel's.
void check_around(const Module &before, const Function &kernel, const Module &after,
                  const Function &other) {
  check_entry(before, kernel, after, other);
  check_surroundings(before, kernel, after, other);
  show(same_declarations(before, kernel.variables, after, other.variables),
       "its variables are others");
  show(same_directives(kernel, other), "its directives are others");
  for (const Pragma &pragma : other.pragmas)
    show(std::any_of(kernel.pragmas.begin(), kernel.pragmas.end(),
                     [&](const Pragma &own) { return own.text == pragma.text; }) &&
             (pragma.text == harmless_pragma ||
              (pragma.position < other.instructions.size() &&
               after.opcode(other.instructions[pragma.position]).op == Op::ld)),
         "it has a pragma of its own");
}

} // namespace

Proved prove_same(const Module &before, const Function &kernel, const Module &after,
                  const Function &other, const Liberties &liberties) {
  return proved([&] {
    check_around(before, kernel, after, other);
    SameProof(before, kernel, after, other, liberties).run();
  });
}

} // namespace ptxasw::proof
