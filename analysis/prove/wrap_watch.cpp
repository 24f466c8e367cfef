// Each result is computed again, in 128 bits, from its operands as signed numbers of their width. A
// product of two numbers of 64 bits fits there, and so does a third added to it. A conversion from
// 64 bits to 32 has to keep the number. Numbers without a sign are read with one, so their product
// of twice the width has to be below half of what it could be, if only its upper half is taken,
// too.
//
// What is an index is told by registers, whatever the place: those that addresses are made of, that
// branches and predicates read, and whatever comes into these. If memory that the kernel may have
// written comes in, so does all that it stores.

#include "analysis/prove/wrap_watch.h"

#include "emulator/facts/access.h"
#include "grammar/roles.h"

#include <algorithm>
#include <bit>

namespace ptxasw::analysis {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

bool is_packed(ScalarType type) { return type == ScalarType::u16x2 || type == ScalarType::s16x2; }

bool fits(Wide value, unsigned width) {
  const Wide limit = Wide{1} << (width - 1);
  return -limit < value && value < limit;
}

} // namespace

std::vector<bool> index_instructions(const Module &module, const Function &kernel, bool masks) {
  std::vector<bool> is_access(kernel.instructions.size(), false);
  std::vector<bool> matters(kernel.registers.size(), false), result(is_access);
  bool changed = true, memory_matters = false;
  const auto add = [&](RegisterId reg) {
    changed |= !matters[reg];
    matters[reg] = true;
  };
  for (const facts::AccessSite &site : facts::access_sites(module, kernel)) {
    is_access[site.instruction] = site.space != StateSpace::param;
    if (const Operand &base = module.children(*site.address)[0]; base.kind == Operand::Kind::reg)
      add(base.reg);
  }
  while (changed) {
    changed = false;
    for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
      const Instruction &instruction = kernel.instructions[i];
      bool writes = false, is_index = false;
      for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
        writes |= use != RegisterUse::read;
        is_index |= use != RegisterUse::read && matters[reg];
      });
      changed |= is_index && is_access[i] && !memory_matters;
      memory_matters |= is_index && is_access[i];
      result[i] = is_index;
      if (instruction.guard != no_register)
        add(instruction.guard);
      const bool is_mask = !masks && module.opcode(instruction).has(Modifier::warp);
      if (is_access[i] ? memory_matters : (!writes && !is_mask) || is_index)
        for_each_register(module, instruction, [&](RegisterId reg, RegisterUse use) {
          if (use == RegisterUse::read)
            add(reg);
        });
    }
  }
  return result;
}

WrapWatch::WrapWatch(const WarpProgram &program, std::uint32_t kernel)
    : kernel_(kernel),
      of_index_(index_instructions(program.module(), *program.function(kernel).function, false)) {}

void WrapWatch::before(const WarpStep &step) {
  const WarpInstruction &in = *step.instruction;
  if (step.function == kernel_ && !of_index_[in.source])
    return;
  if (wrapped_ || in.action != WarpAction::compute || in.is_float || !in.opcode)
    return;
  const Op op = in.opcode->op;
  const bool widens = in.opcode->has(Modifier::wide);
  const bool multiplies = is_one_of(op, {Op::mul, Op::mad, Op::madc, Op::mul24, Op::mad24});
  const bool adds = is_one_of(op, {Op::mad, Op::madc, Op::mad24});
  const bool narrows = op == Op::cvt && !is_float(in.opcode->second_type) && in.width == 32 &&
                       in.inputs.size() == 1 && in.input_widths[0] == 64;
  const bool takes_high = multiplies && !adds && in.opcode->has(Modifier::hi);
  if (is_one_of(op, {Op::sad, Op::dp4a, Op::dp2a})) { // sums of several, not looked into
    wrapped_ = true;
    return;
  }
  if (!multiplies && !narrows &&
      !is_one_of(op, {Op::add, Op::addc, Op::sub, Op::subc, Op::neg, Op::abs, Op::shl}))
    return;
  const auto is_read = [](const WarpOperand &operand) {
    return operand.kind == WarpOperand::Kind::reg || operand.kind == WarpOperand::Kind::immediate;
  };
  if (is_packed(in.opcode->type) || in.inputs.size() > 3 || in.carries || in.sets_carry ||
      (in.opcode->has(Modifier::hi) && !takes_high) ||
      !std::all_of(in.inputs.begin(), in.inputs.end(), is_read)) {
    wrapped_ = true;
    return;
  }
  const bool unsigned_factors = (widens || takes_high) && !is_signed(in.opcode->type);
  for (std::uint32_t lanes = step.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    Wide v[3] = {};
    for (std::size_t i = 0; i < in.inputs.size(); ++i) {
      const WarpOperand &operand = in.inputs[i];
      const std::uint64_t bits = (operand.kind == WarpOperand::Kind::reg
                                      ? step.registers[std::size_t{operand.reg} * warp_lanes + lane]
                                      : operand.value) &
                                 mask64(in.input_widths[i]);
      if (is_one_of(op, {Op::mul24, Op::mad24}) && i < 2) {
        const std::uint64_t low = bits & mask64(24);
        v[i] = is_signed(in.opcode->type) ? Wide{as_signed(low, 24)} : Wide{low};
        continue;
      }
      v[i] = unsigned_factors && i < 2 ? Wide{bits} : Wide{as_signed(bits, in.input_widths[i])};
    }
    if (op == Op::shl) {
      const bool drops = v[1] < 0 || v[1] >= in.width;
      wrapped_ |= drops ? v[0] != 0 : !fits(v[0] * (Wide{1} << v[1]), in.width);
    } else if (narrows) {
      wrapped_ |= !fits(v[0], 32);
    } else if (takes_high) {
      // Two numbers of a width: the top bit of what is twice as wide is the result's sign.
      const auto product = static_cast<UnsignedWide>(v[0]) * static_cast<UnsignedWide>(v[1]);
      wrapped_ |= unsigned_factors && (product >> (2 * in.input_widths[0] - 1) & 1) != 0;
    } else if (multiplies) {
      const Wide product = v[0] * v[1];
      wrapped_ |= !fits(product, in.width) || !fits(product + v[2], in.width);
    } else {
      const bool subtracts = op == Op::sub || op == Op::subc;
      wrapped_ |= !fits(op == Op::neg || op == Op::abs ? -v[0]
                        : subtracts                    ? v[0] - v[1]
                                                       : v[0] + v[1],
                        in.width);
    }
  }
}

} // namespace ptxasw::analysis
