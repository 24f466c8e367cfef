#pragma once

// Arithmetic on real numbers that does not round. With it the emulator can tell a kernel that adds
// in another order, which `--reassociate` allows, from one that adds something else.

#include "grammar/types.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace ptxasw::emulator {

/// A real number without rounding, as its remainder by a large prime.
///
/// Sums, products and quotients of floating-point numbers are rational numbers, and a rational
/// number has a remainder: that of its numerator times the inverse of that of its denominator. Two
/// expressions of equal value have equal remainders, in whatever order they are computed, and two
/// of different values differ but for one in 2^62 of all pairs. What is no rational function (ex2,
/// sqrt) is a fixed random function of its argument's remainder: equal arguments, equal results.
class ExactReal {
public:
  /// Not a number of which anything is known.
  constexpr ExactReal() = default;
  /// The number that a pattern of a floating-point type stands for; unknown unless it is finite.
  static ExactReal of(ScalarType type, std::uint64_t bits);
  static ExactReal of_integer(std::uint64_t magnitude, bool negative);

  /// The same, behind a number of this type; without one it is behind none.
  ExactReal as(ScalarType type) const {
    ExactReal result = *this;
    result.type_ = type;
    return result;
  }
  ScalarType type() const { return type_; }

  bool known() const { return remainder_ != unknown; }
  /// Both are known, and the same.
  bool equals(ExactReal other) const { return known() && remainder_ == other.remainder_; }
  /// An order among known ones that means nothing.
  bool precedes(ExactReal other) const { return remainder_ < other.remainder_; }

  /// Unknown if an operand is, or if it is not defined.
  friend ExactReal operator+(ExactReal a, ExactReal b);
  friend ExactReal operator*(ExactReal a, ExactReal b);
  ExactReal operator-() const;
  ExactReal inverse() const;
  ExactReal function(std::string_view name) const;

private:
  explicit constexpr ExactReal(std::uint64_t remainder) : remainder_(remainder) {}
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  std::uint64_t remainder_ = unknown;
  ScalarType type_ = ScalarType::none;
};

/// The real numbers behind what lies in memory, where they are more than what the bytes say.
class ExactMemory {
public:
  /// Which memory an address belongs to: global memory is 0.
  using Space = std::uint64_t;

  /// What is stored there from now on; unknown, or of another size than its type: just bytes.
  void store(Space space, std::uint64_t address, unsigned size, ExactReal real);
  /// Unknown unless it was stored just like this.
  ExactReal load(Space space, std::uint64_t address, unsigned size) const;
  void copy(Space from, std::uint64_t source, Space to, std::uint64_t target, std::uint64_t size);

private:
  struct Place {
    Space space = 0;
    std::uint64_t address = 0;
    bool operator==(const Place &) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place &place) const {
      return (place.space * 0x9e3779b97f4a7c15 + place.address) * 0xbf58476d1ce4e5b9 >> 7;
    }
  };
  struct Stored {
    ExactReal real;
    unsigned size = 0;
  };
  std::unordered_map<Place, Stored, Hash> stored_;
};

} // namespace ptxasw::emulator
