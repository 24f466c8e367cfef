#pragma once

#include "grammar/module.h"

#include <functional>

namespace ptxasw {

/// What an instruction's first operand is. Purely syntactic knowledge, from the operand lists of
/// PTX ISA chapter 9; what is computed is the emulator's business.
enum class FirstOperand : std::uint8_t {
  destination, ///< written if it is a register, vector or pair
  source,      ///< read: `bar.sync %r1`, `brx.idx %r1, table`
  unknown,     ///< an unknown opcode: every register operand may be written
};

FirstOperand first_operand(const Opcode &opcode);

/// How one instruction touches a register.
enum class RegisterUse : std::uint8_t { read, written, may_be_written };

/// Calls `visit(register, use)` for every register of an instruction, its guard first. A register
/// written under a guard, or in part, is `may_be_written`; one that is read and written is reported
/// twice.
void for_each_register(const Module &module, const Instruction &instruction,
                       const std::function<void(RegisterId, RegisterUse)> &visit);

} // namespace ptxasw
