// Literals and constant expressions (PTX ISA 4.5).

#include "grammar/builder.h"

#include <bit>
#include <charconv>

namespace ptxasw {
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

/// 64 bits, and whether they count as unsigned (PTX ISA 4.5.6, and what ptxas makes of it).
struct Constant {
  std::uint64_t bits = 0;
  bool is_unsigned = false;

  std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
};

/// Precedence climbing over one-character tokens; `<<`, `>=`, `&&` are two neighbouring ones.
class Expression {
public:
  Expression(std::string_view text, std::span<const Token> tokens) : text_(text), tokens_(tokens) {}

  std::optional<std::int64_t> whole() {
    const Value value = ternary();
    return value && position_ == tokens_.size() ? std::optional(value->as_signed()) : std::nullopt;
  }

private:
  using Value = std::optional<Constant>;

  /// Counts nested calls; no one writes code this deep, and the stack is finite.
  struct Depth {
    explicit Depth(int &depth) : depth_(depth) { ++depth_; }
    ~Depth() { --depth_; }
    bool too_deep() const { return depth_ > 200; }
    int &depth_;
  };

  std::string_view text(const Token &token) const {
    return text_.substr(token.span.begin, token.span.size());
  }
  bool is(std::size_t ahead, char c) const {
    return position_ + ahead < tokens_.size() && tokens_[position_ + ahead].is(c);
  }
  bool pair(char first, char second) const {
    return is(0, first) && is(1, second) &&
           tokens_[position_].span.end == tokens_[position_ + 1].span.begin;
  }

  Value ternary() {
    const Depth depth(depth_);
    if (depth.too_deep())
      return std::nullopt;
    const Value condition = binary(0);
    if (!condition || !is(0, '?'))
      return condition;
    ++position_;
    const Value yes = ternary();
    if (!yes || !is(0, ':'))
      return std::nullopt;
    ++position_;
    const Value no = ternary();
    return !no ? no : condition->bits ? yes : no;
  }

  enum class Op {
    logical_or,
    logical_and,
    equal,
    not_equal,
    less_equal,
    greater_equal,
    shift_left,
    shift_right,
    bit_or,
    bit_xor,
    bit_and,
    less,
    greater,
    add,
    subtract,
    multiply,
    divide,
    remainder,
  };
  struct Operator {
    Op op;
    char first;
    char second; // or 0
    int precedence;
  };

  const Operator *peek() const {
    // Two-character operators first.
    static constexpr Operator operators[] = {
        {Op::logical_or, '|', '|', 1}, {Op::logical_and, '&', '&', 2},
        {Op::equal, '=', '=', 6},      {Op::not_equal, '!', '=', 6},
        {Op::shift_left, '<', '<', 8}, {Op::shift_right, '>', '>', 8},
        {Op::less_equal, '<', '=', 7}, {Op::greater_equal, '>', '=', 7},
        {Op::bit_or, '|', 0, 3},       {Op::bit_xor, '^', 0, 4},
        {Op::bit_and, '&', 0, 5},      {Op::less, '<', 0, 7},
        {Op::greater, '>', 0, 7},      {Op::add, '+', 0, 9},
        {Op::subtract, '-', 0, 9},     {Op::multiply, '*', 0, 10},
        {Op::divide, '/', 0, 10},      {Op::remainder, '%', 0, 10},
    };
    for (const Operator &candidate : operators)
      if (candidate.second ? pair(candidate.first, candidate.second) : is(0, candidate.first))
        return &candidate;
    return nullptr;
  }

  static Value apply(Op op, Constant a, Constant b) {
    const bool is_unsigned = a.is_unsigned || b.is_unsigned;
    const auto number = [&](std::uint64_t bits) { return Constant{bits, is_unsigned}; };
    const auto truth = [](bool value) { return Constant{value, false}; };
    const bool less = is_unsigned ? a.bits < b.bits : a.as_signed() < b.as_signed();
    const unsigned amount = b.bits % 64; // as ptxas does; C leaves larger amounts undefined
    switch (op) {
    case Op::logical_or:
      return truth(a.bits || b.bits);
    case Op::logical_and:
      return truth(a.bits && b.bits);
    case Op::equal:
      return truth(a.bits == b.bits);
    case Op::not_equal:
      return truth(a.bits != b.bits);
    case Op::less:
      return truth(less);
    case Op::greater_equal:
      return truth(!less);
    case Op::less_equal:
      return truth(less || a.bits == b.bits);
    case Op::greater:
      return truth(!less && a.bits != b.bits);
    case Op::shift_left:
      return Constant{a.bits << amount, a.is_unsigned};
    case Op::shift_right:
      return Constant{a.is_unsigned ? a.bits >> amount
                                    : static_cast<std::uint64_t>(a.as_signed() >> amount),
                      a.is_unsigned};
    case Op::bit_or:
      return number(a.bits | b.bits);
    case Op::bit_xor:
      return number(a.bits ^ b.bits);
    case Op::bit_and:
      return number(a.bits & b.bits);
    case Op::add:
      return number(a.bits + b.bits);
    case Op::subtract:
      return number(a.bits - b.bits);
    case Op::multiply:
      return number(a.bits * b.bits);
    case Op::divide:
      if (b.bits == 0)
        return std::nullopt;
      if (is_unsigned)
        return number(a.bits / b.bits);
      // The one quotient that does not fit is its own negation.
      return number(b.as_signed() == -1
                        ? 0 - a.bits
                        : static_cast<std::uint64_t>(a.as_signed() / b.as_signed()));
    case Op::remainder: // always unsigned
      return b.bits == 0 ? Value() : Constant{a.bits % b.bits, true};
    }
    return std::nullopt;
  }

  Value binary(int lowest) {
    Value left = unary();
    while (left) {
      const Operator *op = peek();
      if (!op || op->precedence < lowest)
        break;
      position_ += op->second ? 2 : 1;
      const Value right = binary(op->precedence + 1);
      left = right ? apply(op->op, *left, *right) : std::nullopt;
    }
    return left;
  }

  Value unary() {
    const Depth depth(depth_);
    if (depth.too_deep() || position_ >= tokens_.size())
      return std::nullopt;
    const Token &token = tokens_[position_++];
    Value value;
    if (token.is('-')) {
      if ((value = unary()))
        value->bits = 0 - value->bits;
    } else if (token.is('+')) {
      value = unary();
    } else if (token.is('~')) {
      if ((value = unary()))
        value = Constant{~value->bits, true};
    } else if (token.is('!')) {
      if ((value = unary()))
        value = Constant{value->bits == 0, false};
    } else if (token.is('(')) {
      // A cast, `(.s64)`, or parentheses.
      if (position_ + 1 < tokens_.size() && tokens_[position_].kind == TokenKind::dot_word &&
          tokens_[position_ + 1].is(')')) {
        const std::string_view type = text(tokens_[position_]);
        position_ += 2;
        value = unary();
        if (value && (type == ".s64" || type == ".u64"))
          value->is_unsigned = type == ".u64";
        else
          value.reset();
      } else {
        value = ternary();
        if (!value || !is(0, ')'))
          return std::nullopt;
        ++position_;
      }
    } else if (token.kind == TokenKind::number) {
      const auto number = number_value(text(token));
      if (number && number->type == ScalarType::none)
        value = Constant{static_cast<std::uint64_t>(number->bits),
                         number->bits < 0 || (text(token).back() | 0x20) == 'u'};
    } else if (token.kind == TokenKind::word && text(token) == "WARP_SZ") {
      value = Constant{32, false};
    }
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

std::optional<std::int64_t> constant_expression(std::string_view text,
                                                std::span<const Token> tokens) {
  return Expression(text, tokens).whole();
}

} // namespace ptxasw
