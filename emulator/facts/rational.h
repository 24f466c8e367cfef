#pragma once

// Rational numbers without bounds, of which nearly all are small: those are two words, and the
// others Boost.Multiprecision's, behind a pointer. Who includes this reads nothing of that library.
//
//   const Rational half(1, 2);
//   Rational sum = half + 3;                // 7/2
//   static_cast<std::uint64_t>(floor_of(sum)); // 3

#include "grammar/namespaces.h"

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ptxasw::facts {

/// A rational number in lowest terms with a positive denominator. Nothing is ever rounded.
class Rational {
public:
  Rational() = default; ///< 0
  template <std::integral Integer> Rational(Integer number) {
    if (std::in_range<std::int64_t>(number) &&
        std::cmp_not_equal(number, std::numeric_limits<std::int64_t>::min()))
      top_ = static_cast<std::int64_t>(number);
    else
      *this =
          std::is_signed_v<Integer> ? least_word() : of_word(static_cast<std::uint64_t>(number));
  }
  /// Throws std::overflow_error if the denominator is 0, as division does.
  Rational(std::int64_t numerator, std::int64_t denominator)
      : Rational(Rational(numerator) / Rational(denominator)) {}
  /// A whole number as C++ writes it: decimal, behind `0x` hexadecimal, behind `0` octal; there may
  /// be a `-`. Throws std::runtime_error if it is none.
  explicit Rational(std::string_view digits);

  static Rational power_of_two(unsigned exponent);

  Rational &operator+=(const Rational &other);
  Rational &operator-=(const Rational &other);
  Rational &operator*=(const Rational &other);
  Rational &operator/=(const Rational &other);
  Rational operator-() const;
  friend Rational operator+(Rational a, const Rational &b) { return a += b; }
  friend Rational operator-(Rational a, const Rational &b) { return a -= b; }
  friend Rational operator*(Rational a, const Rational &b) { return a *= b; }
  friend Rational operator/(Rational a, const Rational &b) { return a /= b; }
  friend bool operator==(const Rational &a, const Rational &b) {
    return a.large_ || b.large_ ? a.order(b) == 0 : a.top_ == b.top_ && a.bottom_ == b.bottom_;
  }
  friend std::strong_ordering operator<=>(const Rational &a, const Rational &b) {
    return a.order(b) <=> 0;
  }

  bool is_whole() const;
  Rational numerator() const;
  Rational denominator() const;
  /// The number of bits of a whole number that is not negative.
  unsigned bits() const;
  /// Towards zero and modulo the size of the type, or the nearest double.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  explicit operator Number() const {
    if constexpr (std::is_floating_point_v<Number>)
      return static_cast<Number>(to_double());
    else
      return static_cast<Number>(low_word());
  }
  /// `7/2`; a whole number without a denominator.
  std::string str() const;

  friend Rational floor_of(const Rational &number);
  friend Rational ceil_of(const Rational &number) { return -floor_of(-number); }

private:
  struct Large;
  static Rational least_word();
  static Rational of_word(std::uint64_t number);
  explicit Rational(Large number);
  Large large() const;
  int order(const Rational &other) const;
  double to_double() const;
  std::uint64_t low_word() const;
  template <class Operation> Rational &by_boost(const Rational &other, Operation operation);

  // What is large is only so: one number has one form.
  std::int64_t top_ = 0, bottom_ = 1; ///< neither is the least word
  std::shared_ptr<const Large> large_;
};

/// Rounded down and up.
Rational floor_of(const Rational &number);
Rational ceil_of(const Rational &number);

} // namespace ptxasw::facts
