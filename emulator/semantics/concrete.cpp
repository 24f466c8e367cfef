// The floating-point part of the domain of numbers; the rest is in the header, one line per
// operation.

#include "emulator/semantics/concrete.h"

namespace ptxasw::emulator {
namespace {

bool holds(Comparison comparison, int order) {
  const bool unordered = order == 2;
  switch (comparison) {
  case Comparison::eq:
    return order == 0;
  case Comparison::ne:
    return !unordered && order != 0;
  case Comparison::lt:
    return order == -1;
  case Comparison::le:
    return order <= 0;
  case Comparison::gt:
    return order == 1;
  case Comparison::ge:
    return order == 0 || order == 1;
  case Comparison::equ:
    return order == 0 || unordered;
  case Comparison::neu:
    return order != 0;
  case Comparison::ltu:
    return order == -1 || unordered;
  case Comparison::leu:
    return order <= 0 || unordered;
  case Comparison::gtu:
    return order >= 1;
  case Comparison::geu:
    return order >= 0;
  case Comparison::num:
    return !unordered;
  default: // nan
    return unordered;
  }
}

} // namespace

ConcreteDomain::Value ConcreteDomain::floating(FloatOperation operation, const FloatForm &f,
                                               std::span<const Value> s) const {
  std::array<std::uint64_t, 3> arguments{};
  for (std::size_t i = 0; i < s.size(); ++i)
    arguments[i] = s[i].bits.low;
  return {{floating::compute(operation, f.form.type, f.mode, {arguments.data(), s.size()})},
          f.form.width};
}

ConcreteDomain::Value ConcreteDomain::float_comparison(const FloatForm &f, Value a, Value b) const {
  const ScalarType type = f.form.source_type == ScalarType::none ? f.form.type : f.form.source_type;
  const int order = floating::compare(type, f.mode.flush, a.bits.low, b.bits.low);
  return {{holds(f.form.comparison, order)}, 1};
}

ConcreteDomain::Value ConcreteDomain::float_conversion(const FloatForm &f, Value a) const {
  const ScalarType to = f.form.type, from = f.form.source_type;
  std::uint64_t result;
  if (!is_float(from))
    result =
        floating::from_integer(to, f.mode, a.bits.low, f.form.source_width, f.form.source_signed);
  else if (!is_float(to))
    result = floating::to_integer(from, f.mode, a.bits.low, f.form.width, f.form.is_signed);
  else
    result = floating::convert(to, from, f.mode, a.bits.low);
  return {{result}, f.form.width};
}

ConcreteDomain::Value ConcreteDomain::float_class(const FloatForm &f, Value a) const {
  using enum floating::NumberClass;
  const auto kind = floating::classify(f.form.type, a.bits.low);
  const Opcode &opcode = *f.opcode;
  const bool result = opcode.has(Modifier::finite)       ? kind < infinite
                      : opcode.has(Modifier::infinite)   ? kind == infinite
                      : opcode.has(Modifier::number)     ? kind != nan
                      : opcode.has(Modifier::notanumber) ? kind == nan
                      : opcode.has(Modifier::normal)
                          ? kind == normal || kind == zero // (PTX ISA 9.7.3.1)
                          : kind == subnormal;
  return {{result}, 1};
}

ConcreteDomain::Value ConcreteDomain::float_not_negative(const FloatForm &f, Value a) const {
  const int order = floating::compare(ScalarType::f32, f.mode.flush, a.bits.low, 0);
  return {{order == 0 || order == 1}, 1};
}

} // namespace ptxasw::emulator
