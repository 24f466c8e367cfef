// The real numbers behind the floating-point ones (exact_real.h), computed beside them: by an
// instruction from those of its operands, carried along by moves, shuffles, loads and stores. What
// is not followed here (packed halves, integer operations on patterns) is what its bits say.

#include "emulator/machine/warp_real.h"

#include "emulator/machine/memory_view.h"

#include <algorithm>
#include <cmath>

namespace ptxasw::emulator {
namespace {

bool is_real(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32 ||
         type == ScalarType::f64;
}

bool is_finite(ScalarType type, std::uint64_t bits) {
  return std::isfinite(floating::to_double(type, bits));
}

constexpr ExactMemory::Space locals = std::uint64_t{1} << 32, frames = std::uint64_t{1} << 40;

ScalarType scalar_of(MatrixType type) {
  switch (type) {
  case MatrixType::f16:
    return ScalarType::f16;
  case MatrixType::bf16:
    return ScalarType::bf16;
  case MatrixType::tf32:
  case MatrixType::f32:
    return ScalarType::f32;
  case MatrixType::f64:
    return ScalarType::f64;
  default:
    return ScalarType::none;
  }
}

/// Of equal numbers that are not the same, always the same one.
ExactReal one_of(ExactReal a, ExactReal b) { return b.precedes(a) ? b : a; }

} // namespace

ExactReal WarpContext::real_of(const WarpOperand &operand, unsigned lane) const {
  return operand.kind == WarpOperand::Kind::reg && !level->reals.empty()
             ? level->reals[std::size_t{operand.reg} * warp_lanes + lane]
             : ExactReal();
}

ExactReal WarpContext::real_of(const WarpOperand &operand, unsigned lane, ScalarType type) const {
  const ExactReal real = real_of(operand, lane);
  return real.known() && real.type() == type
             ? real
             : ExactReal::of(type, value(operand, lane) & mask64(bit_width(type)));
}

void WarpContext::set_real(const WarpOperand &operand, unsigned lane, ExactReal real) {
  if (operand.kind == WarpOperand::Kind::reg)
    level->reals[std::size_t{operand.reg} * warp_lanes + lane] = real;
}

ExactMemory::Space WarpContext::real_space(unsigned lane, std::uint64_t address) const {
  switch (space_of(address)) {
  case StateSpace::shared:
    return warp->block->index + 1;
  case StateSpace::local:
    return locals + thread_of(lane);
  default:
    return 0;
  }
}

ExactMemory::Space WarpContext::frame_space(unsigned lane, std::size_t frame) const {
  return frames * (frame + 1) + thread_of(lane);
}

ExactReal real_in_memory(const WarpContext &context, unsigned lane, std::uint64_t address,
                         ScalarType type, std::uint64_t bits) {
  const ExactReal real = context.run.options.reals->load(context.real_space(lane, address), address,
                                                         bit_width(type) / 8);
  return real.known() && real.type() == type ? real : ExactReal::of(type, bits);
}

ExactReal real_of_pack(const WarpContext &context, unsigned lane) {
  const WarpInstruction &in = *context.instruction;
  if (in.width != 32 || in.inputs.size() != 2 || in.outputs.size() != 1 ||
      (context.value(in.inputs[0], lane) & 0xffff) != 0)
    return {};
  const ExactReal upper = context.real_of(in.inputs[1], lane);
  return upper.type() == ScalarType::bf16 ? upper.as(ScalarType::f32) : ExactReal();
}

ExactReal atomic_real(const WarpContext &context, ExactReal old, std::size_t index, unsigned lane) {
  const WarpInstruction &in = *context.instruction;
  if (in.atomic == AtomicOperation::exchange)
    return context.real_of(in.inputs[index], lane);
  if (in.atomic == AtomicOperation::add && is_real(in.opcode->type))
    return (old + context.real_of(in.inputs[index], lane, in.opcode->type)).as(in.opcode->type);
  return {};
}

namespace {

ExactReal calculate_real(const WarpContext &context, unsigned lane, Args<ConcreteDomain> list,
                         std::uint64_t result) {
  const WarpInstruction &in = *context.instruction;
  const Op op = in.opcode->op;
  const ScalarType type = in.opcode->type;
  if (!is_real(type) || !is_finite(type, result))
    return {};
  const ScalarType source = op == Op::cvt ? in.form.form.source_type : type;
  const std::uint64_t first = list[0].bits.low;
  if (op == Op::cvt && !is_float(source)) {
    const unsigned width = bit_width(source);
    const bool negative = is_signed(source) && as_signed(first, width) < 0;
    return ExactReal::of_integer(negative ? (0 - first) & mask64(width) : first, negative);
  }
  const FloatMode &mode = in.form.mode;
  const double number = floating::to_double(type, result);
  if (!is_real(source) || mode.integral || (mode.saturate && (number <= 0 || number >= 1)) ||
      (mode.relu && number <= 0))
    return {};
  ExactReal x[3];
  for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 3); ++i) {
    if (!is_finite(source, list[i].bits.low))
      return {};
    x[i] = context.real_of(in.inputs[i], lane, source);
  }
  switch (op) {
  case Op::add:
    return x[0] + x[1];
  case Op::sub:
    return x[0] + -x[1];
  case Op::mul:
    return x[0] * x[1];
  case Op::fma:
  case Op::mad:
    return x[0] * x[1] + x[2];
  case Op::div:
    return x[0] * x[1].inverse();
  case Op::rcp:
    return x[0].inverse();
  case Op::neg:
    return -x[0];
  case Op::abs:
    return std::signbit(floating::to_double(type, first)) ? -x[0] : x[0];
  case Op::cvt:
    return x[0];
  case Op::rsqrt:
    return x[0].function("sqrt").inverse();
  case Op::min:
  case Op::max: {
    const bool is_first = result == first, is_second = result == list[1].bits.low;
    return mode.absolute || list.size() != 2 ? ExactReal()
           : is_first && is_second           ? one_of(x[0], x[1])
           : is_first                        ? x[0]
           : is_second                       ? x[1]
                                             : ExactReal();
  }
  case Op::sqrt:
  case Op::ex2:
  case Op::lg2:
  case Op::sin:
  case Op::cos:
  case Op::tanh:
    return x[0].function(traits(op).name);
  default:
    return {};
  }
}

} // namespace

ExactReal compute_real(const WarpContext &context, unsigned lane, Args<ConcreteDomain> list,
                       std::uint64_t result) {
  const WarpInstruction &in = *context.instruction;
  if (in.opcode->op == Op::mov)
    return context.real_of(in.inputs[0], lane);
  if (in.opcode->op == Op::selp)
    return context.real_of(in.inputs[list[2].bits.low != 0 ? 0 : 1], lane);
  return in.is_float ? calculate_real(context, lane, list, result).as(in.opcode->type)
                     : ExactReal();
}

// The elements of a result, row by row, from the registers of all lanes.
std::vector<ExactReal> multiply_reals(const WarpContext &context) {
  const WarpInstruction &in = *context.instruction;
  const MatrixOperation &o = *in.matrix;
  const ScalarType d = scalar_of(o.type_of('d'));
  std::size_t next = 0;
  const auto gather = [&](char which) {
    const MatrixType type = o.type_of(which);
    const ScalarType scalar = scalar_of(type);
    const unsigned width = bit_width(type), wide = type == MatrixType::f64 ? 64 : 32;
    const unsigned per_register = wide / width, count = o.registers(which);
    std::vector<ExactReal> reals(std::size_t{o.rows(which)} * o.columns(which));
    for (unsigned lane = 0; lane < warp_lanes && scalar != ScalarType::none; ++lane)
      for (unsigned i = 0; i < count * per_register; ++i) {
        const WarpOperand &operand = in.inputs[next + i / per_register];
        const std::uint64_t word =
            context.value(operand, lane) >> i % per_register * width & mask64(width);
        const MatrixPlace at = matrix_place(o, which, lane, i);
        reals[std::size_t{at.row} * o.columns(which) + at.column] =
            type == MatrixType::tf32 ? ExactReal::of(scalar, word & ~std::uint64_t{0x1fff})
            : per_register == 1      ? context.real_of(operand, lane, scalar)
                                     : ExactReal::of(scalar, word);
      }
    next += count;
    return reals;
  };
  const std::vector<ExactReal> a = gather('a'), b = gather('b');
  std::vector<ExactReal> sums = gather('c');
  for (unsigned row = 0; row < o.m; ++row)
    for (unsigned column = 0; column < o.n; ++column) {
      ExactReal &sum = sums[std::size_t{row} * o.n + column];
      for (unsigned k = 0; k < o.k; ++k)
        sum = sum + a[std::size_t{row} * o.k + k] * b[std::size_t{k} * o.n + column];
      sum = sum.as(d);
    }
  return sums;
}

} // namespace ptxasw::emulator
