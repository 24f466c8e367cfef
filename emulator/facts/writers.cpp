// A weak load sees what somebody else has written while the kernel ran, without a race, only if
// something orders the two: an acquire pattern of a thread of this kernel (PTX ISA 8.8), which
// takes an atomic, an ordered access or a fence, or an instruction that waits for another grid. A
// barrier orders the threads of one block among each other; so what comes to a thread by way of it
// was written by the block, or came to one of its threads in a way that is refused.

#include "emulator/facts/writers.h"

#include "emulator/semantics/effects.h"

namespace ptxasw::facts {
namespace {

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

} // namespace

Writers::Writers(const Module &module, const Function &kernel) : module_(module), kernel_(kernel) {
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction &instruction = kernel.instructions[i];
    const Opcode &opcode = module.opcode(instruction);
    const Effect effect = effect_of(opcode);
    const bool harmless =
        effect != Effect::sync || leaves_global_alone(opcode) || is_block_barrier(opcode);
    if (!instruction.well_formed || !(harmless || is_relaxed_reduction(opcode))) {
      unknown_ = i;
      return;
    }
    const bool writes = effect == Effect::store || (opcode.op == Op::red && !harmless);
    if (writes && may_be_global(opcode.space))
      stores_.push_back(i);
  }
}

const std::set<Origin> &Writers::origins(std::uint32_t access, std::size_t operand) {
  static const std::set<Origin> none;
  const auto operands = module_.operands(kernel_.instructions[access]);
  if (operand >= operands.size())
    return none;
  if (!origins_)
    origins_.emplace(module_, kernel_);
  return origins_->of_address(operands[operand]);
}

std::optional<Conflict> Writers::conflict(std::uint32_t load, bool apart) {
  for (const std::uint32_t store : stores_) {
    if (!apart)
      return Conflict{store};
    const std::set<Origin> &read = origins(load, 1), &written = origins(store, 0);
    if (!Origins::are_apart(read, written))
      return Conflict{store, !Origins::are_one(written) ? store
                             : !Origins::are_one(read)  ? load
                                                        : no_index};
  }
  return std::nullopt;
}

} // namespace ptxasw::facts
