// Each is one expression of C++ whose result C++ defines to be that of the instruction; where it
// does not (shifts beyond the width, NaNs, the rounding of conversions), the case is taken apart or
// left to the tables.

#include "emulator/machine/warp_fast.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

namespace ptxasw::emulator {
namespace {

template <class Compute>
void each_lane(std::uint64_t *to, const std::uint64_t *a, const std::uint64_t *b,
               const std::uint64_t *c, std::uint32_t lanes, Compute compute) {
  const auto one = [&](unsigned lane) {
    to[lane] = compute(a[lane], b ? b[lane] : 0, c ? c[lane] : 0);
  };
  if (lanes == ~std::uint32_t{0})
    for (unsigned lane = 0; lane < 32; ++lane)
      one(lane);
  else
    for (; lanes; lanes &= lanes - 1)
      one(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// A function of three numbers without state, as a FastFunction.
template <auto compute>
void fast(std::uint64_t *to, const std::uint64_t *a, const std::uint64_t *b, const std::uint64_t *c,
          std::uint32_t lanes) {
  // A lambda, as what a pointer points to is not inlined.
  each_lane(to, a, b, c, lanes,
            [](std::uint64_t x, std::uint64_t y, std::uint64_t z) { return compute(x, y, z); });
}

/// The same while the host rounds down. What is computed between the two calls depends on memory
/// that they might change, so it stays there.
template <auto compute>
void fast_down(std::uint64_t *to, const std::uint64_t *a, const std::uint64_t *b,
               const std::uint64_t *c, std::uint32_t lanes) {
  const int before = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  fast<compute>(to, a, b, c, lanes);
  std::fesetround(before);
}

using U64 = std::uint64_t;

template <class Unsigned> struct Integers {
  using Signed = std::make_signed_t<Unsigned>;
  static constexpr unsigned bits = 8 * sizeof(Unsigned);
  static constexpr Signed s(U64 x) { return static_cast<Signed>(x); }
  static constexpr U64 add(U64 a, U64 b, U64) { return static_cast<Unsigned>(a + b); }
  static constexpr U64 sub(U64 a, U64 b, U64) { return static_cast<Unsigned>(a - b); }
  static constexpr U64 mul(U64 a, U64 b, U64) { return static_cast<Unsigned>(a * b); }
  static constexpr U64 mad(U64 a, U64 b, U64 c) { return static_cast<Unsigned>(a * b + c); }
  static constexpr U64 and_(U64 a, U64 b, U64) { return a & b; }
  static constexpr U64 or_(U64 a, U64 b, U64) { return a | b; }
  static constexpr U64 xor_(U64 a, U64 b, U64) { return a ^ b; }
  static constexpr U64 not_(U64 a, U64, U64) { return static_cast<Unsigned>(~a); }
  static constexpr U64 neg(U64 a, U64, U64) { return static_cast<Unsigned>(0 - a); }
  static constexpr U64 shl(U64 a, U64 b, U64) {
    return b >= bits ? 0 : static_cast<Unsigned>(a << b);
  }
  static constexpr U64 shr(U64 a, U64 b, U64) { return b >= bits ? 0 : a >> b; }
  static constexpr U64 sar(U64 a, U64 b, U64) {
    return static_cast<Unsigned>(s(a) >> (b >= bits ? bits - 1 : b));
  }
  static constexpr U64 umin(U64 a, U64 b, U64) { return a < b ? a : b; }
  static constexpr U64 umax(U64 a, U64 b, U64) { return a < b ? b : a; }
  static constexpr U64 smin(U64 a, U64 b, U64) { return s(a) < s(b) ? a : b; }
  static constexpr U64 smax(U64 a, U64 b, U64) { return s(a) < s(b) ? b : a; }
  /// Of 32 bits.
  static constexpr U64 umul_high(U64 a, U64 b, U64) { return a * b >> bits; }
  static constexpr U64 smul_high(U64 a, U64 b, U64) {
    return static_cast<Unsigned>((std::int64_t{s(a)} * s(b)) >> bits);
  }
  static constexpr U64 eq(U64 a, U64 b, U64) { return a == b; }
  static constexpr U64 ne(U64 a, U64 b, U64) { return a != b; }
  static constexpr U64 ult(U64 a, U64 b, U64) { return a < b; }
  static constexpr U64 ule(U64 a, U64 b, U64) { return a <= b; }
  static constexpr U64 slt(U64 a, U64 b, U64) { return s(a) < s(b); }
  static constexpr U64 sle(U64 a, U64 b, U64) { return s(a) <= s(b); }
  static constexpr U64 ugt(U64 a, U64 b, U64) { return a > b; }
  static constexpr U64 uge(U64 a, U64 b, U64) { return a >= b; }
  static constexpr U64 sgt(U64 a, U64 b, U64) { return s(a) > s(b); }
  static constexpr U64 sge(U64 a, U64 b, U64) { return s(a) >= s(b); }
};

/// A comparison, and a third operand.
template <auto comparison> constexpr U64 both(U64 a, U64 b, U64 c) {
  return comparison(a, b, 0) & c;
}

constexpr U64 same(U64 a, U64, U64) { return a; }
constexpr U64 select(U64 a, U64 b, U64 c) { return c ? a : b; }
constexpr U64 not_predicate(U64 a, U64, U64) { return a ^ 1; }
constexpr U64 low_word(U64 a, U64, U64) { return static_cast<std::uint32_t>(a); }
constexpr U64 sign_extended(U64 a, U64, U64) {
  return static_cast<U64>(static_cast<std::int64_t>(static_cast<std::int32_t>(a)));
}
constexpr U64 wide_product(U64 a, U64 b, U64) { return a * b; }
constexpr U64 wide_signed(U64 a, U64 b, U64) {
  return static_cast<U64>(std::int64_t{static_cast<std::int32_t>(a)} *
                          static_cast<std::int32_t>(b));
}
constexpr U64 wide_mad(U64 a, U64 b, U64 c) { return a * b + c; }
constexpr U64 wide_signed_mad(U64 a, U64 b, U64 c) { return wide_signed(a, b, 0) + c; }

float real(U64 bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
/// The one NaN of f32.
U64 pattern(float x) { return x != x ? 0x7fffffff : std::bit_cast<std::uint32_t>(x); }
U64 real_add(U64 a, U64 b, U64) { return pattern(real(a) + real(b)); }
U64 real_sub(U64 a, U64 b, U64) { return pattern(real(a) - real(b)); }
U64 real_mul(U64 a, U64 b, U64) { return pattern(real(a) * real(b)); }
U64 real_div(U64 a, U64 b, U64) { return pattern(real(a) / real(b)); }
U64 real_rcp(U64 a, U64, U64) { return pattern(1.0f / real(a)); }
U64 real_sqrt(U64 a, U64, U64) { return pattern(std::sqrt(real(a))); }
U64 real_fma(U64 a, U64 b, U64 c) { return pattern(std::fma(real(a), real(b), real(c))); }
/// Below the normal numbers, a zero.
U64 flushed(U64 bits) { return (bits & 0x7fffffff) < 0x800000 ? bits & 0x80000000 : bits; }
/// In double, and rounded once.
U64 real_ex2(U64 a, U64, U64) {
  return pattern(static_cast<float>(std::exp2(static_cast<double>(real(a)))));
}
U64 real_ex2_ftz(U64 a, U64, U64) { return flushed(real_ex2(flushed(a), 0, 0)); }
U64 real_lg2(U64 a, U64, U64) {
  return pattern(static_cast<float>(std::log2(static_cast<double>(real(a)))));
}
U64 real_lg2_ftz(U64 a, U64, U64) { return flushed(real_lg2(flushed(a), 0, 0)); }
U64 real_neg(U64 a, U64, U64) { return pattern(-real(a)); }
U64 real_abs(U64 a, U64, U64) { return pattern(std::fabs(real(a))); }
/// -0 is less than 0, and of a NaN and a number the number is taken.
U64 real_min(U64 a, U64 b, U64) {
  const float x = real(a), y = real(b);
  return pattern(x != x ? y : y != y || x < y || (x == y && std::signbit(x)) ? x : y);
}
U64 real_max(U64 a, U64 b, U64) {
  const float x = real(a), y = real(b);
  return pattern(x != x ? y : y != y || x > y || (x == y && std::signbit(y)) ? x : y);
}
U64 real_eq(U64 a, U64 b, U64) { return real(a) == real(b); }
U64 real_ne(U64 a, U64 b, U64) { return real(a) < real(b) || real(a) > real(b); }
U64 real_lt(U64 a, U64 b, U64) { return real(a) < real(b); }
U64 real_le(U64 a, U64 b, U64) { return real(a) <= real(b); }
U64 real_gt(U64 a, U64 b, U64) { return real(a) > real(b); }
U64 real_ge(U64 a, U64 b, U64) { return real(a) >= real(b); }
U64 real_of_signed(U64 a, U64, U64) {
  return pattern(static_cast<float>(static_cast<std::int32_t>(a)));
}
U64 real_of_unsigned(U64 a, U64, U64) {
  return pattern(static_cast<float>(static_cast<std::uint32_t>(a)));
}

double wide_real(U64 bits) { return std::bit_cast<double>(bits); }
/// Of 64 bits the NaN of an operand goes on, quiet: of the second, the third, the first.
U64 wide_pattern(double x, U64 a, U64 b, U64 c) {
  if (x == x)
    return std::bit_cast<U64>(x);
  constexpr U64 quiet = U64{1} << 51;
  for (const U64 operand : {b, c, a})
    if (wide_real(operand) != wide_real(operand))
      return operand | quiet;
  return 0xfff8000000000000;
}
U64 wide_real_add(U64 a, U64 b, U64) { return wide_pattern(wide_real(a) + wide_real(b), a, b, 0); }
U64 wide_real_sub(U64 a, U64 b, U64) { return wide_pattern(wide_real(a) - wide_real(b), a, b, 0); }
U64 wide_real_mul(U64 a, U64 b, U64) { return wide_pattern(wide_real(a) * wide_real(b), a, b, 0); }
U64 wide_real_fma(U64 a, U64 b, U64 c) {
  return wide_pattern(std::fma(wide_real(a), wide_real(b), wide_real(c)), a, b, c);
}

struct Entry {
  std::string_view text;
  FastFunction function;
};

template <class Numbers> FastFunction of_integers(std::string_view word, bool is_signed) {
  const Entry entries[] = {
      {"add", fast<Numbers::add>},
      {"sub", fast<Numbers::sub>},
      {"mul.lo", fast<Numbers::mul>},
      {"mad.lo", fast<Numbers::mad>},
      {"and", fast<Numbers::and_>},
      {"or", fast<Numbers::or_>},
      {"xor", fast<Numbers::xor_>},
      {"not", fast<Numbers::not_>},
      {"neg", fast<Numbers::neg>},
      {"shl", fast<Numbers::shl>},
      {"shr", is_signed ? fast<Numbers::sar> : fast<Numbers::shr>},
      {"min", is_signed ? fast<Numbers::smin> : fast<Numbers::umin>},
      {"max", is_signed ? fast<Numbers::smax> : fast<Numbers::umax>},
      {"mov", fast<same>},
      {"selp", fast<select>},
      {"setp.eq", fast<Numbers::eq>},
      {"setp.ne", fast<Numbers::ne>},
      {"setp.lt", is_signed ? fast<Numbers::slt> : fast<Numbers::ult>},
      {"setp.le", is_signed ? fast<Numbers::sle> : fast<Numbers::ule>},
      {"setp.gt", is_signed ? fast<Numbers::sgt> : fast<Numbers::ugt>},
      {"setp.ge", is_signed ? fast<Numbers::sge> : fast<Numbers::uge>},
      {"setp.eq.and", fast<both<Numbers::eq>>},
      {"setp.ne.and", fast<both<Numbers::ne>>},
      {"setp.lt.and", is_signed ? fast<both<Numbers::slt>> : fast<both<Numbers::ult>>},
      {"setp.le.and", is_signed ? fast<both<Numbers::sle>> : fast<both<Numbers::ule>>},
      {"setp.gt.and", is_signed ? fast<both<Numbers::sgt>> : fast<both<Numbers::ugt>>},
      {"setp.ge.and", is_signed ? fast<both<Numbers::sge>> : fast<both<Numbers::uge>>},
  };
  for (const Entry &entry : entries)
    if (entry.text == word)
      return entry.function;
  return nullptr;
}

FastFunction by_text(std::string_view text) {
  static constexpr Entry entries[] = {
      {"add.f32", fast<real_add>},
      {"add.rn.f32", fast<real_add>},
      {"sub.f32", fast<real_sub>},
      {"sub.rn.f32", fast<real_sub>},
      {"mul.f32", fast<real_mul>},
      {"mul.rn.f32", fast<real_mul>},
      {"fma.rn.f32", fast<real_fma>},
      {"fma.rm.f32", fast_down<real_fma>},
      {"ex2.approx.f32", fast<real_ex2>},
      {"ex2.approx.ftz.f32", fast<real_ex2_ftz>},
      {"lg2.approx.f32", fast<real_lg2>},
      {"lg2.approx.ftz.f32", fast<real_lg2_ftz>},
      {"div.rn.f32", fast<real_div>},
      {"rcp.rn.f32", fast<real_rcp>},
      {"sqrt.rn.f32", fast<real_sqrt>},
      {"neg.f32", fast<real_neg>},
      {"abs.f32", fast<real_abs>},
      {"min.f32", fast<real_min>},
      {"max.f32", fast<real_max>},
      {"setp.eq.f32", fast<real_eq>},
      {"setp.ne.f32", fast<real_ne>},
      {"setp.lt.f32", fast<real_lt>},
      {"setp.le.f32", fast<real_le>},
      {"setp.gt.f32", fast<real_gt>},
      {"setp.ge.f32", fast<real_ge>},
      {"cvt.rn.f32.s32", fast<real_of_signed>},
      {"cvt.rn.f32.u32", fast<real_of_unsigned>},
      {"add.f64", fast<wide_real_add>},
      {"add.rn.f64", fast<wide_real_add>},
      {"sub.f64", fast<wide_real_sub>},
      {"sub.rn.f64", fast<wide_real_sub>},
      {"mul.f64", fast<wide_real_mul>},
      {"mul.rn.f64", fast<wide_real_mul>},
      {"fma.rn.f64", fast<wide_real_fma>},
      {"mov.f32", fast<same>},
      {"mov.f64", fast<same>},
      {"selp.f32", fast<select>},
      {"selp.f64", fast<select>},
      {"mov.pred", fast<same>},
      {"not.pred", fast<not_predicate>},
      {"and.pred", fast<Integers<U64>::and_>},
      {"or.pred", fast<Integers<U64>::or_>},
      {"xor.pred", fast<Integers<U64>::xor_>},
      {"cvt.u64.u32", fast<same>},
      {"cvt.s64.s32", fast<sign_extended>},
      {"cvt.u32.u64", fast<low_word>},
      {"mul.hi.u32", fast<Integers<std::uint32_t>::umul_high>},
      {"mul.hi.s32", fast<Integers<std::uint32_t>::smul_high>},
      {"mul.wide.u32", fast<wide_product>},
      {"mul.wide.s32", fast<wide_signed>},
      {"mad.wide.u32", fast<wide_mad>},
      {"mad.wide.s32", fast<wide_signed_mad>},
      {"cvta.to.global.u64", fast<same>},
      {"cvta.global.u64", fast<same>},
  };
  for (const Entry &entry : entries)
    if (entry.text == text)
      return entry.function;
  return nullptr;
}

} // namespace

FastFunction find_fast(const WarpInstruction &in) {
  if (in.action != WarpAction::compute || in.outputs.size() != 1 || in.inputs.empty() ||
      in.inputs.size() > 3 || in.second_output.kind != WarpOperand::Kind::none || in.carries ||
      in.sets_carry)
    return nullptr;
  const WarpOperand &output = in.outputs[0];
  if (output.kind != WarpOperand::Kind::reg || output.width != in.width)
    return nullptr;
  for (std::size_t i = 0; i < in.inputs.size(); ++i)
    if (in.inputs[i].negated ||
        (in.inputs[i].kind == WarpOperand::Kind::reg && in.inputs[i].width != in.input_widths[i]))
      return nullptr;
  const std::string_view text = in.opcode->text;
  if (const FastFunction found = by_text(text))
    return found;
  const ScalarType type = in.opcode->type;
  const std::size_t dot = text.rfind('.');
  static constexpr ScalarType whole[] = {ScalarType::b32, ScalarType::u32, ScalarType::s32,
                                         ScalarType::b64, ScalarType::u64, ScalarType::s64};
  if (std::find(std::begin(whole), std::end(whole), type) == std::end(whole) ||
      dot == std::string_view::npos || to_string(type) != text.substr(dot + 1))
    return nullptr;
  const std::string_view word = text.substr(0, dot);
  if (bit_width(type) == 32)
    return of_integers<Integers<std::uint32_t>>(word, is_signed(type));
  if (bit_width(type) == 64)
    return of_integers<Integers<std::uint64_t>>(word, is_signed(type));
  return nullptr;
}

} // namespace ptxasw::emulator
