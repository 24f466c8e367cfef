// nvcc leaves what is long and rarely needed to functions: the reduction of large arguments of
// sin(double) and cos(double), which keeps a product in local memory, or pow(). Their code is
// looked at without regard to who calls: with equal arguments and equal memory they do the same.

#include "analysis/plain_calls.h"

#include "emulator/semantics/effects.h"
#include "emulator/symbolic/calls.h"
#include "grammar/roles.h"

#include <span>

namespace ptxasw::analysis {
namespace {

constexpr unsigned call_depth_budget = 8;

/// Returns true if operands, or what they hold, name a special register or a shared variable.
bool name_place(const Module &module, std::span<const Operand> operands) {
  return any_operand(module, operands, [&](const Operand &operand) {
    const Variable *const variable =
        operand.kind == Operand::Kind::symbol ? module.variable(module.symbol(operand)) : nullptr;
    return (operand.kind == Operand::Kind::special && module.text(operand.span) != "WARP_SZ") ||
           (variable && variable->space == StateSpace::shared);
  });
}

} // namespace

bool calls_driver(const Module &module, const Instruction &call) {
  const Symbol *const callee = callee_of(module, call);
  return callee && callee->kind == Symbol::Kind::function &&
         !module.functions[callee->index].has_body &&
         module.functions[callee->index].linkage == Linkage::external &&
         (callee->name == "vprintf" || callee->name == "__assertfail");
}

bool PlainCalls::is_plain(const Instruction &call) {
  const Function *const callee = CallTargets(module_).of(call);
  return callee && only_computes(*callee, 0);
}

// While a function is looked at the answer is false: that covers recursion.
bool PlainCalls::only_computes(const Function &function, unsigned depth) {
  const auto [entry, is_new] = known_.try_emplace(&function, false);
  if (!is_new || depth > call_depth_budget)
    return entry->second;
  for (const Instruction &instruction : function.instructions) {
    const Opcode &opcode = module_.opcode(instruction);
    const Op op = opcode.op;
    if (!instruction.well_formed || opcode.space == StateSpace::shared ||
        name_place(module_, module_.operands(instruction)))
      return false;
    const bool flow = op == Op::bra || op == Op::ret;
    const bool access = is_one_of(op, {Op::ld, Op::st}) && effect_of(opcode) != Effect::sync;
    if (is_pure(opcode) || flow || access)
      continue;
    const Function *const callee = op == Op::call ? CallTargets(module_).of(instruction) : nullptr;
    if (!callee || !only_computes(*callee, depth + 1))
      return false;
  }
  return known_[&function] = true;
}

} // namespace ptxasw::analysis
