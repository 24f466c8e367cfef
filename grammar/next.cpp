// A branch or a return under a guard may go on with the next instruction; all else does.

#include "grammar/next.h"

#include "grammar/roles.h"

namespace ptxasw::ptx {

bool returns(const Opcode &opcode) { return opcode.op == Op::ret || opcode.op == Op::exit; }
bool is_way(const Opcode &opcode) { return opcode.op == Op::bra || returns(opcode); }

bool falls_through(const Module &module, const Instruction &instruction) {
  return instruction.guard != no_register || !is_way(module.opcode(instruction));
}

std::optional<std::uint32_t> branch_target(const Module &module, const Function &function,
                                           const Instruction &instruction) {
  const auto operands = module.operands(instruction);
  if (module.opcode(instruction).op != Op::bra || !instruction.well_formed ||
      operands.size() != 1 || operands[0].kind != Operand::Kind::symbol || operands[0].value != 0)
    return std::nullopt;
  const Label *label = function.find_label(module.symbol(operands[0]).name, instruction.scope);
  return label ? std::optional(label->position) : std::nullopt;
}

std::vector<bool> branch_targets(const Module &module, const Function &function) {
  std::vector<bool> result(function.instructions.size() + 1, false);
  for (const Instruction &one : function.instructions)
    if (const auto target = branch_target(module, function, one))
      result[*target] = true;
  return result;
}

std::vector<std::uint32_t> next_after(const Module &module, const Function &function,
                                      std::uint32_t instruction) {
  const Instruction &one = function.instructions[instruction];
  std::vector<std::uint32_t> next;
  if (const auto target = branch_target(module, function, one))
    next.push_back(*target);
  if (falls_through(module, one))
    next.push_back(instruction + 1);
  return next;
}

std::vector<bool> reachable_from(const Module &module, const Function &function,
                                 std::vector<std::uint32_t> from) {
  std::vector<bool> reached(function.instructions.size() + 1, false);
  while (!from.empty()) {
    const std::uint32_t i = from.back();
    from.pop_back();
    if (reached[i])
      continue;
    reached[i] = true;
    if (i == function.instructions.size())
      continue;
    const std::vector<std::uint32_t> next = next_after(module, function, i);
    from.insert(from.end(), next.begin(), next.end());
  }
  return reached;
}

std::vector<bool> written_in(const Module &module, const Function &function,
                             const std::vector<bool> &instructions,
                             const std::vector<bool> &except) {
  std::vector<bool> written(function.registers.size(), false);
  for (std::size_t i = 0; i < function.instructions.size(); ++i)
    if (instructions[i] && !except[i])
      for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read)
          written[reg] = true;
      });
  return written;
}

std::vector<RegisterId> live_before(const Module &module, const Function &function,
                                    const ControlFlowGraph &cfg, const Liveness &liveness,
                                    std::uint32_t instruction) {
  const BlockId block = cfg.block_of(instruction);
  std::vector<bool> live(function.registers.size());
  for (RegisterId reg = 0; reg < live.size(); ++reg)
    live[reg] = liveness.live_out(block, reg);
  for (std::uint32_t i = cfg.blocks()[block].end; i-- > instruction;) {
    const Instruction &one = function.instructions[i];
    for (const bool reads : {false, true})
      for_each_register(module, one, [&](RegisterId reg, RegisterUse use) {
        if (reads && use == RegisterUse::read)
          live[reg] = true;
        else if (!reads && use == RegisterUse::written)
          live[reg] = false;
      });
  }
  std::vector<RegisterId> result;
  for (RegisterId reg = 0; reg < live.size(); ++reg)
    if (live[reg])
      result.push_back(reg);
  return result;
}

} // namespace ptxasw::ptx
