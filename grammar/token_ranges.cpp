// Pieces of a statement's tokens, cut at commas outside of brackets.

#include "grammar/token_ranges.h"

namespace ptxasw {

std::size_t closing(std::span<const Token> tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (token.is('(') || token.is('[') || token.is('{'))
      ++depth;
    else if (token.is(')') || token.is(']') || token.is('}'))
      if (--depth == 0)
        return i;
  }
  return tokens.size();
}

std::vector<std::span<const Token>> split(std::span<const Token> tokens) {
  std::vector<std::span<const Token>> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    if (token.is('(') || token.is('[') || token.is('{'))
      ++depth;
    else if (token.is(')') || token.is(']') || token.is('}'))
      --depth;
    else if (token.is(',') && depth == 0) {
      parts.push_back(tokens.subspan(begin, i - begin));
      begin = i + 1;
    }
  }
  if (!tokens.empty())
    parts.push_back(tokens.subspan(begin));
  return parts;
}

Span span_of(std::span<const Token> tokens) {
  return {tokens.front().span.begin, tokens.back().span.end};
}

} // namespace ptxasw
