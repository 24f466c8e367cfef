// A shuffle from one lane is the value of that lane, if the lane takes part: what a lane outside of
// the mask has is undefined (PTX ISA 9.7.9.6), and each reader may get something of its own. So the
// mask must be known to name it: all lanes, or, where both are numbers, that one. A segment would
// make it another lane for each group. Votes, reductions and `match.all` give the same to whoever
// the mask names (9.7.13.7 to 9.7.13.11); of `elect` that is who was elected, not whether the lane
// is it. `bar.red` gives the same to all threads that come to the barrier (9.7.13.1).

#include "emulator/semantics/one_value.h"

#include "emulator/semantics/effects.h"
#include "emulator/semantics/launch.h"

#include <algorithm>
#include <initializer_list>

namespace ptxasw::emulator {
namespace {

using Number = std::function<std::optional<std::uint32_t>(const Operand &)>;

bool comes_from_one_lane(const Opcode &opcode, std::span<const Operand> operands,
                         const Number &number) {
  if (opcode.has(Modifier::up) || opcode.has(Modifier::down) || opcode.has(Modifier::bfly) ||
      operands.size() != 5)
    return false;
  const auto source = number(operands[2]), segments = number(operands[3]),
             members = number(operands[4]);
  if (!segments || (*segments & 0x1f1f) != 0x1f || !members)
    return false;
  return *members == ~0u || (source && (*members >> (*source % warp_lanes) & 1) != 0);
}

/// A parameter of a call, which may be written: these are accessed by their names.
bool loads_from_call(const Module &module, const Opcode &opcode,
                     std::span<const Operand> operands) {
  const Operand *const base = opcode.space == StateSpace::param && operands.size() > 1 &&
                                      operands[1].kind == Operand::Kind::address
                                  ? &module.children(operands[1])[0]
                                  : nullptr;
  return base && base->kind == Operand::Kind::symbol &&
         module.symbol(*base).kind != Symbol::Kind::parameter;
}

bool is_local(const Module &module, const Symbol &symbol) {
  return (symbol.kind == Symbol::Kind::module_variable &&
          module.variables[symbol.index].space == StateSpace::local) ||
         (symbol.kind == Symbol::Kind::function_variable &&
          module.functions[symbol.function].variables[symbol.index].space == StateSpace::local);
}

} // namespace

std::optional<Scope> scope_of(std::string_view special) {
  const auto begins = [&](std::initializer_list<std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view begin) { return special.starts_with(begin); });
  };
  if (special == "WARP_SZ" || begins({"%ntid", "%nctaid"}))
    return Scope::grid;
  if (begins({"%ctaid"}))
    return Scope::block;
  return begins({"%tid", "%laneid", "%lanemask_"}) ? std::optional(Scope::thread) : std::nullopt;
}

bool agree(const Module &module, std::span<const Operand> operands, Scope scope) {
  return std::all_of(operands.begin(), operands.end(), [&](const Operand &operand) {
    // Each thread has local variables of its own, and nothing says that they have one address.
    if (operand.kind == Operand::Kind::symbol && scope > Scope::thread &&
        is_local(module, module.symbol(operand)))
      return false;
    if (operand.kind == Operand::Kind::special) {
      const auto known = scope_of(module.text(operand.span));
      if (!known || *known < scope)
        return false;
    }
    return operand.kind != Operand::Kind::other && agree(module, module.children(operand), scope);
  });
}

bool mentions_special(const Module &module, std::span<const Operand> operands,
                      std::string_view special) {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand &operand) {
    return (operand.kind == Operand::Kind::special && module.text(operand.span) == special) ||
           mentions_special(module, module.children(operand), special);
  });
}

bool mentions_special(const Module &module, const Function &function, std::string_view special) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [&](const Instruction &instruction) {
                       return mentions_special(module, module.operands(instruction), special);
                     });
}

bool uses_carry(const Opcode &opcode) {
  return opcode.has(Modifier::cc) || is_one_of(opcode.op, {Op::addc, Op::subc, Op::madc});
}

bool computes_alike(const Module &module, const Instruction &instruction, Scope scope) {
  const Opcode &opcode = module.opcode(instruction);
  const auto operands = module.operands(instruction);
  const bool loads = (opcode.op == Op::ld && opcode.space == StateSpace::param &&
                      !loads_from_call(module, opcode, operands)) ||
                     reads_constant_memory(opcode);
  return instruction.well_formed && (is_pure(opcode) || loads) && !uses_carry(opcode) &&
         agree(module, operands, scope);
}

std::optional<OneValue> one_value(const Module &module, const Instruction &instruction,
                                  const Number &number) {
  const Opcode &opcode = module.opcode(instruction);
  const auto operands = module.operands(instruction);
  if (!instruction.well_formed || operands.size() < 2)
    return std::nullopt;
  OneValue result;
  const bool is_pair = operands[0].kind == Operand::Kind::pair;
  const auto both = is_pair ? module.children(operands[0]) : operands.subspan(0, 1);
  for (const Operand &operand : both)
    result.results.push_back(&operand);
  switch (opcode.op) {
  case Op::shfl:
    if (!opcode.has(Modifier::sync) || !comes_from_one_lane(opcode, operands, number))
      return std::nullopt;
    result.agreed.push_back(&operands[2]);
    return result;
  case Op::vote:
  case Op::redux:
    return opcode.has(Modifier::sync) ? std::optional(std::move(result)) : std::nullopt;
  case Op::match:
    if (!opcode.has(Modifier::sync) || !opcode.has(Modifier::all))
      return std::nullopt;
    return result;
  case Op::elect:
    if (!opcode.has(Modifier::sync) || !is_pair)
      return std::nullopt;
    result.results.pop_back();
    return result;
  case Op::bar:
  case Op::barrier:
    if (!opcode.has(Modifier::red) || !waits_at_itself(opcode))
      return std::nullopt;
    result.scope = Scope::block;
    return result;
  case Op::ld: {
    if (effect_of(opcode) != Effect::load || opcode.space == StateSpace::local ||
        operands[1].kind != Operand::Kind::address)
      return std::nullopt;
    result.scope = opcode.space == StateSpace::shared ? Scope::block : Scope::grid;
    result.is_load = true;
    result.agreed.push_back(&operands[1]);
    const bool vector = operands[0].kind == Operand::Kind::vector;
    if (vector) {
      result.results.clear();
      for (const Operand &operand : module.children(operands[0]))
        result.results.push_back(&operand);
    }
    return result;
  }
  default:
    return std::nullopt;
  }
}

bool waits_at_itself(const Opcode &opcode) {
  switch (opcode.op) {
  case Op::shfl:
  case Op::vote:
  case Op::match:
  case Op::redux:
  case Op::elect:
    return opcode.has(Modifier::sync);
  case Op::bar: // bar.sync is barrier.sync.aligned (PTX ISA 9.7.13.1)
    return !opcode.has(Modifier::warp) && !opcode.has(Modifier::arrive);
  case Op::barrier:
    return opcode.has(Modifier::aligned) && !opcode.has(Modifier::cluster) &&
           !opcode.has(Modifier::arrive);
  default:
    return false;
  }
}

} // namespace ptxasw::emulator
