// A register may stand where another one of its type does. A number may stand where a register or
// another number does, in those operands of those opcodes that PTX lets be either; offsets of
// addresses and the constants that steer an instruction (of lop3, say) may not.

#include "synth/meld/sites.h"

#include "grammar/code_writer.h"
#include "grammar/roles.h"

#include <fmt/core.h>

namespace ptxasw::synth::meld {
namespace {

using Kind = Operand::Kind;

/// The width in bits of a source operand that may be a number or a register alike; 0: not known.
unsigned number_width(const Opcode &opcode, std::size_t index) {
  const unsigned width = bit_width(opcode.type);
  if (index == 0 || (opcode.op == Op::selp && index == 3) || (opcode.op == Op::setp && index > 2) ||
      opcode.vector != 1 || width < 16 || width > 64)
    return 0;
  if (is_one_of(opcode.op, {Op::add, Op::and_, Op::div, Op::max, Op::min, Op::or_, Op::rem,
                            Op::selp, Op::setp, Op::st, Op::sub, Op::xor_}))
    return width;
  if (opcode.op == Op::shl || opcode.op == Op::shr)
    return index == 1 ? width : 32;
  if (opcode.op == Op::mov || opcode.op == Op::mul || opcode.op == Op::fma)
    return width;
  if (opcode.op == Op::mad)
    return index == 3 && opcode.has(Modifier::wide) ? 0 : width;
  return 0;
}

class PairBuilder : OfKernel {
public:
  PairBuilder(const KernelContext &context, bool offsets) : OfKernel(context), offsets_(offsets) {}

  bool operand(const Operand &a, const Operand &b, bool written, const Opcode &opcode,
               std::size_t index, bool top = true) {
    if (a.negated != b.negated || a.selector != 0 || b.selector != 0)
      return false;
    if (a.kind == Kind::reg && b.kind == Kind::reg)
      return registers(a, b, written);
    if (!written && top && is_value(a) && is_value(b) &&
        module_.text(a.span) != module_.text(b.span))
      return !(is_float(opcode.type) && (a.kind == Kind::integer || b.kind == Kind::integer)) &&
             numbers(a, b, number_width(opcode, index));
    if (a.kind != b.kind)
      return false;
    if (a.kind == Kind::address)
      return address(a, b, opcode, index);
    if (a.kind == Kind::vector || a.kind == Kind::pair) {
      const auto left = module_.children(a), right = module_.children(b);
      if (left.size() != right.size())
        return false;
      for (std::size_t i = 0; i < left.size(); ++i)
        if (!operand(left[i], right[i], written, opcode, index, false))
          return false;
      return true;
    }
    return a.kind != Kind::other && a.kind != Kind::group &&
           module_.text(a.span) == module_.text(b.span);
  }

  std::optional<SourcePair> of_registers(RegisterId a, RegisterId b) const {
    const Register &left = kernel_.registers[a], &right = kernel_.registers[b];
    if (left.type != right.type || left.vector != right.vector || !can_be_copied(left))
      return std::nullopt;
    return SourcePair{{a, ""}, {b, ""}, copied_as(left.type)};
  }

  InstructionPair result;

private:
  static bool is_value(const Operand &operand) {
    return !operand.negated && (operand.kind == Kind::reg || operand.kind == Kind::integer ||
                                operand.kind == Kind::real);
  }

  /// A register's name in an operand's text, without a `!`.
  Span name_of(const Operand &operand) const {
    const std::string_view text = module_.text(operand.span);
    const auto skip = static_cast<std::uint32_t>(text.find_first_not_of("! \t\r\n"));
    return {operand.span.begin + skip, operand.span.end};
  }

  bool registers(const Operand &a, const Operand &b, bool written) {
    const auto pair = of_registers(a.reg, b.reg);
    if (pair)
      result.leaves.push_back({name_of(a), *pair, written});
    return pair.has_value();
  }

  Source source_of(const Operand &operand) const {
    if (operand.kind == Kind::reg)
      return {operand.reg, ""};
    return {no_register, std::string(module_.text(operand.span))};
  }

  bool numbers(const Operand &a, const Operand &b, unsigned width) {
    if (width == 0)
      return false;
    bool is_real = false;
    for (const Operand *one : {&a, &b}) {
      if (one->kind == Kind::reg) {
        const Register &reg = kernel_.registers[one->reg];
        if (reg.vector != 1 || reg.type == ScalarType::pred || bit_width(reg.type) != width)
          return false;
      } else if (one->kind == Kind::real) {
        is_real = true;
        if (bit_width(one->real_type) != width)
          return false;
      }
    }
    if (is_real && (a.kind == Kind::integer || b.kind == Kind::integer || width == 16))
      return false;
    result.leaves.push_back(
        {a.span,
         {source_of(a), source_of(b), fmt::format("{}{}", is_real ? 'f' : 'b', width)},
         false});
    return true;
  }

  bool address(const Operand &a, const Operand &b, const Opcode &opcode, std::size_t index) {
    const Operand &left = module_.children(a)[0], &right = module_.children(b)[0];
    if (left.kind != Kind::reg || right.kind != Kind::reg)
      return module_.text(a.span) == module_.text(b.span);
    if (a.value == b.value)
      return operand(left, right, false, opcode, index, false);
    const auto base = of_registers(left.reg, right.reg);
    if (!offsets_ || !base || base->type != "b64" || left.negated || right.negated)
      return false;
    result.offsets.push_back({a.span, *base, a.value, b.value});
    return true;
  }

  const bool offsets_;
};

} // namespace

std::optional<InstructionPair> pair_of(const KernelContext &context, std::uint32_t when,
                                       std::uint32_t otherwise, bool offsets) {
  const Module &module = context.module;
  const Instruction &a = context.kernel.instructions[when],
                    &b = context.kernel.instructions[otherwise];
  if (a.opcode != b.opcode || a.operand_count != b.operand_count ||
      (a.guard == no_register) != (b.guard == no_register) || a.guard_negated != b.guard_negated)
    return std::nullopt;
  PairBuilder builder(context, offsets);
  builder.result.when = when;
  builder.result.otherwise = otherwise;
  if (a.guard != no_register) {
    builder.result.guard = builder.of_registers(a.guard, b.guard);
    if (!builder.result.guard)
      return std::nullopt;
  }
  const Opcode &opcode = module.opcode(a);
  if (opcode.op == Op::bra)
    return std::move(builder.result);
  const bool writes = first_operand(opcode) == FirstOperand::destination;
  const auto left = module.operands(a), right = module.operands(b);
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!builder.operand(left[i], right[i], writes && i == 0, opcode, i))
      return std::nullopt;
  return std::move(builder.result);
}

} // namespace ptxasw::synth::meld
