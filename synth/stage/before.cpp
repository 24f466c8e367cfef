// Registers are looked at without the order of instructions: where one is asked for, all that write
// it on the ways to the loop are repeated, and all that these read is asked for. So a thread that
// repeats them, block by block, finds in all these registers what the kernel has there: what is
// left out writes none of them. What is repeated has no effect and gives the same twice.
//
// Threads come alike (come_alike()) for this:
//
// A register that one instruction alone writes, which comes before the reader on all ways, and
// which computes from arguments, what all threads of a block have in common and such registers,
// holds the same in all of them, whenever they read it. A branch by such a register leads all of
// them the same way.
//
// In a round of the loop all threads begin at its header. A block is certain if all ways from it
// that go around the loop come to the place before that. As long as threads are at blocks that are
// not certain, and from which the place can be reached in this round, each branch there must be
// such a one, or the one that ends the loop, in the same round for all. So they are all at the same
// blocks, until all come to a certain one, or all to one from which the place is not reached, or
// all leave. A thread that is at a certain block comes to the place, from outside of the loop that
// it heads; once, as no other loop within this one has it. What the place dominates is behind it.

#include "synth/stage/before.h"

#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/next.h"
#include "grammar/roles.h"

namespace ptxasw::synth::stage {
namespace {

constexpr Refusal around{"nested-loop", "it is in a loop, or behind one"};
constexpr Refusal first{"control-flow", "the kernel begins with it"};
constexpr Refusal unforeseen{"depends-on-memory",
                             "what decides about the loop is not computed from parameters alone"};

/// Returns true if what an instruction writes is known before the kernel runs where what it reads
/// is, and the same for all threads of a scope, however often they do it: it computes, or loads
/// arguments and constants.
bool is_known_before(const Module &module, const Instruction &instruction, emulator::Scope scope) {
  const Opcode &opcode = module.opcode(instruction);
  return computes_alike(module, instruction, scope) &&
         (is_pure(opcode) || opcode.space == StateSpace::param ||
          opcode.space == StateSpace::constant) &&
         first_operand(opcode) == FirstOperand::destination;
}

/// The blocks from which a loop is reached, itself apart, in the order of the text.
std::vector<BlockId> ways_to(const ControlFlowGraph &cfg, LoopId loop) {
  const auto found = leading_to(cfg, cfg.loops()[loop].header,
                                [&](BlockId from, BlockId) { return !cfg.contains(loop, from); });
  return {found.begin(), found.end()};
}

/// Adds to ways what of their instructions decides and computes.
Before repeating(const KernelContext &context, Before ways, std::set<RegisterId> registers) {
  const Module &module = context.module;
  std::set<std::uint32_t> repeated;
  for (bool grows = true; grows;) {
    grows = false;
    for (const BlockId block : ways.blocks) {
      const BasicBlock &one = context.cfg().blocks()[block];
      for (std::uint32_t i = one.first; i < one.end; ++i) {
        const Instruction &instruction = context.kernel.instructions[i];
        bool needed = is_way(module.opcode(instruction));
        for (const RegisterId reg : written_registers(module, instruction))
          needed = needed || registers.contains(reg);
        if (!needed || !repeated.insert(i).second)
          continue;
        if (!is_way(module.opcode(instruction)) &&
            !is_known_before(module, instruction, emulator::Scope::thread))
          throw unforeseen.at(instruction.line);
        for_each_register(module, instruction,
                          [&](RegisterId reg, RegisterUse) { registers.insert(reg); });
        grows = true;
      }
    }
  }
  ways.instructions.assign(repeated.begin(), repeated.end());
  return ways;
}

class Alike : OfKernel {
public:
  Alike(const KernelContext &context, LoopId loop, BlockId place)
      : OfKernel(context), loop_(loop), place_(place), written_(context.only_writers()) {}

  bool come(BlockId end) const {
    const std::set<BlockId> before = leading_to_place();
    for (const BlockId id : before) {
      const BasicBlock &one = block(id);
      const bool goes_apart =
          one.successors.size() > 1 && !std::all_of(one.successors.begin(), one.successors.end(),
                                                    [&](BlockId to) { return is_certain(to); });
      if (goes_apart && id != end && !is_alike_branch(one))
        return false;
    }
    return true;
  }

private:
  /// The blocks of the loop from which the place is reached in the same round.
  std::set<BlockId> leading_to_place() const {
    return leading_to(cfg(), place_, [&](BlockId from, BlockId to) {
      return to != cfg().loops()[loop_].header && cfg().contains(loop_, from) &&
             !cfg().dominates(place_, from);
    });
  }

  /// Returns true if all ways from a block that stay in the loop lead through the place before they
  /// go around.
  bool is_certain(BlockId from) const {
    const auto ends_round = [&](BlockId one) {
      return !cfg().contains(loop_, one) || one == cfg().loops()[loop_].header;
    };
    const auto passed = reached_from(
        cfg(), from, [&](BlockId one, BlockId) { return one != place_ && !ends_round(one); });
    return !ends_round(from) && std::none_of(passed.begin(), passed.end(), ends_round);
  }

  bool is_alike_branch(const BasicBlock &one) const {
    return one.branch != no_index && one.branch == one.end - 1 &&
           opcode(one.branch).op == Op::bra && instruction(one.branch).guard != no_register &&
           is_alike(instruction(one.branch).guard, one.branch, 0);
  }

  bool is_alike(RegisterId reg, std::uint32_t reader, unsigned depth) const {
    const std::uint32_t writer = written_[reg];
    if (writer == no_index || depth > deepest || !precedes(writer, reader))
      return false;
    const Instruction &one = instruction(writer);
    bool result = one.guard == no_register && is_known_before(module_, one, emulator::Scope::block);
    for_each_register(module_, one, [&](RegisterId from, RegisterUse use) {
      result = result && (use == RegisterUse::written || is_alike(from, writer, depth + 1));
    });
    return result;
  }

  bool precedes(std::uint32_t earlier, std::uint32_t later) const {
    const BlockId a = cfg().block_of(earlier), b = cfg().block_of(later);
    return cfg().reachable(a) && (a == b ? earlier < later : cfg().dominates(a, b));
  }

  static constexpr unsigned deepest = 12;

  const LoopId loop_;
  const BlockId place_;
  const std::vector<std::uint32_t> &written_; ///< only_writers()
};

} // namespace

Before before_loop(const KernelContext &context, LoopId loop, std::set<RegisterId> registers) {
  const ControlFlowGraph &cfg = context.cfg();
  const Instruction &header =
      context.kernel.instructions[cfg.blocks()[cfg.loops()[loop].header].first];
  Before result{ways_to(cfg, loop), {}};
  if (result.blocks.empty() || result.blocks[0] != 0)
    throw first.at(header.line);
  for (const BlockId block : result.blocks)
    if (cfg.loop_of(block) != no_index || cfg.irreducible(block))
      throw around.at(header.line);
  return repeating(context, std::move(result), std::move(registers));
}

bool come_alike(const KernelContext &context, LoopId loop, BlockId end, BlockId place) {
  return Alike(context, loop, place).come(end);
}

} // namespace ptxasw::synth::stage
