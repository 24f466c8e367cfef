// Products are exact, aligned to the largest and cut off at a fixed bit, several at once: what GPUs
// were seen to do, so that results are the same bits.

#include "emulator/semantics/matrix_product.h"

#include "emulator/semantics/floating.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace ptxasw::emulator {
namespace {

using ElementKind = MatrixElement::Kind;

struct TypeInfo {
  std::string_view name;
  MatrixType type;
  std::uint8_t width, exponent, mantissa; ///< bits; of tf32 those that count
};

constexpr TypeInfo types[] = {
    {"f16", MatrixType::f16, 16, 5, 10},   {"bf16", MatrixType::bf16, 16, 8, 7},
    {"tf32", MatrixType::tf32, 32, 8, 10}, {"e4m3", MatrixType::e4m3, 8, 4, 3},
    {"e5m2", MatrixType::e5m2, 8, 5, 2},   {"e2m3", MatrixType::e2m3, 6, 2, 3},
    {"e3m2", MatrixType::e3m2, 6, 3, 2},   {"e2m1", MatrixType::e2m1, 4, 2, 1},
    {"f32", MatrixType::f32, 32, 8, 23},   {"f64", MatrixType::f64, 64, 11, 52},
    {"s8", MatrixType::s8, 8, 0, 0},       {"u8", MatrixType::u8, 8, 0, 0},
    {"s4", MatrixType::s4, 4, 0, 0},       {"u4", MatrixType::u4, 4, 0, 0},
    {"b1", MatrixType::b1, 1, 0, 0},       {"s32", MatrixType::s32, 32, 0, 0}};

const TypeInfo &info(MatrixType type) {
  static constexpr TypeInfo nothing{"", MatrixType::none, 0, 0, 0};
  const auto found = std::find_if(std::begin(types), std::end(types),
                                  [&](const TypeInfo &entry) { return entry.type == type; });
  return found == std::end(types) ? nothing : *found;
}

ScalarType scalar(MatrixType type) {
  return type == MatrixType::f16   ? ScalarType::f16
         : type == MatrixType::f64 ? ScalarType::f64
                                   : ScalarType::f32;
}

constexpr std::uint64_t one_nan(MatrixType type) {
  return type == MatrixType::f16 ? 0x7fff : 0x7fffffff;
}

constexpr std::uint64_t infinity(MatrixType type, bool negative) {
  return type == MatrixType::f16 ? (negative ? 0xfc00 : 0x7c00)
                                 : (negative ? 0xff800000 : 0x7f800000);
}

/// magnitude * 2^exponent in f32, cut off, or in f16, to nearest.
std::uint64_t round_sum(MatrixType to, bool negative, std::uint64_t magnitude, int exponent) {
  const double value = std::ldexp(static_cast<double>(magnitude), exponent);
  if (to == MatrixType::f32 && value >= 0x1p128)
    return infinity(to, negative);
  const auto rounding = to == MatrixType::f32 ? FloatRounding::zero : FloatRounding::nearest_even;
  const std::uint64_t bits = floating::from_double(scalar(to), value, rounding);
  return bits == 0 || !negative ? bits : bits | std::uint64_t{1} << (bit_width(to) - 1);
}

/// The sum of some products and a number, at once.
class Sum {
public:
  void add(const MatrixElement &x) {
    if (x.kind == ElementKind::finite)
      keep(x.negative, x.top, x.significand, x.exponent);
    else
      note(x.kind, x.negative);
  }
  void add_product(const MatrixElement &x, const MatrixElement &y) {
    const bool negative = x.negative != y.negative;
    if (x.kind == ElementKind::finite && y.kind == ElementKind::finite)
      return keep(negative, x.top + y.top, x.significand * y.significand, x.exponent + y.exponent);
    const bool zero = x.kind == ElementKind::zero || y.kind == ElementKind::zero;
    const ElementKind worst = std::max(x.kind, y.kind);
    note(zero && worst == ElementKind::infinite ? ElementKind::nan
         : zero && worst < ElementKind::nan     ? ElementKind::zero
                                                : worst,
         negative);
  }
  std::uint64_t result(MatrixType type, bool coarse = false) const {
    if (nan_ || (infinite_[0] && infinite_[1]))
      return one_nan(type);
    if (infinite_[0] || infinite_[1])
      return infinity(type, infinite_[1]);
    const int kept_places = coarse ? 13 : 25;
    int top = -100'000;
    for (std::size_t i = 0; i < count_; ++i)
      top = std::max(top, terms_[i].top);
    const int unit = top - kept_places;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const int down = unit - terms_[i].exponent;
      const std::uint64_t magnitude = down >= 64  ? 0
                                      : down >= 0 ? terms_[i].significand >> down
                                                  : terms_[i].significand << -down;
      sum += terms_[i].negative ? -static_cast<std::int64_t>(magnitude)
                                : static_cast<std::int64_t>(magnitude);
    }
    const std::uint64_t rounded =
        round_sum(type, sum < 0, static_cast<std::uint64_t>(std::abs(sum)), unit);
    return coarse && type == MatrixType::f32 ? rounded & ~mask64(23 - 13) : rounded;
  }

private:
  struct Term {
    std::uint64_t significand;
    int top, exponent;
    bool negative;
  };
  void keep(bool negative, int top, std::uint64_t significand, int exponent) {
    terms_[count_++] = {significand, top, exponent, negative};
  }
  void note(ElementKind kind, bool negative) {
    nan_ |= kind == ElementKind::nan;
    infinite_[negative] |= kind == ElementKind::infinite;
  }
  std::array<Term, 33> terms_; // a step of at most 32 products
  std::size_t count_ = 0;
  bool nan_ = false, infinite_[2] = {};
};

std::uint64_t real_product(const MatrixArithmetic &how, std::span<const MatrixElement> a,
                           std::span<const MatrixElement> b, std::uint64_t c) {
  const MatrixType type = how.c == how.d ? how.c : MatrixType::f32;
  if (how.c == MatrixType::f16 && type == MatrixType::f32)
    c = floating::convert(ScalarType::f32, ScalarType::f16, {}, c);
  const std::size_t step = how.step == 0 ? a.size() : how.step;
  for (std::size_t first = 0; first < a.size(); first += step) {
    Sum sum;
    sum.add(take_apart(type, c));
    for (std::size_t i = first; i < std::min(first + step, a.size()); ++i)
      sum.add_product(a[i], b[i]);
    c = sum.result(type, how.coarse);
  }
  return how.d == type ? c : floating::convert(ScalarType::f16, ScalarType::f32, {}, c);
}

/// Of 8-bit numbers: first those at places 0 and 1 of every four, then the others, then c.
std::uint64_t short_product(const MatrixArithmetic &how, std::span<const MatrixElement> a,
                            std::span<const MatrixElement> b, std::uint64_t c) {
  std::uint64_t products = 0;
  for (const unsigned half : {0u, 2u}) {
    Sum sum;
    sum.add(take_apart(how.d, products));
    for (std::size_t i = 0; i < a.size(); ++i)
      if ((i & 2) == half)
        sum.add_product(a[i], b[i]);
    products = sum.result(how.d);
  }
  const std::uint64_t both[] = {products, c};
  return floating::compute(FloatOperation::add, scalar(how.d), {}, both);
}

std::uint64_t integer_product(const MatrixArithmetic &how, std::span<const MatrixElement> a,
                              std::span<const MatrixElement> b, std::uint64_t c) {
  auto sum = static_cast<std::int64_t>(static_cast<std::int32_t>(c));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (how.a == MatrixType::b1)
      sum += how.bitwise_and ? a[i].significand & b[i].significand
                             : a[i].significand ^ b[i].significand;
    else
      sum +=
          static_cast<std::int64_t>(a[i].significand) * static_cast<std::int64_t>(b[i].significand);
  }
  if (how.saturate)
    sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

} // namespace

MatrixType matrix_type(std::string_view name) {
  for (const TypeInfo &entry : types)
    if (entry.name == name)
      return entry.type;
  return MatrixType::none;
}

unsigned bit_width(MatrixType type) { return info(type).width; }

MatrixElement take_apart(MatrixType type, std::uint64_t bits) {
  const TypeInfo &format = info(type);
  MatrixElement result;
  if (type == MatrixType::f64) {
    result.significand = bits;
    return result;
  }
  if (format.exponent == 0) {
    const bool is_signed =
        type == MatrixType::s8 || type == MatrixType::s4 || type == MatrixType::s32;
    result.significand =
        is_signed ? static_cast<std::uint64_t>(as_signed(bits & mask64(format.width), format.width))
                  : bits & mask64(format.width);
    return result;
  }
  if (type == MatrixType::tf32)
    bits >>= 13;
  const std::uint64_t fraction = bits & mask64(format.mantissa);
  const std::uint64_t exponent = bits >> format.mantissa & mask64(format.exponent);
  const int bias = static_cast<int>(mask64(format.exponent - 1u));
  result.negative = bits >> (format.mantissa + format.exponent) & 1;
  const bool is_finite =
      type == MatrixType::e2m3 || type == MatrixType::e3m2 || type == MatrixType::e2m1;
  if (type == MatrixType::e4m3 ? (bits & 0x7f) == 0x7f
                               : !is_finite && exponent == mask64(format.exponent)) {
    result.kind = fraction == 0 ? ElementKind::infinite : ElementKind::nan;
    return result;
  }
  if (exponent == 0 && fraction == 0)
    return result;
  result.kind = ElementKind::finite;
  result.significand = exponent == 0 ? fraction : fraction | std::uint64_t{1} << format.mantissa;
  result.top = std::max(static_cast<int>(exponent), 1) - bias;
  result.exponent = result.top - format.mantissa;
  return result;
}

std::uint64_t multiply_add(const MatrixArithmetic &how, std::span<const MatrixElement> a,
                           std::span<const MatrixElement> b, std::uint64_t c) {
  switch (how.a) {
  case MatrixType::f64:
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint64_t operands[] = {a[i].significand, b[i].significand, c};
      c = floating::compute(FloatOperation::fma, ScalarType::f64, {}, operands);
    }
    return c;
  case MatrixType::f16:
  case MatrixType::bf16:
  case MatrixType::tf32:
    return real_product(how, a, b, c);
  case MatrixType::e4m3:
  case MatrixType::e5m2:
  case MatrixType::e2m3:
  case MatrixType::e3m2:
  case MatrixType::e2m1:
    return how.coarse ? real_product(how, a, b, c) : short_product(how, a, b, c);
  default:
    return integer_product(how, a, b, c);
  }
}

} // namespace ptxasw::emulator
