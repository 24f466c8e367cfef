// Which registers an instruction reads and writes. Most write only their first operand; which do
// and which only read is a column of opcodes.def. Of an opcode that it does not name every register
// is taken for read and perhaps written; a guarded write, or one of a part, is only a perhaps.

#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::ptx {
namespace {

using Visit = std::function<void(RegisterId, RegisterUse)>;

void visit_all(const Module &module, const Operand &operand, RegisterUse use, const Visit &visit) {
  using Kind = Operand::Kind;
  if (operand.kind == Kind::reg) {
    const bool part = operand.selector != 0 && use == RegisterUse::written;
    visit(operand.reg, part ? RegisterUse::may_be_written : use);
    return;
  }
  // Whatever an address mentions is read.
  const RegisterUse inner = operand.kind == Kind::address ? RegisterUse::read : use;
  for (const Operand &child : module.children(operand))
    visit_all(module, child, inner, visit);
}

} // namespace

FirstOperand first_operand(const Opcode &opcode) {
  // bar.red and barrier.cta.red have a result, their siblings none; a call's results come first.
  if (opcode.op == Op::bar || opcode.op == Op::barrier)
    return opcode.has(Modifier::red) ? FirstOperand::destination : FirstOperand::source;
  return traits(opcode.op).first;
}

void for_each_register(const Module &module, const Instruction &instruction, const Visit &visit) {
  if (instruction.guard != no_register)
    visit(instruction.guard, RegisterUse::read);
  const auto operands = module.operands(instruction);
  const FirstOperand first =
      instruction.well_formed ? first_operand(module.opcode(instruction)) : FirstOperand::unknown;
  const RegisterUse write =
      instruction.guard == no_register ? RegisterUse::written : RegisterUse::may_be_written;
  // The one instruction that adds to its destination.
  const bool accumulates = module.opcode(instruction).op == Op::wgmma;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (first == FirstOperand::unknown) {
      visit_all(module, operands[i], RegisterUse::read, visit);
      visit_all(module, operands[i], RegisterUse::may_be_written, visit);
    } else if (i == 0 && first == FirstOperand::destination) {
      if (accumulates)
        visit_all(module, operands[i], RegisterUse::read, visit);
      visit_all(module, operands[i], write, visit);
    } else {
      visit_all(module, operands[i], RegisterUse::read, visit);
    }
  }
}

std::vector<RegisterId> written_registers(const Module &module, const Instruction &instruction) {
  std::vector<RegisterId> written;
  for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
    if (use != RegisterUse::read)
      written.push_back(reg);
  });
  return written;
}

std::vector<RegisterId> read_registers(const Module &module, const Instruction &instruction) {
  std::vector<RegisterId> read;
  for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
    if (use == RegisterUse::read)
      read.push_back(reg);
  });
  return read;
}

const Operand *address_in(const Module &module, const Instruction &instruction) {
  for (const Operand &operand : module.operands(instruction))
    if (operand.kind == Operand::Kind::address)
      return &operand;
  return nullptr;
}

// Behind what gets the results.
const Symbol *callee_of(const Module &module, const Instruction &call) {
  for (const Operand &operand : module.operands(call))
    if (operand.kind != Operand::Kind::group)
      return call.well_formed && operand.kind == Operand::Kind::symbol ? &module.symbol(operand)
                                                                       : nullptr;
  return nullptr;
}

bool any_operand(const Module &module, std::span<const Operand> operands,
                 const std::function<bool(const Operand &)> &is_so) {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand &operand) {
    return is_so(operand) || any_operand(module, module.children(operand), is_so);
  });
}

} // namespace ptxasw::ptx
