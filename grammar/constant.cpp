// Literals and the operators of constant expressions (PTX ISA 4.5). That a value is right rests on
// ptxas: the unit tests hold the values that it puts into a variable's initializer.

#include "grammar/constant.h"

#include <array>
#include <bit>
#include <charconv>

namespace ptxasw::ptx {
namespace {

bool starts_with_prefix(std::string_view text, char letter) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

/// Hexadecimal and octal literals wrap at 64 bits, others must fit: so does ptxas.
std::optional<std::uint64_t> integer_bits(std::string_view text, unsigned base) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const unsigned digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (digit >= base)
      return std::nullopt;
    if (base != 16 && base != 8 && value > (UINT64_MAX - digit) / base)
      return std::nullopt;
    value = value * base + digit;
  }
  return text.empty() ? std::nullopt : std::optional(value);
}

struct OperatorText {
  ConstantOperator op;
  char first;
  char second; // or 0
  int precedence;
};

using Sign = ConstantOperator; // `Op` is an opcode

constexpr std::array<OperatorText, 18> operators{{
    {Sign::logical_or, '|', '|', 1},
    {Sign::logical_and, '&', '&', 2},
    {Sign::bit_or, '|', 0, 3},
    {Sign::bit_xor, '^', 0, 4},
    {Sign::bit_and, '&', 0, 5},
    {Sign::equal, '=', '=', 6},
    {Sign::not_equal, '!', '=', 6},
    {Sign::less, '<', 0, 7},
    {Sign::greater, '>', 0, 7},
    {Sign::less_equal, '<', '=', 7},
    {Sign::greater_equal, '>', '=', 7},
    {Sign::shift_left, '<', '<', 8},
    {Sign::shift_right, '>', '>', 8},
    {Sign::add, '+', 0, 9},
    {Sign::subtract, '-', 0, 9},
    {Sign::multiply, '*', 0, 10},
    {Sign::divide, '/', 0, 10},
    {Sign::remainder, '%', 0, 10},
}};

} // namespace

ConstantOperator binary_operator(char first, char second) {
  for (const OperatorText &row : operators)
    if (row.first == first && row.second == second)
      return row.op;
  return Sign::none;
}

int precedence(ConstantOperator op) {
  for (const OperatorText &row : operators)
    if (row.op == op)
      return row.precedence;
  return is_prefix(op) ? prefix_precedence : 1;
}

Constant constant_of(std::string_view text, std::int64_t bits) {
  return {static_cast<std::uint64_t>(bits), bits < 0 || (text.back() | 0x20) == 'u'};
}

std::optional<Constant> apply(ConstantOperator op, Constant a, Constant b) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const auto number = [&](std::uint64_t bits) { return Constant{bits, is_unsigned}; };
  const auto truth = [](bool value) { return Constant{value, false}; };
  const bool less = is_unsigned ? a.bits < b.bits : a.as_signed() < b.as_signed();
  const unsigned amount = b.bits % 64; // as ptxas does; C leaves larger amounts undefined
  switch (op) {
  case Sign::logical_or:
    return truth(a.bits || b.bits);
  case Sign::logical_and:
    return truth(a.bits && b.bits);
  case Sign::equal:
    return truth(a.bits == b.bits);
  case Sign::not_equal:
    return truth(a.bits != b.bits);
  case Sign::less:
    return truth(less);
  case Sign::greater_equal:
    return truth(!less);
  case Sign::less_equal:
    return truth(less || a.bits == b.bits);
  case Sign::greater:
    return truth(!less && a.bits != b.bits);
  case Sign::shift_left:
    return Constant{a.bits << amount, a.is_unsigned};
  case Sign::shift_right:
    return Constant{a.is_unsigned ? a.bits >> amount
                                  : static_cast<std::uint64_t>(a.as_signed() >> amount),
                    a.is_unsigned};
  case Sign::bit_or:
    return number(a.bits | b.bits);
  case Sign::bit_xor:
    return number(a.bits ^ b.bits);
  case Sign::bit_and:
    return number(a.bits & b.bits);
  case Sign::add:
    return number(a.bits + b.bits);
  case Sign::subtract:
    return number(a.bits - b.bits);
  case Sign::multiply:
    return number(a.bits * b.bits);
  case Sign::divide:
    if (b.bits == 0)
      return std::nullopt;
    if (is_unsigned)
      return number(a.bits / b.bits);
    // The one quotient that does not fit is its own negation.
    return number(b.as_signed() == -1 ? 0 - a.bits
                                      : static_cast<std::uint64_t>(a.as_signed() / b.as_signed()));
  case Sign::remainder: // always unsigned
    return b.bits == 0 ? std::nullopt : std::optional(Constant{a.bits % b.bits, true});
  default:
    return std::nullopt;
  }
}

Constant apply(ConstantOperator op, Constant a) {
  switch (op) {
  case Sign::negate:
    return {0 - a.bits, a.is_unsigned};
  case Sign::complement:
    return {~a.bits, true};
  case Sign::logical_not:
    return {a.bits == 0, false};
  case Sign::to_signed:
    return {a.bits, false};
  case Sign::to_unsigned:
    return {a.bits, true};
  default:
    return a;
  }
}

std::optional<NumberValue> number_value(std::string_view text) {
  if (starts_with_prefix(text, 'f') || starts_with_prefix(text, 'd')) {
    const bool single = (text[1] | 0x20) == 'f';
    const auto bits = integer_bits(text.substr(2), 16);
    if (!bits || text.size() != (single ? 10u : 18u))
      return std::nullopt;
    return NumberValue{static_cast<std::int64_t>(*bits),
                       single ? ScalarType::f32 : ScalarType::f64};
  }
  std::string_view digits = text;
  if (digits.size() > 1 && (digits.back() == 'U' || digits.back() == 'u'))
    digits.remove_suffix(1);
  std::optional<std::uint64_t> bits;
  if (starts_with_prefix(digits, 'x'))
    bits = integer_bits(digits.substr(2), 16);
  else if (starts_with_prefix(digits, 'b'))
    bits = integer_bits(digits.substr(2), 2);
  else if (digits.find_first_not_of("0123456789") == std::string_view::npos)
    bits = integer_bits(digits, digits[0] == '0' ? 8 : 10);
  if (bits)
    return NumberValue{static_cast<std::int64_t>(*bits), ScalarType::none};
  if (text.find_first_of(".eE") == std::string_view::npos || starts_with_prefix(digits, 'x'))
    return std::nullopt; // an integer that does not fit, or no number at all
  double real = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return NumberValue{std::bit_cast<std::int64_t>(real), ScalarType::f64};
}

} // namespace ptxasw::ptx
