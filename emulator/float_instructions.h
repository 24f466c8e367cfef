#pragma once

// The floating-point part of the instruction table: one line an instruction, as in instructions.h.
//
// A line says which operation is meant and in which shape; the domain says what that is. The
// concrete domain computes it (floating.h). The symbolic emulator does not look here: to it every
// pure floating-point instruction is an uninterpreted function named by the whole opcode, which is
// what `floating` of a symbolic domain would give for every line alike.
//
// A domain that wants these lines has
//   Value floating(FloatOperation, const FloatForm &, Args)        a result of the type's width
//   Value float_comparison(const FloatForm &, Value, Value)        width 1
//   Value float_conversion(const FloatForm &, Value)               type from source_type
//   Value float_class(const FloatForm &, Value)                    testp

#include "emulator/floating.h"
#include "emulator/instructions.h"

namespace ptxasw {

/// A Form with what floating point adds.
struct FloatForm {
  Form form;
  FloatMode mode;
  const Opcode *opcode = nullptr;
};

/// One line; see Line for the shape.
template <class D> struct FloatLine {
  std::string_view base;
  std::string_view types;
  std::string_view modifiers;
  std::string_view shape;
  Value<D> (*evaluate)(D &, const FloatForm &, Args<D>);
};

namespace semantics {

inline constexpr std::string_view reals = "f16 bf16 f16x2 bf16x2 f32 f64";
inline constexpr std::string_view rounded = "rn rz rm rp ftz sat";
// clang-format off
inline constexpr std::string_view relations = "ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view relations_and = "+and ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view relations_or = "+or ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view relations_xor = "+xor ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
// clang-format on

/// Applies a packed type's operation to both halves.
template <class D>
Value<D> float_elements(D &d, FloatOperation operation, const FloatForm &f, Args<D> s) {
  const ScalarType type = f.form.type;
  if (type != ScalarType::f16x2 && type != ScalarType::bf16x2)
    return d.floating(operation, f, s);
  FloatForm half = f;
  half.form.type = type == ScalarType::f16x2 ? ScalarType::f16 : ScalarType::bf16;
  half.form.width = 16;
  const auto part = [&](unsigned low) {
    std::array<Value<D>, 3> pieces{};
    for (std::size_t i = 0; i < s.size(); ++i)
      pieces[i] = d.extract(s[i], low, 16);
    return d.floating(operation, half, Args<D>{pieces.data(), s.size()});
  };
  return d.concat(part(16), part(0));
}

/// cvt.rn.f16x2.f32 d, a, b: a goes to the upper half.
template <class D> Value<D> convert_pair(D &d, const FloatForm &f, Args<D> s) {
  FloatForm half = f;
  half.form.type = f.form.type == ScalarType::f16x2 ? ScalarType::f16 : ScalarType::bf16;
  half.form.width = 16;
  return d.concat(d.float_conversion(half, s[0]), d.float_conversion(half, s[1]));
}

template <class D> Value<D> set_result(D &d, const FloatForm &f, Value<D> condition) {
  if (f.form.type == ScalarType::f32)
    return d.ite(condition, number(d, 32, 0x3f800000), number(d, 32, 0));
  return d.sext(condition, 32);
}

template <class D> constexpr auto float_table() {
  return std::to_array<FloatLine<D>>({
      // clang-format off
      // Arithmetic (PTX ISA 9.7.3, 9.7.4)
      {"add", reals, rounded, "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::add, f, s); }},
      {"sub", reals, rounded, "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::sub, f, s); }},
      {"mul", reals, rounded, "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::mul, f, s); }},
      {"fma", reals, "rn rz rm rp ftz sat relu", "T=TTT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::fma, f, s); }},
      {"mad", "f32 f64", rounded, "T=TTT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::fma, f, s); }},
      {"div", "f32 f64", "rn rz rm rp ftz approx full", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::div, f, s); }},
      {"rcp", "f32 f64", "rn rz rm rp ftz approx", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::rcp, f, s); }},
      {"sqrt", "f32 f64", "rn rz rm rp ftz approx", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::sqrt, f, s); }},
      {"rsqrt", "f32 f64", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::rsqrt, f, s); }},
      {"sin", "f32", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::sin, f, s); }},
      {"cos", "f32", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::cos, f, s); }},
      {"lg2", "f32", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::lg2, f, s); }},
      {"ex2", "f32 f16 bf16", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::ex2, f, s); }},
      {"tanh", "f32 f16 bf16", "+approx", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::tanh, f, s); }},
      {"abs", reals, "ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::abs, f, s); }},
      {"neg", reals, "ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::neg, f, s); }},
      {"min", reals, "ftz NaN xorsign abs", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::min, f, s); }},
      {"max", reals, "ftz NaN xorsign abs", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::max, f, s); }},
      {"copysign", "f32 f64", "", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::copysign, f, s); }},
      {"testp", "f32 f64", "finite infinite number notanumber normal subnormal", "P=T", [](D &d, const FloatForm &f, Args<D> s) { return d.float_class(f, s[0]); }},

      // Comparison (9.7.6)
      {"setp", "f16 bf16 f32 f64", relations_and, "P=TTP", [](D &d, const FloatForm &f, Args<D> s) { return d.bit_and(d.float_comparison(f, s[0], s[1]), s[2]); }},
      {"setp", "f16 bf16 f32 f64", relations_or, "P=TTP", [](D &d, const FloatForm &f, Args<D> s) { return d.bit_or(d.float_comparison(f, s[0], s[1]), s[2]); }},
      {"setp", "f16 bf16 f32 f64", relations_xor, "P=TTP", [](D &d, const FloatForm &f, Args<D> s) { return d.bit_xor(d.float_comparison(f, s[0], s[1]), s[2]); }},
      {"setp", "f16 bf16 f32 f64", relations, "P=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.float_comparison(f, s[0], s[1]); }},
      {"set", "u32 s32 f32", relations, "T=SS", [](D &d, const FloatForm &f, Args<D> s) { return set_result(d, f, d.float_comparison(f, s[0], s[1])); }},
      {"slct", "b32 b64 u32 u64 s32 s64 f32 f64", "ftz +f32", "T=TTU", [](D &d, const FloatForm &f, Args<D> s) { return d.ite(d.float_not_negative(f, s[2]), s[0], s[1]); }},

      // Conversion (9.7.9.21)
      {"cvt", "f16x2 bf16x2", "+f32 rn rz relu sat", "T=SS", [](D &d, const FloatForm &f, Args<D> s) { return convert_pair(d, f, s); }},
      {"cvt", "f16 bf16 tf32 f32 f64", "rn rz rm rp rna rni rzi rmi rpi ftz sat relu u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64", "T=S", [](D &d, const FloatForm &f, Args<D> s) { return d.float_conversion(f, s[0]); }},
      {"cvt", "u8 u16 u32 u64 s8 s16 s32 s64", "rni rzi rmi rpi ftz sat f16 bf16 f32 f64", "T=S", [](D &d, const FloatForm &f, Args<D> s) { return d.float_conversion(f, s[0]); }},
      // clang-format on
  });
}

} // namespace semantics

template <class D> std::span<const FloatLine<D>> float_instruction_table() {
  static constexpr auto lines = semantics::float_table<D>();
  return lines;
}

/// The line that describes a floating-point opcode, or null.
template <class D> const FloatLine<D> *find_float_line(const Opcode &opcode) {
  for (const FloatLine<D> &line : float_instruction_table<D>())
    if (semantics::fits(line, opcode))
      return &line;
  return nullptr;
}

} // namespace ptxasw
