// Registers are looked at without the order of instructions: where one is asked for, all that write
// it on the ways to the loop are repeated, and all that these read is asked for. So a thread that
// repeats them, block by block, finds in all these registers what the kernel has there: what is
// left out writes none of them. What is repeated has no effect and gives the same twice.

#include "synth/stage/stage.h"

#include "emulator/facts/come_alike.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <tuple>

namespace ptxasw::synth::stage {
namespace {

constexpr Refusal around{"nested-loop", "it is in a loop, or behind one"};
constexpr Refusal first{"control-flow", "the kernel begins with it"};
constexpr Refusal unforeseen{"depends-on-memory",
                             "what decides about the loop is not computed from parameters alone"};

} // namespace

Before before_loop(const KernelContext &context, LoopId loop, std::set<RegisterId> registers) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  const ControlFlowGraph &cfg = context.cfg();
  const BlockId header = cfg.loops()[loop].header;
  const std::uint32_t line = kernel.instructions[cfg.blocks()[header].first].line;
  const auto ways =
      leading_to(cfg, header, [&](BlockId from, BlockId) { return !cfg.contains(loop, from); });
  if (!ways.contains(0))
    throw first.at(line);
  Before result;
  for (const BlockId block : ways) {
    if (cfg.loop_of(block) != no_index || cfg.irreducible(block))
      throw around.at(line);
    result[block];
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (auto &[block, repeated] : result)
      for (std::uint32_t i = cfg.blocks()[block].first; i < cfg.blocks()[block].end; ++i) {
        const Instruction &one = kernel.instructions[i];
        const bool decides = is_way(module.opcode(one));
        const auto written = written_registers(module, one);
        if (!(decides || std::any_of(written.begin(), written.end(),
                                     [&](RegisterId reg) { return registers.contains(reg); })) ||
            !repeated.insert(i).second)
          continue;
        if (!decides && !facts::is_known_before(module, one, emulator::Scope::thread))
          throw unforeseen.at(one.line);
        for_each_register(module, one, [&](RegisterId reg, RegisterUse) { registers.insert(reg); });
        grows = true;
      }
  }
  return result;
}

} // namespace ptxasw::synth::stage
