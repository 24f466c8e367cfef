// Moving a load up in its block. That a load runs earlier changes nothing if its address is known
// there, nobody in between sees its register, and memory stays as it is.

#include "synth/shuffle/hoist.h"

#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::synth {

bool may_move_up(const Module &module, const Function &function, const Emulation &emulation,
                 Between &between, std::size_t source, std::size_t before) {
  const std::uint32_t begin = emulation.trace()[before].instruction,
                      end = emulation.trace()[source].instruction;
  const Instruction &moved = function.instructions[end];
  if (moved.scope != function.instructions[begin].scope)
    return false;
  for (const Pragma &pragma : function.pragmas)
    if (pragma.position >= begin && pragma.position <= end)
      return false;
  std::vector<RegisterId> reads, writes;
  for_each_register(module, moved, [&](RegisterId reg, RegisterUse use) {
    (use == RegisterUse::read ? reads : writes).push_back(reg);
  });
  const auto in = [](const std::vector<RegisterId> &list, RegisterId reg) {
    return std::find(list.begin(), list.end(), reg) != list.end();
  };
  bool free =
      std::none_of(writes.begin(), writes.end(), [&](RegisterId reg) { return in(reads, reg); });
  // Its registers must be declared there already.
  for (std::uint32_t i = begin; i < end; ++i)
    free = free &&
           module.text({function.instructions[i].span.end, function.instructions[i + 1].span.begin})
                   .find(".reg") == std::string_view::npos;
  for (std::uint32_t i = begin; i < end; ++i)
    for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
      free = free && !in(writes, reg) && (use == RegisterUse::read || !in(reads, reg));
    });
  if (!free)
    return false;
  const Passage passage = between.passage(before, source, false);
  return !passage.obstacle && !passage.assumed && !passage.exchanges;
}

} // namespace ptxasw::synth
