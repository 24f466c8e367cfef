// What the copies have in common. In lockstep all copies have taken the same path; so a register
// that is only ever written by pure functions of registers of that kind holds the same in all of
// them, whatever the path. The largest set of such registers is found by removing those that do not
// qualify.

#include "emulator/effects.h"
#include "grammar/cfg.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"
#include "synth/retile/retile.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>
#include <span>

namespace ptxasw {
namespace {

bool mentions(const Module &module, std::span<const Operand> operands, std::string_view special) {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand &operand) {
    return (operand.kind == Operand::Kind::special && module.text(operand.span) == special) ||
           mentions(module, module.children(operand), special);
  });
}

/// Returns true if an instruction's results depend on its operands alone.
bool is_function_of_operands(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  return instruction.well_formed &&
         (is_pure(opcode) || (opcode.base == "ld" && opcode.space == StateSpace::param) ||
          reads_constant_memory(opcode));
}

} // namespace

bool mentions_special(const Module &module, const Function &kernel, std::string_view special) {
  return std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                     [&](const Instruction &instruction) {
                       return mentions(module, module.operands(instruction), special);
                     });
}

std::string block_index_name(int axis) { return fmt::format("%ctaid.{}", "xyz"[axis]); }
std::string grid_extent_name(int axis) { return fmt::format("%nctaid.{}", "xyz"[axis]); }

std::vector<bool> shared_registers(const Module &module, const Function &kernel, int axis) {
  std::vector<bool> shared(kernel.registers.size(), true);
  const std::string block_index = block_index_name(axis);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction &instruction : kernel.instructions) {
      bool common = is_function_of_operands(module, instruction) &&
                    !mentions(module, module.operands(instruction), block_index);
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        common &= use != RegisterUse::read || shared[reg];
      });
      if (common)
        continue;
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::read || !shared[reg])
          return;
        shared[reg] = false;
        changed = true;
      });
    }
  }
  return shared;
}

bool is_shared(const Module &module, const Instruction &instruction,
               const std::vector<bool> &shared) {
  bool writes = false, all = true;
  for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
    if (use == RegisterUse::read)
      return;
    writes = true;
    all &= shared[reg];
  });
  return writes && all;
}

std::optional<std::uint32_t> branch_target(const Module &module, const Function &function,
                                           const Instruction &instruction) {
  const auto operands = module.operands(instruction);
  if (module.opcode(instruction).base != "bra" || !instruction.well_formed ||
      operands.size() != 1 || operands[0].kind != Operand::Kind::symbol || operands[0].value != 0)
    return std::nullopt;
  const Label *label = function.find_label(module.symbol(operands[0]).name, instruction.scope);
  return label ? std::optional(label->position) : std::nullopt;
}

bool ends_thread(const Opcode &opcode) { return opcode.base == "ret" || opcode.base == "exit"; }

std::vector<RegisterId> live_before_branch(const Function &function, const ControlFlowGraph &cfg,
                                           const Liveness &liveness, std::uint32_t instruction) {
  std::vector<RegisterId> live;
  for (RegisterId reg = 0; reg < function.registers.size(); ++reg)
    if (reg == function.instructions[instruction].guard ||
        liveness.live_out(cfg.block_of(instruction), reg))
      live.push_back(reg);
  return live;
}

RetileNames::RetileNames(const Function &kernel) {
  std::set<std::string> taken;
  for (const Register &reg : kernel.registers) {
    std::string suffix(reg.name);
    std::erase(suffix, '%');
    while (!taken.insert(suffix).second) // scopes may declare one name twice
      suffix += '_';
    suffixes_.push_back(std::move(suffix));
  }
}

std::string RetileNames::copy(unsigned k, RegisterId reg) const {
  return fmt::format("%c{}_{}", k, suffixes_[reg]);
}
std::string RetileNames::shared(RegisterId reg) const { return "%u_" + suffixes_[reg]; }
std::string RetileNames::slow(RegisterId reg) const { return "%s_" + suffixes_[reg]; }
std::string RetileNames::block(unsigned k) { return fmt::format("%block{}", k); }

} // namespace ptxasw
