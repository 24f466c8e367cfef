#pragma once

// The floating-point part of the instruction table: one line per instruction, as in instructions.h.
//
// A line says which operation is meant and in which shape; the domain says what that is. The
// concrete domain computes it (floating.h). The symbolic emulator does not look here: to it every
// pure floating-point instruction is an uninterpreted function named by the whole opcode, which is
// what `floating` of a symbolic domain would give for every line alike.
//
// A domain that wants these lines is a FloatDomain.

#include "emulator/semantics/floating.h"
#include "emulator/semantics/instructions.h"

namespace ptxasw::emulator {

/// A Form with what floating point adds.
struct FloatForm {
  Form form;
  FloatMode mode;
  const Opcode *opcode = nullptr;
};

/// A domain that floating-point lines are written over, too.
template <class D>
concept FloatDomain = Domain<D> && requires(D &d, typename D::Value a, FloatOperation operation,
                                            const FloatForm &form, Args<D> list) {
  { d.floating(operation, form, list) } -> std::same_as<typename D::Value>; // the type's width
  { d.float_comparison(form, a, a) } -> std::same_as<typename D::Value>;    // width 1
  { d.float_conversion(form, a) } -> std::same_as<typename D::Value>;       // type from source_type
  { d.float_class(form, a) } -> std::same_as<typename D::Value>;            // testp: width 1
  { d.float_not_negative(form, a) } -> std::same_as<typename D::Value>;     // of slct: width 1
};

/// One line; see Line for the shape.
template <FloatDomain D> struct FloatLine {
  std::string_view base;
  std::string_view types;
  std::string_view modifiers;
  std::string_view shape;
  Value<D> (*evaluate)(D &, const FloatForm &, Args<D>);
};

namespace semantics {

inline constexpr std::string_view halves_too = "f16 bf16 f16x2 bf16x2 f32";
inline constexpr std::string_view short_reals = "f16 bf16 f16x2 bf16x2";
inline constexpr std::string_view reals = "f16 bf16 f16x2 bf16x2 f32 f64";
inline constexpr std::string_view rounded = "rn rz rm rp ftz sat";
// clang-format off
inline constexpr std::string_view relations = "ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view relations_and = "+and ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view relations_or = "+or ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view relations_xor = "+xor ftz f16 bf16 f32 f64 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view packed_relations = "ftz f16x2 bf16x2 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view packed_relations_and = "+and ftz f16x2 bf16x2 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view packed_relations_or = "+or ftz f16x2 bf16x2 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
inline constexpr std::string_view packed_relations_xor = "+xor ftz f16x2 bf16x2 eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
// clang-format on

/// The type of which a packed one has two; for others, the type itself.
constexpr ScalarType element(ScalarType type) {
  switch (type) {
  case ScalarType::f16x2:
    return ScalarType::f16;
  case ScalarType::bf16x2:
    return ScalarType::bf16;
  case ScalarType::e4m3x2:
    return ScalarType::e4m3;
  case ScalarType::e5m2x2:
    return ScalarType::e5m2;
  default:
    return type;
  }
}

/// The form of an instruction on the elements of its types.
inline FloatForm of_elements(const FloatForm &f) {
  FloatForm result = f;
  result.form.type = element(f.form.type);
  result.form.width = bit_width(result.form.type);
  result.form.source_type = element(f.form.source_type);
  result.form.source_width = bit_width(result.form.source_type);
  return result;
}

/// Applies a packed type's operation to both halves.
template <FloatDomain D>
Value<D> float_elements(D &d, FloatOperation operation, const FloatForm &f, Args<D> s) {
  const FloatForm half = of_elements(f);
  if (half.form.type == f.form.type)
    return d.floating(operation, f, s);
  const auto part = [&](unsigned low) {
    std::array<Value<D>, 3> pieces{};
    for (std::size_t i = 0; i < s.size(); ++i)
      pieces[i] = d.extract(s[i], low, 16);
    return d.floating(operation, half, Args<D>{pieces.data(), s.size()});
  };
  return d.concat(part(16), part(0));
}

/// cvt.rn.f16x2.f32 d, a, b: a goes to the upper half.
template <FloatDomain D> Value<D> convert_pair(D &d, const FloatForm &f, Args<D> s) {
  const FloatForm half = of_elements(f);
  return d.concat(d.float_conversion(half, s[0]), d.float_conversion(half, s[1]));
}

/// cvt between packed types.
template <FloatDomain D> Value<D> convert_packed(D &d, const FloatForm &f, Args<D> s) {
  const FloatForm half = of_elements(f);
  const auto part = [&](unsigned n) {
    return d.float_conversion(half,
                              d.extract(s[0], n * half.form.source_width, half.form.source_width));
  };
  return d.concat(part(1), part(0));
}

/// What set gives: 1.0 or, for integers, all ones.
template <FloatDomain D> Value<D> set_result(D &d, const FloatForm &f, Value<D> condition) {
  const unsigned width = f.form.width;
  const std::uint64_t one = f.form.type == ScalarType::f32    ? 0x3f800000
                            : f.form.type == ScalarType::f16  ? 0x3c00
                            : f.form.type == ScalarType::bf16 ? 0x3f80
                                                              : mask64(width);
  return d.ite(condition, number(d, width, one), number(d, width, 0));
}

enum class Combine : std::uint8_t { none, logical_and, logical_or, logical_xor };
template <FloatDomain D> Value<D> combine(D &d, Combine how, Value<D> a, Args<D> s) {
  switch (how) {
  case Combine::logical_and:
    return d.bit_and(a, s[2]);
  case Combine::logical_or:
    return d.bit_or(a, s[2]);
  case Combine::logical_xor:
    return d.bit_xor(a, s[2]);
  default:
    return a;
  }
}

/// Comparisons of both halves, the lower one's result lowest: two bits.
template <FloatDomain D> Value<D> compare_packed(D &d, const FloatForm &f, Args<D> s, Combine how) {
  FloatForm half = of_elements(f);
  if (half.form.source_type == ScalarType::none)
    half.form.source_type = half.form.type;
  const auto part = [&](unsigned low) {
    const Value<D> a = d.extract(s[0], low, 16), b = d.extract(s[1], low, 16);
    return combine(d, how, d.float_comparison(half, a, b), s);
  };
  return d.concat(part(16), part(0));
}

template <FloatDomain D> Value<D> set_packed(D &d, const FloatForm &f, Args<D> s, Combine how) {
  FloatForm half = of_elements(f);
  half.form.width = 16;
  const Value<D> both = compare_packed(d, f, s, how);
  return d.concat(set_result(d, half, d.extract(both, 1, 1)),
                  set_result(d, half, d.extract(both, 0, 1)));
}

template <FloatDomain D> constexpr auto float_table() {
  return std::to_array<FloatLine<D>>({
      // clang-format off
      // Arithmetic (PTX ISA 9.7.3, 9.7.4)
      {"add", "f32 f64", rounded, "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::add, f, s); }},
      {"add", short_reals, "rn ftz sat", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::add, f, s); }},
      {"sub", "f32 f64", rounded, "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::sub, f, s); }},
      {"sub", short_reals, "rn ftz sat", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::sub, f, s); }},
      {"mul", "f32 f64", rounded, "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::mul, f, s); }},
      {"mul", short_reals, "rn ftz sat", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::mul, f, s); }},
      {"fma", "f32 f64", rounded, "T=TTT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::fma, f, s); }},
      {"fma", short_reals, "rn ftz sat relu", "T=TTT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::fma, f, s); }},
      {"mad", "f32 f64", rounded, "T=TTT", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::fma, f, s); }},
      {"div", "f32", "rn rz rm rp ftz approx full", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::div, f, s); }},
      {"div", "f64", "rn rz rm rp", "T=TT", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::div, f, s); }},
      {"rcp", "f32", "rn rz rm rp ftz approx", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::rcp, f, s); }},
      {"rcp", "f64", "rn rz rm rp", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::rcp, f, s); }},
      {"rcp", "f64", "+approx +ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::rcp, f, s); }},
      {"sqrt", "f32", "rn rz rm rp ftz approx", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::sqrt, f, s); }},
      {"sqrt", "f64", "rn rz rm rp", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::sqrt, f, s); }},
      {"rsqrt", "f32 f64", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::rsqrt, f, s); }},
      {"sin", "f32", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::sin, f, s); }},
      {"cos", "f32", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::cos, f, s); }},
      {"lg2", "f32", "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return d.floating(FloatOperation::lg2, f, s); }},
      {"ex2", halves_too, "+approx ftz", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::ex2, f, s); }},
      {"tanh", halves_too, "+approx", "T=T", [](D &d, const FloatForm &f, Args<D> s) { return float_elements(d, FloatOperation::tanh, f, s); }},
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
      {"setp", "f16x2 bf16x2", packed_relations_and, "P=TTP", [](D &d, const FloatForm &f, Args<D> s) { return compare_packed(d, f, s, Combine::logical_and); }},
      {"setp", "f16x2 bf16x2", packed_relations_or, "P=TTP", [](D &d, const FloatForm &f, Args<D> s) { return compare_packed(d, f, s, Combine::logical_or); }},
      {"setp", "f16x2 bf16x2", packed_relations_xor, "P=TTP", [](D &d, const FloatForm &f, Args<D> s) { return compare_packed(d, f, s, Combine::logical_xor); }},
      {"setp", "f16x2 bf16x2", packed_relations, "P=TT", [](D &d, const FloatForm &f, Args<D> s) { return compare_packed(d, f, s, Combine::none); }},
      {"set", "f16 bf16 u16 s16 u32 s32 f32", relations_and, "T=SSP", [](D &d, const FloatForm &f, Args<D> s) { return set_result(d, f, combine(d, Combine::logical_and, d.float_comparison(f, s[0], s[1]), s)); }},
      {"set", "f16x2 bf16x2 u32 s32", packed_relations_and, "T=SSP", [](D &d, const FloatForm &f, Args<D> s) { return set_packed(d, f, s, Combine::logical_and); }},
      {"set", "f16 bf16 u16 s16 u32 s32 f32", relations_or, "T=SSP", [](D &d, const FloatForm &f, Args<D> s) { return set_result(d, f, combine(d, Combine::logical_or, d.float_comparison(f, s[0], s[1]), s)); }},
      {"set", "f16x2 bf16x2 u32 s32", packed_relations_or, "T=SSP", [](D &d, const FloatForm &f, Args<D> s) { return set_packed(d, f, s, Combine::logical_or); }},
      {"set", "f16 bf16 u16 s16 u32 s32 f32", relations_xor, "T=SSP", [](D &d, const FloatForm &f, Args<D> s) { return set_result(d, f, combine(d, Combine::logical_xor, d.float_comparison(f, s[0], s[1]), s)); }},
      {"set", "f16x2 bf16x2 u32 s32", packed_relations_xor, "T=SSP", [](D &d, const FloatForm &f, Args<D> s) { return set_packed(d, f, s, Combine::logical_xor); }},
      {"set", "f16 bf16 u16 s16 u32 s32 f32", relations, "T=SS", [](D &d, const FloatForm &f, Args<D> s) { return set_result(d, f, combine(d, Combine::none, d.float_comparison(f, s[0], s[1]), s)); }},
      {"set", "f16x2 bf16x2 u32 s32", packed_relations, "T=SS", [](D &d, const FloatForm &f, Args<D> s) { return set_packed(d, f, s, Combine::none); }},
      {"slct", "b32 b64 u32 u64 s32 s64 f32 f64", "ftz +f32", "T=TTU", [](D &d, const FloatForm &f, Args<D> s) { return d.ite(d.float_not_negative(f, s[2]), s[0], s[1]); }},

      // Conversion (9.7.9.21)
      {"cvt", "f16x2 bf16x2", "+f32 rn rz relu sat", "T=SS", [](D &d, const FloatForm &f, Args<D> s) { return convert_pair(d, f, s); }},
      {"cvt", "e4m3x2 e5m2x2", "+f32 +satfinite rn relu", "T=SS", [](D &d, const FloatForm &f, Args<D> s) { return convert_pair(d, f, s); }},
      {"cvt", "e4m3x2 e5m2x2", "+f16x2 +satfinite rn relu", "T=S", [](D &d, const FloatForm &f, Args<D> s) { return convert_packed(d, f, s); }},
      {"cvt", "f16x2", "e4m3x2 e5m2x2 rn relu", "T=S", [](D &d, const FloatForm &f, Args<D> s) { return convert_packed(d, f, s); }},
      {"cvt", "f16 bf16 tf32 f32 f64", "rn rz rm rp rna rni rzi rmi rpi ftz sat relu u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64", "T=S", [](D &d, const FloatForm &f, Args<D> s) { return d.float_conversion(f, s[0]); }},
      {"cvt", "u8 u16 u32 u64 s8 s16 s32 s64", "rni rzi rmi rpi ftz sat f16 bf16 f32 f64", "T=S", [](D &d, const FloatForm &f, Args<D> s) { return d.float_conversion(f, s[0]); }},
      // clang-format on
  });
}

} // namespace semantics

template <FloatDomain D> std::span<const FloatLine<D>> float_instruction_table() {
  static constexpr auto lines = semantics::float_table<D>();
  return lines;
}

/// The line that describes a floating-point opcode, or null.
template <FloatDomain D> const FloatLine<D> *find_float_line(const Opcode &opcode) {
  for (const FloatLine<D> &line : float_instruction_table<D>())
    if (semantics::fits(line, opcode))
      return &line;
  return nullptr;
}

} // namespace ptxasw::emulator
