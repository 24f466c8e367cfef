// Declarations and function headers (PTX ISA 5 and 11).

#include "grammar/builder.h"
#include "grammar/token_ranges.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace ptxasw {
namespace {

/// What a run of dot-words in a declaration says.
struct DeclarationSpecifier {
  StateSpace space = StateSpace::generic;
  ScalarType type = ScalarType::none;
  unsigned vector = 1;
  unsigned alignment = 0;
  Linkage linkage = Linkage::internal;
};

Linkage linkage_of(std::string_view word) {
  return word == ".extern"    ? Linkage::external
         : word == ".visible" ? Linkage::visible
         : word == ".weak"    ? Linkage::weak
         : word == ".common"  ? Linkage::common
                              : Linkage::internal;
}

/// Reads the dot-words of a declaration from `position` on; stops at the first name.
DeclarationSpecifier read_specifier(const Module &module, std::span<const Token> tokens,
                                    std::size_t &position) {
  DeclarationSpecifier result;
  bool pointer = false;
  while (position < tokens.size()) {
    const Token &token = tokens[position];
    if (token.is('(')) { // .attribute(.managed)
      position = closing(tokens, position) + 1;
      continue;
    }
    if (token.kind != TokenKind::dot_word)
      break;
    const std::string_view word = module.text(token.span);
    ++position;
    if (word == ".align") {
      if (position < tokens.size()) {
        const auto value = number_value(module.text(tokens[position++].span));
        if (value && !pointer)
          result.alignment = static_cast<unsigned>(value->bits);
      }
    } else if (word == ".ptr") {
      pointer = true; // the space and alignment that follow are the pointee's
    } else if (const Linkage linkage = linkage_of(word); linkage != Linkage::internal) {
      result.linkage = linkage;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      result.vector = static_cast<unsigned>(word[2] - '0');
    } else if (const ScalarType type = scalar_type(word); type != ScalarType::none) {
      result.type = type;
    } else if (const StateSpace space = state_space(word);
               space != StateSpace::generic && !pointer) {
      result.space = space;
    }
  }
  return result;
}

/// Reads `name[2][3]`'s brackets.
void read_extents(const Module &module, std::span<const Token> tokens, std::size_t &position,
                  Variable &variable) {
  while (position < tokens.size() && tokens[position].is('[')) {
    const std::size_t close = closing(tokens, position);
    const auto extent =
        constant_expression(module.text(), tokens.subspan(position + 1, close - position - 1));
    variable.count *= extent ? static_cast<std::uint64_t>(*extent) : 0;
    variable.is_array = true;
    position = close + 1;
  }
}

} // namespace

void Builder::declaration(std::span<const Token> tokens) {
  std::size_t position = 0;
  const DeclarationSpecifier specifier = read_specifier(module_, tokens, position);
  const bool is_register = specifier.space == StateSpace::reg;
  if (specifier.space == StateSpace::generic)
    return; // .alias, .callprototype and whatever comes: nothing that code refers to by register
  while (position < tokens.size() && !tokens[position].is(';')) {
    const Token &name_token = tokens[position];
    if (name_token.kind != TokenKind::word)
      throw SyntaxError{name_token.span.begin, "expected a name in this declaration"};
    const std::string_view name = text(name_token);
    ++position;
    std::uint64_t range = 0;
    if (position < tokens.size() && tokens[position].is('<')) {
      const auto value =
          position + 2 < tokens.size() ? number_value(text(tokens[position + 1])) : std::nullopt;
      if (!value || !tokens[position + 2].is('>'))
        throw SyntaxError{tokens[position].span.begin,
                          "expected <count> after the register prefix"};
      range = static_cast<std::uint64_t>(value->bits);
      position += 3;
    }
    Variable variable{.name = name,
                      .space = specifier.space,
                      .type = specifier.type,
                      .vector = specifier.vector,
                      .alignment = specifier.alignment,
                      .linkage = specifier.linkage,
                      .span = span_of(tokens)};
    read_extents(module_, tokens, position, variable);
    if (position < tokens.size() && tokens[position].is('=')) {
      const std::size_t begin = ++position;
      int depth = 0;
      for (; position < tokens.size(); ++position) {
        const Token &token = tokens[position];
        if (depth == 0 && (token.is(',') || token.is(';')))
          break;
        if (token.is('{') || token.is('(') || token.is('['))
          ++depth;
        else if (token.is('}') || token.is(')') || token.is(']'))
          --depth;
      }
      if (position > begin) {
        variable.initializer = span_of(tokens.subspan(begin, position - begin));
        variable.values = initial_values(tokens.subspan(begin, position - begin));
        variable.has_rows = std::count_if(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                          tokens.begin() + static_cast<std::ptrdiff_t>(position),
                                          [](const Token &t) { return t.is('{'); }) > 1;
      }
    }
    if (in_body_ && !is_register)
      note_body_variable(name, specifier.space);
    std::vector<Variable> &variables = in_body_ ? function().variables : module_.variables;
    Symbol symbol{in_body_ ? Symbol::Kind::function_variable : Symbol::Kind::module_variable, name,
                  in_body_ ? static_cast<std::uint32_t>(module_.functions.size() - 1) : no_index,
                  static_cast<std::uint32_t>(variables.size())};
    declare(name, {.type = specifier.type,
                   .vector = specifier.vector,
                   .count = range,
                   .is_register = is_register,
                   .symbol = symbol});
    if (!is_register)
      variables.push_back(std::move(variable));
    if (position < tokens.size() && tokens[position].is(','))
      ++position;
    else if (position < tokens.size() && !tokens[position].is(';'))
      throw SyntaxError{tokens[position].span.begin, "expected ',' or ';' in this declaration"};
  }
}

// Elements of an initializer in order, whatever braces are around them: numbers, constant
// expressions, `name`, `name+8`, `generic(name)+8` (PTX ISA 5.4.4). Empty if one is none of these.
std::vector<InitialValue> Builder::initial_values(std::span<const Token> tokens) {
  std::vector<InitialValue> values;
  std::size_t at = 0;
  while (at < tokens.size()) {
    if (tokens[at].is('{') || tokens[at].is('}') || tokens[at].is(',')) {
      ++at;
      continue;
    }
    std::size_t end = at;
    int depth = 0;
    for (; end < tokens.size(); ++end) {
      if (depth == 0 && (tokens[end].is(',') || tokens[end].is('}')))
        break;
      depth += tokens[end].is('(') ? 1 : tokens[end].is(')') ? -1 : 0;
    }
    std::span<const Token> element = tokens.subspan(at, end - at);
    at = end;
    InitialValue value;
    const bool negative = element.size() == 2 && element[0].is('-');
    if (element.size() == 1 || negative)
      if (const auto number = number_value(text(element.back()));
          number && number->type != ScalarType::none) {
        const int sign = number->type == ScalarType::f32 ? 31 : 63;
        value.real_type = number->type;
        value.bits =
            static_cast<std::uint64_t>(number->bits) ^ (negative ? std::uint64_t{1} << sign : 0);
        values.push_back(value);
        continue;
      }
    if (const auto constant = constant_expression(module_.text(), element)) {
      value.bits = static_cast<std::uint64_t>(*constant);
      values.push_back(value);
      continue;
    }
    const bool generic = element.size() >= 4 && text(element[0]) == "generic" &&
                         element[1].is('(') && element[3].is(')');
    const Token &name = element[generic ? 2 : 0];
    const std::span<const Token> offset = element.subspan(generic ? 4 : 1);
    const auto added = offset.empty() ? std::optional<std::int64_t>(0)
                                      : constant_expression(module_.text(), offset);
    if (name.kind != TokenKind::word || !added)
      return {};
    value.symbol = find_symbol(text(name));
    value.bits = static_cast<std::uint64_t>(*added);
    values.push_back(value);
  }
  return values;
}

std::vector<Variable> Builder::parameter_list(std::span<const Token> tokens,
                                              std::size_t &position) {
  std::vector<Variable> parameters;
  if (position >= tokens.size() || !tokens[position].is('('))
    return parameters;
  const std::size_t close = closing(tokens, position);
  for (const auto part : split(tokens.subspan(position + 1, close - position - 1))) {
    std::size_t at = 0;
    const DeclarationSpecifier specifier = read_specifier(module_, part, at);
    if (at >= part.size())
      continue; // "..." of vprintf-like prototypes never reaches here; unnamed ones do
    Variable parameter{.name = text(part[at]),
                       .space = specifier.space,
                       .type = specifier.type,
                       .vector = specifier.vector,
                       .alignment = specifier.alignment,
                       .span = span_of(part)};
    ++at;
    read_extents(module_, part, at, parameter);
    parameters.push_back(parameter);
  }
  position = close + 1;
  return parameters;
}

void Builder::function_header(std::span<const Token> tokens, std::size_t keyword) {
  if (in_body_)
    throw SyntaxError{tokens.front().span.begin, "a function inside a function"};
  Function result;
  result.is_entry = text(tokens[keyword]) == ".entry";
  for (const Token &token : tokens.first(keyword))
    if (const Linkage linkage = linkage_of(text(token)); linkage != Linkage::internal)
      result.linkage = linkage;
  result.span = span_of(tokens);
  result.line = tokens.front().line;
  std::size_t position = keyword + 1;
  while (position < tokens.size() && tokens[position].kind == TokenKind::dot_word) {
    ++position; // .attribute(...), .noreturn
    if (position < tokens.size() && tokens[position].is('('))
      position = closing(tokens, position) + 1;
  }
  if (!result.is_entry)
    result.return_parameters = parameter_list(tokens, position);
  if (position >= tokens.size() || tokens[position].kind != TokenKind::word)
    throw SyntaxError{tokens[std::min(position, tokens.size() - 1)].span.begin,
                      "expected a function name"};
  result.name = text(tokens[position++]);
  result.parameters = parameter_list(tokens, position);
  module_.functions.push_back(std::move(result));
  performance_directives(tokens, position);
  // A header may end in the ';' of a .pragma and still have a body.
  body_expected_ = true;
}

void Builder::performance_directives(std::span<const Token> tokens, std::size_t position) {
  while (position < tokens.size()) {
    if (tokens[position].kind != TokenKind::dot_word) {
      ++position;
      continue;
    }
    PerformanceDirective result;
    result.name = text(tokens[position++]).substr(1);
    while (position < tokens.size() && tokens[position].kind != TokenKind::dot_word) {
      if (tokens[position].kind == TokenKind::number && result.count < 3)
        if (const auto value = number_value(text(tokens[position])))
          result.values[result.count++] = static_cast<std::uint32_t>(value->bits);
      ++position;
    }
    function().directives.push_back(result);
  }
}

} // namespace ptxasw
