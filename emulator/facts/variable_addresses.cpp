// A register is an *address* if it is written with that of a variable and only ever by what adds to
// an address or subtracts from it what is none. An address is for accesses to its memory and for
// other addresses alone: it is not compared, stored or taken apart. So whoever lays the variable
// elsewhere has the same distance from its beginning in each access.
//
// An address may be made generic (`cvta`), moved on, added to, and made what it was again
// (`cvta.to`). By a generic one of shared memory that may be accessed. A register holds nothing
// else but such. One that is made of a number could be of any variable, and is not good.

#include "emulator/facts/variable_addresses.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::facts {

const Variable *variable_in(const Module &module, const Operand &operand, StateSpace space) {
  if (operand.kind != Operand::Kind::symbol)
    return nullptr;
  const Variable *const variable = module.variable(module.symbol(operand));
  return variable && variable->space == space ? variable : nullptr;
}

VariableAddresses::VariableAddresses(const Module &module, const Function &kernel, StateSpace space)
    : module_(module), kernel_(kernel), space_(space), rules_(rules_of(space)),
      holds_(kernel.registers.size(), none) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction &instruction : kernel.instructions)
      if (const Kind made = made_by(instruction); made != none)
        if (Kind &holds = holds_[module.operands(instruction)[0].reg]; holds == none) {
          holds = made;
          changed = true;
        }
  }
}

bool VariableAddresses::is_good(const Instruction &instruction) const {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  const bool access = is_one_of(
      opcode.op, {Op::ld, Op::st, Op::red, Op::atom, Op::cp, Op::wmma, Op::ldmatrix, Op::stmatrix});
  const bool is_read = is_one_of(opcode.op, {Op::ld, Op::atom, Op::ldmatrix}) ||
                       (opcode.op == Op::wmma && opcode.has(Modifier::load));
  const std::size_t place = is_read ? 1 : 0;
  const bool by_generic = space_ == StateSpace::shared && opcode.space == StateSpace::generic &&
                          operands.size() > place &&
                          mentioned(operands.subspan(place, 1)) == generic;
  if (access && (opcode.space == space_ || by_generic)) {
    const Kind by = by_generic ? generic : address;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (mentioned(operands.subspan(i, 1)) != (i == place ? by : none))
        return false;
    return operands.size() > place && operands[place].kind == Operand::Kind::address;
  }
  // What is made generic of a number could be of any variable.
  const bool of_number = space_ == StateSpace::shared && opcode.text.starts_with("cvta.shared");
  return made_by(instruction) != none || (mentioned(operands) == none && !of_number);
}

bool VariableAddresses::stores_generic(const Instruction &store) const {
  const auto operands = module_.operands(store);
  return operands.size() == 2 && kind_of(operands[1]) == generic &&
         mentioned(operands.first(1)) == none;
}

bool VariableAddresses::all_written_are() const {
  bool all = true;
  for (const Instruction &instruction : kernel_.instructions)
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      all &= use == RegisterUse::read || holds_[reg] == none || made_by(instruction) == holds_[reg];
    });
  return all;
}

VariableAddresses::Kind VariableAddresses::mentioned(std::span<const Operand> operands) const {
  std::uint8_t found = none;
  any_operand(module_, operands, [&](const Operand &operand) {
    if (operand.kind == Operand::Kind::reg)
      found |= holds_[operand.reg];
    else if (variable_in(module_, operand, space_))
      found |= address;
    return false;
  });
  return static_cast<Kind>(found);
}

VariableAddresses::Kind VariableAddresses::kind_of(const Operand &operand) const {
  return is_whole_register(operand) || operand.kind == Operand::Kind::symbol
             ? mentioned({&operand, 1})
             : none;
}

VariableAddresses::Kind VariableAddresses::made_by(const Instruction &instruction) const {
  const auto operands = module_.operands(instruction);
  if (!instruction.well_formed || operands.size() < 2 || operands[0].kind != Operand::Kind::reg ||
      operands[0].selector != 0)
    return none;
  const auto inputs = operands.subspan(1);
  const auto is_so = [&](const Operand &operand, Kind kind) {
    return (kind == none ? mentioned({&operand, 1}) : kind_of(operand)) == kind;
  };
  const std::string word = fmt::format(" {} ", module_.opcode(instruction).text);
  const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const Rule &one) {
    return one.opcodes.find(word) != std::string::npos &&
           std::equal(inputs.begin(), inputs.end(), one.from.begin(), one.from.end(), is_so);
  });
  return rule == rules_.end() ? none : rule->made;
}

std::vector<VariableAddresses::Rule> VariableAddresses::rules_of(StateSpace space) {
  const std::string adds = " add.u32 add.s32 add.u64 add.s64 ";
  return {
      {address, {address}, " mov.u32 mov.b32 mov.s32 mov.u64 mov.b64 mov.s64 "},
      {address, {address}, " cvt.u64.u32 cvt.u32.u64 "},
      {address, {address, none}, adds + "sub.u32 sub.s32 sub.u64 sub.s64 "},
      {address, {none, address}, adds},
      {address, {none, none, address}, " mad.lo.u32 mad.lo.s32 mad.lo.u64 mad.lo.s64 "},
      {address, {none, none, address}, " mad.wide.u32 mad.wide.s32 mad.wide.u16 mad.wide.s16 "},
      {address, {address, address, none}, " selp.b32 selp.u32 selp.b64 selp.u64 "},
      {generic, {address}, fmt::format(" cvta.{}.u64 ", to_string(space))},
      {generic, {generic}, " mov.u64 mov.b64 "},
      {generic, {generic, none}, " add.u64 add.s64 "},
      {address, {generic}, fmt::format(" cvta.to.{}.u64 ", to_string(space))},
  };
}

} // namespace ptxasw::facts
