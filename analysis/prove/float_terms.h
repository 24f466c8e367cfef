#pragma once

// Expressions of a kernel's data: those of the symbolic emulator, and floating-point results as
// functions of which nothing is known but what they are called.

#include "emulator/facts/polynomial.h"
#include "emulator/semantics/concrete.h"
#include "emulator/symbolic/expr.h"

#include <optional>
#include <unordered_map>

namespace ptxasw::analysis {

/// What a floating-point result is the result of.
struct FloatFunction {
  enum class Kind : std::uint8_t { arithmetic, comparison, conversion, classification, sign };
  Kind kind = Kind::arithmetic;
  FloatOperation operation = FloatOperation::add; ///< of arithmetic
  FloatForm form;
};

/// The domain of the instruction table whose values are expressions, floating-point ones included
/// (FloatDomain). Equal expressions have equal bits for equal bits of their symbols: a
/// floating-point operation is a function of its operands' bits, and those that commute have them
/// in one order. That leaves out sums and products of f64, where the operands' order says which NaN
/// is passed on.
class FloatTerms : public ExprPool {
public:
  /// `over_reals`: of numbers that are known, too, an operation is computed only if it does not
  /// round.
  explicit FloatTerms(bool over_reals) : over_reals_(over_reals) {}

  Expr floating(FloatOperation operation, const FloatForm &form, std::span<const Expr> list);
  Expr float_comparison(const FloatForm &form, Expr a, Expr b);
  Expr float_conversion(const FloatForm &form, Expr a);
  Expr float_class(const FloatForm &form, Expr a);
  Expr float_not_negative(const FloatForm &form, Expr a);

  /// The same operation on other operands: what a substitution needs.
  Expr rebuild(Expr node, std::span<const Expr> children);

  bool over_reals() const { return over_reals_; }
  /// What an uninterpreted function stands for; null: no floating-point operation.
  const FloatFunction *function(Expr node) const;
  /// A floating-point operation on numbers.
  static Bits compute(const FloatFunction &function, std::span<const Expr> operands,
                      std::span<const Bits> values);

private:
  Expr apply(const FloatFunction &function, unsigned width, std::span<const Expr> list);

  const bool over_reals_;
  std::unordered_map<std::uint32_t, FloatFunction> functions_; ///< by index of the node
};

/// The number that a pattern stands for; nothing unless it is finite, of 16, 32 or 64 bits.
std::optional<facts::Rational> rational_of(ScalarType type, std::uint64_t bits);

/// True for f16, bf16, f32 and f64.
bool is_real_type(ScalarType type);

} // namespace ptxasw::analysis
