#pragma once

// Who agrees: for which threads what an instruction reads and computes is one value (soundness.md,
// U1 and U2). This is the one transfer function; how values flow, and who comes where together, is
// for those to say who ask.
//   agree(module, module.operands(instruction), Scope::block) // a block reads one value

#include "grammar/module.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::emulator {

/// The widest set of threads for which a value may be one, if they executed the same instance of
/// the instruction. What is one for a scope is one for those before it, and not for those behind.
enum class Scope : std::uint8_t {
  thread, ///< one thread, whenever it executes the instruction
  lanes,  ///< those lanes of a warp that the member mask names
  block,  ///< all threads of the block
  grid,   ///< all threads
};

/// For whom a special register is one value, whenever they read it (PTX ISA 10); nothing: even a
/// thread may read several, as of a clock, or of `%warpid`, which a preemption may change.
std::optional<Scope> scope_of(std::string_view special);

/// Returns true if all special registers among operands are one value for a scope, and all of the
/// operands are understood.
bool agree(const Module &module, std::span<const Operand> operands, Scope scope);

/// Returns true if a special register is among operands, or among those of an instruction of a
/// function: by its name in full.
bool mentions_special(const Module &module, std::span<const Operand> operands,
                      std::string_view special);
bool mentions_special(const Module &module, const Function &function, std::string_view special);

/// Returns true if an instruction reads or writes the carry flag.
bool uses_carry(const Opcode &opcode);

/// Returns true if what an instruction writes is a function of the registers that it reads, the
/// same for all threads of a scope, whenever they execute it: it only computes, or loads from
/// parameters of the function or from memory that the whole kernel only reads.
bool computes_alike(const Module &module, const Instruction &instruction, Scope scope);

/// Results that are one value for the threads of a scope that executed the same instance of an
/// instruction.
struct OneValue {
  Scope scope = Scope::lanes;
  /// What must be one for these threads, too: a source lane, an address. (On whom they meet, and on
  /// the guard, lanes must agree as for any instruction that gathers them.)
  std::vector<const Operand *> agreed;
  std::vector<const Operand *> results; ///< all others may be anything in each lane
  /// A weak load: nothing may order a store of another thread between the executions of two of the
  /// threads. Nothing makes them execute it together.
  bool is_load = false;
};

/// What is known of an instruction; nothing if its results may differ whatever its operands.
/// `number`: what an operand is known to hold, in 32 bits.
std::optional<OneValue>
one_value(const Module &module, const Instruction &instruction,
          const std::function<std::optional<std::uint32_t>(const Operand &)> &number);

/// True if lanes that execute such an instruction wait for each other at this very instruction
/// before any of them goes on. Other than for bar.warp.sync, which any other one may answer.
bool waits_at_itself(const Opcode &opcode);

} // namespace ptxasw::emulator
