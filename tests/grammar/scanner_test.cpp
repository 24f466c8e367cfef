// The hand-written scanner against the lexer that ANTLR generates from PTX.g4.

#include "grammar/scanner.h"
#include "support.h"

#include "antlr/PTXLexer.h"

#include <doctest/doctest.h>

#include <random>

using namespace ptxasw::test;

namespace {

using Lexer = ptxasw_antlr::PTXLexer;

/// ANTLR's name of a token's kind: keywords and punctuation are called what they are.
std::string kind_name(TokenKind kind, std::string_view token) {
  switch (kind) {
  case TokenKind::word:
    return "WORD";
  case TokenKind::dot_word:
    return "DOT_WORD";
  case TokenKind::number:
    return "NUMBER";
  case TokenKind::string:
    return "STRING";
  case TokenKind::dwarf_line:
    return "DWARF_LINE";
  default:
    return "'" + std::string(token) + "'";
  }
}

// One line per token: its kind by ANTLR's names, its text. Both stop at the first byte that starts
// no token, and report it.
std::string scanned(std::string_view text) {
  std::string lexemes;
  Scanner scanner(text);
  std::uint32_t line = 1, end = 0;
  for (Token token = scanner.next(); token.kind != TokenKind::end_of_file; token = scanner.next()) {
    line += static_cast<std::uint32_t>(
        std::count(text.begin() + end, text.begin() + token.span.begin, '\n'));
    end = token.span.begin;
    CHECK(token.line == line);
    if (token.kind == TokenKind::unknown) {
      lexemes += "?";
      break;
    }
    const std::string_view lexeme = text.substr(end, token.span.size());
    lexemes += kind_name(token.kind, lexeme) + " " + std::string(lexeme) + "\n";
  }
  return lexemes;
}

std::string lexed(const std::string &text) {
  struct Listener : antlr4::BaseErrorListener {
    bool failed = false;
    void syntaxError(antlr4::Recognizer *, antlr4::Token *, std::size_t, std::size_t,
                     const std::string &, std::exception_ptr) override {
      failed = true;
    }
  } listener;
  antlr4::ANTLRInputStream input(text);
  Lexer lexer(&input);
  lexer.removeErrorListeners();
  lexer.addErrorListener(&listener);
  std::string lexemes;
  while (true) {
    const auto token = lexer.nextToken();
    // A comment that does not end is no division either.
    const bool comment = token->getText() == "/" && text.substr(token->getStartIndex(), 2) == "/*";
    if (listener.failed || comment) {
      lexemes += "?";
      break;
    }
    if (token->getType() == antlr4::Token::EOF)
      break;
    lexemes +=
        lexer.getVocabulary().getDisplayName(token->getType()) + " " + token->getText() + "\n";
  }
  return lexemes;
}

} // namespace

TEST_CASE("every module of the tree") {
  for (const auto &path : ptx_files("")) {
    CAPTURE(path);
    const std::string text = read_file(path);
    if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return c && c < 128; }))
      CHECK(scanned(text) == lexed(text));
  }
}

TEST_CASE("what only a hand would write") {
  for (const std::string text : {"",
                                 "\n",
                                 "a",
                                 "%",
                                 "% r1",
                                 "%1",
                                 "5%3",
                                 "%%r",
                                 "%.x",
                                 "% .x",
                                 "a%b",
                                 "$a.b.c",
                                 "_",
                                 "_.x",
                                 "a..b",
                                 "a.b.",
                                 "a.b::c::d.e",
                                 "a::b",
                                 "a.b:: c",
                                 "a.b::",
                                 "a.b:c",
                                 "L:ld.x",
                                 ".a.b",
                                 ".a::b.c::d",
                                 ".5",
                                 ".5e-3",
                                 ".",
                                 ". a",
                                 ".version",
                                 ".version8",
                                 ".versions .files .loc.loc .section.x",
                                 "1.5",
                                 "1.",
                                 "1.e5",
                                 "1.5e+7",
                                 "1.5e",
                                 "1.5e+",
                                 "1.5x",
                                 "1.x",
                                 "1e5",
                                 "1e+5",
                                 "1e+",
                                 "1e",
                                 "1ee+5",
                                 "12e-3.5",
                                 "0x1e+5",
                                 "0xAE-4",
                                 "0x1E",
                                 "1$",
                                 "1_000",
                                 "1.2.3",
                                 "0f3F800000",
                                 "0d3FF0000000000000.x",
                                 "1U",
                                 "\"a b\"",
                                 "\"a\\\"b\"",
                                 "\"a\nb\"",
                                 "\"a",
                                 "\"\"",
                                 "\"a\\\\\"",
                                 "// x",
                                 "// x\ry\nz",
                                 "/* x */y",
                                 "/**/x",
                                 "/*/ x */y",
                                 "/* a /* b */ c */",
                                 "/*",
                                 "/* *",
                                 "/",
                                 "/ /",
                                 "a/b",
                                 "a//b",
                                 "a/*\n\n*/b",
                                 "\t\f\v\r\nx",
                                 "@@DWARF .byte 1\nx",
                                 "@@DWARF\rx",
                                 "@@DWARFx",
                                 "@@DWAR x",
                                 "@@ DWARF",
                                 "@@@DWARF",
                                 "# 1 \"x\"\ny",
                                 "# 1 \"x\" 2 3 y",
                                 "#1 \"x\"",
                                 "#1\"x\"",
                                 "# \"x\"",
                                 "#line 3 \"x\"",
                                 "# line 3 \"x\"",
                                 "#line3 \"x\" 4",
                                 "#define",
                                 "# 1 \"x",
                                 "# 1 \"x\" 2x",
                                 "a # 33 \"b\" \n c",
                                 "`",
                                 "\\",
                                 "'a'",
                                 "a<b>c>>d<<e",
                                 "x|y&&z||w==v!=u?t:s",
                                 "{[(<>)]};,",
                                 "~!^*+-",
                                 "\x01",
                                 "\x7f"}) {
    CAPTURE(text);
    CHECK(scanned(text) == lexed(text));
  }
}

TEST_CASE("random bytes of PTX's alphabet") {
  static constexpr std::string_view pieces[] = {
      "a",  "Z1", "$",  "_",  "%",  "%r1", ".", ".x", "::",   ":",       "0",        "12", "e",
      "e+", "E-", "x",  "0x", "0f", "\"",  " ", "\n", "\t",   "\r",      "/",        "//", "/*",
      "*/", "@",  "@@", "{",  "}",  "#",   "<", ">",  ".loc", "@@DWARF", "# 1 \"a\""};
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i)
      text += pieces[random() % std::size(pieces)];
    CAPTURE(text);
    CHECK(scanned(text) == lexed(text));
  }
}

TEST_CASE("zero bytes and bytes above 127 start no token; comments and strings may hold them") {
  using std::string_literals::operator""s;
  for (const std::string &text : {"a\0b"s, "\xc3\xa9"s, "a \xff"s}) {
    CHECK(scanned(text).ends_with("?"));
  }
  CHECK(scanned("// caf\xc3\xa9 \xff\n/* \0 */ a \"\xe2\x86\x92\""s) ==
        "WORD a\nSTRING \"\xe2\x86\x92\"\n");
}

TEST_CASE("tokens and what lies between them are the text") {
  for (const auto &path : ptx_files("")) {
    const std::string text = read_file(path);
    Scanner scanner(text);
    std::uint32_t end = 0;
    for (Token token = scanner.next(); token.kind != TokenKind::end_of_file;
         token = scanner.next()) {
      REQUIRE(token.span.begin >= end);
      REQUIRE(token.span.end > token.span.begin);
      end = token.span.end;
    }
    CHECK(end <= text.size());
  }
}
