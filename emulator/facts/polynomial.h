#pragma once

// Sums of products of what is not known, in normal form: equal ones are equal as values, in
// whatever order they were added up.
//   Polynomial::of(a) * Polynomial(4) - Polynomial::of(b)

#include "emulator/facts/rational.h"

#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace ptxasw::facts {

/// What polynomials are over: a number that whoever made them can look up.
using AtomId = std::uint32_t;

/// A sum of products of atoms, each with a coefficient, which is not 0. Coefficients are rational
/// numbers: then it stands for an unbounded number, and nothing in it wraps around. Or they are
/// words: then it stands for 64 bits, and everything is right modulo 2^64.
template <class Coefficient> class PolynomialOver {
  static constexpr bool is_word = std::is_same_v<Coefficient, std::uint64_t>;

public:
  using Monomial = std::vector<AtomId>; ///< sorted; an atom appears as often as its power says
  using Number = std::conditional_t<is_word, std::int64_t, Coefficient>;

  PolynomialOver() = default; ///< 0
  explicit(is_word) PolynomialOver(const Number &number) {
    add({}, static_cast<Coefficient>(number));
  }
  PolynomialOver(int number) requires(!is_word) : PolynomialOver(Number(number)) {}
  static PolynomialOver of(AtomId atom) {
    PolynomialOver result;
    result.terms_.emplace(Monomial{atom}, 1);
    return result;
  }

  /// Products of atoms in ascending order and their coefficients.
  const std::map<Monomial, Coefficient> &terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  /// The number that it is, if it is one.
  std::optional<Number> number() const;
  /// The coefficient of the product of no atoms.
  Number constant() const;
  /// The atom that it is, if it is one alone.
  std::optional<AtomId> atom() const;

  PolynomialOver &operator+=(const PolynomialOver &other);
  PolynomialOver &operator-=(const PolynomialOver &other);
  friend PolynomialOver operator+(PolynomialOver a, const PolynomialOver &b) { return a += b; }
  friend PolynomialOver operator-(PolynomialOver a, const PolynomialOver &b) { return a -= b; }
  friend PolynomialOver operator*(const PolynomialOver &a, const PolynomialOver &b) {
    return a.times(b);
  }
  /// The same with what `change` makes of its coefficients.
  template <class Change> PolynomialOver with_coefficients(Change change) const {
    PolynomialOver result;
    for (const auto &[monomial, coefficient] : terms_)
      result.add(monomial, change(coefficient));
    return result;
  }
  /// What it is worth where each atom is worth what `of` says.
  template <class Value, class Of> Value worth(Of of) const {
    Value sum{};
    for (const auto &[monomial, coefficient] : terms_) {
      auto product = static_cast<Value>(static_cast<Number>(coefficient));
      for (const AtomId atom : monomial)
        product = product * of(atom);
      sum += product;
    }
    return sum;
  }
  bool operator==(const PolynomialOver &) const = default;
  bool operator<(const PolynomialOver &other) const { return terms_ < other.terms_; }

private:
  void add(const Monomial &monomial, const Coefficient &coefficient);
  PolynomialOver times(const PolynomialOver &other) const;

  std::map<Monomial, Coefficient> terms_;
};

extern template class PolynomialOver<Rational>;
extern template class PolynomialOver<std::uint64_t>;

/// Of 64 bits.
using Polynomial = PolynomialOver<std::uint64_t>;
/// A whole or rational number that a launch decides.
using Amount = PolynomialOver<Rational>;

/// The same modulo a power of two: coefficients of so many bits.
Polynomial low_bits_of(const Polynomial &polynomial, unsigned bits);
/// The same modulo 2^32, with coefficients of least magnitude.
Polynomial narrow(const Polynomial &polynomial);
/// Returns true if every coefficient is whole.
bool is_whole(const Amount &amount);

} // namespace ptxasw::facts
