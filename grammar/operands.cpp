// Operands (PTX ISA 6).

#include "grammar/builder.h"
#include "grammar/token_ranges.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace ptxasw {
namespace {

char selector_code(std::string_view text) {
  if (text.size() == 1)
    switch (text[0]) {
    case 'x':
    case 'r':
      return 'x';
    case 'y':
    case 'g':
      return 'y';
    case 'z':
    case 'b':
      return 'z';
    case 'w':
    case 'a':
      return 'w';
    default:
      return '?';
    }
  if (text.size() == 2 && text[0] == 'b' && text[1] >= '0' && text[1] <= '3')
    return text[1];
  if (text == "h0" || text == "h1")
    return text == "h0" ? 'h' : 'H';
  return '?';
}

} // namespace

void Builder::store_children(Operand &operand, const std::vector<Operand> &children) {
  operand.first_child = static_cast<std::uint32_t>(module_.all_operands.size());
  operand.child_count = static_cast<std::uint32_t>(children.size());
  module_.all_operands.insert(module_.all_operands.end(), children.begin(), children.end());
}

void Builder::parse_operands(std::span<const Token> tokens, std::vector<Operand> &out,
                             Instruction &user) {
  for (const auto part : split(tokens)) {
    if (part.empty())
      // An instruction's tokens go on with a ',' or ';' or bracket where the operand should be.
      throw SyntaxError{part.data()->span.begin, "an operand is missing"};
    out.push_back(parse_operand(part, user));
  }
}

Operand Builder::name_operand(const Token &token, Instruction &user) {
  Operand operand;
  operand.span = token.span;
  const std::string_view name = text(token);
  if (name == "_") {
    operand.kind = Operand::Kind::sink;
    return operand;
  }
  const std::size_t dot = name.find('.');
  operand.reg = find_register(name.substr(0, dot));
  if (operand.reg != no_register) {
    operand.kind = Operand::Kind::reg;
    if (dot != std::string_view::npos)
      operand.selector = selector_code(name.substr(dot + 1));
    if (operand.selector == '?') // `.b3210` of the video instructions
      user.well_formed = false;
  } else if (std::uint32_t index;
             (name[0] == '%' && !find_declaration(name, index)) || name == "WARP_SZ") {
    operand.kind = Operand::Kind::special;
  } else {
    operand.kind = Operand::Kind::symbol;
    operand.symbol = find_symbol(name);
    if (ambiguous_.contains(name))
      user.well_formed = false;
  }
  return operand;
}

Operand Builder::parse_address(std::span<const Token> inside, Instruction &user) {
  Operand operand;
  operand.kind = Operand::Kind::address;
  operand.span = span_of(inside);
  const Token &first = inside.front();
  if (first.kind == TokenKind::word) {
    operand.value = 0;
    if (inside.size() > 1) {
      const auto offset = inside[1].is('+') || inside[1].is('-')
                              ? constant_expression(module_.text(), inside.subspan(1))
                              : std::nullopt;
      if (!offset)
        return Operand{};
      operand.value = *offset;
    }
    store_children(operand, {name_operand(first, user)});
    return operand;
  }
  if (const auto value = constant_expression(module_.text(), inside)) {
    Operand base;
    base.kind = Operand::Kind::integer;
    base.span = operand.span;
    base.value = *value;
    store_children(operand, {base});
    return operand;
  }
  return Operand{};
}

Operand Builder::parse_operand(std::span<const Token> tokens, Instruction &user) {
  using Kind = Operand::Kind;
  Operand operand;
  operand.span = span_of(tokens);
  const Token &first = tokens.front();
  if (tokens.size() == 1) {
    if (first.kind == TokenKind::word)
      return name_operand(first, user);
    if (first.kind == TokenKind::number) {
      const auto number = number_value(text(first));
      if (!number)
        throw SyntaxError{first.span.begin, fmt::format("malformed number '{}'", text(first))};
      operand.kind = number->type == ScalarType::none ? Kind::integer : Kind::real;
      operand.real_type = number->type;
      operand.value = number->bits;
      return operand;
    }
  }
  const bool bracketed =
      (first.is('[') || first.is('{') || first.is('(')) && closing(tokens, 0) == tokens.size() - 1;
  if (bracketed && first.is('[') && tokens.size() > 2) {
    Operand address = parse_address(tokens.subspan(1, tokens.size() - 2), user);
    if (address.kind == Kind::address) {
      address.span = operand.span;
      return address;
    }
    // `[tensor, {x, y}]`: it only reads registers, but it is no address of the simple form.
    if (tokens[2].is(',')) {
      store_registers(operand, tokens, user);
      return operand;
    }
  } else if (bracketed && first.is('{')) {
    operand.kind = Kind::vector;
    std::vector<Operand> children;
    parse_operands(tokens.subspan(1, tokens.size() - 2), children, user);
    store_children(operand, children);
    return operand;
  }
  if (bracketed && first.is('(') && module_.opcode(user).op == Op::call) {
    operand.kind = Kind::group;
    std::vector<Operand> children;
    parse_operands(tokens.subspan(1, tokens.size() - 2), children, user);
    store_children(operand, children);
    return operand;
  }
  if (const auto value = constant_expression(module_.text(), tokens)) {
    operand.kind = Kind::integer;
    operand.value = *value;
    return operand;
  }
  if (first.is('!') && tokens.size() == 2 && tokens[1].kind == TokenKind::word) {
    operand = name_operand(tokens[1], user);
    operand.negated = true;
    operand.span.begin = first.span.begin;
    return operand;
  }
  if (first.is('-') && tokens.size() == 2 && tokens[1].kind == TokenKind::number) {
    const auto number = number_value(text(tokens[1]));
    if (number) {
      operand.kind = Kind::real;
      operand.real_type = number->type;
      const int sign_bit = number->type == ScalarType::f32 ? 31 : 63;
      operand.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(number->bits) ^
                                                (std::uint64_t{1} << sign_bit));
      return operand;
    }
  }
  // `d|p` and `{a, b}|p`.
  if (tokens.size() >= 3 && tokens[tokens.size() - 2].is('|') &&
      (tokens.size() == 3 || (first.is('{') && closing(tokens, 0) == tokens.size() - 3))) {
    operand.kind = Kind::pair;
    const Operand left = parse_operand(tokens.first(tokens.size() - 2), user);
    store_children(operand, {left, parse_operand(tokens.last(1), user)});
    return operand;
  }
  if (first.kind == TokenKind::word && tokens.size() > 2 &&
      (tokens[1].is('+') || tokens[1].is('-')))
    if (const auto offset = constant_expression(module_.text(), tokens.subspan(1))) {
      Operand name = name_operand(first, user);
      if (name.kind == Kind::symbol) {
        name.value = *offset;
        name.span = operand.span;
        return name;
      }
    }
  // Anything else is opaque, but the registers in it are known.
  store_registers(operand, tokens, user);
  user.well_formed = false;
  return operand;
}

void Builder::store_registers(Operand &operand, std::span<const Token> tokens, Instruction &user) {
  std::vector<Operand> children;
  for (const Token &token : tokens)
    if (token.kind == TokenKind::word)
      if (Operand name = name_operand(token, user); name.kind == Operand::Kind::reg)
        children.push_back(name);
  operand.kind = Operand::Kind::other;
  store_children(operand, children);
}

} // namespace ptxasw
