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
// Loads of which it is known what they would read (Omissions) may be left out: the kernel then
// steps alone. A load that is not ordered is seen by nobody else.

#include "synth/prove/walk.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "synth/prove/header.h"
#include "synth/prove/not_proved.h"

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
      : own_branches_(liberties.own_branches), kernel_(before, kernel, 0, terms_, kernel),
        other_(after, other, kernel.registers.size(), terms_, kernel) {
    terms_.sums_as_written = liberties.lags;
    if (!liberties.omissions)
      return;
    omissions_ =
        liberties.omissions(kernel_, other_, kernel.registers.size() + other.registers.size());
    kernel_.went = [this](Position from, Position to, Knowledge &known) {
      omissions_->went(from, to, known);
    };
  }

  void run() {
    Knowledge known = initial();
    if (omissions_)
      omissions_->went(no_index, 0, known);
    arrive(0, 0, std::move(known));
    while (!open_.empty()) {
      const auto [mine, theirs] = *open_.begin();
      open_.erase(open_.begin());
      step(mine, theirs, known_.at({mine, theirs}));
    }
  }

private:
  using Position = std::uint32_t;

  [[noreturn]] void fail(Position theirs, std::string_view why) const {
    const auto &list = other_.function.instructions;
    throw NotProved{fmt::format("line {}: {}", theirs < list.size() ? list[theirs].line : 0, why)};
  }

  bool branches(const Side &side, Position at) const {
    return at != side.end() && side.is_branch(at);
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
    for (std::size_t i = 0; omissions_ && i < omissions_->values(); ++i)
      known.values.push_back(terms_.fresh());
    return known;
  }

  /// `stood`: where the kernel stands while the other function branches alone.
  void arrive(Position mine, Position theirs, Knowledge known, Position stood = no_index) {
    const Position from = theirs;
    mine = kernel_.run(mine, known, budget_);
    theirs = other_.run(theirs, known, budget_);
    while (omissions_ && mine != kernel_.end() && !branches(kernel_, mine) &&
           is_ahead(mine, theirs, known) && omissions_->leave_out(mine, known)) {
      spend(known.values.size());
      kernel_.went(mine, mine + 1, known);
      mine = kernel_.run(mine + 1, known, budget_);
    }
    const bool ends = mine == kernel_.end();
    const bool other_ends = theirs == other_.end();
    if (ends && other_ends)
      return;
    if (mine == stood && branches(other_, theirs))
      go_alone(mine, from, theirs);
    if (!branches(kernel_, mine)) {
      if (branches(other_, theirs) ? !own_branches_ : ends != other_ends)
        fail(theirs, ends != other_ends ? "the thread ends elsewhere"
                                        : "it branches where the kernel does not");
    }
    spend(known.values.size());
    const auto [found, added] = known_.try_emplace({mine, theirs}, known);
    Terms::Met met = terms_.meet(found->second, known, depth());
    if (!added && !met.is_less)
      return;
    found->second = std::move(met.known);
    open_.insert({mine, theirs});
  }

  /// Returns true if the other function does not do what the kernel, which is at no branch, does
  /// next, and is at no branch of its own that may lead there.
  bool is_ahead(Position mine, Position theirs, const Knowledge &known) const {
    return branches(other_, theirs) ? !is_test(theirs) : !difference(mine, theirs, known).empty();
  }

  bool is_test(Position theirs) const {
    return own_branches_ && branches(other_, theirs) &&
           other_.is_added[other_.function.instructions[theirs].guard];
  }

  /// From one branch to another while the kernel stands still: never in a circle, or a thread may
  /// stay in a loop that is not the kernel's.
  void go_alone(Position mine, Position from, Position to) {
    if (!alone_[{mine, from}].insert(to).second)
      return;
    std::set<Position> seen{to};
    std::vector<Position> open{to};
    while (!open.empty()) {
      const Position one = open.back();
      open.pop_back();
      if (one == from)
        fail(to, "it may stay in a loop where the kernel stands still");
      for (const Position next : alone_[{mine, one}])
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
    return result;
  }

  void step(Position mine, Position theirs, Knowledge known) {
    // A test of the other function goes first, before the kernel is rounds ahead of it.
    const bool own = branches(kernel_, mine) && !is_test(theirs);
    if (own || branches(other_, theirs)) {
      const Side &side = own ? kernel_ : other_;
      const Term predicate = side.guard(side.function.instructions[own ? mine : theirs], known);
      for (const bool holds : {true, false})
        arrive(mine, theirs, where(predicate, holds, known), own ? no_index : mine);
      return;
    }
    const Opcode &opcode = kernel_.module.opcode(kernel_.function.instructions[mine]);
    if (asks_which_lanes(opcode))
      fail(theirs, "it asks which lanes are together");
    if (gathers_lanes(opcode) || wants_agreement(opcode))
      pair_up(mine, theirs);
    if (const std::string_view why = difference(mine, theirs, known); !why.empty())
      fail(theirs, why);
    const Knowledge before = omissions_ ? known : Knowledge();
    perform(mine, theirs, known);
    if (omissions_) {
      omissions_->done(mine, before, known);
      kernel_.went(mine, mine + 1, known);
    }
    arrive(mine + 1, theirs + 1, std::move(known));
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
    const Instruction &a = kernel_.function.instructions[mine];
    const Instruction &b = other_.function.instructions[theirs];
    const Opcode &opcode = kernel_.module.opcode(a);
    const auto left = kernel_.module.operands(a), right = other_.module.operands(b);
    const bool maybe = !kernel_.decided(a, known);
    if (opcode.text != other_.module.opcode(b).text || left.size() != right.size() ||
        !a.well_formed || !b.well_formed || maybe != !other_.decided(b, known))
      return "not what the kernel does there";
    if (maybe &&
        (a.guard_negated != b.guard_negated || kernel_.guard(a, known) != other_.guard(b, known)))
      return "under another condition";
    if (opcode.op == Op::brx)
      return "a branch by a table";
    for (const Pragma &pragma : other_.function.pragmas)
      if (pragma.position == theirs && pragma.text != harmless_pragma && !has_pragma(mine, pragma))
        return "a pragma of its own";
    const FirstOperand role = first_operand(opcode);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const bool writes = Side::is_written(role, i);
      if (writes && !same_shape(left[i], right[i]))
        return "it writes something else";
      if ((!writes || role == FirstOperand::unknown || opcode.op == Op::wgmma) &&
          !same_operand(left[i], right[i], known))
        return "with another operand";
    }
    const std::vector<RegisterId> to = kernel_.written(a), other_to = other_.written(b);
    if (to.size() != other_to.size())
      return "it writes something else";
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Register &own = kernel_.function.registers[to[i]];
      const Register &other = other_.function.registers[other_to[i]];
      if (Side::width(own) != Side::width(other) || own.vector != other.vector)
        return "it writes a register of another width";
    }
    return "";
  }

  /// Returns true if the kernel has that pragma for an instruction (`used_bytes_mask`, say).
  bool has_pragma(Position instruction, const Pragma &pragma) const {
    return std::any_of(
        kernel_.function.pragmas.begin(), kernel_.function.pragmas.end(),
        [&](const Pragma &own) { return own.position == instruction && own.text == pragma.text; });
  }

  /// Both do the same, and get the same.
  void perform(Position mine, Position theirs, Knowledge &known) {
    const Instruction &a = kernel_.function.instructions[mine];
    const Instruction &b = other_.function.instructions[theirs];
    const bool maybe = !kernel_.decided(a, known);
    const std::vector<RegisterId> to = kernel_.written(a);
    std::vector<Term> results(to.size());
    std::generate(results.begin(), results.end(), [&] { return terms_.fresh(); });
    kernel_.write(to, results, a, known, maybe);
    other_.write(other_.written(b), results, b, known, maybe);
  }

  bool same_operand(const Operand &mine, const Operand &theirs, const Knowledge &known) const {
    std::vector<std::uint64_t> key, other;
    kernel_.read(mine, known, key);
    other_.read(theirs, known, other);
    return key == other;
  }

  /// The parts of a destination are the same but for which registers they are.
  bool same_shape(const Operand &mine, const Operand &theirs) const {
    const auto left = kernel_.module.children(mine), right = other_.module.children(theirs);
    if (mine.kind != theirs.kind || mine.selector != 0 || theirs.selector != 0 ||
        mine.negated != theirs.negated || left.size() != right.size() ||
        mine.kind == Operand::Kind::other)
      return false;
    if (mine.kind != Operand::Kind::reg && left.empty() &&
        kernel_.module.text(mine.span) != other_.module.text(theirs.span))
      return false;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!same_shape(left[i], right[i]))
        return false;
    return true;
  }

  const bool own_branches_;
  Terms terms_;
  Side kernel_, other_;
  std::unique_ptr<Omissions> omissions_;
  std::map<std::pair<Position, Position>, Knowledge> known_;
  std::set<std::pair<Position, Position>> open_;
  /// Where the other function goes from one branch to the next while the kernel stands still.
  std::map<std::pair<Position, Position>, std::set<Position>> alone_;
  std::map<Position, Position> partner_, other_partner_; ///< of what gathers lanes
  std::size_t budget_ = effort_budget;
};

bool same_variable(const Variable &a, const Variable &b) {
  const auto same_value = [](const InitialValue &x, const InitialValue &y) {
    return x.bits == y.bits && x.real_type == y.real_type && x.symbol == y.symbol;
  };
  return a.name == b.name && a.space == b.space && a.type == b.type && a.vector == b.vector &&
         a.count == b.count && a.alignment == b.alignment && a.is_array == b.is_array &&
         a.initializer.size() == b.initializer.size() &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same_value);
}

/// What is different about what surrounds the code; empty: nothing.
std::string header_fault(const Module &before, const Function &kernel, const Module &after,
                         const Function &other) {
  std::string fault = entry_fault(before, kernel, after, other);
  if (fault.empty())
    fault = surroundings_fault(before, kernel, after, other);
  if (!fault.empty())
    return fault;
  if (!std::equal(kernel.variables.begin(), kernel.variables.end(), other.variables.begin(),
                  other.variables.end(), same_variable))
    return "its variables are others";
  if (!same_directives(kernel, other))
    return "its directives are others";
  for (const Pragma &pragma : other.pragmas)
    if (std::none_of(kernel.pragmas.begin(), kernel.pragmas.end(),
                     [&](const Pragma &own) { return own.text == pragma.text; }) ||
        (pragma.text != harmless_pragma &&
         (pragma.position >= other.instructions.size() ||
          after.opcode(other.instructions[pragma.position]).op != Op::ld)))
      return "it has a pragma of its own";
  return "";
}

} // namespace

std::string prove_same(const Module &before, const Function &kernel, const Module &after,
                       const Function &other, const Liberties &liberties) {
  if (std::string fault = header_fault(before, kernel, after, other); !fault.empty())
    return fault;
  return fault_of([&] { SameProof(before, kernel, after, other, liberties).run(); });
}

} // namespace ptxasw::proof
