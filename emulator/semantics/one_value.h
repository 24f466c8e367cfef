#pragma once

// Instructions whose results are one value for several threads although they are not functions of
// their operands (soundness.md, U1 and U2).

#include "grammar/module.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ptxasw::inline emulator {

/// The widest set of threads for which a value may be one, if they executed the same instance of
/// the instruction. What is one for a scope is one for those before it, and not for those behind.
enum class Scope : std::uint8_t {
  lanes, ///< those lanes of a warp that the member mask names
  block, ///< all threads of the block
  grid,  ///< all threads
};

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
