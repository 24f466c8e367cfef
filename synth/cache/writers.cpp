// A weak load sees what somebody else has written while the kernel ran, without a race, only if
// something orders the two: an acquire pattern of a thread of this kernel (PTX ISA 8.8), which
// takes an atomic, an ordered access or a fence, or an instruction that waits for another grid. A
// barrier orders the threads of one block among each other; so what comes to a thread by way of it
// was written by the block, or came to one of its threads in a way that is refused.

#include "synth/cache/writers.h"

#include "emulator/semantics/effects.h"

namespace ptxasw::inline synth::cache {
namespace {

constexpr Refusal ordered{"synchronises",
                          "it may see what others write while it runs, or writes anywhere"};

/// A barrier of threads of one block (PTX ISA 9.7.13.1 and 9.7.13.2).
bool is_block_barrier(const Opcode &opcode) {
  return is_one_of(opcode.op, {Op::bar, Op::barrier}) && !opcode.has(Modifier::cluster);
}

/// A reduction that returns nothing and orders nothing.
bool is_relaxed_reduction(const Opcode &opcode) {
  return opcode.op == Op::red && !opcode.has(Modifier::release) && !opcode.has(Modifier::acq_rel) &&
         !opcode.has(Modifier::acquire) && !opcode.has(Modifier::async) &&
         !opcode.has(Modifier::mmio) && !opcode.has(Modifier::volatile_);
}

bool may_be_global(StateSpace space) {
  return space == StateSpace::global || space == StateSpace::generic;
}

} // namespace

Writers writers_of(const Module &module, const Function &kernel) {
  Writers result;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction &instruction = kernel.instructions[i];
    const Opcode &opcode = module.opcode(instruction);
    const Effect effect = effect_of(opcode);
    const bool harmless =
        effect != Effect::sync || leaves_global_alone(opcode) || is_block_barrier(opcode);
    if (!instruction.well_formed || !(harmless || is_relaxed_reduction(opcode))) {
      result.unknown = ordered;
      result.unknown->line = instruction.line;
      return result;
    }
    const bool writes = effect == Effect::store || (opcode.op == Op::red && !harmless);
    if (writes && may_be_global(opcode.space))
      result.stores.push_back(i);
  }
  return result;
}

} // namespace ptxasw::synth::cache
