// Literals and constant expressions (PTX ISA 4.5).

#include "grammar/builder.h"

#include <bit>
#include <charconv>

namespace ptxasw {
namespace {

bool starts_with_prefix(std::string_view text, char letter) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

std::optional<std::uint64_t> integer_bits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// Precedence climbing over one-character tokens; `<<`, `>=`, `&&` are two neighbouring ones.
class Expression {
public:
  Expression(std::string_view text, std::span<const Token> tokens) : text_(text), tokens_(tokens) {}

  std::optional<std::int64_t> whole() {
    const auto value = ternary();
    return position_ == tokens_.size() ? value : std::nullopt;
  }

private:
  using Value = std::optional<std::int64_t>;

  bool is(std::size_t ahead, char c) const {
    return position_ + ahead < tokens_.size() && tokens_[position_ + ahead].is(c);
  }
  bool pair(char first, char second) const {
    return is(0, first) && is(1, second) &&
           tokens_[position_].span.end == tokens_[position_ + 1].span.begin;
  }

  Value ternary() {
    const Value condition = binary(0);
    if (!condition || !is(0, '?'))
      return condition;
    ++position_;
    const Value yes = ternary();
    if (!yes || !is(0, ':'))
      return std::nullopt;
    ++position_;
    const Value no = ternary();
    return no ? Value(*condition ? *yes : *no) : std::nullopt;
  }

  struct Operator {
    std::string_view spelling;
    int precedence;
  };

  std::optional<Operator> peek() const {
    // Two-character operators first.
    static constexpr Operator operators[] = {
        {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
        {"<=", 7}, {">=", 7}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
        {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
    };
    for (const Operator &candidate : operators)
      if (candidate.spelling.size() == 2 ? pair(candidate.spelling[0], candidate.spelling[1])
                                         : is(0, candidate.spelling[0]))
        return candidate;
    return std::nullopt;
  }

  static Value apply(std::string_view op, std::int64_t a, std::int64_t b) {
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    const bool divides = b != 0 && !(b == -1 && a == INT64_MIN);
    if (op == "||")
      return a || b;
    if (op == "&&")
      return a && b;
    if (op == "==")
      return a == b;
    if (op == "!=")
      return a != b;
    if (op == "<=")
      return a <= b;
    if (op == ">=")
      return a >= b;
    if (op == "<")
      return a < b;
    if (op == ">")
      return a > b;
    if (op == "|")
      return a | b;
    if (op == "^")
      return a ^ b;
    if (op == "&")
      return a & b;
    if (op == "+")
      return static_cast<std::int64_t>(ua + ub);
    if (op == "-")
      return static_cast<std::int64_t>(ua - ub);
    if (op == "*")
      return static_cast<std::int64_t>(ua * ub);
    if (op == "/" && divides)
      return a / b;
    if (op == "%" && divides)
      return a % b;
    if (op == "<<" && ub < 64)
      return static_cast<std::int64_t>(ua << ub);
    if (op == ">>" && ub < 64)
      return a >> b;
    return std::nullopt;
  }

  Value binary(int lowest) {
    Value left = unary();
    while (left) {
      const auto op = peek();
      if (!op || op->precedence < lowest)
        break;
      position_ += op->spelling.size();
      const Value right = binary(op->precedence + 1);
      left = right ? apply(op->spelling, *left, *right) : std::nullopt;
    }
    return left;
  }

  Value unary() {
    if (position_ >= tokens_.size() || ++depth_ > 200)
      return std::nullopt;
    const Token &token = tokens_[position_++];
    Value value;
    if (token.is('-')) {
      value = unary();
      if (value)
        value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*value));
    } else if (token.is('+')) {
      value = unary();
    } else if (token.is('~')) {
      value = unary();
      if (value)
        value = ~*value;
    } else if (token.is('!')) {
      value = unary();
      if (value)
        value = !*value;
    } else if (token.is('(')) {
      // A cast, `(.s64)`, or parentheses.
      if (position_ + 1 < tokens_.size() && tokens_[position_].kind == TokenKind::dot_word &&
          tokens_[position_ + 1].is(')')) {
        position_ += 2;
        value = unary();
      } else {
        value = ternary();
        if (!value || !is(0, ')'))
          return std::nullopt;
        ++position_;
      }
    } else if (token.kind == TokenKind::number) {
      const auto number =
          number_value(text_.substr(token.span.begin, token.span.end - token.span.begin));
      if (number && number->type == ScalarType::none)
        value = number->bits;
    }
    --depth_;
    return value;
  }

  std::string_view text_;
  std::span<const Token> tokens_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

} // namespace

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
  else if (digits.size() > 1 && digits[0] == '0' &&
           digits.find_first_not_of("01234567") == std::string_view::npos)
    bits = integer_bits(digits.substr(1), 8);
  else if (digits.find_first_not_of("0123456789") == std::string_view::npos)
    bits = integer_bits(digits, 10);
  if (bits)
    return NumberValue{static_cast<std::int64_t>(*bits), ScalarType::none};
  double real = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return NumberValue{std::bit_cast<std::int64_t>(real), ScalarType::f64};
}

std::optional<std::int64_t> constant_expression(std::string_view text,
                                                std::span<const Token> tokens) {
  return Expression(text, tokens).whole();
}

} // namespace ptxasw
