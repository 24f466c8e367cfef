// A register that one instruction alone writes, which comes before the reader on all ways, and
// which computes from arguments, what all threads of a block have in common and such registers,
// holds the same in all of them, whenever they read it. A branch by such a register leads all of
// them the same way.
//
// In an iteration of the loop all threads begin at its header. A block is certain if all ways from
// it that go around the loop come to the place before that. As long as threads are at blocks that
// are not certain, and from which the place can be reached in this iteration, each branch there
// must be such a one, or the one that ends the loop, in the same iteration for all. So they are all
// at the same blocks, until all come to a certain one, or all to one from which the place is not
// reached, or all leave. A thread that is at a certain block comes to the place, from outside of
// the loop that it heads; once, as no other loop within this one has it. What the place dominates
// is behind it.

#include "emulator/facts/come_alike.h"

#include "emulator/semantics/effects.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::facts {

bool is_known_before(const Module &module, const Instruction &instruction, emulator::Scope scope) {
  const Opcode &opcode = module.opcode(instruction);
  return computes_alike(module, instruction, scope) &&
         (is_pure(opcode) || opcode.space == StateSpace::param ||
          opcode.space == StateSpace::constant) &&
         first_operand(opcode) == FirstOperand::destination;
}

namespace {

/// Returns true if all threads of a block have the same in a register where an instruction reads
/// it.
bool is_alike(const KernelContext &context, RegisterId reg, std::uint32_t reader,
              unsigned depth = 0) {
  constexpr unsigned deepest = 12;
  const ControlFlowGraph &cfg = context.cfg();
  const std::uint32_t writer = context.only_writers()[reg];
  if (writer == no_index || depth > deepest)
    return false;
  const BlockId there = cfg.block_of(writer), here = cfg.block_of(reader);
  const Instruction &one = context.kernel.instructions[writer];
  const auto from = read_registers(context.module, one);
  return cfg.reachable(there) && (there == here ? writer < reader : cfg.dominates(there, here)) &&
         one.guard == no_register && is_known_before(context.module, one, emulator::Scope::block) &&
         std::all_of(from.begin(), from.end(),
                     [&](RegisterId its) { return is_alike(context, its, writer, depth + 1); });
}

} // namespace

bool come_alike(const KernelContext &context, LoopId loop, BlockId end, BlockId place) {
  const ControlFlowGraph &cfg = context.cfg();
  const auto ends_round = [&](BlockId one) {
    return !cfg.contains(loop, one) || one == cfg.loops()[loop].header;
  };
  const auto is_certain = [&](BlockId from) {
    const auto passed = reached_from(
        cfg, from, [&](BlockId one, BlockId) { return one != place && !ends_round(one); });
    return !ends_round(from) && std::none_of(passed.begin(), passed.end(), ends_round);
  };
  const auto goes_alike = [&](BlockId one) {
    const BasicBlock &block = cfg.blocks()[one];
    if (block.successors.size() < 2 || one == end ||
        std::all_of(block.successors.begin(), block.successors.end(), is_certain))
      return true;
    const Instruction &branch = context.kernel.instructions[block.end - 1];
    return block.branch == block.end - 1 && context.module.opcode(branch).op == Op::bra &&
           is_alike(context, branch.guard, block.branch);
  };
  // The blocks from which the place is reached in the same iteration.
  const auto before = leading_to(cfg, place, [&](BlockId from, BlockId to) {
    return to != cfg.loops()[loop].header && cfg.contains(loop, from) &&
           !cfg.dominates(place, from);
  });
  return std::all_of(before.begin(), before.end(), goes_alike);
}

} // namespace ptxasw::facts
