// Which operands an instruction's values are. Nothing here depends on the domain.

#include "emulator/semantics/evaluator.h"

#include "emulator/semantics/floating.h"

namespace ptxasw::emulator {
namespace {

using Kind = Operand::Kind;
using Refused = tl::unexpected<std::string_view>;

/// The registers of a vector, or the operand by itself.
std::span<const Operand> parts_of(const Module &module, const Operand &operand) {
  return operand.kind == Kind::vector ? module.children(operand)
                                      : std::span<const Operand>(&operand, 1);
}

/// Returns true if a line of this shape may be asked for a second predicate.
bool may_have_second(Op op, std::string_view shape) {
  return op == Op::setp || (op == Op::lop3 && shape.back() == 'P');
}

} // namespace

tl::expected<LineOperands, std::string_view> line_operands(const Module &module,
                                                           const Instruction &instruction,
                                                           std::string_view shape,
                                                           const Form &form) {
  const auto operands = module.operands(instruction);
  if (operands.empty())
    return Refused("no operands");
  LineOperands result;
  result.destinations = operands.first(1);
  if (operands[0].kind == Kind::pair) {
    if (!may_have_second(module.opcode(instruction).op, shape))
      return Refused("this form");
    result.destinations = module.children(operands[0]);
  }
  result.gives_carry = shape[0] == 'K';
  result.width = shape_width(shape[0], form) - (result.gives_carry ? 1 : 0);
  result.letters = shape.substr(2);
  result.takes_carry = result.letters.back() == 'C';
  if (result.takes_carry)
    result.letters.remove_suffix(1);
  result.sources = operands.subspan(1);
  if (result.sources.size() != result.letters.size())
    return Refused(result.sources.size() < result.letters.size() ? "too few operands"
                                                                 : "too many operands");
  return result;
}

std::optional<MoveOperands> vector_move(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  const auto operands = module.operands(instruction);
  if (opcode.op != Op::mov || operands.size() != 2 || opcode.vector != 1 ||
      (operands[0].kind != Kind::vector && operands[1].kind != Kind::vector))
    return std::nullopt;
  return MoveOperands{parts_of(module, operands[0]), parts_of(module, operands[1]),
                      bit_width(opcode.type)};
}

std::optional<Bits> literal(const Operand &operand, ScalarType type) {
  const auto bits = static_cast<std::uint64_t>(operand.value);
  if (operand.kind == Kind::integer)
    return Bits{bits, operand.value < 0 ? ~std::uint64_t{0} : 0};
  if (operand.kind != Kind::real)
    return std::nullopt;
  const unsigned width = bit_width(type);
  if (operand.real_type == ScalarType::f64 && width == 32)
    return floating::from_double(ScalarType::f32, floating::to_double(ScalarType::f64, bits),
                                 FloatRounding::nearest_even);
  if (operand.real_type == ScalarType::f32 && width == 64)
    return floating::convert(ScalarType::f64, ScalarType::f32, {}, bits);
  return bits;
}

} // namespace ptxasw::emulator
