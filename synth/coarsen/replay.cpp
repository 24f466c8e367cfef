// Added code is what writes a register of its own, or moves a shared register to its stand-in, or
// branches by a predicate of its own or by none. Anything else belongs to a copy, and replay ends
// there, as it does at added code that depends on what is not known. Block indices are kept as
// scale * %ctaid + number modulo 2^32; that one lies inside the grid or not is the assumption of
// the run. So is in how many copies a predicate holds: chains of `and` and `or` over all of them
// then have a value, over some of them only where it holds in all or in none.

#include "synth/coarsen/replay.h"

#include "synth/coarsen/coarsen.h"

#include <array>

namespace ptxasw::inline synth {
namespace {

using Kind = ReplayValue::Kind;

ReplayValue truth(bool holds) { return {Kind::truth, holds}; }

/// a * factor, a being a number, an index or an extent.
std::optional<ReplayValue> scaled(const ReplayValue &a, const ReplayValue &factor) {
  const bool linear = a.kind == Kind::number || a.kind == Kind::index || a.kind == Kind::extent ||
                      a.kind == Kind::flat || a.kind == Kind::points;
  if (!linear || factor.kind != Kind::number)
    return std::nullopt;
  return ReplayValue{a.kind, a.number * factor.number, a.scale * factor.number};
}

std::optional<ReplayValue> sum(const ReplayValue &a, const ReplayValue &b) {
  if (b.kind != Kind::number || (a.kind != Kind::number && a.kind != Kind::index &&
                                 a.kind != Kind::flat && a.kind != Kind::points))
    return std::nullopt;
  return ReplayValue{a.kind, a.number + b.number, a.scale};
}

constexpr std::array<std::string_view, 4> places{"%ctaid.x", "%ntid.x", "%tid.x", "%nctaid.x"};
enum Place : std::uint8_t { ctaid, ntid, tid, nctaid };

bool is_place(const ReplayValue &value, Place place) {
  return value == ReplayValue{Kind::place, place};
}

bool is_predicate(const ReplayValue &value) {
  return value.kind == Kind::truth || value.kind == Kind::each_of || value.kind == Kind::all_of ||
         value.kind == Kind::any_of || value.kind == Kind::first;
}

/// What is the same in all copies of a mask holds in all of them if in any.
bool is_over_copies(const ReplayValue &value, Kind kind) {
  return value.kind == kind || value.kind == Kind::each_of;
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
                                     const ReplayAssumption &assumption) const {
  for (std::size_t steps = 0; steps <= 2 * sibling_.instructions.size(); ++steps) {
    if (position >= sibling_.instructions.size())
      return ReplayEnd{position, true};
    const Instruction &instruction = sibling_.instructions[position];
    const Opcode &opcode = module_.opcode(instruction);
    const bool jump = is_way(opcode);
    if (!jump) {
      if (!execute(instruction, state, assumption))
        return ReplayEnd{position, false};
      ++position;
      continue;
    }
    bool taken = true;
    if (instruction.guard != no_register) {
      // That a copy's own predicate is known is for a kernel of one copy, whose branch it is.
      if (roles_[instruction.guard].kind != ReplayRole::Kind::control)
        return ReplayEnd{position, false};
      const auto guard = state.find(instruction.guard);
      const auto holds = guard == state.end() ? std::nullopt : decide(guard->second, assumption);
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
      return roles_[entry.first].kind != ReplayRole::Kind::control && is_predicate(entry.second);
    });
  }
  return std::nullopt;
}

std::optional<bool> Replay::decide(const ReplayValue &guard,
                                   const ReplayAssumption &assumption) const {
  if (guard.kind == Kind::truth)
    return guard.number != 0;
  if (guard.kind == Kind::first)
    return assumption.first;
  if ((guard.kind != Kind::all_of && guard.kind != Kind::any_of) || !assumption.outcome)
    return std::nullopt;
  if (*assumption.outcome != ReplayOutcome::some)
    return *assumption.outcome == ReplayOutcome::all;
  if (guard.number != (1u << form_.total()) - 1)
    return std::nullopt;
  return guard.kind == Kind::any_of;
}

bool Replay::execute(const Instruction &instruction, ReplayState &state,
                     const ReplayAssumption &assumption) const {
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
    if ((from.kind != ReplayRole::Kind::shared && from.kind != ReplayRole::Kind::copy) ||
        roles_[to].reg != from.reg || instruction.guard != no_register ||
        sibling_.registers[to].type != sibling_.registers[operands[1].reg].type ||
        bit_width(opcode.type) != bit_width(sibling_.registers[to].type))
      return false;
    state[to] = {Kind::copied, from.copy, 0, from.reg};
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
  const auto result = compute(instruction, in, assumption);
  if (!result)
    return false;
  const bool predicate = sibling_.registers[to].type == ScalarType::pred;
  if (predicate != is_predicate(*result) ||
      (!predicate && bit_width(sibling_.registers[to].type) != 32))
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
  if (operand.kind == Operand::Kind::special && form_.copies > 1 &&
      module_.text(operand.span) == index_)
    return ReplayValue{Kind::index, 0, 1};
  if (operand.kind == Operand::Kind::special && form_.within_block() &&
      module_.text(operand.span) == extent_)
    return ReplayValue{Kind::extent, 0, 1};
  if (operand.kind == Operand::Kind::special && form_.along_x > 1)
    for (std::uint32_t place = 0; place < places.size(); ++place)
      if (module_.text(operand.span) == places[place])
        return ReplayValue{Kind::place, place};
  if (operand.kind == Operand::Kind::special && module_.text(operand.span) == "%dynamic_smem_size")
    return ReplayValue{Kind::dynamic};
  if (operand.kind == Operand::Kind::symbol && operand.value == 0) {
    const Symbol &symbol = module_.symbol(operand);
    const Variable *const variable = module_.variable(symbol);
    if (symbol.kind == Symbol::Kind::module_variable && variable &&
        variable->space == StateSpace::shared && variable->linkage == Linkage::external &&
        variable->size() == 0)
      return ReplayValue{Kind::begin, 0, 0, symbol.index};
  }
  if (operand.kind == Operand::Kind::address && operand.value == 0 && form_.divides_grid()) {
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
                                           const ReplayAssumption &assumption) const {
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
  if (text == "mul.lo.u32" && in.size() == 2 && in[0].kind != Kind::place)
    return scaled(in[0], in[1]);
  if (text == "mul.lo.u32" && in.size() == 2 && is_place(in[0], nctaid) && is_place(in[1], ntid))
    return ReplayValue{Kind::points, 0, 1};
  if (text == "mad.lo.u32" && in.size() == 3 && is_place(in[0], ctaid) && is_place(in[1], ntid) &&
      is_place(in[2], tid))
    return ReplayValue{Kind::flat, 0, 1};
  // A number below 0 of the first thread, from the end: what is before the first point.
  if (text == "selp.b32" && in.size() == 3 && in[0].kind == Kind::points &&
      in[1].kind == Kind::flat && in[2].kind == Kind::first && in[0].number == in[1].number &&
      in[0].scale == in[1].scale && in[0].scale == form_.along_x &&
      0u - in[0].number <= form_.shift)
    return ReplayValue{Kind::around, in[1].number, in[1].scale};
  if (text == "shr.u32" && in.size() == 2 && in[0] == ReplayValue{Kind::dynamic} &&
      in[1].kind == Kind::number && in[1].number < 32 && 1u << in[1].number == form_.total())
    return ReplayValue{Kind::part};
  if (text == "and.b32" && in.size() == 2 && in[0] == ReplayValue{Kind::part} &&
      in[1] == ReplayValue{Kind::number, ~15u})
    return ReplayValue{Kind::size};
  if (text == "mad.lo.u32" && in.size() == 3 && in[0] == ReplayValue{Kind::size} &&
      in[1].kind == Kind::number && in[2].kind == Kind::begin && in[2].number == 0)
    return ReplayValue{Kind::begin, in[1].number, 0, in[2].reg};
  if (text == "mad.lo.u32" && in.size() == 3) {
    const auto product = scaled(in[0], in[1]);
    return product ? sum(*product, in[2]) : std::nullopt;
  }
  if (opcode.op == Op::setp && in.size() == 2)
    return compare(opcode, in[0], in[1], assumption);
  for (const auto &[name, kind] :
       {std::pair("and.pred", Kind::all_of), std::pair("or.pred", Kind::any_of)})
    if (text == name && in.size() == 2 && is_over_copies(in[0], kind) &&
        is_over_copies(in[1], kind))
      return ReplayValue{kind, in[0].number | in[1].number};
  return std::nullopt;
}

std::optional<ReplayValue> Replay::compare(const Opcode &opcode, const ReplayValue &a,
                                           const ReplayValue &b,
                                           const ReplayAssumption &assumption) const {
  if (opcode.text == "setp.eq.u32" && a == ReplayValue{Kind::flat, 0, 1} &&
      b == ReplayValue{Kind::number})
    return ReplayValue{Kind::first};
  if (opcode.text == "setp.eq.u32" && a.kind == Kind::number && b.kind == Kind::number)
    return truth(a.number == b.number);
  // The index of a copy's block against the grid's extent: the first `inside` lie in it.
  if (opcode.text == "setp.ge.u32" && assumption.inside && a.kind == Kind::index &&
      b.kind == Kind::extent && b.scale == 1 && a.scale == form_.copies && a.number < form_.copies)
    return truth(a.number >= *assumption.inside);
  return std::nullopt;
}

} // namespace ptxasw::synth
