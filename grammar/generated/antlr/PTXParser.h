
// Generated from PTX.g4 by ANTLR 4.7.2

#pragma once


#include "antlr4-runtime.h"


#include "grammar/builder.h"


namespace ptxasw_antlr {


class  PTXParser : public antlr4::Parser {
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

  enum {
    RuleStatement = 0, RuleSectionElement = 1, RuleDirective = 2, RuleSpecifier = 3, 
    RuleArguments = 4, RulePragma = 5, RuleTargetList = 6, RuleFunction = 7, 
    RuleFunctionName = 8, RuleAttribute = 9, RuleParameters = 10, RuleParameter = 11, 
    RulePerformance = 12, RulePerformanceValues = 13, RuleVariable = 14, 
    RuleRegisterCount = 15, RuleExtent = 16, RuleInstruction = 17, RuleOperands = 18, 
    RuleUnknownTail = 19, RuleUnknown = 20, RuleExpression = 21, RuleTerm = 22, 
    RuleApplication = 23, RuleBinaryOperator = 24
  };

  PTXParser(antlr4::TokenStream *input);
  ~PTXParser();

  virtual std::string getGrammarFileName() const override;
  virtual const antlr4::atn::ATN& getATN() const override { return _atn; };
  virtual const std::vector<std::string>& getTokenNames() const override { return _tokenNames; }; // deprecated: use vocabulary instead.
  virtual const std::vector<std::string>& getRuleNames() const override;
  virtual antlr4::dfa::Vocabulary& getVocabulary() const override;


  ptxasw::ptx::Builder *build = nullptr;

  // These hide what the base class does for trees and listeners, which is a third of its time.
  void enterRule(antlr4::ParserRuleContext *context, size_t state, size_t) override {
    setState(state);
    _ctx = context;
  }
  void enterOuterAlt(antlr4::ParserRuleContext *context, size_t) override { _ctx = context; }
  void exitRule() {
    setState(_ctx->invokingState);
    _ctx = static_cast<antlr4::ParserRuleContext *>(_ctx->parent);
  }


  class StatementContext;
  class SectionElementContext;
  class DirectiveContext;
  class SpecifierContext;
  class ArgumentsContext;
  class PragmaContext;
  class TargetListContext;
  class FunctionContext;
  class FunctionNameContext;
  class AttributeContext;
  class ParametersContext;
  class ParameterContext;
  class PerformanceContext;
  class PerformanceValuesContext;
  class VariableContext;
  class RegisterCountContext;
  class ExtentContext;
  class InstructionContext;
  class OperandsContext;
  class UnknownTailContext;
  class UnknownContext;
  class ExpressionContext;
  class TermContext;
  class ApplicationContext;
  class BinaryOperatorContext; 

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
    DirectiveContext *directive();
    InstructionContext *instruction();

   
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

  class  DirectiveContext : public antlr4::ParserRuleContext {
  public:
    DirectiveContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    PragmaContext *pragma();
    TargetListContext *targetList();
    antlr4::tree::TerminalNode *CALL_PROTOTYPE();
    antlr4::tree::TerminalNode *WORD();
    std::vector<ParametersContext *> parameters();
    ParametersContext* parameters(size_t i);
    std::vector<antlr4::tree::TerminalNode *> DOT_WORD();
    antlr4::tree::TerminalNode* DOT_WORD(size_t i);
    std::vector<antlr4::tree::TerminalNode *> NUMBER();
    antlr4::tree::TerminalNode* NUMBER(size_t i);
    FunctionContext *function();
    std::vector<SpecifierContext *> specifier();
    SpecifierContext* specifier(size_t i);
    std::vector<VariableContext *> variable();
    VariableContext* variable(size_t i);
    PerformanceValuesContext *performanceValues();
    std::vector<PerformanceContext *> performance();
    PerformanceContext* performance(size_t i);

   
  };

  DirectiveContext* directive();

  class  SpecifierContext : public antlr4::ParserRuleContext {
  public:
    SpecifierContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *DOT_WORD();
    antlr4::tree::TerminalNode *ALIGN();
    antlr4::tree::TerminalNode *NUMBER();
    antlr4::tree::TerminalNode *ATTRIBUTE();
    ArgumentsContext *arguments();

   
  };

  SpecifierContext* specifier();

  class  ArgumentsContext : public antlr4::ParserRuleContext {
  public:
    ArgumentsContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<antlr4::tree::TerminalNode *> DOT_WORD();
    antlr4::tree::TerminalNode* DOT_WORD(size_t i);
    std::vector<antlr4::tree::TerminalNode *> WORD();
    antlr4::tree::TerminalNode* WORD(size_t i);
    std::vector<antlr4::tree::TerminalNode *> NUMBER();
    antlr4::tree::TerminalNode* NUMBER(size_t i);
    std::vector<ArgumentsContext *> arguments();
    ArgumentsContext* arguments(size_t i);

   
  };

  ArgumentsContext* arguments();

  class  PragmaContext : public antlr4::ParserRuleContext {
  public:
    PragmaContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *PRAGMA();
    std::vector<antlr4::tree::TerminalNode *> STRING();
    antlr4::tree::TerminalNode* STRING(size_t i);

   
  };

  PragmaContext* pragma();

  class  TargetListContext : public antlr4::ParserRuleContext {
  public:
    TargetListContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<antlr4::tree::TerminalNode *> WORD();
    antlr4::tree::TerminalNode* WORD(size_t i);
    antlr4::tree::TerminalNode *BRANCH_TARGETS();
    antlr4::tree::TerminalNode *CALL_TARGETS();

   
  };

  TargetListContext* targetList();

  class  FunctionContext : public antlr4::ParserRuleContext {
  public:
    FunctionContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    FunctionNameContext *functionName();
    antlr4::tree::TerminalNode *ENTRY();
    antlr4::tree::TerminalNode *FUNC();
    std::vector<ParametersContext *> parameters();
    ParametersContext* parameters(size_t i);
    std::vector<PerformanceContext *> performance();
    PerformanceContext* performance(size_t i);
    std::vector<AttributeContext *> attribute();
    AttributeContext* attribute(size_t i);

   
  };

  FunctionContext* function();

  class  FunctionNameContext : public antlr4::ParserRuleContext {
  public:
    FunctionNameContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *WORD();

   
  };

  FunctionNameContext* functionName();

  class  AttributeContext : public antlr4::ParserRuleContext {
  public:
    AttributeContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *DOT_WORD();
    antlr4::tree::TerminalNode *ATTRIBUTE();
    ArgumentsContext *arguments();

   
  };

  AttributeContext* attribute();

  class  ParametersContext : public antlr4::ParserRuleContext {
  public:
    ParametersContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<ParameterContext *> parameter();
    ParameterContext* parameter(size_t i);

   
  };

  ParametersContext* parameters();

  class  ParameterContext : public antlr4::ParserRuleContext {
  public:
    ParameterContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *WORD();
    std::vector<SpecifierContext *> specifier();
    SpecifierContext* specifier(size_t i);
    std::vector<ExtentContext *> extent();
    ExtentContext* extent(size_t i);
    std::vector<RegisterCountContext *> registerCount();
    RegisterCountContext* registerCount(size_t i);
    std::vector<UnknownContext *> unknown();
    UnknownContext* unknown(size_t i);

   
  };

  ParameterContext* parameter();

  class  PerformanceContext : public antlr4::ParserRuleContext {
  public:
    PerformanceContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *DOT_WORD();
    PerformanceValuesContext *performanceValues();
    PragmaContext *pragma();

   
  };

  PerformanceContext* performance();

  class  PerformanceValuesContext : public antlr4::ParserRuleContext {
  public:
    PerformanceValuesContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<antlr4::tree::TerminalNode *> NUMBER();
    antlr4::tree::TerminalNode* NUMBER(size_t i);

   
  };

  PerformanceValuesContext* performanceValues();

  class  VariableContext : public antlr4::ParserRuleContext {
  public:
    VariableContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *WORD();
    RegisterCountContext *registerCount();
    std::vector<ExtentContext *> extent();
    ExtentContext* extent(size_t i);
    ExpressionContext *expression();
    std::vector<UnknownContext *> unknown();
    UnknownContext* unknown(size_t i);

   
  };

  VariableContext* variable();

  class  RegisterCountContext : public antlr4::ParserRuleContext {
  public:
    RegisterCountContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *NUMBER();

   
  };

  RegisterCountContext* registerCount();

  class  ExtentContext : public antlr4::ParserRuleContext {
  public:
    ExtentContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    ExpressionContext *expression();

   
  };

  ExtentContext* extent();

  class  InstructionContext : public antlr4::ParserRuleContext {
  public:
    InstructionContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<antlr4::tree::TerminalNode *> DOT_WORD();
    antlr4::tree::TerminalNode* DOT_WORD(size_t i);
    OperandsContext *operands();

   
  };

  InstructionContext* instruction();

  class  OperandsContext : public antlr4::ParserRuleContext {
  public:
    OperandsContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<ExpressionContext *> expression();
    ExpressionContext* expression(size_t i);
    std::vector<UnknownTailContext *> unknownTail();
    UnknownTailContext* unknownTail(size_t i);

   
  };

  OperandsContext* operands();

  class  UnknownTailContext : public antlr4::ParserRuleContext {
  public:
    UnknownTailContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<UnknownContext *> unknown();
    UnknownContext* unknown(size_t i);
    std::vector<OperandsContext *> operands();
    OperandsContext* operands(size_t i);

   
  };

  UnknownTailContext* unknownTail();

  class  UnknownContext : public antlr4::ParserRuleContext {
  public:
    UnknownContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *WORD();
    antlr4::tree::TerminalNode *NUMBER();
    antlr4::tree::TerminalNode *STRING();
    antlr4::tree::TerminalNode *DOT_WORD();

   
  };

  UnknownContext* unknown();

  class  ExpressionContext : public antlr4::ParserRuleContext {
  public:
    ExpressionContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<TermContext *> term();
    TermContext* term(size_t i);
    std::vector<BinaryOperatorContext *> binaryOperator();
    BinaryOperatorContext* binaryOperator(size_t i);
    std::vector<ExpressionContext *> expression();
    ExpressionContext* expression(size_t i);

   
  };

  ExpressionContext* expression();

  class  TermContext : public antlr4::ParserRuleContext {
  public:
    TermContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    antlr4::tree::TerminalNode *WORD();
    antlr4::tree::TerminalNode *NUMBER();
    antlr4::tree::TerminalNode *STRING();
    antlr4::tree::TerminalNode *DOT_WORD();
    TermContext *term();
    ApplicationContext *application();
    OperandsContext *operands();

   
  };

  TermContext* term();

  class  ApplicationContext : public antlr4::ParserRuleContext {
  public:
    ApplicationContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;
    std::vector<ExpressionContext *> expression();
    ExpressionContext* expression(size_t i);

   
  };

  ApplicationContext* application();

  class  BinaryOperatorContext : public antlr4::ParserRuleContext {
  public:
    BinaryOperatorContext(antlr4::ParserRuleContext *parent, size_t invokingState);
    virtual size_t getRuleIndex() const override;

   
  };

  BinaryOperatorContext* binaryOperator();


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
