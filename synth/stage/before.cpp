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

#include "synth/stage/stage.h"

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

/// Which instructions on the ways decide, or compute what is asked for.
std::vector<std::uint32_t> repeated_on(const KernelContext &context, const std::set<BlockId> &ways,
                                       std::set<RegisterId> registers) {
  const Module &module = context.module;
  std::set<std::uint32_t> repeated;
  for (bool grows = true; grows;) {
    grows = false;
    for (const BlockId block : ways) {
      const BasicBlock &one = context.cfg().blocks()[block];
      for (std::uint32_t i = one.first; i < one.end; ++i) {
        const Instruction &instruction = context.kernel.instructions[i];
        const bool decides = is_way(module.opcode(instruction));
        const auto written = written_registers(module, instruction);
        if (!(decides || std::any_of(written.begin(), written.end(),
                                     [&](RegisterId reg) { return registers.contains(reg); })) ||
            !repeated.insert(i).second)
          continue;
        if (!decides && !is_known_before(module, instruction, emulator::Scope::thread))
          throw unforeseen.at(instruction.line);
        for_each_register(module, instruction,
                          [&](RegisterId reg, RegisterUse) { registers.insert(reg); });
        grows = true;
      }
    }
  }
  return {repeated.begin(), repeated.end()};
}

class Alike : OfKernel {
public:
  Alike(const KernelContext &context, LoopId loop, BlockId place)
      : OfKernel(context), loop_(loop), place_(place) {}

  bool come(BlockId end) const {
    // The blocks of the loop from which the place is reached in the same round.
    const auto before = leading_to(cfg(), place_, [&](BlockId from, BlockId to) {
      return to != cfg().loops()[loop_].header && cfg().contains(loop_, from) &&
             !cfg().dominates(place_, from);
    });
    return std::all_of(before.begin(), before.end(), [&](BlockId id) {
      const auto &next = block(id).successors;
      return next.size() < 2 || id == end || is_alike_branch(block(id)) ||
             std::all_of(next.begin(), next.end(), [&](BlockId to) { return is_certain(to); });
    });
  }

private:
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
    return one.branch == one.end - 1 && opcode(one.branch).op == Op::bra &&
           is_alike(instruction(one.branch).guard, one.branch, 0);
  }

  bool is_alike(RegisterId reg, std::uint32_t reader, unsigned depth) const {
    constexpr unsigned deepest = 12;
    const std::uint32_t writer = context_.only_writers()[reg];
    if (writer == no_index || depth > deepest || !precedes(writer, reader))
      return false;
    const Instruction &one = instruction(writer);
    const auto from = read_registers(module_, one);
    return one.guard == no_register && is_known_before(module_, one, emulator::Scope::block) &&
           std::all_of(from.begin(), from.end(),
                       [&](RegisterId its) { return is_alike(its, writer, depth + 1); });
  }

  bool precedes(std::uint32_t earlier, std::uint32_t later) const {
    const BlockId a = cfg().block_of(earlier), b = cfg().block_of(later);
    return cfg().reachable(a) && (a == b ? earlier < later : cfg().dominates(a, b));
  }

  const LoopId loop_;
  const BlockId place_;
};

} // namespace

Before before_loop(const KernelContext &context, LoopId loop, std::set<RegisterId> registers) {
  const ControlFlowGraph &cfg = context.cfg();
  const BlockId header = cfg.loops()[loop].header;
  const std::uint32_t line = context.kernel.instructions[cfg.blocks()[header].first].line;
  const auto ways =
      leading_to(cfg, header, [&](BlockId from, BlockId) { return !cfg.contains(loop, from); });
  if (!ways.contains(0))
    throw first.at(line);
  for (const BlockId block : ways)
    if (cfg.loop_of(block) != no_index || cfg.irreducible(block))
      throw around.at(line);
  return {{ways.begin(), ways.end()}, repeated_on(context, ways, std::move(registers))};
}

bool come_alike(const KernelContext &context, LoopId loop, BlockId end, BlockId place) {
  return Alike(context, loop, place).come(end);
}

} // namespace ptxasw::synth::stage
