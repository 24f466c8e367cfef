// Which loads a reuse could replace or come from, by the instruction alone (soundness.md, rule 6).

#include "synth/proof/candidate.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

namespace ptxasw::synth {

std::span<const Operand> elements_of(const Module &module, const Instruction &load) {
  const auto operands = module.operands(load);
  if (operands.empty())
    return {};
  return operands[0].kind == Operand::Kind::vector ? module.children(operands[0])
                                                   : operands.subspan(0, 1);
}

bool overwrites_own_operands(const Module &module, const Instruction &load) {
  const auto elements = elements_of(module, load);
  bool result = false;
  for_each_register(module, load, [&](RegisterId reg, RegisterUse use) {
    if (use == RegisterUse::read)
      for (const Operand &element : elements)
        result |= element.kind == Operand::Kind::reg && element.reg == reg;
  });
  return result;
}

Candidate candidate(const Module &module, const Function &function, const Instruction &instruction,
                    const Widths &widths) {
  const Opcode &opcode = module.opcode(instruction);
  Candidate result;
  result.is_global_load = opcode.op == Op::ld && opcode.space == StateSpace::global;
  result.is_generic = opcode.op == Op::ld && opcode.space == StateSpace::generic;
  if (!result.is_load())
    return result;
  const unsigned bits = bit_width(opcode.type);
  const bool wanted = (bits == 8 && widths.b8) || (bits == 16 && widths.b16) ||
                      (bits == 32 && widths.b32) || (bits == 64 && widths.b64);
  // Whole registers of at most 64 bits, all of one width.
  const auto destination_fits = [&] {
    const auto elements = elements_of(module, instruction);
    if (elements.size() != opcode.vector)
      return false;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Operand &element = elements[i];
      if (element.kind != Operand::Kind::reg || element.selector)
        return false;
      const Register &reg = function.registers[element.reg];
      const unsigned width = bit_width(reg.type);
      if (reg.vector != 1 || width < 16 || width > 64 ||
          (width != bits && (bits > 16 || width > 32)))
        return false;
      for (std::size_t other = 0; other < i; ++other)
        if (elements[other].reg == element.reg)
          return false;
    }
    return true;
  };
  const auto operands = module.operands(instruction);
  if (effect_of(opcode) != Effect::load)
    result.reason = Reason::not_weak;
  else if (!wanted || (opcode.vector != 1 && !widths.vector))
    result.reason = Reason::width_not_supported;
  else if (!instruction.well_formed || operands.size() < 2 ||
           operands[1].kind != Operand::Kind::address || !destination_fits())
    result.reason = Reason::opaque_address;
  else
    result.eligible = true;
  return result;
}

} // namespace ptxasw::synth
