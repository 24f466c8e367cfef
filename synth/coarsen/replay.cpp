// Added code is what writes a register of its own, by one of a few instructions, or branches by a
// predicate of its own or by none, or lets other lanes go first. Anything else belongs to a copy,
// and replay ends there, as it does at added code that depends on what is not known. What it
// computes is what the emulator's table says. That a block lies inside the grid, or in how many
// copies a predicate holds, is the assumption of the run.

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
    {"ld.param.u32", "mov.u32", "add.u32", "mul.lo.u32", "mad.lo.u32", "shr.u32", "and.b32",
     "selp.b32", "setp.eq.u32", "setp.ge.u32", "and.pred", "or.pred", "not.pred"});

} // namespace

std::optional<ReplayEnd> Replay::run(std::uint32_t position, ReplayState &state, const Known &known,
                                     bool executes) const {
  for (std::size_t steps = 0; steps <= 2 * sibling_.instructions.size(); ++steps) {
    if (position >= sibling_.instructions.size())
      return ReplayEnd{position, true};
    const Instruction &instruction = sibling_.instructions[position];
    const Opcode &opcode = module_.opcode(instruction);
    bool taken = is_way(opcode);
    if (!taken && !(executes && execute(instruction, state)))
      return ReplayEnd{position, false};
    if (taken && instruction.guard != no_register) {
      // A branch by a copy's own predicate is the kernel's, whatever is known of it.
      const auto guard = state.find(instruction.guard);
      const auto holds = guard == state.end() || !is_control_[instruction.guard]
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
    std::erase_if(state, [&](const auto &entry) { return !is_control_[entry.first]; });
  }
  return std::nullopt;
}

bool Replay::execute(const Instruction &instruction, ReplayState &state) const {
  if (plain_text(module_.text(instruction.span)) == pause)
    return true;
  const auto operands = module_.operands(instruction);
  const Opcode &opcode = module_.opcode(instruction);
  if (!instruction.well_formed || instruction.guard != no_register || operands.size() < 2 ||
      !is_whole_register(operands[0]) || !is_control_[operands[0].reg] ||
      std::find(replayed_opcodes.begin(), replayed_opcodes.end(), opcode.text) ==
          replayed_opcodes.end())
    return false;
  const auto value_of = [&](const Operand &operand, unsigned width) {
    const Expr found = value(operand, state);
    return found && found->width == width ? found : nullptr;
  };
  const RegisterId to = operands[0].reg;
  const unsigned width = bit_width(sibling_.registers[to].type);
  const Expr result =
      opcode.op == Op::ld ? value_of(operands[1], width) : evaluate_(instruction, value_of);
  if (!result || result->width != width)
    return false;
  state[to] = result;
  return true;
}

Expr Replay::value(const Operand &operand, const ReplayState &state) const {
  if (is_whole_register(operand)) {
    const auto found = state.find(operand.reg);
    return found == state.end() ? nullptr : found->second;
  }
  if (operand.kind == Operand::Kind::integer && operand.value >= 0 && operand.value <= UINT32_MAX)
    return pool_.constant(32, static_cast<std::uint32_t>(operand.value));
  if (const std::string_view name = module_.text(operand.span);
      operand.kind == Operand::Kind::special && (scope_of(name) || name == "%dynamic_smem_size"))
    return special(name);
  // A parameter is what is at its address; the name of memory is where it begins.
  const bool is_address = operand.kind == Operand::Kind::address;
  const Operand &named = is_address ? module_.children(operand)[0] : operand;
  if (named.kind != Operand::Kind::symbol || named.value != 0 || operand.value != 0)
    return nullptr;
  const Symbol &symbol = module_.symbol(named);
  if (is_address)
    return symbol.kind == Symbol::Kind::parameter ? parameter(symbol.index) : nullptr;
  const Variable *const variable = module_.variable(symbol);
  return symbol.kind == Symbol::Kind::module_variable && variable &&
                 variable->space == StateSpace::shared && variable->linkage == Linkage::external &&
                 variable->size() == 0
             ? begin(symbol.index)
             : nullptr;
}

} // namespace ptxasw::synth
