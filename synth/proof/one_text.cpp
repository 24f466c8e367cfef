// The one emulation that the proof rests on.

#include "synth/proof/one_text.h"

#include "synth/proof/candidate.h"

#include "grammar/roles.h"

namespace ptxasw::synth {
namespace {

/// What loads have given, what stands in the place of those that were replaced, and what lanes
/// exchange.
std::vector<Probe> questions(const Module &module, const Function &function,
                             const Restored &parts) {
  std::vector<Probe> probes;
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i)
    if (const Opcode &opcode = module.opcode(function.instructions[i]);
        opcode.op == Op::ld && effect_of(opcode) == Effect::load)
      for (const Operand &to : elements_of(module, function.instructions[i]))
        if (is_whole_register(to))
          probes.push_back({i, to.reg, true});
  for (const RestoredLoad &load : parts.loads)
    for (const RegisterId reg : load.registers) {
      probes.push_back({load.first, reg, false});
      probes.push_back({load.place, reg, false});
    }
  const auto ask = [&](std::uint32_t at, std::size_t operand) {
    const Operand &asked = module.operands(function.instructions[at])[operand];
    probes.push_back({at, asked.reg, operand == 0});
  };
  for (const AddedInstruction &one : parts.shuffles)
    for (const std::size_t operand : {0u, 1u, 4u})
      ask(one.at, operand);
  for (const AddedInstruction &one : parts.masks)
    ask(one.at, 0);
  return probes;
}

} // namespace

OneText::OneText(const Module &text, const Function &restored, const Restored &where,
                 const RewriteOptions &asked, const GenericAddresses &generic)
    : module(text), function(restored), parts(where), options(asked),
      launch(launch_facts(restored, asked.assume_block)), probes(questions(text, restored, where)),
      emulation(module, function, launch, probes), generic_(generic),
      trace_index_(function.instructions.size(), no_index) {
  for (std::size_t i = 0; i < probes.size(); ++i)
    probe_index_[{probes[i].instruction, probes[i].reg, probes[i].after}] = i;
  const auto &trace = emulation.trace();
  for (std::uint32_t i = 0; i < trace.size(); ++i)
    trace_index_[trace[i].instruction] = i;
  if (!emulation.complete())
    return;
  // Shifting by lanes replaces these two; it must know them before it is first asked.
  emulation.special("%tid.x");
  emulation.special("%laneid");
}

Expr OneText::value_of(std::uint32_t instruction, RegisterId reg, bool behind) {
  const auto found = probe_index_.find({instruction, reg, behind});
  const Expr value = found == probe_index_.end() ? nullptr : emulation.probed(found->second);
  return value ? emulation.expand(value) : nullptr;
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
