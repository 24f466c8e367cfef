// Added code is what writes a register of its own, by one of a few instructions, or moves a shared
// register to its stand-in, or branches by a predicate of its own or by none, or lets other lanes
// go first. Anything else belongs to a copy, and replay ends there, as it does at added code that
// depends on what is not known. What it computes is what the emulator's table says. That a block
// lies inside the grid, or in how many copies a predicate holds, is the assumption of the run.

#include "synth/coarsen/replay.h"

#include "synth/script.h"

#include "emulator/semantics/one_value.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>

namespace ptxasw::synth {
namespace {

/// What the added code computes with.
constexpr auto replayed_opcodes = std::to_array<std::string_view>(
    {"mov.u32", "add.u32", "mul.lo.u32", "mad.lo.u32", "shr.u32", "and.b32", "selp.b32",
     "setp.eq.u32", "setp.ge.u32", "and.pred", "or.pred", "not.pred"});

} // namespace

std::optional<std::uint32_t> Replay::skip(std::uint32_t position) const {
  for (std::size_t steps = 0; steps <= sibling_.instructions.size(); ++steps) {
    if (position >= sibling_.instructions.size())
      return position;
    const Instruction &instruction = sibling_.instructions[position];
    if (module_.opcode(instruction).op != Op::bra || instruction.guard != no_register)
      return position;
    const auto target = branch_target(module_, sibling_, instruction);
    if (!target)
      return std::nullopt;
    position = *target;
  }
  return std::nullopt;
}

std::optional<ReplayEnd> Replay::run(std::uint32_t position, ReplayState &state,
                                     const Known &known) const {
  for (std::size_t steps = 0; steps <= 2 * sibling_.instructions.size(); ++steps) {
    if (position >= sibling_.instructions.size())
      return ReplayEnd{position, true};
    const Instruction &instruction = sibling_.instructions[position];
    const Opcode &opcode = module_.opcode(instruction);
    if (!is_way(opcode)) {
      if (!execute(instruction, state))
        return ReplayEnd{position, false};
      ++position;
      continue;
    }
    bool taken = true;
    if (instruction.guard != no_register) {
      // That a copy's own predicate is known is for a kernel of one copy, whose branch it is.
      const auto guard = state.find(instruction.guard);
      const auto holds =
          guard == state.end() || roles_[instruction.guard].kind != ReplayRole::Kind::control
              ? std::nullopt
              : known.decide(guard->second);
      if (!holds)
        return ReplayEnd{position, false};
      taken = *holds != instruction.guard_negated;
    }
    if (!taken) {
      ++position;
      continue;
    }
    if (returns(opcode))
      return ReplayEnd{position, true};
    const auto target = branch_target(module_, sibling_, instruction);
    if (!target)
      return std::nullopt;
    position = *target;
    // What the copies' predicates were is for this test, not for what comes after it.
    std::erase_if(state, [&](const auto &entry) {
      return roles_[entry.first].kind == ReplayRole::Kind::copy;
    });
  }
  return std::nullopt;
}

bool Replay::execute(const Instruction &instruction, ReplayState &state) const {
  if (plain_text(module_.text(instruction.span)) == pause)
    return true;
  const auto operands = module_.operands(instruction);
  if (!instruction.well_formed || instruction.guard != no_register || operands.empty() ||
      !is_whole_register(operands[0]))
    return false;
  const RegisterId to = operands[0].reg;
  const std::string_view text = module_.opcode(instruction).text;
  Expr result = nullptr;
  if (roles_[to].kind == ReplayRole::Kind::own)
    result = taken_over(to, instruction);
  else if (roles_[to].kind != ReplayRole::Kind::control)
    return false;
  else if (text == "ld.param.u32")
    result = loaded(instruction);
  else if (std::find(replayed_opcodes.begin(), replayed_opcodes.end(), text) !=
           replayed_opcodes.end())
    result = evaluate_(instruction, [&](const Operand &operand, unsigned width) {
      return value(operand, width, state);
    });
  if (!result || result->width != bit_width(sibling_.registers[to].type))
    return false;
  state[to] = result;
  return true;
}

// Only what takes a shared value over.
Expr Replay::taken_over(RegisterId to, const Instruction &instruction) const {
  const auto operands = module_.operands(instruction);
  const Opcode &opcode = module_.opcode(instruction);
  if (opcode.op != Op::mov || operands.size() != 2 || !is_whole_register(operands[1]) ||
      bit_width(opcode.type) != bit_width(sibling_.registers[to].type))
    return nullptr;
  const ReplayRole &from = roles_[operands[1].reg];
  return (from.kind == ReplayRole::Kind::shared || from.kind == ReplayRole::Kind::copy) &&
                 from.reg == roles_[to].reg
             ? held(operands[1].reg)
             : nullptr;
}

Expr Replay::loaded(const Instruction &instruction) const {
  const auto operands = module_.operands(instruction);
  if (operands.size() != 2 || operands[1].kind != Operand::Kind::address || operands[1].value != 0)
    return nullptr;
  const Operand &base = module_.children(operands[1])[0];
  return base.kind == Operand::Kind::symbol && base.value == 0 &&
                 module_.symbol(base).kind == Symbol::Kind::parameter
             ? parameter(module_.symbol(base).index)
             : nullptr;
}

Expr Replay::value(const Operand &operand, unsigned width, const ReplayState &state) const {
  Expr result = nullptr;
  if (is_whole_register(operand)) {
    const auto found = state.find(operand.reg);
    result = found == state.end() ? nullptr : found->second;
  } else if (operand.kind == Operand::Kind::integer && operand.value >= 0 &&
             operand.value <= UINT32_MAX) {
    result = pool_.constant(32, static_cast<std::uint32_t>(operand.value));
  } else if (operand.kind == Operand::Kind::special) {
    const std::string_view name = module_.text(operand.span);
    if (scope_of(name) || name == "%dynamic_smem_size")
      result = special(name);
  } else if (operand.kind == Operand::Kind::symbol && operand.value == 0) {
    const Symbol &symbol = module_.symbol(operand);
    const Variable *const variable = module_.variable(symbol);
    if (symbol.kind == Symbol::Kind::module_variable && variable &&
        variable->space == StateSpace::shared && variable->linkage == Linkage::external &&
        variable->size() == 0)
      result = begin(symbol.index);
  }
  return result && result->width == width ? result : nullptr;
}

} // namespace ptxasw::synth
