// A finite number is a whole number times a power of two, and both have remainders; all arithmetic
// is modulo the prime, by 128-bit products. Infinities and NaNs have none.

#include "emulator/machine/exact_real.h"

#include "emulator/semantics/floating.h"
#include "emulator/semantics/scramble.h"

#include <algorithm>
#include <cmath>

namespace ptxasw::emulator {
namespace {

__extension__ typedef unsigned __int128 Product;

/// A prime p of which (p - 1) / 2 is prime, too: no power of two with an exponent that occurs has
/// the remainder 1.
constexpr std::uint64_t prime = (std::uint64_t{1} << 63) - 4569;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(Product{a} * b % prime);
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent /= 2, base = times(base, base))
    if (exponent % 2 != 0)
      result = times(result, base);
  return result;
}

constexpr unsigned widest = 8; ///< bytes of one number

} // namespace

ExactReal ExactReal::of_integer(std::uint64_t magnitude, bool negative) {
  const ExactReal result(magnitude % prime);
  return negative ? -result : result;
}

ExactReal ExactReal::of(ScalarType type, std::uint64_t bits) {
  const double number = floating::to_double(type, bits);
  if (!std::isfinite(number))
    return {};
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  // The fraction is a multiple of 2^-53.
  const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  const std::uint64_t two = exponent < 0 ? (prime + 1) / 2 : 2; // a half is the inverse of two
  const ExactReal result(
      times(significand % prime, power(two, static_cast<std::uint64_t>(std::abs(exponent)))));
  return std::signbit(number) ? -result : result;
}

ExactReal operator+(ExactReal a, ExactReal b) {
  if (!a.known() || !b.known())
    return {};
  const std::uint64_t sum = a.remainder_ + b.remainder_; // below 2^64
  return ExactReal(sum < prime ? sum : sum - prime);
}

ExactReal operator*(ExactReal a, ExactReal b) {
  return a.known() && b.known() ? ExactReal(times(a.remainder_, b.remainder_)) : ExactReal();
}

ExactReal ExactReal::operator-() const {
  return known() && remainder_ != 0 ? ExactReal(prime - remainder_) : *this;
}

ExactReal ExactReal::inverse() const {
  return known() && remainder_ != 0 ? ExactReal(power(remainder_, prime - 2)) : ExactReal();
}

ExactReal ExactReal::function(std::string_view name) const {
  if (!known())
    return {};
  std::uint64_t hash = scramble(remainder_);
  for (const char c : name)
    hash = scramble(hash + static_cast<unsigned char>(c));
  return ExactReal(hash % prime);
}

void ExactMemory::store(Space space, std::uint64_t address, unsigned size, ExactReal real) {
  if (!stored_.empty())
    for (std::uint64_t at = address - std::min<std::uint64_t>(address, widest - 1);
         at < address + size; ++at)
      if (const auto found = stored_.find({space, at});
          found != stored_.end() && at + found->second.size > address)
        stored_.erase(found);
  if (real.known() && bit_width(real.type()) == 8 * size)
    stored_[{space, address}] = {real, size};
}

ExactReal ExactMemory::load(Space space, std::uint64_t address, unsigned size) const {
  const auto found = stored_.find({space, address});
  return found != stored_.end() && found->second.size == size ? found->second.real : ExactReal();
}

void ExactMemory::copy(Space from, std::uint64_t source, Space to, std::uint64_t target,
                       std::uint64_t size) {
  for (std::uint64_t i = 0; i < size; ++i) {
    const auto found = stored_.find({from, source + i});
    const bool whole = found != stored_.end() && i + found->second.size <= size;
    if (whole) {
      const Stored stored = found->second;
      store(to, target + i, stored.size, stored.real);
      i += stored.size - 1;
    } else {
      store(to, target + i, 1, {});
    }
  }
}

} // namespace ptxasw::emulator
