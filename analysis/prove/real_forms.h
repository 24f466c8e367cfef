#pragma once

// Floating-point results as real numbers: normal forms that do not depend on the order in which
// they were added up.

#include "analysis/prove/float_terms.h"

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ptxasw::analysis {

/// Polynomials with rational coefficients over what no law below takes apart.
///
/// An operation that rounds to nearest stands for the one that does not round. Laws: sums, products
/// and fused ones are those of real numbers; a / b = a * (1 / b), 1 / (ab) = 1/a * 1/b, but
/// a * (1 / a) stays, as a may be 0; 2^a * 2^b = 2^(a+b); minima and maxima of the same are the
/// same in any order. The product of two long sums is not multiplied out. Every other function
/// gives equal results for equal arguments. What rounds on purpose is one of those: conversions to
/// whole numbers, results rounded down, up or to zero, sums with a number so large that nothing
/// behind the point is left.
class RealForms {
public:
  explicit RealForms(FloatTerms &terms) : terms_(terms) {}

  /// The same with each floating-point result replaced by one that stands for its normal form:
  /// equal nodes are equal as real numbers, or functions of such.
  Expr canonical(Expr expr);

private:
  using Form = facts::Amount;
  struct FormHash {
    std::size_t operator()(const Form &form) const;
  };
  struct Atom {
    enum class Kind : std::uint8_t {
      bits,
      sum, ///< that is a factor of a large product, as a whole
      inverse,
      power_of_two,
      function,
      least,
      greatest,
      choice,
    };
    Kind kind;
    Expr bits;                            ///< canonical; of a choice the condition
    ScalarType type;                      ///< that the bits are read as
    std::string name;                     ///< of a function
    std::vector<std::uint32_t> arguments; ///< forms, by number
    bool operator<(const Atom &other) const { return key() < other.key(); }
    std::tuple<Kind, std::uint32_t, ScalarType, const std::string &,
               const std::vector<std::uint32_t> &>
    key() const {
      return {kind, bits ? bits->id : 0, type, name, arguments};
    }
  };

  const Form &form(Expr expr, ScalarType type);
  void add(Expr expr, ScalarType type, const facts::Rational &factor, Form &to);
  Form operation(Expr expr, const FloatFunction &function);
  Form times(const Form &a, const Form &b);
  Form whole(const Form &a);
  Form inverse(const Form &a);
  Form extremum(Atom::Kind kind, ScalarType type, std::vector<const Form *> operands);
  Form atom(Atom atom);
  Form opaque(std::string name, const std::vector<const Form *> &arguments);
  std::uint32_t number_of(const Form &form);
  Expr bits_of(const Form &form, ScalarType type);
  bool is_sum(Expr expr, ScalarType type);
  bool rounds_on_purpose(Expr expr, const FloatFunction &function);
  void spend(std::size_t work);

  FloatTerms &terms_;
  std::map<std::pair<std::uint32_t, ScalarType>, Form> forms_; ///< by the node's id
  std::unordered_map<Expr, Expr> canonical_;
  std::map<Atom, facts::AtomId> atom_ids_;
  std::vector<Atom> atoms_;
  std::unordered_map<Form, std::uint32_t, FormHash> numbers_;
  std::vector<const Form *> by_number_;
  std::map<std::pair<std::uint32_t, ScalarType>, Expr> symbols_; ///< by the form's number
  std::size_t work_ = 0;
};

} // namespace ptxasw::analysis
