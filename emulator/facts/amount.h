#pragma once

// Whole numbers that a launch decides: polynomials over its parameters and extents.
//   pool.to_string(pool.variable("n") * Rational(4)) // "4 * n"

#include "emulator/facts/polynomial.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ptxasw::facts {

/// What a number lies between, as far as that is known.
struct AmountRange {
  std::optional<Rational> low, high;
};

/// What is known about some atoms at a place, beyond what holds everywhere.
using AmountRanges = std::map<AtomId, AmountRange>;

/// Owns atoms: variables, and what is not a polynomial of them.
class AmountPool {
public:
  enum class Kind : std::uint8_t {
    variable,
    positive_part, ///< max(0, a)
    ceil_div,      ///< a / b, rounded up; b is at least 1
    floor_div,     ///< a / b, rounded down; b is at least 1
    ceil_log2,     ///< the least k >= 0 with 2^k >= a
  };

  /// The variable of that name; the range only counts the first time.
  Amount variable(const std::string &name, const AmountRange &range = {});
  Amount positive_part(const Amount &a);
  Amount maximum(const Amount &a, const Amount &b) {
    return b.terms().size() <= a.terms().size() ? b + positive_part(a - b)
                                                : a + positive_part(b - a);
  }
  Amount minimum(const Amount &a, const Amount &b) { return a - positive_part(a - b); }
  /// The divisor must be at least 1 (`range(b).low`), or the caller must make that a condition.
  Amount ceil_div(const Amount &a, const Amount &b) { return divide(Kind::ceil_div, a, b); }
  Amount floor_div(const Amount &a, const Amount &b) { return divide(Kind::floor_div, a, b); }
  Amount ceil_log2(const Amount &a);

  /// Bounds that hold whatever the variables are within theirs.
  AmountRange range(const Amount &a, const AmountRanges *narrowed = nullptr) const;
  bool never_negative(const Amount &a, const AmountRanges *narrowed = nullptr) const;

  /// What is never more than the amount: the same with remainders (x - d * floor(x / d)) at their
  /// least; nothing if it has none.
  std::optional<Amount> without_remainders(const Amount &a) const;

  bool mentions(const Amount &a, AtomId variable) const;
  /// Variables in it, in order of creation.
  std::vector<AtomId> variables(const Amount &a) const;
  Amount substitute(const Amount &a, AtomId variable, const Amount &value);
  /// The same amount as long as the ranges hold: without max(0, ...) where they show it is not
  /// needed.
  Amount simplify(const Amount &a, const AmountRanges &ranges);
  /// At which end of a variable's range an amount is least: at either one, if that depends on other
  /// variables; nothing if it is not found to be at an end.
  enum class End : std::uint8_t { low, high, either };
  std::optional<End> least_end(const Amount &a, AtomId variable) const;
  /// The largest value for a variable from `low` to `high`; nothing if it is not found where that
  /// is.
  std::optional<Amount> largest(const Amount &a, AtomId variable, const Amount &low,
                                const Amount &high);
  std::optional<Amount> smallest(const Amount &a, AtomId variable, const Amount &low,
                                 const Amount &high);
  /// At most that, and exactly that where `exact` stays true: a summed over variable = 0 .. count -
  /// 1; `last` is the largest value of the variable where there is one. a and count are never
  /// negative.
  std::optional<Amount> sum(const Amount &a, AtomId variable, const Amount &count,
                            const Amount &last, bool &exact);

  const std::string &name(AtomId variable) const { return atoms_[variable].name; }
  Kind kind(AtomId atom) const { return atoms_[atom].kind; }
  const Amount &first(AtomId atom) const { return atoms_[atom].a; }
  const Amount &second(AtomId atom) const { return atoms_[atom].b; }
  AtomId atom_of(const Amount &variable) const { return variable.terms().begin()->first[0]; }

  /// Text; `name_of`, if given, says what variables are to be called.
  using Naming = std::function<std::string(const std::string &)>;
  std::string to_string(const Amount &a, const Naming &name_of = {}) const;
  /// The number that results if variables are what `value` says; nothing if it does not know one or
  /// a divisor is not positive.
  std::optional<Rational>
  evaluate(const Amount &a,
           const std::function<std::optional<Rational>(const std::string &)> &value) const;

private:
  struct Atom {
    Kind kind = Kind::variable;
    std::string name;
    Amount a, b;
    AmountRange range;
  };
  Amount divide(Kind kind, const Amount &a, const Amount &b);
  Amount atom(Kind kind, const Amount &a, const Amount &b);
  std::optional<Amount> flattened(Kind kind, const Amount &a, const Amount &b);
  /// How a changes with a variable: 1 never falls, -1 never rises, 0 not at all; nothing: unknown.
  std::optional<int> direction(const Amount &a, AtomId variable) const;
  std::optional<int> atom_direction(AtomId atom, AtomId variable) const;
  bool is_whole_valued(const Amount &a) const;
  std::optional<Amount> without_remainder(const Amount &a, AtomId quotient,
                                          const Rational &coefficient) const;
  std::optional<Rational> least(const Amount &a, const AmountRanges *narrowed,
                                unsigned depth) const;
  AmountRange monomial_range(const Amount::Monomial &monomial, const AmountRanges *narrowed) const;
  std::string atom_text(AtomId atom, const Naming &name_of) const;

  std::vector<Atom> atoms_;
  std::map<std::string, AtomId> variables_;
  mutable std::map<Amount, bool> never_negative_; ///< answers without narrower ranges
  std::map<std::tuple<Kind, Amount, Amount>, AtomId> known_;
};

} // namespace ptxasw::facts
