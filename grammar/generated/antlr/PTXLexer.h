
// Generated from PTX.g4 by ANTLR 4.7.2

#pragma once


#include "antlr4-runtime.h"


namespace ptxasw_antlr {


class  PTXLexer : public antlr4::Lexer {
public:
  enum {
    T__0 = 1, T__1 = 2, T__2 = 3, T__3 = 4, T__4 = 5, T__5 = 6, T__6 = 7, 
    T__7 = 8, T__8 = 9, T__9 = 10, T__10 = 11, T__11 = 12, T__12 = 13, T__13 = 14, 
    T__14 = 15, T__15 = 16, T__16 = 17, T__17 = 18, T__18 = 19, T__19 = 20, 
    T__20 = 21, T__21 = 22, T__22 = 23, T__23 = 24, VERSION = 25, TARGET = 26, 
    ADDRESS_SIZE = 27, FILE = 28, LOC = 29, SECTION = 30, ENTRY = 31, FUNC = 32, 
    ALIGN = 33, ATTRIBUTE = 34, PRAGMA = 35, BRANCH_TARGETS = 36, CALL_TARGETS = 37, 
    CALL_PROTOTYPE = 38, DWARF_LINE = 39, WORD = 40, NUMBER = 41, DOT_WORD = 42, 
    STRING = 43, WHITE_SPACE = 44, LINE_COMMENT = 45, LINE_MARKER = 46, 
    BLOCK_COMMENT = 47
  };

  PTXLexer(antlr4::CharStream *input);
  ~PTXLexer();

  virtual std::string getGrammarFileName() const override;
  virtual const std::vector<std::string>& getRuleNames() const override;

  virtual const std::vector<std::string>& getChannelNames() const override;
  virtual const std::vector<std::string>& getModeNames() const override;
  virtual const std::vector<std::string>& getTokenNames() const override; // deprecated, use vocabulary instead
  virtual antlr4::dfa::Vocabulary& getVocabulary() const override;

  virtual const std::vector<uint16_t> getSerializedATN() const override;
  virtual const antlr4::atn::ATN& getATN() const override;

private:
  static std::vector<antlr4::dfa::DFA> _decisionToDFA;
  static antlr4::atn::PredictionContextCache _sharedContextCache;
  static std::vector<std::string> _ruleNames;
  static std::vector<std::string> _tokenNames;
  static std::vector<std::string> _channelNames;
  static std::vector<std::string> _modeNames;

  static std::vector<std::string> _literalNames;
  static std::vector<std::string> _symbolicNames;
  static antlr4::dfa::Vocabulary _vocabulary;
  static antlr4::atn::ATN _atn;
  static std::vector<uint16_t> _serializedATN;


  // Individual action functions triggered by action() above.

  // Individual semantic predicate functions triggered by sempred() above.

  struct Initializer {
    Initializer();
  };
  static Initializer _init;
};

}  // namespace ptxasw_antlr
