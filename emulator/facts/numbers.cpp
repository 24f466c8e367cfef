// A register that only `mov`s of one number may write, all of it and without a guard, holds that
// number behind the first of them that ran. That one has run before an instruction is shown by
// walking from the beginning along all ways that meet none.

#include "emulator/facts/numbers.h"

#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::facts {
namespace {

/// The number that an instruction moves into a register of 32 bits; nothing if it is another one.
std::optional<std::uint32_t> moved(const Module &module, const Function &function,
                                   const Instruction &instruction) {
  const auto operands = module.operands(instruction);
  const std::string_view text = module.opcode(instruction).text;
  if (!instruction.well_formed || instruction.guard != no_register || operands.size() != 2 ||
      (text != "mov.u32" && text != "mov.b32" && text != "mov.s32") ||
      operands[0].kind != Operand::Kind::reg || operands[0].selector != 0 ||
      operands[1].kind != Operand::Kind::integer)
    return std::nullopt;
  const Register &reg = function.registers[operands[0].reg];
  if (bit_width(reg.type) != 32 || reg.vector != 1)
    return std::nullopt;
  return static_cast<std::uint32_t>(operands[1].value);
}

} // namespace

Numbers::Numbers(const Module &module, const Function &function)
    : module_(module), function_(function), written_(function.registers.size()) {
  std::vector<bool> spoilt(written_.size(), false);
  for (const Instruction &instruction : function.instructions) {
    const auto number = moved(module, function, instruction);
    for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
      if (use == RegisterUse::read)
        return;
      spoilt[reg] = spoilt[reg] || !number || (written_[reg] && *written_[reg] != *number);
      written_[reg] = number;
    });
  }
  for (RegisterId reg = 0; reg < written_.size(); ++reg)
    if (spoilt[reg])
      written_[reg].reset();
}

std::vector<bool> comes_unwritten(const Module &module, const Function &function, RegisterId reg) {
  const std::size_t count = function.instructions.size();
  std::vector<bool> reached(count + 1, false);
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t i = open.back();
    open.pop_back();
    if (reached[i])
      continue;
    reached[i] = true;
    if (i == count)
      continue;
    bool writes = false;
    for_each_register(module, function.instructions[i], [&](RegisterId other, RegisterUse use) {
      writes = writes || (other == reg && use != RegisterUse::read);
    });
    if (!writes)
      for (const std::uint32_t next : next_after(module, function, i))
        open.push_back(next);
  }
  return reached;
}

std::optional<std::uint32_t> Numbers::of(const Operand &operand, std::uint32_t instruction) const {
  if (operand.kind == Operand::Kind::integer)
    return static_cast<std::uint32_t>(operand.value);
  if (operand.kind != Operand::Kind::reg || operand.selector != 0 || operand.negated ||
      !written_[operand.reg])
    return std::nullopt;
  const auto [found, is_new] = known_.try_emplace(operand.reg);
  if (is_new)
    found->second = {*written_[operand.reg], comes_unwritten(module_, function_, operand.reg)};
  return found->second.unset[instruction] ? std::nullopt : std::optional(found->second.number);
}

} // namespace ptxasw::facts
