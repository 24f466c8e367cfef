// Drives the generated parser over the scanner's tokens, one statement at a time; the grammar's
// actions call the builder. ANTLR decides what a statement is and where it is wrong; it builds no
// tree, so that memory and time per token stay small.

#include "grammar/builder.h"
#include "grammar/module.h"

#include "antlr/PTXParser.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace ptxasw::ptx {
namespace {

using Parser = ptxasw_antlr::PTXParser;

/// The generated parser's number for one of our token kinds.
constexpr std::array<std::size_t, 256> make_antlr_types() {
  std::array<std::size_t, 256> types{};
  // Implicit literals are numbered in the order in which PTX.g4 first uses them.
  std::size_t next = 1;
  for (char c : std::string_view("{};,+@!:-()=<>[]~?*/%^&|"))
    types[static_cast<unsigned char>(c)] = next++;
  const auto set = [&](TokenKind kind, std::size_t type) {
    types[static_cast<std::size_t>(kind)] = type;
  };
  set(TokenKind::word, Parser::WORD);
  set(TokenKind::dot_word, Parser::DOT_WORD);
  set(TokenKind::number, Parser::NUMBER);
  set(TokenKind::string, Parser::STRING);
  set(TokenKind::version, Parser::VERSION);
  set(TokenKind::target, Parser::TARGET);
  set(TokenKind::address_size, Parser::ADDRESS_SIZE);
  set(TokenKind::file, Parser::FILE);
  set(TokenKind::loc, Parser::LOC);
  set(TokenKind::section, Parser::SECTION);
  set(TokenKind::dwarf_line, Parser::DWARF_LINE);
  set(TokenKind::entry, Parser::ENTRY);
  set(TokenKind::func, Parser::FUNC);
  set(TokenKind::align, Parser::ALIGN);
  set(TokenKind::attribute, Parser::ATTRIBUTE);
  set(TokenKind::pragma, Parser::PRAGMA);
  set(TokenKind::branch_targets, Parser::BRANCH_TARGETS);
  set(TokenKind::call_targets, Parser::CALL_TARGETS);
  set(TokenKind::call_prototype, Parser::CALL_PROTOTYPE);
  set(TokenKind::end_of_file, antlr4::Token::EOF);
  return types;
}

constexpr std::array<std::size_t, 256> antlr_types = make_antlr_types();
static_assert(antlr_types['|'] == Parser::VERSION - 1, "PTX.g4's literals changed");

/// A scanner token in ANTLR's clothes.
class AntlrToken final : public antlr4::Token {
public:
  AntlrToken() = default;
  AntlrToken(const ptxasw::ptx::Token &token, std::size_t index) : token_(token), index_(index) {}

  std::string getText() const override { return {}; }
  std::size_t getType() const override {
    return antlr_types[static_cast<std::size_t>(token_.kind)];
  }
  std::size_t getLine() const override { return token_.line; }
  std::size_t getCharPositionInLine() const override { return 0; }
  std::size_t getChannel() const override { return DEFAULT_CHANNEL; }
  std::size_t getTokenIndex() const override { return index_; }
  std::size_t getStartIndex() const override { return token_.span.begin; }
  std::size_t getStopIndex() const override { return token_.span.end; }
  antlr4::TokenSource *getTokenSource() const override { return nullptr; }
  antlr4::CharStream *getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

private:
  ptxasw::ptx::Token token_;
  std::size_t index_ = 0;
};

/// The scanner as ANTLR's stream. Tokens of finished statements are forgotten; ANTLR sees the last
/// few: its parser is LL(1), builds no tree and keeps no token.
class TokenStream final : public antlr4::TokenStream {
public:
  explicit TokenStream(std::string_view text) : scanner_(text) { push(scanner_.next()); }

  /// What has been read of the current statement.
  const StatementTokens &statement() const { return statement_; }
  void forget() {
    const ptxasw::ptx::Token ahead = statement_.ahead();
    statement_.tokens.clear();
    statement_.consumed = 0;
    nesting_ = 0;
    push(ahead);
  }

  antlr4::Token *LT(ssize_t k) override {
    const std::size_t position = statement_.consumed;
    if (k < 0) // asked for on the way out of a statement whose first token is wrong
      return position < static_cast<std::size_t>(-k) ? nullptr : get(position + k);
    while (position + k > statement_.tokens.size())
      push(scanner_.next());
    return get(position + k - 1);
  }
  std::size_t LA(ssize_t k) override {
    const std::size_t index = statement_.consumed + k - 1;
    while (index >= statement_.tokens.size())
      push(scanner_.next());
    return antlr_types[static_cast<std::size_t>(statement_.tokens[index].kind)];
  }
  void consume() override {
    if (++statement_.consumed == statement_.tokens.size())
      push(scanner_.next());
  }
  antlr4::Token *get(std::size_t index) const override {
    return const_cast<AntlrToken *>(&antlr_tokens_[index % antlr_tokens_.size()]);
  }
  antlr4::TokenSource *getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval &) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext *) override { return {}; }
  std::string getText(antlr4::Token *, antlr4::Token *) override { return {}; }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  std::size_t index() override { return statement_.consumed; }
  void seek(std::size_t index) override { statement_.consumed = index; }
  std::size_t size() override { return statement_.tokens.size(); }
  std::string getSourceName() const override { return {}; }

private:
  void push(const ptxasw::ptx::Token &token) {
    if (token.kind == TokenKind::unknown)
      throw SyntaxError{token.span.begin, "unexpected character"};
    // The generated parser recurses once per bracket; the stack is finite.
    if (token.is('(') || token.is('[') || token.is('{')) {
      if (++nesting_ > deepest_nesting)
        throw SyntaxError{token.span.begin, "brackets nest too deeply"};
    } else if (token.is(')') || token.is(']') || token.is('}')) {
      --nesting_;
    }
    antlr_tokens_[statement_.tokens.size() % antlr_tokens_.size()] =
        AntlrToken(token, statement_.tokens.size());
    statement_.tokens.push_back(token);
  }

  static constexpr int deepest_nesting = 200;

  Scanner scanner_;
  int nesting_ = 0;
  StatementTokens statement_;
  std::array<AntlrToken, 4> antlr_tokens_; // of the last four tokens
};

/// Stops at the first error instead of guessing how to go on, and spares the look-ahead checks that
/// only recovery needs.
class StopAtFirstError final : public antlr4::DefaultErrorStrategy {
public:
  explicit StopAtFirstError(std::string_view text) : text_(text) {}

  void recover(antlr4::Parser *recognizer, std::exception_ptr) override { fail(recognizer); }
  antlr4::Token *recoverInline(antlr4::Parser *recognizer) override {
    fail(recognizer);
    return nullptr;
  }
  void reportError(antlr4::Parser *recognizer, const antlr4::RecognitionException &) override {
    fail(recognizer);
  }
  void sync(antlr4::Parser *) override {}

private:
  /// How a reader calls the token of that type.
  static std::string describe(const antlr4::dfa::Vocabulary &vocabulary, std::size_t type) {
    switch (type) {
    case Parser::WORD:
      return "a name";
    case Parser::DOT_WORD:
      return "a word after a dot";
    case Parser::NUMBER:
      return "a number";
    case Parser::STRING:
      return "a string";
    case antlr4::Token::EOF:
      return "the end of the file";
    default:
      return vocabulary.getDisplayName(type);
    }
  }
  /// What a rule that is one thing to a reader is called; empty for the others.
  static std::string_view describe_rule(const antlr4::ParserRuleContext *rule) {
    switch (rule->getRuleIndex()) {
    case Parser::RuleFunctionName:
      return "a function name";
    case Parser::RuleRegisterCount:
      return "<count> after the register prefix";
    default:
      return {};
    }
  }
  [[noreturn]] void fail(antlr4::Parser *recognizer) {
    const antlr4::Token *token = recognizer->getCurrentToken();
    std::string expected;
    for (const std::size_t type : recognizer->getExpectedTokens().toList()) {
      if (expected.size() > 60) {
        expected += ", ...";
        break;
      }
      expected += (expected.empty() ? "" : ", ") +
                  describe(recognizer->getVocabulary(), static_cast<std::size_t>(type));
    }
    if (const std::string_view whole = describe_rule(recognizer->getContext()); !whole.empty())
      throw SyntaxError{static_cast<std::uint32_t>(token->getStartIndex()),
                        fmt::format("expected {}", whole)};
    const auto begin = static_cast<std::uint32_t>(token->getStartIndex());
    const std::string_view found = text_.substr(begin, token->getStopIndex() - begin);
    throw SyntaxError{begin, found.empty()
                                 ? fmt::format("unexpected end of file, expected {}", expected)
                                 : fmt::format("unexpected '{}', expected {}", found, expected)};
  }

  std::string_view text_;
};

/// Releases the contexts of a finished statement.
class StatementParser final : public ptxasw_antlr::PTXParser {
public:
  using ptxasw_antlr::PTXParser::PTXParser;
  void forget() { _tracker.reset(); }
};

Diagnostic make_diagnostic(const Module &module, std::string_view file, const SyntaxError &error) {
  Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.message = error.message;
  const std::string_view text = module.text();
  const std::size_t offset = std::min<std::size_t>(error.offset, text.size());
  std::tie(diagnostic.line, diagnostic.column) =
      module.position(static_cast<std::uint32_t>(offset));
  std::string_view line = text.substr(offset + 1 - diagnostic.column);
  line = line.substr(0, line.find_first_of("\r\n"));
  diagnostic.source_line = line;
  return diagnostic;
}

} // namespace

tl::expected<std::unique_ptr<Module>, Diagnostic> parse(std::string text,
                                                        std::string_view file_name) {
  auto module = std::make_unique<Module>();
  module->text_ = std::make_unique<const std::string>(std::move(text));
  const std::string_view source = module->text();
  try {
    if (source.size() >= ~std::uint32_t{0})
      throw SyntaxError{0, "a module of 4 GiB or more"};
    TokenStream tokens(source);
    Builder builder(*module, tokens.statement());
    StatementParser parser(&tokens);
    parser.build = &builder;
    parser.setBuildParseTree(false);
    parser.removeErrorListeners();
    parser.setErrorHandler(std::make_shared<StopAtFirstError>(source));
    parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
        antlr4::atn::PredictionMode::SLL);
    while (tokens.statement().ahead().kind != TokenKind::end_of_file) {
      builder.begin_statement();
      parser.statement();
      parser.forget();
      tokens.forget();
    }
    builder.finish(static_cast<std::uint32_t>(source.size()));
  } catch (const SyntaxError &error) {
    return tl::unexpected(make_diagnostic(*module, file_name, error));
  }
  return module;
}

} // namespace ptxasw::ptx
