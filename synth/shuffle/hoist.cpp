// Moving a load up in its block. That a load runs earlier changes nothing if its address is known
// there, nobody in between sees its register, and memory stays as it is.

#include "synth/shuffle/hoist.h"

#include "synth/shuffle/candidate.h"

namespace ptxasw::synth {

bool may_move_up(const Module &module, const Function &function, Emulation &emulation,
                 Between &between, std::size_t source, std::size_t before) {
  const std::uint32_t begin = emulation.trace()[before].instruction,
                      end = emulation.trace()[source].instruction;
  const Instruction &moved = function.instructions[end];
  if (moved.scope != function.instructions[begin].scope)
    return false;
  for (const Pragma &pragma : function.pragmas)
    if (pragma.position >= begin && pragma.position <= end)
      return false;
  // It must not change its own address, and its registers must be declared there already.
  if (overwrites_own_operands(module, moved) || touched_between(module, function, begin, end))
    return false;
  for (std::uint32_t i = begin; i < end; ++i)
    if (module.text({function.instructions[i].span.end, function.instructions[i + 1].span.begin})
            .find(".reg") != std::string_view::npos)
      return false;
  const MemoryAccess &load = emulation.trace()[source];
  const auto spares = [&](const MemoryAccess &store) {
    return overlap(emulation, store, load.block, load) == Overlap::never;
  };
  const Passage passage = between.passage({load.block, begin}, load, spares);
  return !passage.obstacle && !passage.exchanges;
}

} // namespace ptxasw::synth
