// Registers are looked at without the order of instructions: where one is asked for, all that write
// it on the ways to the loop are repeated, and all that these read is asked for. So a thread that
// repeats them, block by block, finds in all these registers what the kernel has there: what is
// left out writes none of them. What is repeated has no effect and gives the same twice.

#include "synth/stage/before.h"

#include "emulator/semantics/effects.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::synth::stage {
namespace {

constexpr Refusal around{"nested-loop", "it is in a loop, or behind one"};
constexpr Refusal first{"control-flow", "the kernel begins with it"};
constexpr Refusal unforeseen{"depends-on-memory",
                             "what decides about the loop is not computed from parameters alone"};

/// The blocks from which a loop is reached, itself apart, in the order of the text.
std::vector<BlockId> ways_to(const ControlFlowGraph &cfg, LoopId loop) {
  const auto found = leading_to(cfg, cfg.loops()[loop].header,
                                [&](BlockId from, BlockId) { return !cfg.contains(loop, from); });
  return {found.begin(), found.end()};
}

/// Adds to ways what of their instructions decides and computes.
Before repeating(const Module &module, const Function &kernel, const ControlFlowGraph &cfg,
                 Before ways, std::set<RegisterId> registers) {
  std::set<std::uint32_t> repeated;
  for (bool grows = true; grows;) {
    grows = false;
    for (const BlockId block : ways.blocks) {
      const BasicBlock &one = cfg.blocks()[block];
      for (std::uint32_t i = one.first; i < one.end; ++i) {
        const Instruction &instruction = kernel.instructions[i];
        bool needed = is_way(module.opcode(instruction));
        for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
          needed = needed || (use != RegisterUse::read && registers.contains(reg));
        });
        if (!needed || !repeated.insert(i).second)
          continue;
        if (!is_way(module.opcode(instruction)) &&
            !is_known_before(module, instruction, emulator::Scope::thread))
          throw Refused{unforeseen.at(instruction.line)};
        for_each_register(module, instruction,
                          [&](RegisterId reg, RegisterUse) { registers.insert(reg); });
        grows = true;
      }
    }
  }
  ways.instructions.assign(repeated.begin(), repeated.end());
  return ways;
}

} // namespace

bool is_known_before(const Module &module, const Instruction &instruction, emulator::Scope scope) {
  const Opcode &opcode = module.opcode(instruction);
  return computes_alike(module, instruction, scope) &&
         (is_pure(opcode) || opcode.space == StateSpace::param ||
          opcode.space == StateSpace::constant) &&
         first_operand(opcode) == FirstOperand::destination;
}

Before before_loop(const Module &module, const Function &kernel, const ControlFlowGraph &cfg,
                   LoopId loop, std::set<RegisterId> registers) {
  const Instruction &header = kernel.instructions[cfg.blocks()[cfg.loops()[loop].header].first];
  Before result{ways_to(cfg, loop), {}};
  if (result.blocks.empty() || result.blocks[0] != 0)
    throw Refused{first.at(header.line)};
  for (const BlockId block : result.blocks)
    if (cfg.loop_of(block) != no_index || cfg.irreducible(block))
      throw Refused{around.at(header.line)};
  return repeating(module, kernel, cfg, std::move(result), std::move(registers));
}

} // namespace ptxasw::synth::stage
