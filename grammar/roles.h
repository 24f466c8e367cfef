#pragma once

// Which registers an instruction reads and writes. Of an opcode that nobody has described all
// registers count as read and perhaps written, so data flow that is made from it misses nothing.
//   for (const RegisterId reg : written_registers(module, instruction)) values.erase(reg);

#include "grammar/module.h"

#include <functional>
#include <vector>

namespace ptxasw::ptx {

/// The column of opcodes.def, and what `.red` changes.
FirstOperand first_operand(const Opcode &opcode);

/// How one instruction touches a register.
enum class RegisterUse : std::uint8_t { read, written, may_be_written };

/// Calls `visit(register, use)` for every register of an instruction, its guard first. A register
/// written under a guard, or in part, is `may_be_written`; one that is read and written is reported
/// twice.
void for_each_register(const Module &module, const Instruction &instruction,
                       const std::function<void(RegisterId, RegisterUse)> &visit);

/// The registers that an instruction writes, or may write, in the order of the text.
std::vector<RegisterId> written_registers(const Module &module, const Instruction &instruction);

/// The registers that an instruction reads, its guard first.
std::vector<RegisterId> read_registers(const Module &module, const Instruction &instruction);

/// Returns true if it is so of one of some operands, or of a part of one.
bool any_operand(const Module &module, std::span<const Operand> operands,
                 const std::function<bool(const Operand &)> &is_so);

/// The first address among what an instruction names; null: there is none.
const Operand *address_in(const Module &module, const Instruction &instruction);

/// What a `call` runs, by its name; null: it goes by a pointer, or is not understood.
const Symbol *callee_of(const Module &module, const Instruction &call);

/// Returns true for a register alone, all of it and as it is.
inline bool is_whole_register(const Operand &operand) {
  return operand.kind == Operand::Kind::reg && operand.selector == 0 && !operand.negated;
}

} // namespace ptxasw::ptx
