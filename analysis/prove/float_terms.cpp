// A function's name holds everything that its result depends on besides the operands, so two
// functions of one name are one. What is computed here is computed by the table's concrete domain.

#include "analysis/prove/float_terms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

using facts::Rational;

/// Everything that says which function it is: operations of the same name are the same function.
std::string name_of(const FloatFunction &f) {
  const Form &form = f.form.form;
  const FloatMode &mode = f.form.mode;
  const unsigned flags = mode.integral | mode.flush << 1 | mode.saturate << 2 |
                         mode.approximate << 3 | mode.full_range << 4 | mode.nan << 5 |
                         mode.relu << 6 | mode.absolute << 7;
  std::string name = fmt::format(
      "float {} {} {} {} {} {:#x} {}", static_cast<int>(f.kind), static_cast<int>(f.operation),
      to_string(form.type), to_string(form.source_type), static_cast<int>(mode.rounding), flags,
      static_cast<int>(f.kind == FloatFunction::Kind::comparison ? form.comparison
                                                                 : Comparison::none));
  if (f.kind == FloatFunction::Kind::classification)
    name += f.form.opcode->text;
  return name;
}

/// The result of an operation on finite numbers before it is rounded; nothing if that is no
/// rational number, or not worth working out.
std::optional<Rational> exact_result(const FloatFunction &f, std::span<const Rational> x) {
  if (f.form.mode.saturate || f.form.mode.relu || f.form.mode.integral || f.form.mode.absolute)
    return std::nullopt;
  if (f.kind == FloatFunction::Kind::conversion)
    return x[0];
  switch (f.operation) {
  case FloatOperation::add:
    return x[0] + x[1];
  case FloatOperation::sub:
    return x[0] - x[1];
  case FloatOperation::mul:
    return x[0] * x[1];
  case FloatOperation::fma:
    return x[0] * x[1] + x[2];
  case FloatOperation::div:
    return x[1] == 0 ? std::nullopt : std::optional<Rational>(x[0] / x[1]);
  case FloatOperation::neg:
    return -x[0];
  case FloatOperation::abs:
    return x[0] < 0 ? -x[0] : x[0];
  case FloatOperation::min:
    return std::min(x[0], x[1]);
  case FloatOperation::max:
    return std::max(x[0], x[1]);
  default:
    return std::nullopt;
  }
}

/// True if an operation on these patterns gives what it gives without rounding. Comparisons do.
bool is_exact(const FloatFunction &f, std::span<const Expr> list, Bits result) {
  using Kind = FloatFunction::Kind;
  if (f.kind != Kind::arithmetic && f.kind != Kind::conversion)
    return true;
  const ScalarType to = f.form.form.type, from = f.form.form.source_type;
  if (!is_float(to)) // an integer: what it is rounded to is meant
    return is_real_type(from) && f.form.mode.integral;
  std::vector<Rational> numbers;
  for (const Expr operand : list) {
    const std::uint64_t bits = operand->value.low;
    if (f.kind == Kind::conversion && !is_float(from)) {
      numbers.push_back(f.form.form.source_signed
                            ? Rational(as_signed(bits, f.form.form.source_width))
                            : Rational(bits));
      continue;
    }
    const ScalarType type = f.kind == Kind::conversion ? from : to;
    const auto number = rational_of(type, bits);
    if (!number) // infinities and NaNs are not rounded
      return is_real_type(type);
    numbers.push_back(*number);
  }
  const auto exact = exact_result(f, numbers), rounded = rational_of(to, result.low);
  return exact && rounded && *exact == *rounded;
}

} // namespace

bool is_real_type(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32 ||
         type == ScalarType::f64;
}

std::optional<Rational> rational_of(ScalarType type, std::uint64_t bits) {
  if (!is_real_type(type))
    return std::nullopt;
  const double number = floating::to_double(type, bits);
  if (!std::isfinite(number))
    return std::nullopt;
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  Rational result = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  const Rational power = Rational::power_of_two(static_cast<unsigned>(std::abs(exponent)));
  if (exponent < 0)
    result /= power;
  else
    result *= power;
  return result;
}

Expr FloatTerms::apply(const FloatFunction &function, unsigned width, std::span<const Expr> list) {
  std::vector<Expr> operands(list.begin(), list.end());
  // What is approximate is another number on another machine; its exact result is none.
  if ((over_reals_ || !function.form.mode.approximate) &&
      std::all_of(list.begin(), list.end(),
                  [](Expr operand) { return operand->kind == ExprKind::constant; })) {
    std::vector<Bits> values;
    for (const Expr operand : list)
      values.push_back(operand->value);
    const Bits result = compute(function, list, values);
    if (!over_reals_ || is_exact(function, list, result))
      return constant(width, result);
  }
  const bool commutes =
      function.kind == FloatFunction::Kind::arithmetic &&
      (function.operation == FloatOperation::add || function.operation == FloatOperation::mul ||
       function.operation == FloatOperation::fma) &&
      (over_reals_ || function.form.form.type != ScalarType::f64);
  if (commutes && operands[1]->id < operands[0]->id)
    std::swap(operands[0], operands[1]);
  const Expr node = uninterpreted(name_of(function), width, operands);
  functions_.try_emplace(node->index, function);
  return node;
}

Expr FloatTerms::floating(FloatOperation operation, const FloatForm &form,
                          std::span<const Expr> list) {
  return apply({FloatFunction::Kind::arithmetic, operation, form}, form.form.width, list);
}

Expr FloatTerms::float_comparison(const FloatForm &form, Expr a, Expr b) {
  const Expr list[] = {a, b};
  return apply({FloatFunction::Kind::comparison, {}, form}, 1, list);
}

Expr FloatTerms::float_conversion(const FloatForm &form, Expr a) {
  const Expr list[] = {a};
  return apply({FloatFunction::Kind::conversion, {}, form}, form.form.width, list);
}

Expr FloatTerms::float_class(const FloatForm &form, Expr a) {
  const Expr list[] = {a};
  return apply({FloatFunction::Kind::classification, {}, form}, 1, list);
}

Expr FloatTerms::float_not_negative(const FloatForm &form, Expr a) {
  const Expr list[] = {a};
  return apply({FloatFunction::Kind::sign, {}, form}, 1, list);
}

Expr FloatTerms::rebuild(Expr node, std::span<const Expr> children) {
  const FloatFunction *const function_of = function(node);
  return function_of ? apply(FloatFunction(*function_of), node->width, children)
                     : ExprPool::rebuild(node, children);
}

const FloatFunction *FloatTerms::function(Expr node) const {
  if (node->kind != ExprKind::uf)
    return nullptr;
  const auto found = functions_.find(node->index);
  return found == functions_.end() ? nullptr : &found->second;
}

Bits FloatTerms::compute(const FloatFunction &f, std::span<const Expr> operands,
                         std::span<const Bits> values) {
  const ConcreteDomain d;
  std::array<ConcreteDomain::Value, 3> s;
  for (std::size_t i = 0; i < values.size(); ++i)
    s[i] = {values[i], operands[i]->width};
  switch (f.kind) {
  case FloatFunction::Kind::arithmetic:
    return d.floating(f.operation, f.form, {s.data(), values.size()}).bits;
  case FloatFunction::Kind::comparison:
    return d.float_comparison(f.form, s[0], s[1]).bits;
  case FloatFunction::Kind::conversion:
    return d.float_conversion(f.form, s[0]).bits;
  case FloatFunction::Kind::classification:
    return d.float_class(f.form, s[0]).bits;
  default:
    return d.float_not_negative(f.form, s[0]).bits;
  }
}

} // namespace ptxasw::analysis
