// Added code is what writes a register of its own, or moves a shared register to its stand-in, or
// branches by a predicate of its own or by none. Anything else belongs to a copy, and replay ends
// there, as it does at added code that depends on what is not known. Block indices are kept as
// scale * %ctaid + number modulo 2^32; that one lies inside the grid or not is the assumption of
// the run.

#include "synth/retile/replay.h"

#include "synth/retile/retile.h"

namespace ptxasw {
namespace {

using Kind = ReplayValue::Kind;

ReplayValue truth(bool holds) { return {Kind::truth, holds}; }

/// a * factor, a being a number, an index or an extent.
std::optional<ReplayValue> scaled(const ReplayValue &a, const ReplayValue &factor) {
  const bool linear = a.kind == Kind::number || a.kind == Kind::index || a.kind == Kind::extent;
  if (!linear || factor.kind != Kind::number)
    return std::nullopt;
  return ReplayValue{a.kind, a.number * factor.number, a.scale * factor.number};
}

std::optional<ReplayValue> sum(const ReplayValue &a, const ReplayValue &b) {
  for (const ReplayValue *one : {&a, &b})
    if (one->kind != Kind::number && one->kind != Kind::index)
      return std::nullopt;
  const bool index = a.kind == Kind::index || b.kind == Kind::index;
  return ReplayValue{index ? Kind::index : Kind::number, a.number + b.number, a.scale + b.scale};
}

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
                                     std::optional<unsigned> inside) const {
  for (std::size_t steps = 0; steps <= 2 * sibling_.instructions.size(); ++steps) {
    if (position >= sibling_.instructions.size())
      return ReplayEnd{position, true};
    const Instruction &instruction = sibling_.instructions[position];
    const Opcode &opcode = module_.opcode(instruction);
    const bool jump = opcode.op == Op::bra || ends_thread(opcode);
    if (!jump) {
      if (!execute(instruction, state, inside))
        return ReplayEnd{position, false};
      ++position;
      continue;
    }
    bool taken = true;
    if (instruction.guard != no_register) {
      if (roles_[instruction.guard].kind != ReplayRole::Kind::control)
        return ReplayEnd{position, false};
      const auto guard = state.find(instruction.guard);
      if (guard == state.end() || guard->second.kind != Kind::truth)
        return ReplayEnd{position, false};
      taken = (guard->second.number != 0) != instruction.guard_negated;
    }
    if (!taken) {
      ++position;
      continue;
    }
    if (ends_thread(opcode))
      return ReplayEnd{position, true};
    const auto target = branch_target(module_, sibling_, instruction);
    if (!target)
      return std::nullopt;
    position = *target;
    // What the copies' predicates were is for this test, not for what comes after it.
    std::erase_if(state, [&](const auto &entry) {
      return roles_[entry.first].kind != ReplayRole::Kind::control &&
             entry.second.kind == Kind::truth;
    });
  }
  return std::nullopt;
}

bool Replay::execute(const Instruction &instruction, ReplayState &state,
                     std::optional<unsigned> inside) const {
  const auto operands = module_.operands(instruction);
  if (!instruction.well_formed || operands.empty() || operands[0].kind != Operand::Kind::reg ||
      operands[0].selector != 0)
    return false;
  const RegisterId to = operands[0].reg;
  const ReplayRole::Kind role = roles_[to].kind;
  const Opcode &opcode = module_.opcode(instruction);
  if (role == ReplayRole::Kind::own) {
    // Only what takes a shared value over.
    if (opcode.op != Op::mov || operands.size() != 2 || operands[1].kind != Operand::Kind::reg ||
        operands[1].selector != 0 || operands[1].negated)
      return false;
    const ReplayRole &from = roles_[operands[1].reg];
    if (from.kind != ReplayRole::Kind::shared || instruction.guard != no_register ||
        sibling_.registers[to].type != sibling_.registers[operands[1].reg].type ||
        bit_width(opcode.type) != bit_width(sibling_.registers[to].type))
      return false;
    state[to] = {Kind::copied, 0, 0, from.reg};
    return true;
  }
  if (role != ReplayRole::Kind::control)
    return false;
  if (instruction.guard != no_register)
    return false;
  std::vector<ReplayValue> in;
  for (const Operand &operand : operands.subspan(1)) {
    const auto read = value(operand, state);
    if (!read)
      return false;
    in.push_back(*read);
  }
  const auto result = compute(instruction, in, inside);
  if (!result)
    return false;
  const bool is_predicate = sibling_.registers[to].type == ScalarType::pred;
  if (is_predicate != (result->kind == Kind::truth) ||
      (!is_predicate && bit_width(sibling_.registers[to].type) != 32))
    return false;
  state[to] = *result;
  return true;
}

std::optional<ReplayValue> Replay::value(const Operand &operand, const ReplayState &state) const {
  if (operand.negated || operand.selector != 0)
    return std::nullopt;
  if (operand.kind == Operand::Kind::reg) {
    const auto found = state.find(operand.reg);
    return found == state.end() ? std::nullopt : std::optional(found->second);
  }
  if (operand.kind == Operand::Kind::integer && operand.value >= 0 && operand.value <= UINT32_MAX)
    return ReplayValue{Kind::number, static_cast<std::uint32_t>(operand.value)};
  if (operand.kind == Operand::Kind::special && module_.text(operand.span) == index_)
    return ReplayValue{Kind::index, 0, 1};
  if (operand.kind == Operand::Kind::special && form_.within_block() &&
      module_.text(operand.span) == extent_)
    return ReplayValue{Kind::extent, 0, 1};
  if (operand.kind == Operand::Kind::address && operand.value == 0 && !form_.within_block()) {
    const Operand &base = module_.children(operand)[0];
    if (base.kind == Operand::Kind::symbol && base.value == 0) {
      const Symbol &symbol = module_.symbol(base);
      if (symbol.kind == Symbol::Kind::parameter && symbol.index + 1 == sibling_.parameters.size())
        return ReplayValue{Kind::extent, 0, 1};
    }
  }
  return std::nullopt;
}

std::optional<ReplayValue> Replay::compute(const Instruction &instruction,
                                           const std::vector<ReplayValue> &in,
                                           std::optional<unsigned> inside) const {
  const Opcode &opcode = module_.opcode(instruction);
  const std::string_view text = opcode.text;
  const auto operands = module_.operands(instruction);
  // An address is for a load, and nothing else is.
  const bool loads = text == "ld.param.u32";
  if (loads)
    return in.size() == 1 && operands[1].kind == Operand::Kind::address ? std::optional(in[0])
                                                                        : std::nullopt;
  for (const Operand &operand : operands)
    if (operand.kind == Operand::Kind::address)
      return std::nullopt;
  if (text == "mov.u32" && in.size() == 1)
    return in[0];
  if (text == "add.u32" && in.size() == 2)
    return sum(in[0], in[1]);
  if (text == "mul.lo.u32" && in.size() == 2)
    return scaled(in[0], in[1]);
  if (text == "mad.lo.u32" && in.size() == 3) {
    const auto product = scaled(in[0], in[1]);
    return product ? sum(*product, in[2]) : std::nullopt;
  }
  if (opcode.op == Op::setp && in.size() == 2)
    return compare(opcode, in[0], in[1], inside);
  if (in.size() == 2 && in[0].kind == Kind::truth && in[1].kind == Kind::truth) {
    if (text == "and.pred")
      return truth(in[0].number != 0 && in[1].number != 0);
    if (text == "or.pred")
      return truth(in[0].number != 0 || in[1].number != 0);
  }
  return std::nullopt;
}

std::optional<ReplayValue> Replay::compare(const Opcode &opcode, const ReplayValue &a,
                                           const ReplayValue &b,
                                           std::optional<unsigned> inside) const {
  if (opcode.text == "setp.eq.u32" && a.kind == Kind::number && b.kind == Kind::number)
    return truth(a.number == b.number);
  // The index of a copy's block against the grid's extent: the first `inside` lie in it.
  if (opcode.text == "setp.ge.u32" && inside && a.kind == Kind::index && b.kind == Kind::extent &&
      b.scale == 1 && a.scale == form_.copies && a.number < form_.copies)
    return truth(a.number >= *inside);
  return std::nullopt;
}

} // namespace ptxasw
