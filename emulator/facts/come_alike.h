#pragma once

// Where all threads of a block come alike, without a look at what they have in registers:
//   come_alike(context, loop, end, place)

#include "emulator/facts/kernel_context.h"
#include "emulator/semantics/one_value.h"

namespace ptxasw::facts {

/// Returns true if what an instruction writes is known before the kernel runs where what it reads
/// is, and the same for all threads of a scope, however often they do it: it computes, or loads
/// arguments and constants.
bool is_known_before(const Module &module, const Instruction &instruction, emulator::Scope scope);

/// Returns true if all threads of a block that go around a loop as often as the others come to one
/// of its blocks equally often, and in the same iterations, without a look at what they have in
/// registers. `end` is the block that the loop is left from; `place` is the header of a
/// loop that is in this one and in none within.
bool come_alike(const KernelContext &context, LoopId loop, BlockId end, BlockId place);

} // namespace ptxasw::facts
