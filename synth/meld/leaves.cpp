// A register may stand where another one of its type does. A number may stand where a register or
// another number does, in those operands of those opcodes that PTX lets be either; offsets of
// addresses and the constants that steer an instruction (of lop3, say) may not.

#include "synth/meld/sites.h"

#include "grammar/code_writer.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth::meld {
namespace {

using Kind = Operand::Kind;

/// The width in bits of a source operand that may be a number or a register alike; 0: not known.
unsigned number_width(const Opcode &opcode, std::size_t index) {
  const unsigned width = bit_width(opcode.type);
  const bool steers = index == 0 || (opcode.op == Op::selp && index == 3) ||
                      (opcode.op == Op::setp && index > 2) ||
                      (opcode.op == Op::mad && index == 3 && opcode.has(Modifier::wide));
  if (steers || opcode.vector != 1 || width < 16 || width > 64 ||
      !is_one_of(opcode.op, {Op::add, Op::and_, Op::div, Op::fma, Op::mad, Op::max, Op::min,
                             Op::mov, Op::mul, Op::or_, Op::rem, Op::selp, Op::setp, Op::shl,
                             Op::shr, Op::st, Op::sub, Op::xor_}))
    return 0;
  return is_one_of(opcode.op, {Op::shl, Op::shr}) && index != 1 ? 32 : width;
}

class PairBuilder : OfKernel {
public:
  PairBuilder(const KernelContext &context, bool offsets) : OfKernel(context), offsets_(offsets) {}

  std::optional<InstructionPair> run(std::uint32_t when, std::uint32_t otherwise) {
    const Instruction &a = instruction(when), &b = instruction(otherwise);
    if (a.opcode != b.opcode || a.operand_count != b.operand_count ||
        (a.guard == no_register) != (b.guard == no_register) || a.guard_negated != b.guard_negated)
      return std::nullopt;
    result_.when = when;
    if (a.guard != no_register && !(result_.guard = of_registers(a.guard, b.guard)))
      return std::nullopt;
    opcode_ = &opcode(when);
    const auto left = operands(when), right = operands(otherwise);
    const bool writes = first_operand(*opcode_) == FirstOperand::destination;
    for (index_ = 0; index_ < left.size() && opcode_->op != Op::bra; ++index_)
      if (!operand(left[index_], right[index_], writes && index_ == 0, true))
        return std::nullopt;
    return std::move(result_);
  }

private:
  /// `top`: they are operands, and no parts of such.
  bool operand(const Operand &a, const Operand &b, bool written, bool top) {
    if (a.negated != b.negated || a.selector != 0 || b.selector != 0)
      return false;
    const bool same_text = module_.text(a.span) == module_.text(b.span);
    if (a.kind == Kind::reg && b.kind == Kind::reg) {
      const auto pair = of_registers(a.reg, b.reg);
      if (pair)
        result_.leaves.push_back({name_of(a), *pair, written});
      return pair.has_value();
    }
    if (!written && top && is_value(a) && is_value(b) && !same_text)
      return numbers(a, b);
    if (a.kind != b.kind || a.kind == Kind::other || a.kind == Kind::group)
      return false;
    const auto left = module_.children(a), right = module_.children(b);
    if (a.kind == Kind::address && left[0].kind == Kind::reg && right[0].kind == Kind::reg)
      return a.value == b.value ? operand(left[0], right[0], false, false)
                                : offsets(a, b, left[0], right[0]);
    if (a.kind != Kind::vector && a.kind != Kind::pair)
      return same_text;
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](const Operand &one, const Operand &other) {
                        return operand(one, other, written, false);
                      });
  }

  std::optional<SourcePair> of_registers(RegisterId a, RegisterId b) const {
    const Register &left = kernel_.registers[a], &right = kernel_.registers[b];
    if (left.type != right.type || left.vector != right.vector || !can_be_copied(left))
      return std::nullopt;
    return SourcePair{{{{a, ""}, {b, ""}}}, copied_as(left.type)};
  }

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

  /// One of them is a number, and the other another one or a register.
  bool numbers(const Operand &a, const Operand &b) {
    const unsigned width = number_width(*opcode_, index_);
    const bool is_integer = a.kind == Kind::integer || b.kind == Kind::integer;
    const bool is_real = a.kind == Kind::real || b.kind == Kind::real;
    if (width == 0 || (is_integer && (is_real || is_float(opcode_->type))) ||
        (is_real && width == 16))
      return false;
    SourcePair pair{{}, fmt::format("{}{}", is_real ? 'f' : 'b', width)};
    for (const bool first : {true, false}) {
      const Operand &one = first ? a : b;
      Source &source = pair.of[first ? 0 : 1];
      if (one.kind == Kind::reg) {
        const Register &reg = kernel_.registers[source.reg = one.reg];
        if (reg.vector != 1 || reg.type == ScalarType::pred || bit_width(reg.type) != width)
          return false;
      } else if (one.kind == Kind::real && bit_width(one.real_type) != width) {
        return false;
      } else {
        source.text = module_.text(one.span);
      }
    }
    result_.leaves.push_back({a.span, std::move(pair), false});
    return true;
  }

  bool offsets(const Operand &a, const Operand &b, const Operand &left, const Operand &right) {
    const auto base = of_registers(left.reg, right.reg);
    if (!offsets_ || !base || base->type != "b64" || left.negated || right.negated)
      return false;
    result_.leaves.push_back({a.span, *base, false, {{a.value, b.value}}});
    return true;
  }

  const bool offsets_;
  InstructionPair result_;
  const Opcode *opcode_ = nullptr;
  std::size_t index_ = 0; ///< of the operand that is looked at
};

} // namespace

std::optional<InstructionPair> pair_of(const KernelContext &context, std::uint32_t when,
                                       std::uint32_t otherwise, bool offsets) {
  return PairBuilder(context, offsets).run(when, otherwise);
}

} // namespace ptxasw::synth::meld
