// A shuffle from one lane is the value of that lane, if the lane takes part: what a lane outside of
// the mask has is undefined (PTX ISA 9.7.9.6), and each reader may get something of its own. So the
// mask must be known to name it: all lanes, or, where both are numbers, that one. A segment would
// make it another lane for each group. Votes, reductions and `match.all` give the same to whoever
// the mask names (9.7.13.7 to 9.7.13.11); of `elect` that is who was elected, not whether the lane
// is it. `bar.red` gives the same to all threads that come to the barrier (9.7.13.1).

#include "emulator/semantics/one_value.h"

#include "emulator/semantics/effects.h"
#include "emulator/semantics/launch.h"

namespace ptxasw::inline emulator {
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

} // namespace

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
