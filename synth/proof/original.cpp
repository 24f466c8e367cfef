// The one emulation of a function that its proof rests on.

#include "synth/proof/original.h"

#include "synth/shuffle/candidate.h"

namespace ptxasw::synth {

Original::Original(const Module &text, const Function &before, const RewriteOptions &asked,
                   const GenericAddresses &generic, std::span<const Probe> probes)
    : module(text), function(before), options(asked),
      launch(launch_facts(before, asked.assume_block)), emulation(module, function, launch, probes),
      generic_(generic), trace_index_(function.instructions.size(), no_index) {
  const auto &trace = emulation.trace();
  for (std::uint32_t i = 0; i < trace.size(); ++i)
    trace_index_[trace[i].instruction] = i;
  if (!emulation.complete())
    return;
  // Shifting by lanes replaces these two; it must know them before it is first asked.
  emulation.special("%tid.x");
  emulation.special("%laneid");
}

const MemoryAccess *Original::access(std::uint32_t instruction) const {
  const std::size_t index = trace_index_[instruction];
  return index == no_index ? nullptr : &emulation.trace()[index];
}

const MemoryAccess *Original::load(std::uint32_t instruction) const {
  const MemoryAccess *const found = access(instruction);
  return found && found->address && found->effect == Effect::load ? found : nullptr;
}

bool Original::is_in_global_memory(const MemoryAccess &access) const {
  return access.space == StateSpace::global ||
         (access.space == StateSpace::generic &&
          generic_.is_global(function, function.instructions[access.instruction]));
}

std::vector<RegisterId> Original::destinations(std::uint32_t load) const {
  std::vector<RegisterId> result;
  if (!function.instructions[load].well_formed)
    return result;
  for (const Operand &part : elements_of(module, function.instructions[load])) {
    if (part.kind == Operand::Kind::sink)
      result.push_back(no_register);
    else if (part.kind == Operand::Kind::reg && !part.selector &&
             function.registers[part.reg].vector == 1)
      result.push_back(part.reg);
    else
      return {};
  }
  return result;
}

unsigned Original::width(LoadedElement element) const {
  return bit_width(function.registers[destinations(element.load)[element.element]].type);
}

const Known &Original::known_in(BlockId block) {
  auto found = known_in_.find(block);
  if (found == known_in_.end())
    found = known_in_.emplace(block, known_on_path(emulation, block)).first;
  return found->second;
}

} // namespace ptxasw::synth
