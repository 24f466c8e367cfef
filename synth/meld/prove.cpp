// The proof of a kernel that was rewritten in its place, from the two texts alone.
//
// Both functions run beside each other for one thread. A thread's steps are seen from outside as
// the sequence of what it does besides computing: accesses, barriers, everything that is not known
// to compute from its operands alone. The claim is that both do the same sequence, with the same
// operands, and that each gets the same results.
//
// The walk is over pairs of places, one in each function, at which something of that kind comes
// next, or a branch that is not decided. At a pair it is known which registers hold the same value,
// which hold a number, and which predicates are decided (terms.h). A branch of the kernel is walked
// both ways, with its predicate decided; the rewritten function waits for that where it chooses by
// that predicate, with selp or under a guard, and so it is known what. It must never itself come to
// a branch that is undecided while the kernel does not stand at one. Where several ways come to one
// pair, what holds on all of them is kept, and the pair is walked again if that is less than
// before.
//
// So whatever a thread finds, it does what it did, and in the same order. Lanes see each other only
// at barriers and collectives, which are among what is compared and must belong to each other one
// by one, and by races, which PTX gives no meaning.

#include "synth/meld/meld.h"

#include "emulator/effects.h"
#include "grammar/cfg.h"
#include "grammar/roles.h"
#include "synth/meld/terms.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::meld {
namespace {

/// Thrown where the proof stops; caught in prove_melded().
struct NotSame {
  std::string why;
};

/// Registers that are looked at, and sixteen for an instruction.
constexpr std::size_t effort_budget = 64'000'000;
constexpr std::size_t instruction_effort = 16;

/// Of all pragmas the one that changes no value.
constexpr std::string_view harmless_pragma = "nounroll";

/// One of the two functions.
class Side {
public:
  Side(const Module &of, const Function &one, std::size_t offset, Terms &all)
      : module(of), function(one), first(offset), terms(all) {
    for (const Instruction &instruction : one.instructions)
      computes_.push_back(only_computes(instruction));
  }

  std::uint32_t end() const { return static_cast<std::uint32_t>(function.instructions.size()); }

  /// Over what only computes, and branches that are decided, to what does not: its index, or end()
  /// where the thread ends.
  std::uint32_t run(std::uint32_t position, Knowledge &known, std::size_t &budget) const {
    while (position < end()) {
      if (budget < instruction_effort)
        throw NotSame{"it takes too long"};
      budget -= instruction_effort;
      const Instruction &instruction = function.instructions[position];
      const std::optional<bool> runs = decided(instruction, known);
      const Opcode &opcode = module.opcode(instruction);
      if (runs == false) {
        ++position;
      } else if (opcode.op == Op::bra || ends(opcode)) {
        if (instruction.guard != no_register && wants_agreement(opcode))
          throw NotSame{"a branch on which lanes must agree, whichever are together"};
        if (!runs)
          return position;
        position = ends(opcode) ? end() : target(instruction);
      } else if (computes_[position]) {
        compute(instruction, known, !runs);
        ++position;
      } else {
        return position;
      }
    }
    return end();
  }

  /// Whether an instruction runs, as far as that is decided.
  std::optional<bool> decided(const Instruction &instruction, const Knowledge &known) const {
    if (instruction.guard == no_register)
      return true;
    const auto holds = truth(known.values[first + instruction.guard], known);
    return holds ? std::optional(*holds != instruction.guard_negated) : std::nullopt;
  }

  static bool ends(const Opcode &opcode) { return opcode.op == Op::ret || opcode.op == Op::exit; }

  bool is_branch(std::uint32_t position) const {
    const Opcode &opcode = module.opcode(function.instructions[position]);
    return opcode.op == Op::bra || ends(opcode);
  }

  Term guard(const Instruction &instruction, const Knowledge &known) const {
    return known.values[first + instruction.guard];
  }

  /// Appends what an operand reads to a key. A term that is no number is of one width only.
  void read(const Operand &operand, const Knowledge &known, std::vector<std::uint64_t> &key) const {
    using Is = Operand::Kind;
    key.push_back(operand.negated);
    key.push_back(static_cast<unsigned char>(operand.selector));
    if (operand.kind == Is::reg || operand.kind == Is::integer || operand.kind == Is::real) {
      const Term term = value(operand, known);
      key.push_back(100);
      key.push_back(term_mark | term);
      return;
    }
    key.push_back(static_cast<std::uint64_t>(operand.kind));
    if (operand.kind == Is::other)
      throw NotSame{"an operand is not understood"};
    if (operand.kind == Is::address && is_wide_register(module.children(operand)[0])) {
      key.push_back(term_mark |
                    terms.plus(value(module.children(operand)[0], known), operand.value));
      return;
    }
    if (operand.kind == Is::symbol) { // scopes may give one name to several variables
      const Symbol &symbol = module.symbol(operand);
      key.push_back(static_cast<std::uint64_t>(symbol.kind));
      key.push_back(terms.text(symbol.name));
      key.push_back(symbol.index);
    } else if (operand.child_count == 0) {
      key.push_back(terms.text(module.text(operand.span)));
    }
    key.push_back(terms.text(std::to_string(operand.value)));
    key.push_back(operand.child_count);
    for (const Operand &child : module.children(operand))
      read(child, known, key);
  }

  /// The registers in an operand that is written, in order.
  void written(const Operand &operand, std::vector<RegisterId> &registers) const {
    if (operand.kind == Operand::Kind::reg)
      registers.push_back(operand.reg);
    for (const Operand &child : module.children(operand))
      written(child, registers);
  }

  /// A register gets a value, or keeps what it has where a guard does not hold.
  void write(RegisterId reg, Term value, const Instruction &instruction, Knowledge &known,
             bool maybe) const {
    Term &to = known.values[first + reg];
    if (!maybe)
      to = value;
    else if (instruction.guard_negated)
      to = terms.choice(guard(instruction, known), to, value);
    else
      to = terms.choice(guard(instruction, known), value, to);
  }

  static unsigned width(const Register &reg) { return bit_width(reg.type) * reg.vector; }

  const Module &module;
  const Function &function;
  const std::size_t first; ///< of its registers in Knowledge::values
  Terms &terms;

private:
  bool only_computes(const Instruction &instruction) const {
    const Opcode &opcode = module.opcode(instruction);
    if (!instruction.well_formed || !is_pure(opcode) || opcode.has(Modifier::cc) ||
        opcode.op == Op::addc || opcode.op == Op::subc || opcode.op == Op::madc ||
        first_operand(opcode) != FirstOperand::destination)
      return false;
    const auto operands = module.operands(instruction);
    return !operands.empty() &&
           std::all_of(operands.begin(), operands.end(),
                       [&](const Operand &operand) { return is_steady(operand); });
  }

  bool is_steady(const Operand &operand) const {
    if (operand.kind == Operand::Kind::special && !keeps_its_value(module.text(operand.span)))
      return false;
    const auto children = module.children(operand);
    return operand.kind != Operand::Kind::other &&
           std::all_of(children.begin(), children.end(),
                       [&](const Operand &child) { return is_steady(child); });
  }

  std::optional<bool> truth(Term term, const Knowledge &known) const {
    if (const auto number = terms.number_of(term))
      return *number != 0;
    const auto found = known.truth.find(term);
    return found == known.truth.end() ? std::nullopt : std::optional(found->second);
  }

  std::uint32_t target(const Instruction &instruction) const {
    const auto operands = module.operands(instruction);
    if (operands.size() == 1 && operands[0].kind == Operand::Kind::symbol && operands[0].value == 0)
      if (const Label *label =
              function.find_label(module.symbol(operands[0]).name, instruction.scope))
        return label->position;
    throw NotSame{"a branch is not understood"};
  }

  bool is_wide_register(const Operand &base) const {
    return base.kind == Operand::Kind::reg && base.selector == 0 && !base.negated &&
           width(function.registers[base.reg]) == 64;
  }

  Term value(const Operand &operand, const Knowledge &known) const {
    if (operand.kind == Operand::Kind::reg)
      return known.values[first + operand.reg];
    return operand.kind == Operand::Kind::integer
               ? terms.number(operand.value)
               : terms.real(static_cast<std::uint64_t>(operand.value), operand.real_type);
  }

  /// A number as a register of that width keeps it.
  Term kept(Term term, unsigned bits) const {
    const auto number = terms.number_of(term);
    if (!number || bits >= 64)
      return term;
    if (bits == 1)
      return terms.number(*number != 0);
    const unsigned unused = 64 - bits;
    return terms.number(static_cast<std::int64_t>(static_cast<std::uint64_t>(*number) << unused) >>
                        unused);
  }

  /// What a source moves into a register of some width unchanged; nothing if it does not.
  std::optional<Term> moved(const Operand &source, unsigned bits, const Opcode &opcode,
                            const Knowledge &known) const {
    if (source.negated || source.selector != 0 || bit_width(opcode.type) != bits)
      return std::nullopt;
    if (source.kind == Operand::Kind::reg)
      return width(function.registers[source.reg]) == bits
                 ? std::optional(known.values[first + source.reg])
                 : std::nullopt;
    if (source.kind == Operand::Kind::integer && !is_float(opcode.type))
      return kept(value(source, known), bits);
    if (source.kind == Operand::Kind::real && bit_width(source.real_type) == bits)
      return value(source, known);
    return std::nullopt;
  }

  /// What a move, a choice that is decided, or the sum of an address and a number gives.
  std::optional<Term> simple(const Instruction &instruction, const Knowledge &known) const {
    const Opcode &opcode = module.opcode(instruction);
    const auto operands = module.operands(instruction);
    if (operands.empty() || operands[0].kind != Operand::Kind::reg || operands[0].selector != 0)
      return std::nullopt;
    const unsigned bits = width(function.registers[operands[0].reg]);
    if (opcode.op == Op::mov && operands.size() == 2)
      return moved(operands[1], bits, opcode, known);
    if (opcode.op == Op::selp && operands.size() == 4 && !operands[3].negated &&
        operands[3].kind == Operand::Kind::reg) {
      const auto chosen = truth(known.values[first + operands[3].reg], known);
      const auto when = moved(operands[1], bits, opcode, known);
      const auto otherwise = moved(operands[2], bits, opcode, known);
      if (chosen)
        return *chosen ? when : otherwise;
      return when && otherwise ? std::optional(terms.choice(known.values[first + operands[3].reg],
                                                            *when, *otherwise))
                               : std::nullopt;
    }
    const auto is_addend = [&](const Operand &operand) {
      return is_wide_register(operand) || operand.kind == Operand::Kind::integer;
    };
    if ((opcode.text == "add.s64" || opcode.text == "add.u64") && operands.size() == 3 &&
        bits == 64 && is_addend(operands[1]) && is_addend(operands[2]))
      return terms.sum(value(operands[1], known), value(operands[2], known));
    return std::nullopt;
  }

  void compute(const Instruction &instruction, Knowledge &known, bool maybe) const {
    const auto operands = module.operands(instruction);
    std::vector<RegisterId> registers;
    if (!operands.empty())
      written(operands[0], registers);
    if (const auto result = simple(instruction, known)) {
      write(registers[0], *result, instruction, known, maybe);
      return;
    }
    std::vector<std::uint64_t> key{terms.text(module.opcode(instruction).text), operands.size()};
    for (const Operand &operand : operands.subspan(operands.empty() ? 0 : 1))
      read(operand, known, key);
    // Where a destination is of several parts, or a part of a register is written, the shape is
    // part of what is computed, and so is what the register held.
    shape(operands[0], known, key);
    key.push_back(0);
    key.push_back(0);
    std::vector<Term> results;
    for (std::size_t i = 0; i < registers.size(); ++i) {
      key[key.size() - 2] = i;
      key.back() = width(function.registers[registers[i]]);
      results.push_back(terms.computed(key));
    }
    for (std::size_t i = 0; i < registers.size(); ++i)
      write(registers[i], results[i], instruction, known, maybe);
  }

  void shape(const Operand &operand, const Knowledge &known,
             std::vector<std::uint64_t> &key) const {
    key.push_back(static_cast<std::uint64_t>(operand.kind));
    key.push_back(static_cast<unsigned char>(operand.selector));
    key.push_back(operand.child_count);
    if (operand.kind == Operand::Kind::reg && operand.selector != 0)
      key.push_back(term_mark | known.values[first + operand.reg]);
    for (const Operand &child : module.children(operand))
      shape(child, known, key);
  }

  std::vector<bool> computes_;
};

class SameProof {
public:
  SameProof(const Module &before, const Function &kernel, const Module &after,
            const Function &melded)
      : kernel_(before, kernel, 0, terms_),
        melded_(after, melded, kernel.registers.size(), terms_) {}

  void run() {
    arrive(0, 0, initial());
    while (!open_.empty()) {
      const auto [mine, theirs] = *open_.begin();
      open_.erase(open_.begin());
      step(mine, theirs, known_.at({mine, theirs}).knowledge(terms_));
    }
  }

private:
  using Position = std::uint32_t;

  [[noreturn]] void fail(Position theirs, std::string_view why) const {
    const auto &list = melded_.function.instructions;
    throw NotSame{fmt::format("line {}: {}", theirs < list.size() ? list[theirs].line : 0, why)};
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
    for (const Register &reg : melded_.function.registers) {
      std::vector<RegisterId> &same = by_name[reg.name];
      const bool is_own = same.size() == 1 && Side::width(own[same[0]]) == Side::width(reg);
      known.values.push_back(is_own ? known.values[same[0]] : terms_.fresh());
      same.clear();
    }
    return known;
  }

  void arrive(Position mine, Position theirs, Knowledge known) {
    mine = kernel_.run(mine, known, budget_);
    const bool ends = mine == kernel_.end();
    const bool chooses = !ends && kernel_.is_branch(mine);
    theirs = melded_.run(theirs, known, budget_);
    const bool other_ends = theirs == melded_.end();
    if (ends && other_ends)
      return;
    if (!chooses && ends != other_ends)
      fail(theirs, "the thread ends elsewhere");
    if (!chooses && melded_.is_branch(theirs))
      fail(theirs, "it branches where the kernel does not");
    budget_ -= std::min(budget_, known.values.size());
    const auto [found, added] = known_.try_emplace({mine, theirs});
    if (added)
      found->second = Classes(known, terms_);
    if (added || found->second.meet(known, terms_))
      open_.insert({mine, theirs});
  }

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
    const Instruction &instruction = kernel_.function.instructions[mine];
    if (kernel_.is_branch(mine)) {
      for (const bool holds : {true, false}) {
        arrive(mine, theirs, where(kernel_.guard(instruction, known), holds, known));
      }
      return;
    }
    const Opcode &opcode = kernel_.module.opcode(instruction);
    if (asks_which_lanes(opcode))
      fail(theirs, "it asks which lanes are together");
    if (gathers_lanes(opcode) || wants_agreement(opcode))
      pair_up(mine, theirs);
    perform(instruction, theirs, known);
    arrive(mine + 1, theirs + 1, std::move(known));
  }

  /// Lanes that meet at one instruction of the kernel meet at one here, and no others do.
  void pair_up(Position mine, Position theirs) {
    const bool same = partner_.try_emplace(mine, theirs).first->second == theirs;
    const bool other = other_partner_.try_emplace(theirs, mine).first->second == mine;
    if (!same || !other)
      fail(theirs, "other lanes meet there");
  }

  /// Both do the same, and get the same.
  void perform(const Instruction &a, Position theirs, Knowledge &known) {
    const Instruction &b = melded_.function.instructions[theirs];
    const Opcode &opcode = kernel_.module.opcode(a);
    const auto left = kernel_.module.operands(a), right = melded_.module.operands(b);
    const bool maybe = !kernel_.decided(a, known);
    if (opcode.text != melded_.module.opcode(b).text || left.size() != right.size() ||
        !a.well_formed || !b.well_formed || maybe != !melded_.decided(b, known))
      fail(theirs, "not what the kernel does there");
    if (maybe &&
        (a.guard_negated != b.guard_negated || kernel_.guard(a, known) != melded_.guard(b, known)))
      fail(theirs, "under another condition");
    if (opcode.op == Op::brx)
      fail(theirs, "a branch by a table");
    for (const Pragma &pragma : melded_.function.pragmas)
      if (pragma.position == theirs && pragma.text != harmless_pragma && !has_pragma(a, pragma))
        fail(theirs, "a pragma of its own");
    const FirstOperand role = first_operand(opcode);
    std::vector<RegisterId> to, other_to;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const bool writes =
          role == FirstOperand::unknown || (i == 0 && role == FirstOperand::destination);
      if (writes) {
        kernel_.written(left[i], to);
        melded_.written(right[i], other_to);
        require_same_shape(left[i], right[i], theirs);
      }
      if (!writes || role == FirstOperand::unknown || opcode.op == Op::wgmma)
        require_same(left[i], right[i], theirs, known);
    }
    if (to.size() != other_to.size())
      fail(theirs, "it writes something else");
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Register &own = kernel_.function.registers[to[i]];
      const Register &other = melded_.function.registers[other_to[i]];
      if (Side::width(own) != Side::width(other) || own.vector != other.vector)
        fail(theirs, "it writes a register of another width");
      const Term result = terms_.fresh();
      kernel_.write(to[i], result, a, known, maybe);
      melded_.write(other_to[i], result, b, known, maybe);
    }
  }

  /// Returns true if the kernel has that pragma for an instruction (`used_bytes_mask`, say).
  bool has_pragma(const Instruction &instruction, const Pragma &pragma) const {
    const auto index = static_cast<Position>(&instruction - kernel_.function.instructions.data());
    return std::any_of(
        kernel_.function.pragmas.begin(), kernel_.function.pragmas.end(),
        [&](const Pragma &own) { return own.position == index && own.text == pragma.text; });
  }

  void require_same(const Operand &mine, const Operand &theirs, Position at,
                    const Knowledge &known) const {
    std::vector<std::uint64_t> key, other;
    kernel_.read(mine, known, key);
    melded_.read(theirs, known, other);
    if (key != other)
      fail(at, "with another operand");
  }

  /// The parts of a destination are the same but for which registers they are.
  void require_same_shape(const Operand &mine, const Operand &theirs, Position at) const {
    const auto left = kernel_.module.children(mine), right = melded_.module.children(theirs);
    if (mine.kind != theirs.kind || mine.selector != 0 || theirs.selector != 0 ||
        mine.negated != theirs.negated || left.size() != right.size() ||
        mine.kind == Operand::Kind::other)
      fail(at, "it writes something else");
    if (mine.kind != Operand::Kind::reg && left.empty() &&
        kernel_.module.text(mine.span) != melded_.module.text(theirs.span))
      fail(at, "it writes something else");
    for (std::size_t i = 0; i < left.size(); ++i)
      require_same_shape(left[i], right[i], at);
  }

  Terms terms_;
  Side kernel_, melded_;
  std::map<std::pair<Position, Position>, Classes> known_;
  std::set<std::pair<Position, Position>> open_;
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
                         const Function &melded) {
  if (!kernel.is_entry || !melded.is_entry || !kernel.has_body || !melded.has_body ||
      kernel.linkage != melded.linkage)
    return "it is no entry like the kernel";
  if (&before != &after &&
      (before.text({0, kernel.body.begin}) != after.text({0, melded.body.begin}) ||
       before.text().substr(kernel.body.end) != after.text().substr(melded.body.end)))
    return "something beside the kernel changed";
  const auto same = [](const std::vector<Variable> &a, const std::vector<Variable> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_variable);
  };
  if (!same(kernel.parameters, melded.parameters) || !same(kernel.variables, melded.variables))
    return "it declares other parameters or variables";
  const auto same_directive = [](const PerformanceDirective &a, const PerformanceDirective &b) {
    return a.name == b.name && a.count == b.count &&
           std::equal(std::begin(a.values), std::end(a.values), std::begin(b.values));
  };
  if (!std::equal(kernel.directives.begin(), kernel.directives.end(), melded.directives.begin(),
                  melded.directives.end(), same_directive))
    return "its directives are others";
  for (const Pragma &pragma : melded.pragmas)
    if (std::none_of(kernel.pragmas.begin(), kernel.pragmas.end(),
                     [&](const Pragma &own) { return own.text == pragma.text; }) ||
        (pragma.text != harmless_pragma &&
         (pragma.position >= melded.instructions.size() ||
          after.opcode(melded.instructions[pragma.position]).op != Op::ld)))
      return "it has a pragma of its own";
  return "";
}

} // namespace
} // namespace ptxasw::meld

namespace ptxasw {

std::string prove_melded(const Module &before, const Function &kernel, const Module &after,
                         const Function &melded) {
  if (std::string fault = meld::header_fault(before, kernel, after, melded); !fault.empty())
    return fault;
  try {
    meld::SameProof(before, kernel, after, melded).run();
    return "";
  } catch (const meld::NotSame &stop) {
    return stop.why;
  }
}

} // namespace ptxasw
