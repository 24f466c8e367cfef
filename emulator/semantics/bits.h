#pragma once

// Arithmetic on numbers of 1 to 128 bits. Expressions fold their constants by it, and the warp
// emulator computes by it: `bits::add(a, b, 32)`.

#include "grammar/namespaces.h"

#include <cstdint>

namespace ptxasw::emulator {

/// A bit pattern of up to 128 bits. The caller knows its width; bits above it are zero.
struct Bits {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  constexpr Bits() = default;
  constexpr Bits(std::uint64_t low_bits, std::uint64_t high_bits = 0)
      : low(low_bits), high(high_bits) {}
  constexpr bool operator==(const Bits &) const = default;
  constexpr bool is_zero() const { return low == 0 && high == 0; }
};

/// 2^width - 1 for a width of at most 64.
constexpr std::uint64_t mask64(unsigned width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// The lowest `width` bits (1 to 128).
constexpr Bits truncate(Bits value, unsigned width) {
  if (width <= 64)
    return {value.low & mask64(width)};
  return {value.low, value.high & mask64(width - 64)};
}

/// The value of a pattern of at most 64 bits as a signed number.
constexpr std::int64_t as_signed(std::uint64_t value, unsigned width) {
  const unsigned shift = 64 - width;
  return static_cast<std::int64_t>(value << shift) >> shift;
}

/// Arithmetic modulo 2^width, width 1 to 128. Beyond 64 bits, Boost.Multiprecision is used.
/// Shifts by the width or more give 0 (or the sign, for ashr). Division by zero gives all ones and
/// the remainder is the dividend, as in SMT-LIB; PTX leaves both unspecified.
namespace bits {
Bits add(Bits a, Bits b, unsigned width);
Bits sub(Bits a, Bits b, unsigned width);
Bits mul(Bits a, Bits b, unsigned width);
Bits shl(Bits a, Bits amount, unsigned width);
Bits lshr(Bits a, Bits amount, unsigned width);
Bits ashr(Bits a, Bits amount, unsigned width);
Bits udiv(Bits a, Bits b, unsigned width);
Bits urem(Bits a, Bits b, unsigned width);
Bits sdiv(Bits a, Bits b, unsigned width);
Bits srem(Bits a, Bits b, unsigned width);
Bits sext(Bits a, unsigned from, unsigned to);
Bits extract(Bits a, unsigned low, unsigned width);
Bits concat(Bits high, Bits low, unsigned low_width);
bool ult(Bits a, Bits b);
bool slt(Bits a, Bits b, unsigned width);
} // namespace bits

} // namespace ptxasw::emulator
