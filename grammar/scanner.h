#pragma once

// Tokens of PTX, by the lexical rules of PTX.g4 and without ANTLR's lexer, which is slow
// (scanner.cpp). The parser reads by it, and the proof compares the words of two texts:
// `scanner.next()`.

#include "grammar/namespaces.h"

#include <cstdint>
#include <string_view>

namespace ptxasw::ptx {

/// Token kinds; punctuation is its own character code. The names follow PTX.g4.
enum class TokenKind : std::uint8_t {
  end_of_file = 0,
  // '!' .. '~' : the punctuation character itself
  word = 128,
  number,
  string,
  version,
  target,
  address_size,
  file,
  loc,
  section,
  dwarf_line,
  // What directives begin with
  dot_word,
  entry,
  func,
  align,
  attribute,
  pragma,
  branch_targets,
  call_targets,
  call_prototype,
  unknown, ///< a byte no PTX token starts with, an unterminated string or comment
};

inline bool begins_directive(TokenKind kind) {
  return kind >= TokenKind::dot_word && kind <= TokenKind::call_prototype;
}

/// A byte range of the module's text.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t size() const { return end - begin; }
  bool operator==(const Span &) const = default;
};

/// One token. What lies between two tokens is white space and comments.
struct Token {
  TokenKind kind = TokenKind::end_of_file;
  Span span;
  std::uint32_t line = 1; ///< 1-based line of its first byte

  bool is(char punctuation) const { return kind == static_cast<TokenKind>(punctuation); }
};

/// Splits PTX text into tokens by the lexical rules of PTX.g4, one call per token.
/// The text must outlive the scanner and be smaller than 4 GiB.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// The next token; at the end always `end_of_file`.
  Token next();

private:
  char at(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
  bool skip_trivia(); ///< false: a block comment does not end
  std::size_t scan_line_marker(std::size_t position) const;
  std::size_t scan_tail(std::size_t position) const;
  std::size_t scan_digits(std::size_t position) const;
  std::size_t scan_exponent(std::size_t position) const;
  std::size_t scan_number(std::size_t position) const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
};

} // namespace ptxasw::ptx
