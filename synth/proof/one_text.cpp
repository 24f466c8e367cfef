// The one emulation that the proof rests on.

#include "synth/proof/one_text.h"

#include "synth/shuffle/candidate.h"

namespace ptxasw::synth {

OneText::OneText(const Module &text, const Function &restored, const Restored &where,
                 const RewriteOptions &asked, const GenericAddresses &generic,
                 std::span<const Probe> probes)
    : module(text), function(restored), parts(where), options(asked),
      launch(launch_facts(restored, asked.assume_block)),
      emulation(module, function, launch, probes), generic_(generic),
      trace_index_(function.instructions.size(), no_index) {
  const auto &trace = emulation.trace();
  for (std::uint32_t i = 0; i < trace.size(); ++i)
    trace_index_[trace[i].instruction] = i;
  if (!emulation.complete())
    return;
  // Shifting by lanes replaces these two; it must know them before it is first asked.
  emulation.special("%tid.x");
  emulation.special("%laneid");
}

const MemoryAccess *OneText::load(std::uint32_t instruction) const {
  const MemoryAccess *const found = access(instruction);
  return found && found->address && found->effect == Effect::load ? found : nullptr;
}

bool OneText::is_in_global_memory(const MemoryAccess &access) const {
  return access.space == StateSpace::global ||
         (access.space == StateSpace::generic &&
          generic_.is_global(function, function.instructions[access.instruction]));
}

unsigned OneText::width(LoadedElement element) const {
  const Operand &to = elements_of(module, function.instructions[element.load])[element.element];
  return bit_width(function.registers[to.reg].type);
}

const Known &OneText::known_in(BlockId block) {
  auto found = known_in_.find(block);
  if (found == known_in_.end())
    found = known_in_.emplace(block, known_on_path(emulation, block)).first;
  return found->second;
}

} // namespace ptxasw::synth
