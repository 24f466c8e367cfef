// What is known to compute from its operands alone becomes a term of them; all else is left to the
// caller, and so are branches that are not decided.

#include "synth/prove/side.h"

#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/roles.h"
#include "synth/prove/header.h"
#include "synth/prove/not_proved.h"

#include <algorithm>
#include <string_view>

namespace ptxasw::proof {

Side::Side(const Module &of, const Function &one, std::size_t offset, Terms &all,
           const Function &kernel)
    : module(of), function(one), first(offset), terms(all), is_added(added_registers(kernel, one)) {
  for (const Instruction &instruction : one.instructions) {
    const Opcode &opcode = module.opcode(instruction);
    const auto operands = module.operands(instruction);
    Form form{{terms.text(opcode.text), operands.size()},
              {},
              instruction.well_formed && opcode.op != Op::brx,
              only_computes(instruction)};
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (is_written(first_operand(opcode), i))
        add_place(operands[i], form);
    for (const RegisterId reg : form.written)
      form.key.insert(form.key.end(), {width(one.registers[reg]), one.registers[reg].vector});
    forms_.push_back(std::move(form));
  }
}

std::uint32_t Side::run(std::uint32_t position, Knowledge &known, std::size_t &budget) const {
  while (position < end()) {
    if (budget < instruction_effort)
      throw NotProved{"it takes too long"};
    budget -= instruction_effort;
    const Instruction &instruction = function.instructions[position];
    const std::optional<bool> runs = decided(instruction, known);
    const Opcode &opcode = module.opcode(instruction);
    std::uint32_t next = position + 1;
    if (is_way(opcode)) {
      if (instruction.guard != no_register && wants_agreement(opcode))
        throw NotProved{"a branch on which lanes must agree, whichever are together"};
      if (!runs)
        return position;
      if (*runs) {
        const auto target = branch_target(module, function, instruction);
        if (!target && !returns(opcode))
          throw NotProved{"a branch is not understood"};
        next = target.value_or(end());
      }
    } else if (runs != false) {
      if (!forms_[position].computes)
        return position;
      compute(position, known, !runs);
    }
    if (went)
      went(position, next, known);
    position = next;
  }
  return end();
}

bool Side::step(std::uint32_t position, Knowledge &known) const {
  const Instruction &instruction = function.instructions[position];
  const std::vector<RegisterId> &to = written(position);
  if (instruction.guard != no_register || !forms_[position].computes ||
      !std::all_of(to.begin(), to.end(), [&](RegisterId reg) { return is_added[reg]; }))
    return false;
  compute(position, known, false);
  return true;
}

std::optional<bool> Side::decided(const Instruction &instruction, const Knowledge &known) const {
  if (instruction.guard == no_register)
    return true;
  const auto holds = truth(known.values[first + instruction.guard], known);
  return holds ? std::optional(*holds != instruction.guard_negated) : std::nullopt;
}

Term Side::guard(const Instruction &instruction, const Knowledge &known) const {
  return known.values[first + instruction.guard];
}

void Side::read(const Operand &operand, const Knowledge &known,
                std::vector<std::uint64_t> &key) const {
  using Is = Operand::Kind;
  key.push_back(operand.negated);
  key.push_back(static_cast<unsigned char>(operand.selector));
  if (operand.kind == Is::reg || operand.kind == Is::integer || operand.kind == Is::real) {
    key.push_back(of_value);
    key.push_back(term_mark | value(operand, known));
    return;
  }
  key.push_back(static_cast<std::uint64_t>(operand.kind));
  if (operand.kind == Is::other)
    throw NotProved{"an operand is not understood"};
  if (const auto place = address(operand, known)) {
    key.push_back(term_mark | *place);
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

Term Side::under(Term guard, const Instruction &instruction, Term done, Term otherwise) const {
  return instruction.guard_negated ? terms.choice(guard, otherwise, done)
                                   : terms.choice(guard, done, otherwise);
}

// The guard is what it was before: an instruction may write its own.
void Side::write(const std::vector<RegisterId> &registers, const std::vector<Term> &values,
                 const Instruction &instruction, Knowledge &known, bool maybe) const {
  const Term condition = maybe ? guard(instruction, known) : Term{};
  for (std::size_t i = 0; i < registers.size(); ++i) {
    Term &to = known.values[first + registers[i]];
    to = maybe ? under(condition, instruction, values[i], to) : values[i];
  }
}

bool Side::only_computes(const Instruction &instruction) const {
  const Opcode &opcode = module.opcode(instruction);
  return is_pure(opcode) && computes_alike(module, instruction, emulator::Scope::thread) &&
         first_operand(opcode) == FirstOperand::destination &&
         !module.operands(instruction).empty();
}

std::optional<bool> Side::truth(Term term, const Knowledge &known) const {
  if (const auto number = terms.number_of(term))
    return *number != 0;
  const auto found = known.truth.find(term);
  return found == known.truth.end() ? std::nullopt : std::optional(found->second);
}

bool Side::is_wide_register(const Operand &base) const {
  return base.kind == Operand::Kind::reg && base.selector == 0 && !base.negated &&
         width(function.registers[base.reg]) == 64;
}

std::optional<Term> Side::address(const Operand &operand, const Knowledge &known) const {
  if (operand.kind != Operand::Kind::address || !is_wide_register(module.children(operand)[0]))
    return std::nullopt;
  return terms.plus(value(module.children(operand)[0], known), operand.value);
}

Term Side::value(const Operand &operand, const Knowledge &known) const {
  if (operand.kind == Operand::Kind::reg)
    return known.values[first + operand.reg];
  return operand.kind == Operand::Kind::integer
             ? terms.number(operand.value)
             : terms.real(static_cast<std::uint64_t>(operand.value), operand.real_type);
}

Term Side::kept(Term term, unsigned bits) const {
  const auto number = terms.number_of(term);
  if (!number || bits >= 64)
    return term;
  if (bits == 1)
    return terms.number(*number != 0);
  const unsigned unused = 64 - bits;
  return terms.number(static_cast<std::int64_t>(static_cast<std::uint64_t>(*number) << unused) >>
                      unused);
}

std::optional<Term> Side::moved(const Operand &source, unsigned bits, const Opcode &opcode,
                                const Knowledge &known) const {
  using Is = Operand::Kind;
  const bool is_integer = source.kind == Is::integer && !is_float(opcode.type);
  const unsigned own = source.kind == Is::reg    ? width(function.registers[source.reg])
                       : source.kind == Is::real ? bit_width(source.real_type)
                       : is_integer              ? bits
                                                 : 0;
  if (source.negated || source.selector != 0 || bit_width(opcode.type) != bits || own != bits)
    return std::nullopt;
  return kept(value(source, known), bits);
}

std::optional<Term> Side::simple(const Instruction &instruction, const Knowledge &known) const {
  const Opcode &opcode = module.opcode(instruction);
  const auto operands = module.operands(instruction);
  if (operands.empty() || operands[0].kind != Operand::Kind::reg || operands[0].selector != 0)
    return std::nullopt;
  const unsigned bits = width(function.registers[operands[0].reg]);
  if (opcode.op == Op::mov && operands.size() == 2)
    return moved(operands[1], bits, opcode, known);
  if (opcode.op == Op::selp && operands.size() == 4 && !operands[3].negated &&
      operands[3].kind == Operand::Kind::reg) {
    const Term by = known.values[first + operands[3].reg];
    const auto chosen = truth(by, known);
    const auto when = moved(operands[1], bits, opcode, known);
    const auto otherwise = moved(operands[2], bits, opcode, known);
    if (chosen)
      return *chosen ? when : otherwise;
    return when && otherwise ? std::optional(terms.choice(by, *when, *otherwise)) : std::nullopt;
  }
  const auto is_addend = [&](const Operand &operand) {
    return is_wide_register(operand) || operand.kind == Operand::Kind::integer;
  };
  if (!terms.sums_as_written && (opcode.text == "add.s64" || opcode.text == "add.u64") &&
      operands.size() == 3 && bits == 64 && is_addend(operands[1]) && is_addend(operands[2]))
    return terms.sum(value(operands[1], known), value(operands[2], known));
  return std::nullopt;
}

// Where a part of a register is written, what it held is part of what is computed.
void Side::compute(std::uint32_t position, Knowledge &known, bool maybe) const {
  const Instruction &instruction = function.instructions[position];
  const std::vector<RegisterId> &registers = written(position);
  if (const auto result = simple(instruction, known)) {
    write(registers, {*result}, instruction, known, maybe);
    return;
  }
  TermKey key = forms_[position].key;
  for (const Operand &operand : module.operands(instruction).subspan(1))
    read(operand, known, key);
  for (const RegisterId reg : registers)
    if (!forms_[position].is_whole)
      key.push_back(term_mark | known.values[first + reg]);
  key.insert(key.end(), {0, 0});
  std::vector<Term> results;
  for (std::size_t i = 0; i < registers.size(); ++i) {
    key[key.size() - 2] = i;
    key.back() = width(function.registers[registers[i]]);
    results.push_back(terms.computed(key));
  }
  write(registers, results, instruction, known, maybe);
}

void Side::add_place(const Operand &operand, Form &form) const {
  form.key.insert(form.key.end(),
                  {static_cast<std::uint64_t>(operand.kind), operand.negated,
                   static_cast<unsigned char>(operand.selector), operand.child_count});
  if (operand.kind == Operand::Kind::reg)
    form.written.push_back(operand.reg);
  else if (operand.child_count == 0)
    form.key.push_back(terms.text(module.text(operand.span)));
  if (operand.selector != 0 || operand.kind == Operand::Kind::other)
    form.is_whole = false;
  for (const Operand &child : module.children(operand))
    add_place(child, form);
}

} // namespace ptxasw::proof
