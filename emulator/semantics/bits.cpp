// Arithmetic on patterns of up to 128 bits: by machine words where the width allows, by
// Boost.Multiprecision beyond.

#include "emulator/semantics/bits.h"

#include <boost/multiprecision/cpp_int.hpp>

namespace ptxasw::emulator::bits {
namespace {

using Wide = boost::multiprecision::uint128_t;

Wide wide(Bits value) { return (Wide(value.high) << 64) | value.low; }
Bits narrow(const Wide &value, unsigned width) {
  return truncate({static_cast<std::uint64_t>(value & ~std::uint64_t{0}),
                   static_cast<std::uint64_t>(value >> 64)},
                  width);
}

bool negative(Bits value, unsigned width) {
  return width > 64 ? (value.high >> (width - 65) & 1) != 0 : (value.low >> (width - 1) & 1) != 0;
}
Bits negate(Bits value, unsigned width) { return sub({}, value, width); }

/// True if a shift amount reaches the width.
bool shifts_out(Bits amount, unsigned width) { return amount.high != 0 || amount.low >= width; }

} // namespace

Bits add(Bits a, Bits b, unsigned width) {
  if (width <= 64)
    return {(a.low + b.low) & mask64(width)};
  const std::uint64_t low = a.low + b.low;
  return truncate({low, a.high + b.high + (low < a.low)}, width);
}

Bits sub(Bits a, Bits b, unsigned width) {
  if (width <= 64)
    return {(a.low - b.low) & mask64(width)};
  return truncate({a.low - b.low, a.high - b.high - (a.low < b.low)}, width);
}

Bits mul(Bits a, Bits b, unsigned width) {
  if (width <= 64)
    return {(a.low * b.low) & mask64(width)};
  return narrow(wide(a) * wide(b), width);
}

Bits shl(Bits a, Bits amount, unsigned width) {
  if (shifts_out(amount, width))
    return {};
  if (width <= 64)
    return {(a.low << amount.low) & mask64(width)};
  return narrow(wide(a) << static_cast<unsigned>(amount.low), width);
}

Bits lshr(Bits a, Bits amount, unsigned width) {
  if (shifts_out(amount, width))
    return {};
  if (width <= 64)
    return {a.low >> amount.low};
  return narrow(wide(a) >> static_cast<unsigned>(amount.low), width);
}

Bits ashr(Bits a, Bits amount, unsigned width) {
  if (!negative(a, width))
    return lshr(a, amount, width);
  // Complemented, zeros shifted in are the sign.
  const Bits ones = sub({}, {1}, width);
  return sub(ones, lshr(sub(ones, a, width), amount, width), width);
}

Bits udiv(Bits a, Bits b, unsigned width) {
  if (b.is_zero())
    return sub({}, {1}, width);
  if (width <= 64)
    return {a.low / b.low};
  return narrow(wide(a) / wide(b), width);
}

Bits urem(Bits a, Bits b, unsigned width) {
  if (b.is_zero())
    return a;
  if (width <= 64)
    return {a.low % b.low};
  return narrow(wide(a) % wide(b), width);
}

Bits sdiv(Bits a, Bits b, unsigned width) {
  const bool a_negative = negative(a, width), b_negative = negative(b, width);
  const Bits quotient =
      udiv(a_negative ? negate(a, width) : a, b_negative ? negate(b, width) : b, width);
  return a_negative != b_negative ? negate(quotient, width) : quotient;
}

Bits srem(Bits a, Bits b, unsigned width) {
  const bool a_negative = negative(a, width);
  const Bits remainder =
      urem(a_negative ? negate(a, width) : a, negative(b, width) ? negate(b, width) : b, width);
  return a_negative ? negate(remainder, width) : remainder;
}

Bits sext(Bits a, unsigned from, unsigned to) {
  if (!negative(a, from))
    return a;
  // All ones above the old width.
  return add(a, shl(sub({}, {1}, to), {from}, to), to);
}

Bits extract(Bits a, unsigned low, unsigned width) { return truncate(lshr(a, {low}, 128), width); }

Bits concat(Bits high, Bits low, unsigned low_width) {
  return add(shl(high, {low_width}, 128), low, 128);
}

bool ult(Bits a, Bits b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

bool slt(Bits a, Bits b, unsigned width) {
  const bool a_negative = negative(a, width), b_negative = negative(b, width);
  return a_negative != b_negative ? a_negative : ult(a, b);
}

} // namespace ptxasw::emulator::bits
