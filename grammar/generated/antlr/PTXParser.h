
// Generated from PTX.g4 by ANTLR 4.7.2

#pragma once


#include "antlr4-runtime.h"


namespace ptxasw_antlr {


class  PTXParser : public antlr4::Parser {
public:
  enum {
    T__0 = 1, T__1 = 2, T__2 = 3, T__3 = 4, T__4 = 5, T__5 = 6, T__6 = 7, 
    T__7 = 8, T__8 = 9, T__9 = 10, T__10 = 11, T__11 = 12, T__12 = 13, T__13 = 14, 
    T__14 = 15, T__15 = 16, T__16 = 17, T__17 = 18, T__18 = 19, T__19 = 20, 
    T__20 = 21, T__21 = 22, T__22 = 23, T__23 = 24, VERSION = 25, TARGET = 26, 
    ADDRESS_SIZE = 27, FILE = 28, LOC = 29, SECTION = 30, DWARF_LINE = 31, 
    WORD = 32, DOT_WORD = 33, NUMBER = 34, STRING = 35, WHITE_SPACE = 36, 
    LINE_COMMENT = 37, LINE_MARKER = 38, BLOCK_COMMENT = 39
  };

  enum {
    RuleStatement = 0, RuleSectionElement = 1, RuleDirectivePart = 2, RuleTail = 3, 
    RuleOperands = 4, RuleGroup = 5, RuleOp = 6
  };

  PTXParser(antlr4::TokenStream *input);
  ~PTXParser();

  virtual std::string getGrammarFileName() const override;
  virtual const antlr4::atn::ATN& getATN() const override { return _atn; };
  virtual const std::vector<std::string>& getTokenNames() const override { return _tokenNames; }; // deprecated: use vocabulary instead.
  virtual const std::vector<std::string>& getRuleNames() const override;
  virtual antlr4::dfa::Vocabulary& getVocabulary() const override;


  class StatementContext;
  class SectionElementContext;
  class DirectivePartContext;
  class TailContext;
  class OperandsContext;
  class GroupContext;
  class OpContext; 

  class  StatementContext : public antlr4::ParserRuleContext {
  public:
    StatementContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *DWARF_LINE();
    antlr4::tree::TerminalNode *VERSION();
    std::vector<antlr4::tree::TerminalNode *> NUMBER();
    antlr4::tree::TerminalNode* NUMBER(size_t i);
    antlr4::tree::TerminalNode *TARGET();
    std::vector<antlr4::tree::TerminalNode *> WORD();
    antlr4::tree::TerminalNode* WORD(size_t i);
    antlr4::tree::TerminalNode *ADDRESS_SIZE();
    antlr4::tree::TerminalNode *FILE();
    std::vector<antlr4::tree::TerminalNode *> STRING();
    antlr4::tree::TerminalNode* STRING(size_t i);
    antlr4::tree::TerminalNode *LOC();
    antlr4::tree::TerminalNode *SECTION();
    antlr4::tree::TerminalNode *DOT_WORD();
    std::vector<SectionElementContext *> sectionElement();
    SectionElementContext* sectionElement(size_t i);
    std::vector<DirectivePartContext *> directivePart();
    DirectivePartContext* directivePart(size_t i);
    TailContext *tail();

   
  };

  StatementContext* statement();

  class  SectionElementContext : public antlr4::ParserRuleContext {
  public:
    SectionElementContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *DOT_WORD();
    antlr4::tree::TerminalNode *WORD();
    antlr4::tree::TerminalNode *NUMBER();
    antlr4::tree::TerminalNode *STRING();

   
  };

  SectionElementContext* sectionElement();

  class  DirectivePartContext : public antlr4::ParserRuleContext {
  public:
    DirectivePartContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *DOT_WORD();
    antlr4::tree::TerminalNode *WORD();
    antlr4::tree::TerminalNode *NUMBER();
    antlr4::tree::TerminalNode *STRING();
    OpContext *op();
    OperandsContext *operands();

   
  };

  DirectivePartContext* directivePart();

  class  TailContext : public antlr4::ParserRuleContext {
  public:
    TailContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    OperandsContext *operands();
    antlr4::tree::TerminalNode *WORD();
    antlr4::tree::TerminalNode *NUMBER();
    antlr4::tree::TerminalNode *STRING();
    antlr4::tree::TerminalNode *DOT_WORD();
    OpContext *op();
    GroupContext *group();

   
  };

  TailContext* tail();

  class  OperandsContext : public antlr4::ParserRuleContext {
  public:
    OperandsContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<antlr4::tree::TerminalNode *> WORD();
    antlr4::tree::TerminalNode* WORD(size_t i);
    std::vector<antlr4::tree::TerminalNode *> NUMBER();
    antlr4::tree::TerminalNode* NUMBER(size_t i);
    std::vector<antlr4::tree::TerminalNode *> STRING();
    antlr4::tree::TerminalNode* STRING(size_t i);
    std::vector<antlr4::tree::TerminalNode *> DOT_WORD();
    antlr4::tree::TerminalNode* DOT_WORD(size_t i);
    std::vector<OpContext *> op();
    OpContext* op(size_t i);
    std::vector<GroupContext *> group();
    GroupContext* group(size_t i);

   
  };

  OperandsContext* operands();

  class  GroupContext : public antlr4::ParserRuleContext {
  public:
    GroupContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    OperandsContext *operands();

   
  };

  GroupContext* group();

  class  OpContext : public antlr4::ParserRuleContext {
  public:
    OpContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;

   
  };

  OpContext* op();


private:
  static std::vector<antlr4::dfa::DFA> _decisionToDFA;
  static antlr4::atn::PredictionContextCache _sharedContextCache;
  static std::vector<std::string> _ruleNames;
  static std::vector<std::string> _tokenNames;

  static std::vector<std::string> _literalNames;
  static std::vector<std::string> _symbolicNames;
  static antlr4::dfa::Vocabulary _vocabulary;
  static antlr4::atn::ATN _atn;
  static std::vector<uint16_t> _serializedATN;


  struct Initializer {
    Initializer();
  };
  static Initializer _init;
};

}  // namespace ptxasw_antlr
