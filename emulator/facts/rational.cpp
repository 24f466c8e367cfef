// Arithmetic in words by the overflow checks of the compiler: what does not fit is done again by
// Boost.Multiprecision, and what that makes is kept in words if it fits.

#include "emulator/facts/rational.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <numeric>

namespace ptxasw::facts {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

struct Rational::Large {
  cpp_rational value;
};

namespace {

constexpr std::int64_t least_of_words = std::numeric_limits<std::int64_t>::min();

bool add(std::int64_t a, std::int64_t b, std::int64_t &sum) {
  return !__builtin_add_overflow(a, b, &sum) && sum != least_of_words;
}
bool multiply(std::int64_t a, std::int64_t b, std::int64_t &product) {
  return !__builtin_mul_overflow(a, b, &product) && product != least_of_words;
}

bool fits(const cpp_int &number) { return abs(number) <= std::numeric_limits<std::int64_t>::max(); }

} // namespace

Rational::Rational(Large number) {
  const cpp_int top = boost::multiprecision::numerator(number.value),
                bottom = boost::multiprecision::denominator(number.value);
  if (fits(top) && fits(bottom)) {
    top_ = static_cast<std::int64_t>(top);
    bottom_ = static_cast<std::int64_t>(bottom);
  } else {
    large_ = std::make_shared<const Large>(std::move(number));
  }
}
Rational::Rational(std::string_view digits) : Rational(Large{cpp_int(std::string(digits))}) {}
Rational Rational::least_word() { return Rational(Large{cpp_int(least_of_words)}); }
Rational Rational::of_word(std::uint64_t number) { return Rational(Large{cpp_int(number)}); }
Rational Rational::power_of_two(unsigned exponent) {
  return exponent < 63 ? Rational(std::int64_t{1} << exponent)
                       : Rational(Large{cpp_int(1) << exponent});
}
Rational::Large Rational::large() const {
  return large_ ? *large_ : Large{cpp_rational(top_, bottom_)};
}

template <class Operation>
Rational &Rational::by_boost(const Rational &other, Operation operation) {
  return *this = Rational(Large{operation(large().value, other.large().value)});
}

Rational &Rational::operator+=(const Rational &other) {
  if (!large_ && !other.large_) {
    std::int64_t top = 0, left = 0, right = 0, bottom = 0;
    if (bottom_ == 1 && other.bottom_ == 1) {
      if (add(top_, other.top_, top)) {
        top_ = top;
        return *this;
      }
    } else {
      const std::int64_t common = std::gcd(bottom_, other.bottom_);
      if (multiply(top_, other.bottom_ / common, left) &&
          multiply(other.top_, bottom_ / common, right) && add(left, right, top) &&
          multiply(bottom_, other.bottom_ / common, bottom)) {
        const std::int64_t both = std::gcd(top, bottom);
        top_ = top / both;
        bottom_ = bottom / both;
        return *this;
      }
    }
  }
  return by_boost(other,
                  [](const cpp_rational &a, const cpp_rational &b) { return cpp_rational(a + b); });
}

Rational &Rational::operator-=(const Rational &other) { return *this += -other; }

Rational &Rational::operator*=(const Rational &other) {
  if (!large_ && !other.large_) {
    const std::int64_t one = std::gcd(top_, other.bottom_), two = std::gcd(other.top_, bottom_);
    std::int64_t top = 0, bottom = 0;
    if (multiply(top_ / one, other.top_ / two, top) &&
        multiply(bottom_ / two, other.bottom_ / one, bottom)) {
      top_ = top;
      bottom_ = bottom;
      return *this;
    }
  }
  return by_boost(other,
                  [](const cpp_rational &a, const cpp_rational &b) { return cpp_rational(a * b); });
}

Rational &Rational::operator/=(const Rational &other) {
  if (!other.large_ && other.top_ != 0) {
    Rational inverse;
    inverse.top_ = other.top_ < 0 ? -other.bottom_ : other.bottom_;
    inverse.bottom_ = other.top_ < 0 ? -other.top_ : other.top_;
    return *this *= inverse;
  }
  return by_boost(other,
                  [](const cpp_rational &a, const cpp_rational &b) { return cpp_rational(a / b); });
}

Rational Rational::operator-() const {
  if (large_)
    return Rational(Large{cpp_rational(-large_->value)});
  Rational result;
  result.top_ = -top_;
  result.bottom_ = bottom_;
  return result;
}

int Rational::order(const Rational &other) const {
  if (!large_ && !other.large_) {
    std::int64_t left = top_, right = other.top_;
    if (bottom_ == other.bottom_ ||
        (multiply(top_, other.bottom_, left) && multiply(other.top_, bottom_, right)))
      return left < right ? -1 : left > right ? 1 : 0;
  }
  return large().value.compare(other.large().value);
}

bool Rational::is_whole() const {
  return large_ ? boost::multiprecision::denominator(large_->value) == 1 : bottom_ == 1;
}
Rational Rational::numerator() const {
  return large_ ? Rational(Large{boost::multiprecision::numerator(large_->value)}) : Rational(top_);
}
Rational Rational::denominator() const {
  return large_ ? Rational(Large{boost::multiprecision::denominator(large_->value)})
                : Rational(bottom_);
}

unsigned Rational::bits() const {
  const cpp_int number = boost::multiprecision::numerator(large().value);
  return number == 0 ? 0 : static_cast<unsigned>(boost::multiprecision::msb(number)) + 1;
}

double Rational::to_double() const {
  return bottom_ == 1 && !large_ ? static_cast<double>(top_) : large().value.convert_to<double>();
}

std::uint64_t Rational::low_word() const {
  if (!large_)
    return static_cast<std::uint64_t>(top_ / bottom_);
  const cpp_int number = boost::multiprecision::numerator(large_->value) /
                         boost::multiprecision::denominator(large_->value);
  const auto low = static_cast<std::uint64_t>(abs(number) & ~std::uint64_t{0});
  return number < 0 ? 0 - low : low;
}

std::string Rational::str() const { return large().value.str(); }

Rational floor_of(const Rational &number) {
  if (number.is_whole())
    return number;
  if (!number.large_)
    return number.top_ / number.bottom_ - (number.top_ < 0 ? 1 : 0);
  const cpp_int top = boost::multiprecision::numerator(number.large_->value),
                bottom = boost::multiprecision::denominator(number.large_->value);
  const cpp_int quotient = top / bottom; // towards zero
  return Rational(Rational::Large{top < 0 ? cpp_int(quotient - 1) : quotient});
}

} // namespace ptxasw::facts
