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

#include "synth/stage/alike.h"

#include "grammar/roles.h"
#include "synth/stage/before.h"

#include <algorithm>
#include <set>

namespace ptxasw::synth::stage {
namespace {

class Alike {
public:
  Alike(const Module &module, const Function &kernel, const ControlFlowGraph &cfg, LoopId loop,
        BlockId place)
      : module_(module), kernel_(kernel), cfg_(cfg), loop_(loop), place_(place),
        written_(kernel.registers.size(), no_index) {
    for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
      for_each_register(module, kernel.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read)
          written_[reg] = written_[reg] == no_index && use == RegisterUse::written ? i : several;
      });
  }

  bool come(BlockId end) const {
    const std::set<BlockId> before = leading_to_place();
    for (const BlockId block : before) {
      const BasicBlock &one = cfg_.blocks()[block];
      const bool goes_apart =
          one.successors.size() > 1 && !std::all_of(one.successors.begin(), one.successors.end(),
                                                    [&](BlockId to) { return is_certain(to); });
      if (goes_apart && block != end && !is_alike_branch(one))
        return false;
    }
    return true;
  }

private:
  static constexpr std::uint32_t several = no_index - 1;

  /// The blocks of the loop from which the place is reached in the same round.
  std::set<BlockId> leading_to_place() const {
    return leading_to(cfg_, place_, [&](BlockId from, BlockId to) {
      return to != cfg_.loops()[loop_].header && cfg_.contains(loop_, from) &&
             !cfg_.dominates(place_, from);
    });
  }

  /// Returns true if all ways from a block that stay in the loop lead through the place before they
  /// go around.
  bool is_certain(BlockId block) const {
    const auto ends_round = [&](BlockId one) {
      return !cfg_.contains(loop_, one) || one == cfg_.loops()[loop_].header;
    };
    const auto passed = reached_from(
        cfg_, block, [&](BlockId from, BlockId) { return from != place_ && !ends_round(from); });
    return !ends_round(block) && std::none_of(passed.begin(), passed.end(), ends_round);
  }

  bool is_alike_branch(const BasicBlock &block) const {
    if (block.branch == no_index || block.branch != block.end - 1)
      return false;
    const Instruction &branch = kernel_.instructions[block.branch];
    return module_.opcode(branch).op == Op::bra && branch.guard != no_register &&
           is_alike(branch.guard, block.branch, 0);
  }

  bool is_alike(RegisterId reg, std::uint32_t reader, unsigned depth) const {
    const std::uint32_t writer = written_[reg];
    if (writer == no_index || writer == several || depth > deepest || !precedes(writer, reader))
      return false;
    const Instruction &one = kernel_.instructions[writer];
    bool result = one.guard == no_register && is_known_before(module_, one, emulator::Scope::block);
    for_each_register(module_, one, [&](RegisterId from, RegisterUse use) {
      result = result && (use == RegisterUse::written || is_alike(from, writer, depth + 1));
    });
    return result;
  }

  bool precedes(std::uint32_t earlier, std::uint32_t later) const {
    const BlockId a = cfg_.block_of(earlier), b = cfg_.block_of(later);
    return cfg_.reachable(a) && (a == b ? earlier < later : cfg_.dominates(a, b));
  }

  static constexpr unsigned deepest = 12;

  const Module &module_;
  const Function &kernel_;
  const ControlFlowGraph &cfg_;
  const LoopId loop_;
  const BlockId place_;
  std::vector<std::uint32_t> written_; ///< by register: the one instruction that writes it
};

} // namespace

bool come_alike(const Module &module, const Function &kernel, const ControlFlowGraph &cfg,
                LoopId loop, BlockId end, BlockId block) {
  return Alike(module, kernel, cfg, loop, block).come(end);
}

} // namespace ptxasw::synth::stage
