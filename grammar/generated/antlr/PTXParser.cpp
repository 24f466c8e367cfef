
// Generated from PTX.g4 by ANTLR 4.7.2



#include "PTXParser.h"


#include "grammar/builder.h"


using namespace antlrcpp;
using namespace ptxasw_antlr;
using namespace antlr4;

PTXParser::PTXParser(TokenStream *input) : Parser(input) {
  _interpreter = new atn::ParserATNSimulator(this, _atn, _decisionToDFA, _sharedContextCache);
}

PTXParser::~PTXParser() {
  delete _interpreter;
}

std::string PTXParser::getGrammarFileName() const {
  return "PTX.g4";
}

const std::vector<std::string>& PTXParser::getRuleNames() const {
  return _ruleNames;
}

dfa::Vocabulary& PTXParser::getVocabulary() const {
  return _vocabulary;
}


//----------------- StatementContext ------------------------------------------------------------------

PTXParser::StatementContext::StatementContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::StatementContext::DWARF_LINE() {
  return getToken(PTXParser::DWARF_LINE, 0);
}

tree::TerminalNode* PTXParser::StatementContext::VERSION() {
  return getToken(PTXParser::VERSION, 0);
}

std::vector<tree::TerminalNode *> PTXParser::StatementContext::NUMBER() {
  return getTokens(PTXParser::NUMBER);
}

tree::TerminalNode* PTXParser::StatementContext::NUMBER(size_t i) {
  return getToken(PTXParser::NUMBER, i);
}

tree::TerminalNode* PTXParser::StatementContext::TARGET() {
  return getToken(PTXParser::TARGET, 0);
}

std::vector<tree::TerminalNode *> PTXParser::StatementContext::WORD() {
  return getTokens(PTXParser::WORD);
}

tree::TerminalNode* PTXParser::StatementContext::WORD(size_t i) {
  return getToken(PTXParser::WORD, i);
}

tree::TerminalNode* PTXParser::StatementContext::ADDRESS_SIZE() {
  return getToken(PTXParser::ADDRESS_SIZE, 0);
}

tree::TerminalNode* PTXParser::StatementContext::FILE() {
  return getToken(PTXParser::FILE, 0);
}

std::vector<tree::TerminalNode *> PTXParser::StatementContext::STRING() {
  return getTokens(PTXParser::STRING);
}

tree::TerminalNode* PTXParser::StatementContext::STRING(size_t i) {
  return getToken(PTXParser::STRING, i);
}

tree::TerminalNode* PTXParser::StatementContext::LOC() {
  return getToken(PTXParser::LOC, 0);
}

tree::TerminalNode* PTXParser::StatementContext::SECTION() {
  return getToken(PTXParser::SECTION, 0);
}

tree::TerminalNode* PTXParser::StatementContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

std::vector<PTXParser::SectionElementContext *> PTXParser::StatementContext::sectionElement() {
  return getRuleContexts<PTXParser::SectionElementContext>();
}

PTXParser::SectionElementContext* PTXParser::StatementContext::sectionElement(size_t i) {
  return getRuleContext<PTXParser::SectionElementContext>(i);
}

PTXParser::DirectiveContext* PTXParser::StatementContext::directive() {
  return getRuleContext<PTXParser::DirectiveContext>(0);
}

PTXParser::InstructionContext* PTXParser::StatementContext::instruction() {
  return getRuleContext<PTXParser::InstructionContext>(0);
}


size_t PTXParser::StatementContext::getRuleIndex() const {
  return PTXParser::RuleStatement;
}


PTXParser::StatementContext* PTXParser::statement() {
  StatementContext *_localctx = _tracker.createInstance<StatementContext>(_ctx, getState());
  enterRule(_localctx, 0, PTXParser::RuleStatement);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    setState(141);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::T__0: {
        enterOuterAlt(_localctx, 1);
        setState(50);
        match(PTXParser::T__0);
         build->open_brace(); 
        break;
      }

      case PTXParser::T__1: {
        enterOuterAlt(_localctx, 2);
        setState(52);
        match(PTXParser::T__1);
         build->close_brace(); 
        break;
      }

      case PTXParser::T__2: {
        enterOuterAlt(_localctx, 3);
        setState(54);
        match(PTXParser::T__2);
        break;
      }

      case PTXParser::DWARF_LINE: {
        enterOuterAlt(_localctx, 4);
        setState(55);
        match(PTXParser::DWARF_LINE);
        break;
      }

      case PTXParser::VERSION: {
        enterOuterAlt(_localctx, 5);
        setState(56);
        match(PTXParser::VERSION);
        setState(57);
        match(PTXParser::NUMBER);
         build->version(); 
        break;
      }

      case PTXParser::TARGET: {
        enterOuterAlt(_localctx, 6);
        setState(59);
        match(PTXParser::TARGET);
        setState(60);
        match(PTXParser::WORD);
         build->target(); 
        setState(67);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(62);
          match(PTXParser::T__3);
          setState(63);
          match(PTXParser::WORD);
           build->target_option(); 
          setState(69);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        break;
      }

      case PTXParser::ADDRESS_SIZE: {
        enterOuterAlt(_localctx, 7);
        setState(70);
        match(PTXParser::ADDRESS_SIZE);
        setState(71);
        match(PTXParser::NUMBER);
         build->address_size(); 
        break;
      }

      case PTXParser::FILE: {
        enterOuterAlt(_localctx, 8);
        setState(73);
        match(PTXParser::FILE);
        setState(74);
        match(PTXParser::NUMBER);
        setState(75);
        match(PTXParser::STRING);
        setState(80);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(76);
          match(PTXParser::T__3);
          setState(77);
          match(PTXParser::NUMBER);
          setState(82);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
         build->file(); 
        break;
      }

      case PTXParser::LOC: {
        enterOuterAlt(_localctx, 9);
        setState(84);
        match(PTXParser::LOC);
        setState(85);
        match(PTXParser::NUMBER);
        setState(86);
        match(PTXParser::NUMBER);
        setState(87);
        match(PTXParser::NUMBER);
        setState(102);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(88);
          match(PTXParser::T__3);
          setState(89);
          match(PTXParser::WORD);
          setState(98);
          _errHandler->sync(this);
          switch (_input->LA(1)) {
            case PTXParser::WORD: {
              setState(90);
              match(PTXParser::WORD);
              setState(93);
              _errHandler->sync(this);

              _la = _input->LA(1);
              if (_la == PTXParser::T__4) {
                setState(91);
                match(PTXParser::T__4);
                setState(92);
                match(PTXParser::NUMBER);
              }
              break;
            }

            case PTXParser::NUMBER: {
              setState(95);
              match(PTXParser::NUMBER);
              setState(96);
              match(PTXParser::NUMBER);
              setState(97);
              match(PTXParser::NUMBER);
              break;
            }

          default:
            throw NoViableAltException(this);
          }
          setState(104);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
         build->location(); 
        break;
      }

      case PTXParser::SECTION: {
        enterOuterAlt(_localctx, 10);
        setState(106);
        match(PTXParser::SECTION);
        setState(107);
        _la = _input->LA(1);
        if (!(_la == PTXParser::WORD

        || _la == PTXParser::DOT_WORD)) {
        _errHandler->recoverInline(this);
        }
        else {
          _errHandler->reportMatch(this);
          consume();
        }
        setState(112);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(108);
          match(PTXParser::T__3);
          setState(109);
          _la = _input->LA(1);
          if (!(_la == PTXParser::WORD

          || _la == PTXParser::STRING)) {
          _errHandler->recoverInline(this);
          }
          else {
            _errHandler->reportMatch(this);
            consume();
          }
          setState(114);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        setState(115);
        match(PTXParser::T__0);
        setState(119);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while ((((_la & ~ 0x3fULL) == 0) &&
          ((1ULL << _la) & ((1ULL << PTXParser::T__3)
          | (1ULL << PTXParser::T__4)
          | (1ULL << PTXParser::T__7)
          | (1ULL << PTXParser::T__8)
          | (1ULL << PTXParser::T__9)
          | (1ULL << PTXParser::T__10)
          | (1ULL << PTXParser::WORD)
          | (1ULL << PTXParser::NUMBER)
          | (1ULL << PTXParser::DOT_WORD)
          | (1ULL << PTXParser::STRING))) != 0)) {
          setState(116);
          sectionElement();
          setState(121);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        setState(122);
        match(PTXParser::T__1);
        break;
      }

      case PTXParser::ENTRY:
      case PTXParser::FUNC:
      case PTXParser::ALIGN:
      case PTXParser::ATTRIBUTE:
      case PTXParser::PRAGMA:
      case PTXParser::BRANCH_TARGETS:
      case PTXParser::CALL_TARGETS:
      case PTXParser::CALL_PROTOTYPE:
      case PTXParser::DOT_WORD: {
        enterOuterAlt(_localctx, 11);
        setState(123);
        directive();
         build->end_directive(); 
        break;
      }

      case PTXParser::T__5: {
        enterOuterAlt(_localctx, 12);
        setState(126);
        match(PTXParser::T__5);
        setState(129);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__6) {
          setState(127);
          match(PTXParser::T__6);
           build->negate_guard(); 
        }
        setState(131);
        match(PTXParser::WORD);
         build->guard(); 
        setState(133);
        match(PTXParser::WORD);
        setState(134);
        instruction();
        break;
      }

      case PTXParser::WORD: {
        enterOuterAlt(_localctx, 13);
        setState(135);
        match(PTXParser::WORD);
        setState(139);
        _errHandler->sync(this);
        switch (_input->LA(1)) {
          case PTXParser::T__7: {
            setState(136);
            match(PTXParser::T__7);
             build->label(); 
            break;
          }

          case PTXParser::T__0:
          case PTXParser::T__2:
          case PTXParser::T__3:
          case PTXParser::T__4:
          case PTXParser::T__6:
          case PTXParser::T__8:
          case PTXParser::T__9:
          case PTXParser::T__14:
          case PTXParser::T__16:
          case PTXParser::WORD:
          case PTXParser::NUMBER:
          case PTXParser::DOT_WORD:
          case PTXParser::STRING: {
            setState(138);
            instruction();
            break;
          }

        default:
          throw NoViableAltException(this);
        }
        break;
      }

    default:
      throw NoViableAltException(this);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- SectionElementContext ------------------------------------------------------------------

PTXParser::SectionElementContext::SectionElementContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::SectionElementContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

tree::TerminalNode* PTXParser::SectionElementContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

tree::TerminalNode* PTXParser::SectionElementContext::NUMBER() {
  return getToken(PTXParser::NUMBER, 0);
}

tree::TerminalNode* PTXParser::SectionElementContext::STRING() {
  return getToken(PTXParser::STRING, 0);
}


size_t PTXParser::SectionElementContext::getRuleIndex() const {
  return PTXParser::RuleSectionElement;
}


PTXParser::SectionElementContext* PTXParser::sectionElement() {
  SectionElementContext *_localctx = _tracker.createInstance<SectionElementContext>(_ctx, getState());
  enterRule(_localctx, 2, PTXParser::RuleSectionElement);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(143);
    _la = _input->LA(1);
    if (!((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__3)
      | (1ULL << PTXParser::T__4)
      | (1ULL << PTXParser::T__7)
      | (1ULL << PTXParser::T__8)
      | (1ULL << PTXParser::T__9)
      | (1ULL << PTXParser::T__10)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::DOT_WORD)
      | (1ULL << PTXParser::STRING))) != 0))) {
    _errHandler->recoverInline(this);
    }
    else {
      _errHandler->reportMatch(this);
      consume();
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- DirectiveContext ------------------------------------------------------------------

PTXParser::DirectiveContext::DirectiveContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

PTXParser::PragmaContext* PTXParser::DirectiveContext::pragma() {
  return getRuleContext<PTXParser::PragmaContext>(0);
}

PTXParser::TargetListContext* PTXParser::DirectiveContext::targetList() {
  return getRuleContext<PTXParser::TargetListContext>(0);
}

tree::TerminalNode* PTXParser::DirectiveContext::CALL_PROTOTYPE() {
  return getToken(PTXParser::CALL_PROTOTYPE, 0);
}

tree::TerminalNode* PTXParser::DirectiveContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

std::vector<PTXParser::ParametersContext *> PTXParser::DirectiveContext::parameters() {
  return getRuleContexts<PTXParser::ParametersContext>();
}

PTXParser::ParametersContext* PTXParser::DirectiveContext::parameters(size_t i) {
  return getRuleContext<PTXParser::ParametersContext>(i);
}

std::vector<tree::TerminalNode *> PTXParser::DirectiveContext::DOT_WORD() {
  return getTokens(PTXParser::DOT_WORD);
}

tree::TerminalNode* PTXParser::DirectiveContext::DOT_WORD(size_t i) {
  return getToken(PTXParser::DOT_WORD, i);
}

std::vector<tree::TerminalNode *> PTXParser::DirectiveContext::NUMBER() {
  return getTokens(PTXParser::NUMBER);
}

tree::TerminalNode* PTXParser::DirectiveContext::NUMBER(size_t i) {
  return getToken(PTXParser::NUMBER, i);
}

PTXParser::FunctionContext* PTXParser::DirectiveContext::function() {
  return getRuleContext<PTXParser::FunctionContext>(0);
}

std::vector<PTXParser::SpecifierContext *> PTXParser::DirectiveContext::specifier() {
  return getRuleContexts<PTXParser::SpecifierContext>();
}

PTXParser::SpecifierContext* PTXParser::DirectiveContext::specifier(size_t i) {
  return getRuleContext<PTXParser::SpecifierContext>(i);
}

std::vector<PTXParser::VariableContext *> PTXParser::DirectiveContext::variable() {
  return getRuleContexts<PTXParser::VariableContext>();
}

PTXParser::VariableContext* PTXParser::DirectiveContext::variable(size_t i) {
  return getRuleContext<PTXParser::VariableContext>(i);
}

PTXParser::PerformanceValuesContext* PTXParser::DirectiveContext::performanceValues() {
  return getRuleContext<PTXParser::PerformanceValuesContext>(0);
}

std::vector<PTXParser::PerformanceContext *> PTXParser::DirectiveContext::performance() {
  return getRuleContexts<PTXParser::PerformanceContext>();
}

PTXParser::PerformanceContext* PTXParser::DirectiveContext::performance(size_t i) {
  return getRuleContext<PTXParser::PerformanceContext>(i);
}


size_t PTXParser::DirectiveContext::getRuleIndex() const {
  return PTXParser::RuleDirective;
}


PTXParser::DirectiveContext* PTXParser::directive() {
  DirectiveContext *_localctx = _tracker.createInstance<DirectiveContext>(_ctx, getState());
  enterRule(_localctx, 4, PTXParser::RuleDirective);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    setState(203);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::PRAGMA: {
        enterOuterAlt(_localctx, 1);
        setState(145);
        pragma();
        setState(147);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__2) {
          setState(146);
          match(PTXParser::T__2);
        }
        break;
      }

      case PTXParser::BRANCH_TARGETS:
      case PTXParser::CALL_TARGETS: {
        enterOuterAlt(_localctx, 2);
        setState(149);
        targetList();
        setState(151);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__2) {
          setState(150);
          match(PTXParser::T__2);
        }
        break;
      }

      case PTXParser::CALL_PROTOTYPE: {
        enterOuterAlt(_localctx, 3);
        setState(153);
        match(PTXParser::CALL_PROTOTYPE);
        setState(155);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__9) {
          setState(154);
          parameters();
        }
        setState(157);
        match(PTXParser::WORD);
        setState(159);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__9) {
          setState(158);
          parameters();
        }
        setState(167);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::DOT_WORD) {
          setState(161);
          match(PTXParser::DOT_WORD);
          setState(163);
          _errHandler->sync(this);

          _la = _input->LA(1);
          if (_la == PTXParser::NUMBER) {
            setState(162);
            match(PTXParser::NUMBER);
          }
          setState(169);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        setState(171);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__2) {
          setState(170);
          match(PTXParser::T__2);
        }
        break;
      }

      case PTXParser::ENTRY:
      case PTXParser::FUNC: {
        enterOuterAlt(_localctx, 4);
        setState(173);
        function();
        setState(175);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__2) {
          setState(174);
          match(PTXParser::T__2);
        }
        break;
      }

      case PTXParser::ALIGN:
      case PTXParser::ATTRIBUTE:
      case PTXParser::DOT_WORD: {
        enterOuterAlt(_localctx, 5);
        setState(178); 
        _errHandler->sync(this);
        _la = _input->LA(1);
        do {
          setState(177);
          specifier();
          setState(180); 
          _errHandler->sync(this);
          _la = _input->LA(1);
        } while ((((_la & ~ 0x3fULL) == 0) &&
          ((1ULL << _la) & ((1ULL << PTXParser::ALIGN)
          | (1ULL << PTXParser::ATTRIBUTE)
          | (1ULL << PTXParser::DOT_WORD))) != 0));
        setState(198);
        _errHandler->sync(this);
        switch (_input->LA(1)) {
          case PTXParser::ENTRY:
          case PTXParser::FUNC: {
            setState(182);
            function();
            break;
          }

          case PTXParser::WORD: {
            setState(183);
            variable();
            setState(188);
            _errHandler->sync(this);
            _la = _input->LA(1);
            while (_la == PTXParser::T__3) {
              setState(184);
              match(PTXParser::T__3);
              setState(185);
              variable();
              setState(190);
              _errHandler->sync(this);
              _la = _input->LA(1);
            }
            break;
          }

          case PTXParser::NUMBER: {
            setState(191);
            performanceValues();
            setState(195);
            _errHandler->sync(this);
            _la = _input->LA(1);
            while (_la == PTXParser::PRAGMA

            || _la == PTXParser::DOT_WORD) {
              setState(192);
              performance();
              setState(197);
              _errHandler->sync(this);
              _la = _input->LA(1);
            }
            break;
          }

          case PTXParser::EOF:
          case PTXParser::T__2: {
            break;
          }

        default:
          break;
        }
        setState(201);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__2) {
          setState(200);
          match(PTXParser::T__2);
        }
        break;
      }

    default:
      throw NoViableAltException(this);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- SpecifierContext ------------------------------------------------------------------

PTXParser::SpecifierContext::SpecifierContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::SpecifierContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

tree::TerminalNode* PTXParser::SpecifierContext::ALIGN() {
  return getToken(PTXParser::ALIGN, 0);
}

tree::TerminalNode* PTXParser::SpecifierContext::NUMBER() {
  return getToken(PTXParser::NUMBER, 0);
}

tree::TerminalNode* PTXParser::SpecifierContext::ATTRIBUTE() {
  return getToken(PTXParser::ATTRIBUTE, 0);
}

PTXParser::ArgumentsContext* PTXParser::SpecifierContext::arguments() {
  return getRuleContext<PTXParser::ArgumentsContext>(0);
}


size_t PTXParser::SpecifierContext::getRuleIndex() const {
  return PTXParser::RuleSpecifier;
}


PTXParser::SpecifierContext* PTXParser::specifier() {
  SpecifierContext *_localctx = _tracker.createInstance<SpecifierContext>(_ctx, getState());
  enterRule(_localctx, 6, PTXParser::RuleSpecifier);

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    setState(212);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::DOT_WORD: {
        enterOuterAlt(_localctx, 1);
        setState(205);
        match(PTXParser::DOT_WORD);
         build->specifier(); 
        break;
      }

      case PTXParser::ALIGN: {
        enterOuterAlt(_localctx, 2);
        setState(207);
        match(PTXParser::ALIGN);
        setState(208);
        match(PTXParser::NUMBER);
         build->alignment(); 
        break;
      }

      case PTXParser::ATTRIBUTE: {
        enterOuterAlt(_localctx, 3);
        setState(210);
        match(PTXParser::ATTRIBUTE);
        setState(211);
        arguments();
        break;
      }

    default:
      throw NoViableAltException(this);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- ArgumentsContext ------------------------------------------------------------------

PTXParser::ArgumentsContext::ArgumentsContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<tree::TerminalNode *> PTXParser::ArgumentsContext::DOT_WORD() {
  return getTokens(PTXParser::DOT_WORD);
}

tree::TerminalNode* PTXParser::ArgumentsContext::DOT_WORD(size_t i) {
  return getToken(PTXParser::DOT_WORD, i);
}

std::vector<tree::TerminalNode *> PTXParser::ArgumentsContext::WORD() {
  return getTokens(PTXParser::WORD);
}

tree::TerminalNode* PTXParser::ArgumentsContext::WORD(size_t i) {
  return getToken(PTXParser::WORD, i);
}

std::vector<tree::TerminalNode *> PTXParser::ArgumentsContext::NUMBER() {
  return getTokens(PTXParser::NUMBER);
}

tree::TerminalNode* PTXParser::ArgumentsContext::NUMBER(size_t i) {
  return getToken(PTXParser::NUMBER, i);
}

std::vector<PTXParser::ArgumentsContext *> PTXParser::ArgumentsContext::arguments() {
  return getRuleContexts<PTXParser::ArgumentsContext>();
}

PTXParser::ArgumentsContext* PTXParser::ArgumentsContext::arguments(size_t i) {
  return getRuleContext<PTXParser::ArgumentsContext>(i);
}


size_t PTXParser::ArgumentsContext::getRuleIndex() const {
  return PTXParser::RuleArguments;
}


PTXParser::ArgumentsContext* PTXParser::arguments() {
  ArgumentsContext *_localctx = _tracker.createInstance<ArgumentsContext>(_ctx, getState());
  enterRule(_localctx, 8, PTXParser::RuleArguments);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(214);
    match(PTXParser::T__9);
    setState(222);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__3)
      | (1ULL << PTXParser::T__9)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::DOT_WORD))) != 0)) {
      setState(220);
      _errHandler->sync(this);
      switch (_input->LA(1)) {
        case PTXParser::DOT_WORD: {
          setState(215);
          match(PTXParser::DOT_WORD);
          break;
        }

        case PTXParser::WORD: {
          setState(216);
          match(PTXParser::WORD);
          break;
        }

        case PTXParser::NUMBER: {
          setState(217);
          match(PTXParser::NUMBER);
          break;
        }

        case PTXParser::T__3: {
          setState(218);
          match(PTXParser::T__3);
          break;
        }

        case PTXParser::T__9: {
          setState(219);
          arguments();
          break;
        }

      default:
        throw NoViableAltException(this);
      }
      setState(224);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
    setState(225);
    match(PTXParser::T__10);
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- PragmaContext ------------------------------------------------------------------

PTXParser::PragmaContext::PragmaContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::PragmaContext::PRAGMA() {
  return getToken(PTXParser::PRAGMA, 0);
}

std::vector<tree::TerminalNode *> PTXParser::PragmaContext::STRING() {
  return getTokens(PTXParser::STRING);
}

tree::TerminalNode* PTXParser::PragmaContext::STRING(size_t i) {
  return getToken(PTXParser::STRING, i);
}


size_t PTXParser::PragmaContext::getRuleIndex() const {
  return PTXParser::RulePragma;
}


PTXParser::PragmaContext* PTXParser::pragma() {
  PragmaContext *_localctx = _tracker.createInstance<PragmaContext>(_ctx, getState());
  enterRule(_localctx, 10, PTXParser::RulePragma);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(227);
    match(PTXParser::PRAGMA);
     build->begin_pragma(); 
    setState(229);
    match(PTXParser::STRING);
     build->pragma(); 
    setState(236);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::T__3) {
      setState(231);
      match(PTXParser::T__3);
      setState(232);
      match(PTXParser::STRING);
       build->pragma(); 
      setState(238);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- TargetListContext ------------------------------------------------------------------

PTXParser::TargetListContext::TargetListContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<tree::TerminalNode *> PTXParser::TargetListContext::WORD() {
  return getTokens(PTXParser::WORD);
}

tree::TerminalNode* PTXParser::TargetListContext::WORD(size_t i) {
  return getToken(PTXParser::WORD, i);
}

tree::TerminalNode* PTXParser::TargetListContext::BRANCH_TARGETS() {
  return getToken(PTXParser::BRANCH_TARGETS, 0);
}

tree::TerminalNode* PTXParser::TargetListContext::CALL_TARGETS() {
  return getToken(PTXParser::CALL_TARGETS, 0);
}


size_t PTXParser::TargetListContext::getRuleIndex() const {
  return PTXParser::RuleTargetList;
}


PTXParser::TargetListContext* PTXParser::targetList() {
  TargetListContext *_localctx = _tracker.createInstance<TargetListContext>(_ctx, getState());
  enterRule(_localctx, 12, PTXParser::RuleTargetList);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(239);
    _la = _input->LA(1);
    if (!(_la == PTXParser::BRANCH_TARGETS

    || _la == PTXParser::CALL_TARGETS)) {
    _errHandler->recoverInline(this);
    }
    else {
      _errHandler->reportMatch(this);
      consume();
    }
     build->begin_target_list(); 
    setState(241);
    match(PTXParser::WORD);
     build->target_label(); 
    setState(248);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::T__3) {
      setState(243);
      match(PTXParser::T__3);
      setState(244);
      match(PTXParser::WORD);
       build->target_label(); 
      setState(250);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- FunctionContext ------------------------------------------------------------------

PTXParser::FunctionContext::FunctionContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

PTXParser::FunctionNameContext* PTXParser::FunctionContext::functionName() {
  return getRuleContext<PTXParser::FunctionNameContext>(0);
}

tree::TerminalNode* PTXParser::FunctionContext::ENTRY() {
  return getToken(PTXParser::ENTRY, 0);
}

tree::TerminalNode* PTXParser::FunctionContext::FUNC() {
  return getToken(PTXParser::FUNC, 0);
}

std::vector<PTXParser::ParametersContext *> PTXParser::FunctionContext::parameters() {
  return getRuleContexts<PTXParser::ParametersContext>();
}

PTXParser::ParametersContext* PTXParser::FunctionContext::parameters(size_t i) {
  return getRuleContext<PTXParser::ParametersContext>(i);
}

std::vector<PTXParser::PerformanceContext *> PTXParser::FunctionContext::performance() {
  return getRuleContexts<PTXParser::PerformanceContext>();
}

PTXParser::PerformanceContext* PTXParser::FunctionContext::performance(size_t i) {
  return getRuleContext<PTXParser::PerformanceContext>(i);
}

std::vector<PTXParser::AttributeContext *> PTXParser::FunctionContext::attribute() {
  return getRuleContexts<PTXParser::AttributeContext>();
}

PTXParser::AttributeContext* PTXParser::FunctionContext::attribute(size_t i) {
  return getRuleContext<PTXParser::AttributeContext>(i);
}


size_t PTXParser::FunctionContext::getRuleIndex() const {
  return PTXParser::RuleFunction;
}


PTXParser::FunctionContext* PTXParser::function() {
  FunctionContext *_localctx = _tracker.createInstance<FunctionContext>(_ctx, getState());
  enterRule(_localctx, 14, PTXParser::RuleFunction);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(272);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::ENTRY: {
        setState(251);
        match(PTXParser::ENTRY);
         build->begin_function(true); 
        setState(256);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::ATTRIBUTE

        || _la == PTXParser::DOT_WORD) {
          setState(253);
          attribute();
          setState(258);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        break;
      }

      case PTXParser::FUNC: {
        setState(259);
        match(PTXParser::FUNC);
         build->begin_function(false); 
        setState(264);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::ATTRIBUTE

        || _la == PTXParser::DOT_WORD) {
          setState(261);
          attribute();
          setState(266);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        setState(270);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__9) {
          setState(267);
          parameters();
           build->return_parameters(); 
        }
        break;
      }

    default:
      throw NoViableAltException(this);
    }
    setState(274);
    functionName();
     build->function_name(); 
    setState(279);
    _errHandler->sync(this);

    _la = _input->LA(1);
    if (_la == PTXParser::T__9) {
      setState(276);
      parameters();
       build->parameters(); 
    }
    setState(284);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::PRAGMA

    || _la == PTXParser::DOT_WORD) {
      setState(281);
      performance();
      setState(286);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- FunctionNameContext ------------------------------------------------------------------

PTXParser::FunctionNameContext::FunctionNameContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::FunctionNameContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}


size_t PTXParser::FunctionNameContext::getRuleIndex() const {
  return PTXParser::RuleFunctionName;
}


PTXParser::FunctionNameContext* PTXParser::functionName() {
  FunctionNameContext *_localctx = _tracker.createInstance<FunctionNameContext>(_ctx, getState());
  enterRule(_localctx, 16, PTXParser::RuleFunctionName);

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(287);
    match(PTXParser::WORD);
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- AttributeContext ------------------------------------------------------------------

PTXParser::AttributeContext::AttributeContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::AttributeContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

tree::TerminalNode* PTXParser::AttributeContext::ATTRIBUTE() {
  return getToken(PTXParser::ATTRIBUTE, 0);
}

PTXParser::ArgumentsContext* PTXParser::AttributeContext::arguments() {
  return getRuleContext<PTXParser::ArgumentsContext>(0);
}


size_t PTXParser::AttributeContext::getRuleIndex() const {
  return PTXParser::RuleAttribute;
}


PTXParser::AttributeContext* PTXParser::attribute() {
  AttributeContext *_localctx = _tracker.createInstance<AttributeContext>(_ctx, getState());
  enterRule(_localctx, 18, PTXParser::RuleAttribute);

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    setState(292);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::DOT_WORD: {
        enterOuterAlt(_localctx, 1);
        setState(289);
        match(PTXParser::DOT_WORD);
        break;
      }

      case PTXParser::ATTRIBUTE: {
        enterOuterAlt(_localctx, 2);
        setState(290);
        match(PTXParser::ATTRIBUTE);
        setState(291);
        arguments();
        break;
      }

    default:
      throw NoViableAltException(this);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- ParametersContext ------------------------------------------------------------------

PTXParser::ParametersContext::ParametersContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<PTXParser::ParameterContext *> PTXParser::ParametersContext::parameter() {
  return getRuleContexts<PTXParser::ParameterContext>();
}

PTXParser::ParameterContext* PTXParser::ParametersContext::parameter(size_t i) {
  return getRuleContext<PTXParser::ParameterContext>(i);
}


size_t PTXParser::ParametersContext::getRuleIndex() const {
  return PTXParser::RuleParameters;
}


PTXParser::ParametersContext* PTXParser::parameters() {
  ParametersContext *_localctx = _tracker.createInstance<ParametersContext>(_ctx, getState());
  enterRule(_localctx, 20, PTXParser::RuleParameters);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(294);
    match(PTXParser::T__9);
    setState(303);
    _errHandler->sync(this);

    _la = _input->LA(1);
    if ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::ALIGN)
      | (1ULL << PTXParser::ATTRIBUTE)
      | (1ULL << PTXParser::DOT_WORD))) != 0)) {
      setState(295);
      parameter();
      setState(300);
      _errHandler->sync(this);
      _la = _input->LA(1);
      while (_la == PTXParser::T__3) {
        setState(296);
        match(PTXParser::T__3);
        setState(297);
        parameter();
        setState(302);
        _errHandler->sync(this);
        _la = _input->LA(1);
      }
    }
    setState(305);
    match(PTXParser::T__10);
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- ParameterContext ------------------------------------------------------------------

PTXParser::ParameterContext::ParameterContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::ParameterContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

std::vector<PTXParser::SpecifierContext *> PTXParser::ParameterContext::specifier() {
  return getRuleContexts<PTXParser::SpecifierContext>();
}

PTXParser::SpecifierContext* PTXParser::ParameterContext::specifier(size_t i) {
  return getRuleContext<PTXParser::SpecifierContext>(i);
}

std::vector<PTXParser::ExtentContext *> PTXParser::ParameterContext::extent() {
  return getRuleContexts<PTXParser::ExtentContext>();
}

PTXParser::ExtentContext* PTXParser::ParameterContext::extent(size_t i) {
  return getRuleContext<PTXParser::ExtentContext>(i);
}

std::vector<PTXParser::RegisterCountContext *> PTXParser::ParameterContext::registerCount() {
  return getRuleContexts<PTXParser::RegisterCountContext>();
}

PTXParser::RegisterCountContext* PTXParser::ParameterContext::registerCount(size_t i) {
  return getRuleContext<PTXParser::RegisterCountContext>(i);
}

std::vector<PTXParser::UnknownContext *> PTXParser::ParameterContext::unknown() {
  return getRuleContexts<PTXParser::UnknownContext>();
}

PTXParser::UnknownContext* PTXParser::ParameterContext::unknown(size_t i) {
  return getRuleContext<PTXParser::UnknownContext>(i);
}


size_t PTXParser::ParameterContext::getRuleIndex() const {
  return PTXParser::RuleParameter;
}


PTXParser::ParameterContext* PTXParser::parameter() {
  ParameterContext *_localctx = _tracker.createInstance<ParameterContext>(_ctx, getState());
  enterRule(_localctx, 22, PTXParser::RuleParameter);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(308); 
    _errHandler->sync(this);
    _la = _input->LA(1);
    do {
      setState(307);
      specifier();
      setState(310); 
      _errHandler->sync(this);
      _la = _input->LA(1);
    } while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::ALIGN)
      | (1ULL << PTXParser::ATTRIBUTE)
      | (1ULL << PTXParser::DOT_WORD))) != 0));
    setState(312);
    match(PTXParser::WORD);
     build->begin_parameter(); 
    setState(319);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__7)
      | (1ULL << PTXParser::T__12)
      | (1ULL << PTXParser::T__14)
      | (1ULL << PTXParser::T__16)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::DOT_WORD)
      | (1ULL << PTXParser::STRING))) != 0)) {
      setState(317);
      _errHandler->sync(this);
      switch (_input->LA(1)) {
        case PTXParser::T__14: {
          setState(314);
          extent();
          break;
        }

        case PTXParser::T__12: {
          setState(315);
          registerCount();
          break;
        }

        case PTXParser::T__7:
        case PTXParser::T__16:
        case PTXParser::WORD:
        case PTXParser::NUMBER:
        case PTXParser::DOT_WORD:
        case PTXParser::STRING: {
          setState(316);
          unknown();
          break;
        }

      default:
        throw NoViableAltException(this);
      }
      setState(321);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
     build->end_parameter(); 
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- PerformanceContext ------------------------------------------------------------------

PTXParser::PerformanceContext::PerformanceContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::PerformanceContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

PTXParser::PerformanceValuesContext* PTXParser::PerformanceContext::performanceValues() {
  return getRuleContext<PTXParser::PerformanceValuesContext>(0);
}

PTXParser::PragmaContext* PTXParser::PerformanceContext::pragma() {
  return getRuleContext<PTXParser::PragmaContext>(0);
}


size_t PTXParser::PerformanceContext::getRuleIndex() const {
  return PTXParser::RulePerformance;
}


PTXParser::PerformanceContext* PTXParser::performance() {
  PerformanceContext *_localctx = _tracker.createInstance<PerformanceContext>(_ctx, getState());
  enterRule(_localctx, 24, PTXParser::RulePerformance);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    setState(330);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::DOT_WORD: {
        enterOuterAlt(_localctx, 1);
        setState(324);
        match(PTXParser::DOT_WORD);
         build->performance(); 
        setState(327);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::NUMBER) {
          setState(326);
          performanceValues();
        }
        break;
      }

      case PTXParser::PRAGMA: {
        enterOuterAlt(_localctx, 2);
        setState(329);
        pragma();
        break;
      }

    default:
      throw NoViableAltException(this);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- PerformanceValuesContext ------------------------------------------------------------------

PTXParser::PerformanceValuesContext::PerformanceValuesContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<tree::TerminalNode *> PTXParser::PerformanceValuesContext::NUMBER() {
  return getTokens(PTXParser::NUMBER);
}

tree::TerminalNode* PTXParser::PerformanceValuesContext::NUMBER(size_t i) {
  return getToken(PTXParser::NUMBER, i);
}


size_t PTXParser::PerformanceValuesContext::getRuleIndex() const {
  return PTXParser::RulePerformanceValues;
}


PTXParser::PerformanceValuesContext* PTXParser::performanceValues() {
  PerformanceValuesContext *_localctx = _tracker.createInstance<PerformanceValuesContext>(_ctx, getState());
  enterRule(_localctx, 26, PTXParser::RulePerformanceValues);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(332);
    match(PTXParser::NUMBER);
     build->performance_value(); 
    setState(339);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::T__3) {
      setState(334);
      match(PTXParser::T__3);
      setState(335);
      match(PTXParser::NUMBER);
       build->performance_value(); 
      setState(341);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- VariableContext ------------------------------------------------------------------

PTXParser::VariableContext::VariableContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::VariableContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

PTXParser::RegisterCountContext* PTXParser::VariableContext::registerCount() {
  return getRuleContext<PTXParser::RegisterCountContext>(0);
}

std::vector<PTXParser::ExtentContext *> PTXParser::VariableContext::extent() {
  return getRuleContexts<PTXParser::ExtentContext>();
}

PTXParser::ExtentContext* PTXParser::VariableContext::extent(size_t i) {
  return getRuleContext<PTXParser::ExtentContext>(i);
}

PTXParser::ExpressionContext* PTXParser::VariableContext::expression() {
  return getRuleContext<PTXParser::ExpressionContext>(0);
}

std::vector<PTXParser::UnknownContext *> PTXParser::VariableContext::unknown() {
  return getRuleContexts<PTXParser::UnknownContext>();
}

PTXParser::UnknownContext* PTXParser::VariableContext::unknown(size_t i) {
  return getRuleContext<PTXParser::UnknownContext>(i);
}


size_t PTXParser::VariableContext::getRuleIndex() const {
  return PTXParser::RuleVariable;
}


PTXParser::VariableContext* PTXParser::variable() {
  VariableContext *_localctx = _tracker.createInstance<VariableContext>(_ctx, getState());
  enterRule(_localctx, 28, PTXParser::RuleVariable);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(342);
    match(PTXParser::WORD);
     build->begin_variable(); 
    setState(347);
    _errHandler->sync(this);

    _la = _input->LA(1);
    if (_la == PTXParser::T__12) {
      setState(344);
      registerCount();
       build->register_range(); 
    }
    setState(352);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::T__14) {
      setState(349);
      extent();
      setState(354);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
    setState(360);
    _errHandler->sync(this);

    _la = _input->LA(1);
    if (_la == PTXParser::T__11) {
      setState(355);
      match(PTXParser::T__11);
       build->begin_initializer(); 
      setState(357);
      expression();
       build->end_initializer(); 
    }
    setState(367);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__7)
      | (1ULL << PTXParser::T__16)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::DOT_WORD)
      | (1ULL << PTXParser::STRING))) != 0)) {
      setState(362);
      unknown();
       build->unknown_in_declaration(); 
      setState(369);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
     build->end_variable(); 
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- RegisterCountContext ------------------------------------------------------------------

PTXParser::RegisterCountContext::RegisterCountContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::RegisterCountContext::NUMBER() {
  return getToken(PTXParser::NUMBER, 0);
}


size_t PTXParser::RegisterCountContext::getRuleIndex() const {
  return PTXParser::RuleRegisterCount;
}


PTXParser::RegisterCountContext* PTXParser::registerCount() {
  RegisterCountContext *_localctx = _tracker.createInstance<RegisterCountContext>(_ctx, getState());
  enterRule(_localctx, 30, PTXParser::RuleRegisterCount);

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(372);
    match(PTXParser::T__12);
    setState(373);
    match(PTXParser::NUMBER);
    setState(374);
    match(PTXParser::T__13);
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- ExtentContext ------------------------------------------------------------------

PTXParser::ExtentContext::ExtentContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

PTXParser::ExpressionContext* PTXParser::ExtentContext::expression() {
  return getRuleContext<PTXParser::ExpressionContext>(0);
}


size_t PTXParser::ExtentContext::getRuleIndex() const {
  return PTXParser::RuleExtent;
}


PTXParser::ExtentContext* PTXParser::extent() {
  ExtentContext *_localctx = _tracker.createInstance<ExtentContext>(_ctx, getState());
  enterRule(_localctx, 32, PTXParser::RuleExtent);

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(376);
    match(PTXParser::T__14);
    setState(381);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::T__0:
      case PTXParser::T__4:
      case PTXParser::T__6:
      case PTXParser::T__8:
      case PTXParser::T__9:
      case PTXParser::T__14:
      case PTXParser::T__16:
      case PTXParser::WORD:
      case PTXParser::NUMBER:
      case PTXParser::STRING: {
        setState(377);
        expression();
         build->extent(); 
        break;
      }

      case PTXParser::T__15: {
         build->no_extent(); 
        break;
      }

    default:
      throw NoViableAltException(this);
    }
    setState(383);
    match(PTXParser::T__15);
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- InstructionContext ------------------------------------------------------------------

PTXParser::InstructionContext::InstructionContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<tree::TerminalNode *> PTXParser::InstructionContext::DOT_WORD() {
  return getTokens(PTXParser::DOT_WORD);
}

tree::TerminalNode* PTXParser::InstructionContext::DOT_WORD(size_t i) {
  return getToken(PTXParser::DOT_WORD, i);
}

PTXParser::OperandsContext* PTXParser::InstructionContext::operands() {
  return getRuleContext<PTXParser::OperandsContext>(0);
}


size_t PTXParser::InstructionContext::getRuleIndex() const {
  return PTXParser::RuleInstruction;
}


PTXParser::InstructionContext* PTXParser::instruction() {
  InstructionContext *_localctx = _tracker.createInstance<InstructionContext>(_ctx, getState());
  enterRule(_localctx, 34, PTXParser::RuleInstruction);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
     build->opcode(); 
    setState(390);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::DOT_WORD) {
      setState(386);
      match(PTXParser::DOT_WORD);
       build->modifier_apart(); 
      setState(392);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
    setState(394);
    _errHandler->sync(this);

    _la = _input->LA(1);
    if ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__0)
      | (1ULL << PTXParser::T__3)
      | (1ULL << PTXParser::T__4)
      | (1ULL << PTXParser::T__6)
      | (1ULL << PTXParser::T__8)
      | (1ULL << PTXParser::T__9)
      | (1ULL << PTXParser::T__14)
      | (1ULL << PTXParser::T__16)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::STRING))) != 0)) {
      setState(393);
      operands();
    }
    setState(396);
    match(PTXParser::T__2);
     build->end_instruction(); 
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- OperandsContext ------------------------------------------------------------------

PTXParser::OperandsContext::OperandsContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<PTXParser::ExpressionContext *> PTXParser::OperandsContext::expression() {
  return getRuleContexts<PTXParser::ExpressionContext>();
}

PTXParser::ExpressionContext* PTXParser::OperandsContext::expression(size_t i) {
  return getRuleContext<PTXParser::ExpressionContext>(i);
}

std::vector<PTXParser::UnknownTailContext *> PTXParser::OperandsContext::unknownTail() {
  return getRuleContexts<PTXParser::UnknownTailContext>();
}

PTXParser::UnknownTailContext* PTXParser::OperandsContext::unknownTail(size_t i) {
  return getRuleContext<PTXParser::UnknownTailContext>(i);
}


size_t PTXParser::OperandsContext::getRuleIndex() const {
  return PTXParser::RuleOperands;
}


PTXParser::OperandsContext* PTXParser::operands() {
  OperandsContext *_localctx = _tracker.createInstance<OperandsContext>(_ctx, getState());
  enterRule(_localctx, 36, PTXParser::RuleOperands);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(407);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::T__0:
      case PTXParser::T__4:
      case PTXParser::T__6:
      case PTXParser::T__8:
      case PTXParser::T__9:
      case PTXParser::T__14:
      case PTXParser::T__16:
      case PTXParser::WORD:
      case PTXParser::NUMBER:
      case PTXParser::STRING: {
        setState(399);
        expression();
        setState(401);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if ((((_la & ~ 0x3fULL) == 0) &&
          ((1ULL << _la) & ((1ULL << PTXParser::T__0)
          | (1ULL << PTXParser::T__7)
          | (1ULL << PTXParser::T__14)
          | (1ULL << PTXParser::T__16)
          | (1ULL << PTXParser::WORD)
          | (1ULL << PTXParser::NUMBER)
          | (1ULL << PTXParser::DOT_WORD)
          | (1ULL << PTXParser::STRING))) != 0)) {
          setState(400);
          unknownTail();
        }
         build->end_operand(); 
        break;
      }

      case PTXParser::T__3: {
        setState(405);
        match(PTXParser::T__3);
         build->missing_before(); 
        break;
      }

    default:
      throw NoViableAltException(this);
    }
    setState(421);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::T__3) {
      setState(409);
      match(PTXParser::T__3);
      setState(417);
      _errHandler->sync(this);
      switch (_input->LA(1)) {
        case PTXParser::T__0:
        case PTXParser::T__4:
        case PTXParser::T__6:
        case PTXParser::T__8:
        case PTXParser::T__9:
        case PTXParser::T__14:
        case PTXParser::T__16:
        case PTXParser::WORD:
        case PTXParser::NUMBER:
        case PTXParser::STRING: {
          setState(410);
          expression();
          setState(412);
          _errHandler->sync(this);

          _la = _input->LA(1);
          if ((((_la & ~ 0x3fULL) == 0) &&
            ((1ULL << _la) & ((1ULL << PTXParser::T__0)
            | (1ULL << PTXParser::T__7)
            | (1ULL << PTXParser::T__14)
            | (1ULL << PTXParser::T__16)
            | (1ULL << PTXParser::WORD)
            | (1ULL << PTXParser::NUMBER)
            | (1ULL << PTXParser::DOT_WORD)
            | (1ULL << PTXParser::STRING))) != 0)) {
            setState(411);
            unknownTail();
          }
           build->end_operand(); 
          break;
        }

        case PTXParser::T__1:
        case PTXParser::T__2:
        case PTXParser::T__3:
        case PTXParser::T__10:
        case PTXParser::T__15: {
           build->missing_after(); 
          break;
        }

      default:
        throw NoViableAltException(this);
      }
      setState(423);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- UnknownTailContext ------------------------------------------------------------------

PTXParser::UnknownTailContext::UnknownTailContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<PTXParser::UnknownContext *> PTXParser::UnknownTailContext::unknown() {
  return getRuleContexts<PTXParser::UnknownContext>();
}

PTXParser::UnknownContext* PTXParser::UnknownTailContext::unknown(size_t i) {
  return getRuleContext<PTXParser::UnknownContext>(i);
}

std::vector<PTXParser::OperandsContext *> PTXParser::UnknownTailContext::operands() {
  return getRuleContexts<PTXParser::OperandsContext>();
}

PTXParser::OperandsContext* PTXParser::UnknownTailContext::operands(size_t i) {
  return getRuleContext<PTXParser::OperandsContext>(i);
}


size_t PTXParser::UnknownTailContext::getRuleIndex() const {
  return PTXParser::RuleUnknownTail;
}


PTXParser::UnknownTailContext* PTXParser::unknownTail() {
  UnknownTailContext *_localctx = _tracker.createInstance<UnknownTailContext>(_ctx, getState());
  enterRule(_localctx, 38, PTXParser::RuleUnknownTail);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(441); 
    _errHandler->sync(this);
    _la = _input->LA(1);
    do {
      setState(441);
      _errHandler->sync(this);
      switch (_input->LA(1)) {
        case PTXParser::T__7:
        case PTXParser::T__16:
        case PTXParser::WORD:
        case PTXParser::NUMBER:
        case PTXParser::DOT_WORD:
        case PTXParser::STRING: {
          setState(424);
          unknown();
           build->unknown_in_operand(); 
          break;
        }

        case PTXParser::T__14: {
          setState(427);
          match(PTXParser::T__14);
           build->open_list(); 
          setState(430);
          _errHandler->sync(this);

          _la = _input->LA(1);
          if ((((_la & ~ 0x3fULL) == 0) &&
            ((1ULL << _la) & ((1ULL << PTXParser::T__0)
            | (1ULL << PTXParser::T__3)
            | (1ULL << PTXParser::T__4)
            | (1ULL << PTXParser::T__6)
            | (1ULL << PTXParser::T__8)
            | (1ULL << PTXParser::T__9)
            | (1ULL << PTXParser::T__14)
            | (1ULL << PTXParser::T__16)
            | (1ULL << PTXParser::WORD)
            | (1ULL << PTXParser::NUMBER)
            | (1ULL << PTXParser::STRING))) != 0)) {
            setState(429);
            operands();
          }
          setState(432);
          match(PTXParser::T__15);
           build->unknown_list(); 
          break;
        }

        case PTXParser::T__0: {
          setState(434);
          match(PTXParser::T__0);
           build->open_list(); 
          setState(437);
          _errHandler->sync(this);

          _la = _input->LA(1);
          if ((((_la & ~ 0x3fULL) == 0) &&
            ((1ULL << _la) & ((1ULL << PTXParser::T__0)
            | (1ULL << PTXParser::T__3)
            | (1ULL << PTXParser::T__4)
            | (1ULL << PTXParser::T__6)
            | (1ULL << PTXParser::T__8)
            | (1ULL << PTXParser::T__9)
            | (1ULL << PTXParser::T__14)
            | (1ULL << PTXParser::T__16)
            | (1ULL << PTXParser::WORD)
            | (1ULL << PTXParser::NUMBER)
            | (1ULL << PTXParser::STRING))) != 0)) {
            setState(436);
            operands();
          }
          setState(439);
          match(PTXParser::T__1);
           build->unknown_list(); 
          break;
        }

      default:
        throw NoViableAltException(this);
      }
      setState(443); 
      _errHandler->sync(this);
      _la = _input->LA(1);
    } while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__0)
      | (1ULL << PTXParser::T__7)
      | (1ULL << PTXParser::T__14)
      | (1ULL << PTXParser::T__16)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::DOT_WORD)
      | (1ULL << PTXParser::STRING))) != 0));
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- UnknownContext ------------------------------------------------------------------

PTXParser::UnknownContext::UnknownContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::UnknownContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

tree::TerminalNode* PTXParser::UnknownContext::NUMBER() {
  return getToken(PTXParser::NUMBER, 0);
}

tree::TerminalNode* PTXParser::UnknownContext::STRING() {
  return getToken(PTXParser::STRING, 0);
}

tree::TerminalNode* PTXParser::UnknownContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}


size_t PTXParser::UnknownContext::getRuleIndex() const {
  return PTXParser::RuleUnknown;
}


PTXParser::UnknownContext* PTXParser::unknown() {
  UnknownContext *_localctx = _tracker.createInstance<UnknownContext>(_ctx, getState());
  enterRule(_localctx, 40, PTXParser::RuleUnknown);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(445);
    _la = _input->LA(1);
    if (!((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__7)
      | (1ULL << PTXParser::T__16)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::DOT_WORD)
      | (1ULL << PTXParser::STRING))) != 0))) {
    _errHandler->recoverInline(this);
    }
    else {
      _errHandler->reportMatch(this);
      consume();
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- ExpressionContext ------------------------------------------------------------------

PTXParser::ExpressionContext::ExpressionContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<PTXParser::TermContext *> PTXParser::ExpressionContext::term() {
  return getRuleContexts<PTXParser::TermContext>();
}

PTXParser::TermContext* PTXParser::ExpressionContext::term(size_t i) {
  return getRuleContext<PTXParser::TermContext>(i);
}

std::vector<PTXParser::BinaryOperatorContext *> PTXParser::ExpressionContext::binaryOperator() {
  return getRuleContexts<PTXParser::BinaryOperatorContext>();
}

PTXParser::BinaryOperatorContext* PTXParser::ExpressionContext::binaryOperator(size_t i) {
  return getRuleContext<PTXParser::BinaryOperatorContext>(i);
}

std::vector<PTXParser::ExpressionContext *> PTXParser::ExpressionContext::expression() {
  return getRuleContexts<PTXParser::ExpressionContext>();
}

PTXParser::ExpressionContext* PTXParser::ExpressionContext::expression(size_t i) {
  return getRuleContext<PTXParser::ExpressionContext>(i);
}


size_t PTXParser::ExpressionContext::getRuleIndex() const {
  return PTXParser::RuleExpression;
}


PTXParser::ExpressionContext* PTXParser::expression() {
  ExpressionContext *_localctx = _tracker.createInstance<ExpressionContext>(_ctx, getState());
  enterRule(_localctx, 42, PTXParser::RuleExpression);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
     build->begin_expression(); 
    setState(448);
    term();
    setState(454);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__4)
      | (1ULL << PTXParser::T__6)
      | (1ULL << PTXParser::T__8)
      | (1ULL << PTXParser::T__11)
      | (1ULL << PTXParser::T__12)
      | (1ULL << PTXParser::T__13)
      | (1ULL << PTXParser::T__18)
      | (1ULL << PTXParser::T__19)
      | (1ULL << PTXParser::T__20)
      | (1ULL << PTXParser::T__21)
      | (1ULL << PTXParser::T__22)
      | (1ULL << PTXParser::T__23))) != 0)) {
      setState(449);
      binaryOperator();
      setState(450);
      term();
      setState(456);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
    setState(464);
    _errHandler->sync(this);

    _la = _input->LA(1);
    if (_la == PTXParser::T__17) {
      setState(457);
      match(PTXParser::T__17);
       build->question(); 
      setState(459);
      expression();
      setState(460);
      match(PTXParser::T__7);
      setState(461);
      expression();
       build->select(); 
    }
     build->end_expression(); 
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- TermContext ------------------------------------------------------------------

PTXParser::TermContext::TermContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::TermContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

tree::TerminalNode* PTXParser::TermContext::NUMBER() {
  return getToken(PTXParser::NUMBER, 0);
}

tree::TerminalNode* PTXParser::TermContext::STRING() {
  return getToken(PTXParser::STRING, 0);
}

tree::TerminalNode* PTXParser::TermContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

PTXParser::TermContext* PTXParser::TermContext::term() {
  return getRuleContext<PTXParser::TermContext>(0);
}

PTXParser::ApplicationContext* PTXParser::TermContext::application() {
  return getRuleContext<PTXParser::ApplicationContext>(0);
}

PTXParser::OperandsContext* PTXParser::TermContext::operands() {
  return getRuleContext<PTXParser::OperandsContext>(0);
}


size_t PTXParser::TermContext::getRuleIndex() const {
  return PTXParser::RuleTerm;
}


PTXParser::TermContext* PTXParser::term() {
  TermContext *_localctx = _tracker.createInstance<TermContext>(_ctx, getState());
  enterRule(_localctx, 44, PTXParser::RuleTerm);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(472);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__4)
      | (1ULL << PTXParser::T__6)
      | (1ULL << PTXParser::T__8)
      | (1ULL << PTXParser::T__16))) != 0)) {
      setState(468);
      _la = _input->LA(1);
      if (!((((_la & ~ 0x3fULL) == 0) &&
        ((1ULL << _la) & ((1ULL << PTXParser::T__4)
        | (1ULL << PTXParser::T__6)
        | (1ULL << PTXParser::T__8)
        | (1ULL << PTXParser::T__16))) != 0))) {
      _errHandler->recoverInline(this);
      }
      else {
        _errHandler->reportMatch(this);
        consume();
      }
       build->prefix(); 
      setState(474);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
    setState(514);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::WORD: {
        setState(475);
        match(PTXParser::WORD);
         build->name(); 
        setState(478);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__9) {
          setState(477);
          application();
        }
        break;
      }

      case PTXParser::NUMBER: {
        setState(480);
        match(PTXParser::NUMBER);
         build->number(); 
        setState(483);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__9) {
          setState(482);
          application();
        }
        break;
      }

      case PTXParser::STRING: {
        setState(485);
        match(PTXParser::STRING);
         build->string(); 
        break;
      }

      case PTXParser::T__9: {
        setState(487);
        match(PTXParser::T__9);
        setState(498);
        _errHandler->sync(this);
        switch (_input->LA(1)) {
          case PTXParser::DOT_WORD: {
            setState(488);
            match(PTXParser::DOT_WORD);
            setState(489);
            match(PTXParser::T__10);
             build->cast(); 
            setState(491);
            term();
            break;
          }

          case PTXParser::T__0:
          case PTXParser::T__3:
          case PTXParser::T__4:
          case PTXParser::T__6:
          case PTXParser::T__8:
          case PTXParser::T__9:
          case PTXParser::T__10:
          case PTXParser::T__14:
          case PTXParser::T__16:
          case PTXParser::WORD:
          case PTXParser::NUMBER:
          case PTXParser::STRING: {
             build->open_list(); 
            setState(494);
            _errHandler->sync(this);

            _la = _input->LA(1);
            if ((((_la & ~ 0x3fULL) == 0) &&
              ((1ULL << _la) & ((1ULL << PTXParser::T__0)
              | (1ULL << PTXParser::T__3)
              | (1ULL << PTXParser::T__4)
              | (1ULL << PTXParser::T__6)
              | (1ULL << PTXParser::T__8)
              | (1ULL << PTXParser::T__9)
              | (1ULL << PTXParser::T__14)
              | (1ULL << PTXParser::T__16)
              | (1ULL << PTXParser::WORD)
              | (1ULL << PTXParser::NUMBER)
              | (1ULL << PTXParser::STRING))) != 0)) {
              setState(493);
              operands();
            }
            setState(496);
            match(PTXParser::T__10);
             build->group(); 
            break;
          }

        default:
          throw NoViableAltException(this);
        }
        break;
      }

      case PTXParser::T__14: {
        setState(500);
        match(PTXParser::T__14);
         build->open_list(); 
        setState(503);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if ((((_la & ~ 0x3fULL) == 0) &&
          ((1ULL << _la) & ((1ULL << PTXParser::T__0)
          | (1ULL << PTXParser::T__3)
          | (1ULL << PTXParser::T__4)
          | (1ULL << PTXParser::T__6)
          | (1ULL << PTXParser::T__8)
          | (1ULL << PTXParser::T__9)
          | (1ULL << PTXParser::T__14)
          | (1ULL << PTXParser::T__16)
          | (1ULL << PTXParser::WORD)
          | (1ULL << PTXParser::NUMBER)
          | (1ULL << PTXParser::STRING))) != 0)) {
          setState(502);
          operands();
        }
        setState(505);
        match(PTXParser::T__15);
         build->address(); 
        break;
      }

      case PTXParser::T__0: {
        setState(507);
        match(PTXParser::T__0);
         build->open_list(); 
        setState(510);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if ((((_la & ~ 0x3fULL) == 0) &&
          ((1ULL << _la) & ((1ULL << PTXParser::T__0)
          | (1ULL << PTXParser::T__3)
          | (1ULL << PTXParser::T__4)
          | (1ULL << PTXParser::T__6)
          | (1ULL << PTXParser::T__8)
          | (1ULL << PTXParser::T__9)
          | (1ULL << PTXParser::T__14)
          | (1ULL << PTXParser::T__16)
          | (1ULL << PTXParser::WORD)
          | (1ULL << PTXParser::NUMBER)
          | (1ULL << PTXParser::STRING))) != 0)) {
          setState(509);
          operands();
        }
        setState(512);
        match(PTXParser::T__1);
         build->vector(); 
        break;
      }

    default:
      throw NoViableAltException(this);
    }
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- ApplicationContext ------------------------------------------------------------------

PTXParser::ApplicationContext::ApplicationContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

std::vector<PTXParser::ExpressionContext *> PTXParser::ApplicationContext::expression() {
  return getRuleContexts<PTXParser::ExpressionContext>();
}

PTXParser::ExpressionContext* PTXParser::ApplicationContext::expression(size_t i) {
  return getRuleContext<PTXParser::ExpressionContext>(i);
}


size_t PTXParser::ApplicationContext::getRuleIndex() const {
  return PTXParser::RuleApplication;
}


PTXParser::ApplicationContext* PTXParser::application() {
  ApplicationContext *_localctx = _tracker.createInstance<ApplicationContext>(_ctx, getState());
  enterRule(_localctx, 46, PTXParser::RuleApplication);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(516);
    match(PTXParser::T__9);
     build->open_list(); 
    setState(518);
    expression();
    setState(523);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while (_la == PTXParser::T__3) {
      setState(519);
      match(PTXParser::T__3);
      setState(520);
      expression();
      setState(525);
      _errHandler->sync(this);
      _la = _input->LA(1);
    }
    setState(526);
    match(PTXParser::T__10);
     build->application(); 
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

//----------------- BinaryOperatorContext ------------------------------------------------------------------

PTXParser::BinaryOperatorContext::BinaryOperatorContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}


size_t PTXParser::BinaryOperatorContext::getRuleIndex() const {
  return PTXParser::RuleBinaryOperator;
}


PTXParser::BinaryOperatorContext* PTXParser::binaryOperator() {
  BinaryOperatorContext *_localctx = _tracker.createInstance<BinaryOperatorContext>(_ctx, getState());
  enterRule(_localctx, 48, PTXParser::RuleBinaryOperator);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(559);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::T__18: {
        setState(529);
        match(PTXParser::T__18);
        break;
      }

      case PTXParser::T__19: {
        setState(530);
        match(PTXParser::T__19);
        break;
      }

      case PTXParser::T__20: {
        setState(531);
        match(PTXParser::T__20);
        break;
      }

      case PTXParser::T__4: {
        setState(532);
        match(PTXParser::T__4);
        break;
      }

      case PTXParser::T__8: {
        setState(533);
        match(PTXParser::T__8);
        break;
      }

      case PTXParser::T__21: {
        setState(534);
        match(PTXParser::T__21);
        break;
      }

      case PTXParser::T__12: {
        setState(535);
        match(PTXParser::T__12);
        setState(537);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__11

        || _la == PTXParser::T__12) {
          setState(536);
          _la = _input->LA(1);
          if (!(_la == PTXParser::T__11

          || _la == PTXParser::T__12)) {
          _errHandler->recoverInline(this);
          }
          else {
            _errHandler->reportMatch(this);
            consume();
          }
        }
        break;
      }

      case PTXParser::T__13: {
        setState(539);
        match(PTXParser::T__13);
        setState(541);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__11

        || _la == PTXParser::T__13) {
          setState(540);
          _la = _input->LA(1);
          if (!(_la == PTXParser::T__11

          || _la == PTXParser::T__13)) {
          _errHandler->recoverInline(this);
          }
          else {
            _errHandler->reportMatch(this);
            consume();
          }
        }
        break;
      }

      case PTXParser::T__11: {
        setState(543);
        match(PTXParser::T__11);
        setState(545);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__11) {
          setState(544);
          match(PTXParser::T__11);
        }
        break;
      }

      case PTXParser::T__6: {
        setState(547);
        match(PTXParser::T__6);
        setState(549);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__11) {
          setState(548);
          match(PTXParser::T__11);
        }
        break;
      }

      case PTXParser::T__22: {
        setState(551);
        match(PTXParser::T__22);
        setState(553);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__22) {
          setState(552);
          match(PTXParser::T__22);
        }
        break;
      }

      case PTXParser::T__23: {
        setState(555);
        match(PTXParser::T__23);
        setState(557);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__23) {
          setState(556);
          match(PTXParser::T__23);
        }
        break;
      }

    default:
      throw NoViableAltException(this);
    }
     build->binary(); 
   
  }
  catch (RecognitionException &e) {
    _errHandler->reportError(this, e);
    _localctx->exception = std::current_exception();
    _errHandler->recover(this, _localctx->exception);
  }

  return _localctx;
}

// Static vars and initialization.
std::vector<dfa::DFA> PTXParser::_decisionToDFA;
atn::PredictionContextCache PTXParser::_sharedContextCache;

// We own the ATN which in turn owns the ATN states.
atn::ATN PTXParser::_atn;
std::vector<uint16_t> PTXParser::_serializedATN;

std::vector<std::string> PTXParser::_ruleNames = {
  "statement", "sectionElement", "directive", "specifier", "arguments", 
  "pragma", "targetList", "function", "functionName", "attribute", "parameters", 
  "parameter", "performance", "performanceValues", "variable", "registerCount", 
  "extent", "instruction", "operands", "unknownTail", "unknown", "expression", 
  "term", "application", "binaryOperator"
};

std::vector<std::string> PTXParser::_literalNames = {
  "", "'{'", "'}'", "';'", "','", "'+'", "'@'", "'!'", "':'", "'-'", "'('", 
  "')'", "'='", "'<'", "'>'", "'['", "']'", "'~'", "'?'", "'*'", "'/'", 
  "'%'", "'^'", "'&'", "'|'", "'.version'", "'.target'", "'.address_size'", 
  "'.file'", "'.loc'", "'.section'", "'.entry'", "'.func'", "'.align'", 
  "'.attribute'", "'.pragma'", "'.branchtargets'", "'.calltargets'", "'.callprototype'"
};

std::vector<std::string> PTXParser::_symbolicNames = {
  "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", 
  "", "", "", "", "", "", "", "VERSION", "TARGET", "ADDRESS_SIZE", "FILE", 
  "LOC", "SECTION", "ENTRY", "FUNC", "ALIGN", "ATTRIBUTE", "PRAGMA", "BRANCH_TARGETS", 
  "CALL_TARGETS", "CALL_PROTOTYPE", "DWARF_LINE", "WORD", "NUMBER", "DOT_WORD", 
  "STRING", "WHITE_SPACE", "LINE_COMMENT", "LINE_MARKER", "BLOCK_COMMENT"
};

dfa::Vocabulary PTXParser::_vocabulary(_literalNames, _symbolicNames);

std::vector<std::string> PTXParser::_tokenNames;

PTXParser::Initializer::Initializer() {
	for (size_t i = 0; i < _symbolicNames.size(); ++i) {
		std::string name = _vocabulary.getLiteralName(i);
		if (name.empty()) {
			name = _vocabulary.getSymbolicName(i);
		}

		if (name.empty()) {
			_tokenNames.push_back("<INVALID>");
		} else {
      _tokenNames.push_back(name);
    }
	}

  _serializedATN = {
    0x3, 0x608b, 0xa72a, 0x8133, 0xb9ed, 0x417c, 0x3be7, 0x7786, 0x5964, 
    0x3, 0x31, 0x236, 0x4, 0x2, 0x9, 0x2, 0x4, 0x3, 0x9, 0x3, 0x4, 0x4, 
    0x9, 0x4, 0x4, 0x5, 0x9, 0x5, 0x4, 0x6, 0x9, 0x6, 0x4, 0x7, 0x9, 0x7, 
    0x4, 0x8, 0x9, 0x8, 0x4, 0x9, 0x9, 0x9, 0x4, 0xa, 0x9, 0xa, 0x4, 0xb, 
    0x9, 0xb, 0x4, 0xc, 0x9, 0xc, 0x4, 0xd, 0x9, 0xd, 0x4, 0xe, 0x9, 0xe, 
    0x4, 0xf, 0x9, 0xf, 0x4, 0x10, 0x9, 0x10, 0x4, 0x11, 0x9, 0x11, 0x4, 
    0x12, 0x9, 0x12, 0x4, 0x13, 0x9, 0x13, 0x4, 0x14, 0x9, 0x14, 0x4, 0x15, 
    0x9, 0x15, 0x4, 0x16, 0x9, 0x16, 0x4, 0x17, 0x9, 0x17, 0x4, 0x18, 0x9, 
    0x18, 0x4, 0x19, 0x9, 0x19, 0x4, 0x1a, 0x9, 0x1a, 0x3, 0x2, 0x3, 0x2, 
    0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 
    0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x7, 0x2, 
    0x44, 0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 0x47, 0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 
    0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x7, 0x2, 
    0x51, 0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 0x54, 0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 
    0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 
    0x3, 0x2, 0x5, 0x2, 0x60, 0xa, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x5, 
    0x2, 0x65, 0xa, 0x2, 0x7, 0x2, 0x67, 0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 0x6a, 
    0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x7, 0x2, 
    0x71, 0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 0x74, 0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 
    0x7, 0x2, 0x78, 0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 0x7b, 0xb, 0x2, 0x3, 0x2, 
    0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x5, 0x2, 
    0x84, 0xa, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 
    0x2, 0x3, 0x2, 0x3, 0x2, 0x5, 0x2, 0x8e, 0xa, 0x2, 0x5, 0x2, 0x90, 0xa, 
    0x2, 0x3, 0x3, 0x3, 0x3, 0x3, 0x4, 0x3, 0x4, 0x5, 0x4, 0x96, 0xa, 0x4, 
    0x3, 0x4, 0x3, 0x4, 0x5, 0x4, 0x9a, 0xa, 0x4, 0x3, 0x4, 0x3, 0x4, 0x5, 
    0x4, 0x9e, 0xa, 0x4, 0x3, 0x4, 0x3, 0x4, 0x5, 0x4, 0xa2, 0xa, 0x4, 0x3, 
    0x4, 0x3, 0x4, 0x5, 0x4, 0xa6, 0xa, 0x4, 0x7, 0x4, 0xa8, 0xa, 0x4, 0xc, 
    0x4, 0xe, 0x4, 0xab, 0xb, 0x4, 0x3, 0x4, 0x5, 0x4, 0xae, 0xa, 0x4, 0x3, 
    0x4, 0x3, 0x4, 0x5, 0x4, 0xb2, 0xa, 0x4, 0x3, 0x4, 0x6, 0x4, 0xb5, 0xa, 
    0x4, 0xd, 0x4, 0xe, 0x4, 0xb6, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 
    0x7, 0x4, 0xbd, 0xa, 0x4, 0xc, 0x4, 0xe, 0x4, 0xc0, 0xb, 0x4, 0x3, 0x4, 
    0x3, 0x4, 0x7, 0x4, 0xc4, 0xa, 0x4, 0xc, 0x4, 0xe, 0x4, 0xc7, 0xb, 0x4, 
    0x5, 0x4, 0xc9, 0xa, 0x4, 0x3, 0x4, 0x5, 0x4, 0xcc, 0xa, 0x4, 0x5, 0x4, 
    0xce, 0xa, 0x4, 0x3, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 
    0x5, 0x3, 0x5, 0x5, 0x5, 0xd7, 0xa, 0x5, 0x3, 0x6, 0x3, 0x6, 0x3, 0x6, 
    0x3, 0x6, 0x3, 0x6, 0x3, 0x6, 0x7, 0x6, 0xdf, 0xa, 0x6, 0xc, 0x6, 0xe, 
    0x6, 0xe2, 0xb, 0x6, 0x3, 0x6, 0x3, 0x6, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 
    0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x7, 0x7, 0xed, 0xa, 0x7, 0xc, 
    0x7, 0xe, 0x7, 0xf0, 0xb, 0x7, 0x3, 0x8, 0x3, 0x8, 0x3, 0x8, 0x3, 0x8, 
    0x3, 0x8, 0x3, 0x8, 0x3, 0x8, 0x7, 0x8, 0xf9, 0xa, 0x8, 0xc, 0x8, 0xe, 
    0x8, 0xfc, 0xb, 0x8, 0x3, 0x9, 0x3, 0x9, 0x3, 0x9, 0x7, 0x9, 0x101, 
    0xa, 0x9, 0xc, 0x9, 0xe, 0x9, 0x104, 0xb, 0x9, 0x3, 0x9, 0x3, 0x9, 0x3, 
    0x9, 0x7, 0x9, 0x109, 0xa, 0x9, 0xc, 0x9, 0xe, 0x9, 0x10c, 0xb, 0x9, 
    0x3, 0x9, 0x3, 0x9, 0x3, 0x9, 0x5, 0x9, 0x111, 0xa, 0x9, 0x5, 0x9, 0x113, 
    0xa, 0x9, 0x3, 0x9, 0x3, 0x9, 0x3, 0x9, 0x3, 0x9, 0x3, 0x9, 0x5, 0x9, 
    0x11a, 0xa, 0x9, 0x3, 0x9, 0x7, 0x9, 0x11d, 0xa, 0x9, 0xc, 0x9, 0xe, 
    0x9, 0x120, 0xb, 0x9, 0x3, 0xa, 0x3, 0xa, 0x3, 0xb, 0x3, 0xb, 0x3, 0xb, 
    0x5, 0xb, 0x127, 0xa, 0xb, 0x3, 0xc, 0x3, 0xc, 0x3, 0xc, 0x3, 0xc, 0x7, 
    0xc, 0x12d, 0xa, 0xc, 0xc, 0xc, 0xe, 0xc, 0x130, 0xb, 0xc, 0x5, 0xc, 
    0x132, 0xa, 0xc, 0x3, 0xc, 0x3, 0xc, 0x3, 0xd, 0x6, 0xd, 0x137, 0xa, 
    0xd, 0xd, 0xd, 0xe, 0xd, 0x138, 0x3, 0xd, 0x3, 0xd, 0x3, 0xd, 0x3, 0xd, 
    0x3, 0xd, 0x7, 0xd, 0x140, 0xa, 0xd, 0xc, 0xd, 0xe, 0xd, 0x143, 0xb, 
    0xd, 0x3, 0xd, 0x3, 0xd, 0x3, 0xe, 0x3, 0xe, 0x3, 0xe, 0x5, 0xe, 0x14a, 
    0xa, 0xe, 0x3, 0xe, 0x5, 0xe, 0x14d, 0xa, 0xe, 0x3, 0xf, 0x3, 0xf, 0x3, 
    0xf, 0x3, 0xf, 0x3, 0xf, 0x7, 0xf, 0x154, 0xa, 0xf, 0xc, 0xf, 0xe, 0xf, 
    0x157, 0xb, 0xf, 0x3, 0x10, 0x3, 0x10, 0x3, 0x10, 0x3, 0x10, 0x3, 0x10, 
    0x5, 0x10, 0x15e, 0xa, 0x10, 0x3, 0x10, 0x7, 0x10, 0x161, 0xa, 0x10, 
    0xc, 0x10, 0xe, 0x10, 0x164, 0xb, 0x10, 0x3, 0x10, 0x3, 0x10, 0x3, 0x10, 
    0x3, 0x10, 0x3, 0x10, 0x5, 0x10, 0x16b, 0xa, 0x10, 0x3, 0x10, 0x3, 0x10, 
    0x3, 0x10, 0x7, 0x10, 0x170, 0xa, 0x10, 0xc, 0x10, 0xe, 0x10, 0x173, 
    0xb, 0x10, 0x3, 0x10, 0x3, 0x10, 0x3, 0x11, 0x3, 0x11, 0x3, 0x11, 0x3, 
    0x11, 0x3, 0x12, 0x3, 0x12, 0x3, 0x12, 0x3, 0x12, 0x3, 0x12, 0x5, 0x12, 
    0x180, 0xa, 0x12, 0x3, 0x12, 0x3, 0x12, 0x3, 0x13, 0x3, 0x13, 0x3, 0x13, 
    0x7, 0x13, 0x187, 0xa, 0x13, 0xc, 0x13, 0xe, 0x13, 0x18a, 0xb, 0x13, 
    0x3, 0x13, 0x5, 0x13, 0x18d, 0xa, 0x13, 0x3, 0x13, 0x3, 0x13, 0x3, 0x13, 
    0x3, 0x14, 0x3, 0x14, 0x5, 0x14, 0x194, 0xa, 0x14, 0x3, 0x14, 0x3, 0x14, 
    0x3, 0x14, 0x3, 0x14, 0x5, 0x14, 0x19a, 0xa, 0x14, 0x3, 0x14, 0x3, 0x14, 
    0x3, 0x14, 0x5, 0x14, 0x19f, 0xa, 0x14, 0x3, 0x14, 0x3, 0x14, 0x3, 0x14, 
    0x5, 0x14, 0x1a4, 0xa, 0x14, 0x7, 0x14, 0x1a6, 0xa, 0x14, 0xc, 0x14, 
    0xe, 0x14, 0x1a9, 0xb, 0x14, 0x3, 0x15, 0x3, 0x15, 0x3, 0x15, 0x3, 0x15, 
    0x3, 0x15, 0x3, 0x15, 0x5, 0x15, 0x1b1, 0xa, 0x15, 0x3, 0x15, 0x3, 0x15, 
    0x3, 0x15, 0x3, 0x15, 0x3, 0x15, 0x5, 0x15, 0x1b8, 0xa, 0x15, 0x3, 0x15, 
    0x3, 0x15, 0x6, 0x15, 0x1bc, 0xa, 0x15, 0xd, 0x15, 0xe, 0x15, 0x1bd, 
    0x3, 0x16, 0x3, 0x16, 0x3, 0x17, 0x3, 0x17, 0x3, 0x17, 0x3, 0x17, 0x3, 
    0x17, 0x7, 0x17, 0x1c7, 0xa, 0x17, 0xc, 0x17, 0xe, 0x17, 0x1ca, 0xb, 
    0x17, 0x3, 0x17, 0x3, 0x17, 0x3, 0x17, 0x3, 0x17, 0x3, 0x17, 0x3, 0x17, 
    0x3, 0x17, 0x5, 0x17, 0x1d3, 0xa, 0x17, 0x3, 0x17, 0x3, 0x17, 0x3, 0x18, 
    0x3, 0x18, 0x7, 0x18, 0x1d9, 0xa, 0x18, 0xc, 0x18, 0xe, 0x18, 0x1dc, 
    0xb, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x5, 0x18, 0x1e1, 0xa, 0x18, 
    0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x5, 0x18, 0x1e6, 0xa, 0x18, 0x3, 0x18, 
    0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 
    0x18, 0x3, 0x18, 0x5, 0x18, 0x1f1, 0xa, 0x18, 0x3, 0x18, 0x3, 0x18, 
    0x5, 0x18, 0x1f5, 0xa, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x5, 0x18, 
    0x1fa, 0xa, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 0x3, 0x18, 
    0x5, 0x18, 0x201, 0xa, 0x18, 0x3, 0x18, 0x3, 0x18, 0x5, 0x18, 0x205, 
    0xa, 0x18, 0x3, 0x19, 0x3, 0x19, 0x3, 0x19, 0x3, 0x19, 0x3, 0x19, 0x7, 
    0x19, 0x20c, 0xa, 0x19, 0xc, 0x19, 0xe, 0x19, 0x20f, 0xb, 0x19, 0x3, 
    0x19, 0x3, 0x19, 0x3, 0x19, 0x3, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 
    0x3, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 0x5, 0x1a, 0x21c, 0xa, 0x1a, 
    0x3, 0x1a, 0x3, 0x1a, 0x5, 0x1a, 0x220, 0xa, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 
    0x5, 0x1a, 0x224, 0xa, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 0x5, 0x1a, 0x228, 
    0xa, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 0x5, 0x1a, 0x22c, 0xa, 0x1a, 0x3, 0x1a, 
    0x3, 0x1a, 0x5, 0x1a, 0x230, 0xa, 0x1a, 0x5, 0x1a, 0x232, 0xa, 0x1a, 
    0x3, 0x1a, 0x3, 0x1a, 0x3, 0x1a, 0x2, 0x2, 0x1b, 0x2, 0x4, 0x6, 0x8, 
    0xa, 0xc, 0xe, 0x10, 0x12, 0x14, 0x16, 0x18, 0x1a, 0x1c, 0x1e, 0x20, 
    0x22, 0x24, 0x26, 0x28, 0x2a, 0x2c, 0x2e, 0x30, 0x32, 0x2, 0xa, 0x4, 
    0x2, 0x2a, 0x2a, 0x2c, 0x2c, 0x4, 0x2, 0x2a, 0x2a, 0x2d, 0x2d, 0x5, 
    0x2, 0x6, 0x7, 0xa, 0xd, 0x2a, 0x2d, 0x3, 0x2, 0x26, 0x27, 0x5, 0x2, 
    0xa, 0xa, 0x13, 0x13, 0x2a, 0x2d, 0x6, 0x2, 0x7, 0x7, 0x9, 0x9, 0xb, 
    0xb, 0x13, 0x13, 0x3, 0x2, 0xe, 0xf, 0x4, 0x2, 0xe, 0xe, 0x10, 0x10, 
    0x2, 0x28e, 0x2, 0x8f, 0x3, 0x2, 0x2, 0x2, 0x4, 0x91, 0x3, 0x2, 0x2, 
    0x2, 0x6, 0xcd, 0x3, 0x2, 0x2, 0x2, 0x8, 0xd6, 0x3, 0x2, 0x2, 0x2, 0xa, 
    0xd8, 0x3, 0x2, 0x2, 0x2, 0xc, 0xe5, 0x3, 0x2, 0x2, 0x2, 0xe, 0xf1, 
    0x3, 0x2, 0x2, 0x2, 0x10, 0x112, 0x3, 0x2, 0x2, 0x2, 0x12, 0x121, 0x3, 
    0x2, 0x2, 0x2, 0x14, 0x126, 0x3, 0x2, 0x2, 0x2, 0x16, 0x128, 0x3, 0x2, 
    0x2, 0x2, 0x18, 0x136, 0x3, 0x2, 0x2, 0x2, 0x1a, 0x14c, 0x3, 0x2, 0x2, 
    0x2, 0x1c, 0x14e, 0x3, 0x2, 0x2, 0x2, 0x1e, 0x158, 0x3, 0x2, 0x2, 0x2, 
    0x20, 0x176, 0x3, 0x2, 0x2, 0x2, 0x22, 0x17a, 0x3, 0x2, 0x2, 0x2, 0x24, 
    0x183, 0x3, 0x2, 0x2, 0x2, 0x26, 0x199, 0x3, 0x2, 0x2, 0x2, 0x28, 0x1bb, 
    0x3, 0x2, 0x2, 0x2, 0x2a, 0x1bf, 0x3, 0x2, 0x2, 0x2, 0x2c, 0x1c1, 0x3, 
    0x2, 0x2, 0x2, 0x2e, 0x1da, 0x3, 0x2, 0x2, 0x2, 0x30, 0x206, 0x3, 0x2, 
    0x2, 0x2, 0x32, 0x231, 0x3, 0x2, 0x2, 0x2, 0x34, 0x35, 0x7, 0x3, 0x2, 
    0x2, 0x35, 0x90, 0x8, 0x2, 0x1, 0x2, 0x36, 0x37, 0x7, 0x4, 0x2, 0x2, 
    0x37, 0x90, 0x8, 0x2, 0x1, 0x2, 0x38, 0x90, 0x7, 0x5, 0x2, 0x2, 0x39, 
    0x90, 0x7, 0x29, 0x2, 0x2, 0x3a, 0x3b, 0x7, 0x1b, 0x2, 0x2, 0x3b, 0x3c, 
    0x7, 0x2b, 0x2, 0x2, 0x3c, 0x90, 0x8, 0x2, 0x1, 0x2, 0x3d, 0x3e, 0x7, 
    0x1c, 0x2, 0x2, 0x3e, 0x3f, 0x7, 0x2a, 0x2, 0x2, 0x3f, 0x45, 0x8, 0x2, 
    0x1, 0x2, 0x40, 0x41, 0x7, 0x6, 0x2, 0x2, 0x41, 0x42, 0x7, 0x2a, 0x2, 
    0x2, 0x42, 0x44, 0x8, 0x2, 0x1, 0x2, 0x43, 0x40, 0x3, 0x2, 0x2, 0x2, 
    0x44, 0x47, 0x3, 0x2, 0x2, 0x2, 0x45, 0x43, 0x3, 0x2, 0x2, 0x2, 0x45, 
    0x46, 0x3, 0x2, 0x2, 0x2, 0x46, 0x90, 0x3, 0x2, 0x2, 0x2, 0x47, 0x45, 
    0x3, 0x2, 0x2, 0x2, 0x48, 0x49, 0x7, 0x1d, 0x2, 0x2, 0x49, 0x4a, 0x7, 
    0x2b, 0x2, 0x2, 0x4a, 0x90, 0x8, 0x2, 0x1, 0x2, 0x4b, 0x4c, 0x7, 0x1e, 
    0x2, 0x2, 0x4c, 0x4d, 0x7, 0x2b, 0x2, 0x2, 0x4d, 0x52, 0x7, 0x2d, 0x2, 
    0x2, 0x4e, 0x4f, 0x7, 0x6, 0x2, 0x2, 0x4f, 0x51, 0x7, 0x2b, 0x2, 0x2, 
    0x50, 0x4e, 0x3, 0x2, 0x2, 0x2, 0x51, 0x54, 0x3, 0x2, 0x2, 0x2, 0x52, 
    0x50, 0x3, 0x2, 0x2, 0x2, 0x52, 0x53, 0x3, 0x2, 0x2, 0x2, 0x53, 0x55, 
    0x3, 0x2, 0x2, 0x2, 0x54, 0x52, 0x3, 0x2, 0x2, 0x2, 0x55, 0x90, 0x8, 
    0x2, 0x1, 0x2, 0x56, 0x57, 0x7, 0x1f, 0x2, 0x2, 0x57, 0x58, 0x7, 0x2b, 
    0x2, 0x2, 0x58, 0x59, 0x7, 0x2b, 0x2, 0x2, 0x59, 0x68, 0x7, 0x2b, 0x2, 
    0x2, 0x5a, 0x5b, 0x7, 0x6, 0x2, 0x2, 0x5b, 0x64, 0x7, 0x2a, 0x2, 0x2, 
    0x5c, 0x5f, 0x7, 0x2a, 0x2, 0x2, 0x5d, 0x5e, 0x7, 0x7, 0x2, 0x2, 0x5e, 
    0x60, 0x7, 0x2b, 0x2, 0x2, 0x5f, 0x5d, 0x3, 0x2, 0x2, 0x2, 0x5f, 0x60, 
    0x3, 0x2, 0x2, 0x2, 0x60, 0x65, 0x3, 0x2, 0x2, 0x2, 0x61, 0x62, 0x7, 
    0x2b, 0x2, 0x2, 0x62, 0x63, 0x7, 0x2b, 0x2, 0x2, 0x63, 0x65, 0x7, 0x2b, 
    0x2, 0x2, 0x64, 0x5c, 0x3, 0x2, 0x2, 0x2, 0x64, 0x61, 0x3, 0x2, 0x2, 
    0x2, 0x65, 0x67, 0x3, 0x2, 0x2, 0x2, 0x66, 0x5a, 0x3, 0x2, 0x2, 0x2, 
    0x67, 0x6a, 0x3, 0x2, 0x2, 0x2, 0x68, 0x66, 0x3, 0x2, 0x2, 0x2, 0x68, 
    0x69, 0x3, 0x2, 0x2, 0x2, 0x69, 0x6b, 0x3, 0x2, 0x2, 0x2, 0x6a, 0x68, 
    0x3, 0x2, 0x2, 0x2, 0x6b, 0x90, 0x8, 0x2, 0x1, 0x2, 0x6c, 0x6d, 0x7, 
    0x20, 0x2, 0x2, 0x6d, 0x72, 0x9, 0x2, 0x2, 0x2, 0x6e, 0x6f, 0x7, 0x6, 
    0x2, 0x2, 0x6f, 0x71, 0x9, 0x3, 0x2, 0x2, 0x70, 0x6e, 0x3, 0x2, 0x2, 
    0x2, 0x71, 0x74, 0x3, 0x2, 0x2, 0x2, 0x72, 0x70, 0x3, 0x2, 0x2, 0x2, 
    0x72, 0x73, 0x3, 0x2, 0x2, 0x2, 0x73, 0x75, 0x3, 0x2, 0x2, 0x2, 0x74, 
    0x72, 0x3, 0x2, 0x2, 0x2, 0x75, 0x79, 0x7, 0x3, 0x2, 0x2, 0x76, 0x78, 
    0x5, 0x4, 0x3, 0x2, 0x77, 0x76, 0x3, 0x2, 0x2, 0x2, 0x78, 0x7b, 0x3, 
    0x2, 0x2, 0x2, 0x79, 0x77, 0x3, 0x2, 0x2, 0x2, 0x79, 0x7a, 0x3, 0x2, 
    0x2, 0x2, 0x7a, 0x7c, 0x3, 0x2, 0x2, 0x2, 0x7b, 0x79, 0x3, 0x2, 0x2, 
    0x2, 0x7c, 0x90, 0x7, 0x4, 0x2, 0x2, 0x7d, 0x7e, 0x5, 0x6, 0x4, 0x2, 
    0x7e, 0x7f, 0x8, 0x2, 0x1, 0x2, 0x7f, 0x90, 0x3, 0x2, 0x2, 0x2, 0x80, 
    0x83, 0x7, 0x8, 0x2, 0x2, 0x81, 0x82, 0x7, 0x9, 0x2, 0x2, 0x82, 0x84, 
    0x8, 0x2, 0x1, 0x2, 0x83, 0x81, 0x3, 0x2, 0x2, 0x2, 0x83, 0x84, 0x3, 
    0x2, 0x2, 0x2, 0x84, 0x85, 0x3, 0x2, 0x2, 0x2, 0x85, 0x86, 0x7, 0x2a, 
    0x2, 0x2, 0x86, 0x87, 0x8, 0x2, 0x1, 0x2, 0x87, 0x88, 0x7, 0x2a, 0x2, 
    0x2, 0x88, 0x90, 0x5, 0x24, 0x13, 0x2, 0x89, 0x8d, 0x7, 0x2a, 0x2, 0x2, 
    0x8a, 0x8b, 0x7, 0xa, 0x2, 0x2, 0x8b, 0x8e, 0x8, 0x2, 0x1, 0x2, 0x8c, 
    0x8e, 0x5, 0x24, 0x13, 0x2, 0x8d, 0x8a, 0x3, 0x2, 0x2, 0x2, 0x8d, 0x8c, 
    0x3, 0x2, 0x2, 0x2, 0x8e, 0x90, 0x3, 0x2, 0x2, 0x2, 0x8f, 0x34, 0x3, 
    0x2, 0x2, 0x2, 0x8f, 0x36, 0x3, 0x2, 0x2, 0x2, 0x8f, 0x38, 0x3, 0x2, 
    0x2, 0x2, 0x8f, 0x39, 0x3, 0x2, 0x2, 0x2, 0x8f, 0x3a, 0x3, 0x2, 0x2, 
    0x2, 0x8f, 0x3d, 0x3, 0x2, 0x2, 0x2, 0x8f, 0x48, 0x3, 0x2, 0x2, 0x2, 
    0x8f, 0x4b, 0x3, 0x2, 0x2, 0x2, 0x8f, 0x56, 0x3, 0x2, 0x2, 0x2, 0x8f, 
    0x6c, 0x3, 0x2, 0x2, 0x2, 0x8f, 0x7d, 0x3, 0x2, 0x2, 0x2, 0x8f, 0x80, 
    0x3, 0x2, 0x2, 0x2, 0x8f, 0x89, 0x3, 0x2, 0x2, 0x2, 0x90, 0x3, 0x3, 
    0x2, 0x2, 0x2, 0x91, 0x92, 0x9, 0x4, 0x2, 0x2, 0x92, 0x5, 0x3, 0x2, 
    0x2, 0x2, 0x93, 0x95, 0x5, 0xc, 0x7, 0x2, 0x94, 0x96, 0x7, 0x5, 0x2, 
    0x2, 0x95, 0x94, 0x3, 0x2, 0x2, 0x2, 0x95, 0x96, 0x3, 0x2, 0x2, 0x2, 
    0x96, 0xce, 0x3, 0x2, 0x2, 0x2, 0x97, 0x99, 0x5, 0xe, 0x8, 0x2, 0x98, 
    0x9a, 0x7, 0x5, 0x2, 0x2, 0x99, 0x98, 0x3, 0x2, 0x2, 0x2, 0x99, 0x9a, 
    0x3, 0x2, 0x2, 0x2, 0x9a, 0xce, 0x3, 0x2, 0x2, 0x2, 0x9b, 0x9d, 0x7, 
    0x28, 0x2, 0x2, 0x9c, 0x9e, 0x5, 0x16, 0xc, 0x2, 0x9d, 0x9c, 0x3, 0x2, 
    0x2, 0x2, 0x9d, 0x9e, 0x3, 0x2, 0x2, 0x2, 0x9e, 0x9f, 0x3, 0x2, 0x2, 
    0x2, 0x9f, 0xa1, 0x7, 0x2a, 0x2, 0x2, 0xa0, 0xa2, 0x5, 0x16, 0xc, 0x2, 
    0xa1, 0xa0, 0x3, 0x2, 0x2, 0x2, 0xa1, 0xa2, 0x3, 0x2, 0x2, 0x2, 0xa2, 
    0xa9, 0x3, 0x2, 0x2, 0x2, 0xa3, 0xa5, 0x7, 0x2c, 0x2, 0x2, 0xa4, 0xa6, 
    0x7, 0x2b, 0x2, 0x2, 0xa5, 0xa4, 0x3, 0x2, 0x2, 0x2, 0xa5, 0xa6, 0x3, 
    0x2, 0x2, 0x2, 0xa6, 0xa8, 0x3, 0x2, 0x2, 0x2, 0xa7, 0xa3, 0x3, 0x2, 
    0x2, 0x2, 0xa8, 0xab, 0x3, 0x2, 0x2, 0x2, 0xa9, 0xa7, 0x3, 0x2, 0x2, 
    0x2, 0xa9, 0xaa, 0x3, 0x2, 0x2, 0x2, 0xaa, 0xad, 0x3, 0x2, 0x2, 0x2, 
    0xab, 0xa9, 0x3, 0x2, 0x2, 0x2, 0xac, 0xae, 0x7, 0x5, 0x2, 0x2, 0xad, 
    0xac, 0x3, 0x2, 0x2, 0x2, 0xad, 0xae, 0x3, 0x2, 0x2, 0x2, 0xae, 0xce, 
    0x3, 0x2, 0x2, 0x2, 0xaf, 0xb1, 0x5, 0x10, 0x9, 0x2, 0xb0, 0xb2, 0x7, 
    0x5, 0x2, 0x2, 0xb1, 0xb0, 0x3, 0x2, 0x2, 0x2, 0xb1, 0xb2, 0x3, 0x2, 
    0x2, 0x2, 0xb2, 0xce, 0x3, 0x2, 0x2, 0x2, 0xb3, 0xb5, 0x5, 0x8, 0x5, 
    0x2, 0xb4, 0xb3, 0x3, 0x2, 0x2, 0x2, 0xb5, 0xb6, 0x3, 0x2, 0x2, 0x2, 
    0xb6, 0xb4, 0x3, 0x2, 0x2, 0x2, 0xb6, 0xb7, 0x3, 0x2, 0x2, 0x2, 0xb7, 
    0xc8, 0x3, 0x2, 0x2, 0x2, 0xb8, 0xc9, 0x5, 0x10, 0x9, 0x2, 0xb9, 0xbe, 
    0x5, 0x1e, 0x10, 0x2, 0xba, 0xbb, 0x7, 0x6, 0x2, 0x2, 0xbb, 0xbd, 0x5, 
    0x1e, 0x10, 0x2, 0xbc, 0xba, 0x3, 0x2, 0x2, 0x2, 0xbd, 0xc0, 0x3, 0x2, 
    0x2, 0x2, 0xbe, 0xbc, 0x3, 0x2, 0x2, 0x2, 0xbe, 0xbf, 0x3, 0x2, 0x2, 
    0x2, 0xbf, 0xc9, 0x3, 0x2, 0x2, 0x2, 0xc0, 0xbe, 0x3, 0x2, 0x2, 0x2, 
    0xc1, 0xc5, 0x5, 0x1c, 0xf, 0x2, 0xc2, 0xc4, 0x5, 0x1a, 0xe, 0x2, 0xc3, 
    0xc2, 0x3, 0x2, 0x2, 0x2, 0xc4, 0xc7, 0x3, 0x2, 0x2, 0x2, 0xc5, 0xc3, 
    0x3, 0x2, 0x2, 0x2, 0xc5, 0xc6, 0x3, 0x2, 0x2, 0x2, 0xc6, 0xc9, 0x3, 
    0x2, 0x2, 0x2, 0xc7, 0xc5, 0x3, 0x2, 0x2, 0x2, 0xc8, 0xb8, 0x3, 0x2, 
    0x2, 0x2, 0xc8, 0xb9, 0x3, 0x2, 0x2, 0x2, 0xc8, 0xc1, 0x3, 0x2, 0x2, 
    0x2, 0xc8, 0xc9, 0x3, 0x2, 0x2, 0x2, 0xc9, 0xcb, 0x3, 0x2, 0x2, 0x2, 
    0xca, 0xcc, 0x7, 0x5, 0x2, 0x2, 0xcb, 0xca, 0x3, 0x2, 0x2, 0x2, 0xcb, 
    0xcc, 0x3, 0x2, 0x2, 0x2, 0xcc, 0xce, 0x3, 0x2, 0x2, 0x2, 0xcd, 0x93, 
    0x3, 0x2, 0x2, 0x2, 0xcd, 0x97, 0x3, 0x2, 0x2, 0x2, 0xcd, 0x9b, 0x3, 
    0x2, 0x2, 0x2, 0xcd, 0xaf, 0x3, 0x2, 0x2, 0x2, 0xcd, 0xb4, 0x3, 0x2, 
    0x2, 0x2, 0xce, 0x7, 0x3, 0x2, 0x2, 0x2, 0xcf, 0xd0, 0x7, 0x2c, 0x2, 
    0x2, 0xd0, 0xd7, 0x8, 0x5, 0x1, 0x2, 0xd1, 0xd2, 0x7, 0x23, 0x2, 0x2, 
    0xd2, 0xd3, 0x7, 0x2b, 0x2, 0x2, 0xd3, 0xd7, 0x8, 0x5, 0x1, 0x2, 0xd4, 
    0xd5, 0x7, 0x24, 0x2, 0x2, 0xd5, 0xd7, 0x5, 0xa, 0x6, 0x2, 0xd6, 0xcf, 
    0x3, 0x2, 0x2, 0x2, 0xd6, 0xd1, 0x3, 0x2, 0x2, 0x2, 0xd6, 0xd4, 0x3, 
    0x2, 0x2, 0x2, 0xd7, 0x9, 0x3, 0x2, 0x2, 0x2, 0xd8, 0xe0, 0x7, 0xc, 
    0x2, 0x2, 0xd9, 0xdf, 0x7, 0x2c, 0x2, 0x2, 0xda, 0xdf, 0x7, 0x2a, 0x2, 
    0x2, 0xdb, 0xdf, 0x7, 0x2b, 0x2, 0x2, 0xdc, 0xdf, 0x7, 0x6, 0x2, 0x2, 
    0xdd, 0xdf, 0x5, 0xa, 0x6, 0x2, 0xde, 0xd9, 0x3, 0x2, 0x2, 0x2, 0xde, 
    0xda, 0x3, 0x2, 0x2, 0x2, 0xde, 0xdb, 0x3, 0x2, 0x2, 0x2, 0xde, 0xdc, 
    0x3, 0x2, 0x2, 0x2, 0xde, 0xdd, 0x3, 0x2, 0x2, 0x2, 0xdf, 0xe2, 0x3, 
    0x2, 0x2, 0x2, 0xe0, 0xde, 0x3, 0x2, 0x2, 0x2, 0xe0, 0xe1, 0x3, 0x2, 
    0x2, 0x2, 0xe1, 0xe3, 0x3, 0x2, 0x2, 0x2, 0xe2, 0xe0, 0x3, 0x2, 0x2, 
    0x2, 0xe3, 0xe4, 0x7, 0xd, 0x2, 0x2, 0xe4, 0xb, 0x3, 0x2, 0x2, 0x2, 
    0xe5, 0xe6, 0x7, 0x25, 0x2, 0x2, 0xe6, 0xe7, 0x8, 0x7, 0x1, 0x2, 0xe7, 
    0xe8, 0x7, 0x2d, 0x2, 0x2, 0xe8, 0xee, 0x8, 0x7, 0x1, 0x2, 0xe9, 0xea, 
    0x7, 0x6, 0x2, 0x2, 0xea, 0xeb, 0x7, 0x2d, 0x2, 0x2, 0xeb, 0xed, 0x8, 
    0x7, 0x1, 0x2, 0xec, 0xe9, 0x3, 0x2, 0x2, 0x2, 0xed, 0xf0, 0x3, 0x2, 
    0x2, 0x2, 0xee, 0xec, 0x3, 0x2, 0x2, 0x2, 0xee, 0xef, 0x3, 0x2, 0x2, 
    0x2, 0xef, 0xd, 0x3, 0x2, 0x2, 0x2, 0xf0, 0xee, 0x3, 0x2, 0x2, 0x2, 
    0xf1, 0xf2, 0x9, 0x5, 0x2, 0x2, 0xf2, 0xf3, 0x8, 0x8, 0x1, 0x2, 0xf3, 
    0xf4, 0x7, 0x2a, 0x2, 0x2, 0xf4, 0xfa, 0x8, 0x8, 0x1, 0x2, 0xf5, 0xf6, 
    0x7, 0x6, 0x2, 0x2, 0xf6, 0xf7, 0x7, 0x2a, 0x2, 0x2, 0xf7, 0xf9, 0x8, 
    0x8, 0x1, 0x2, 0xf8, 0xf5, 0x3, 0x2, 0x2, 0x2, 0xf9, 0xfc, 0x3, 0x2, 
    0x2, 0x2, 0xfa, 0xf8, 0x3, 0x2, 0x2, 0x2, 0xfa, 0xfb, 0x3, 0x2, 0x2, 
    0x2, 0xfb, 0xf, 0x3, 0x2, 0x2, 0x2, 0xfc, 0xfa, 0x3, 0x2, 0x2, 0x2, 
    0xfd, 0xfe, 0x7, 0x21, 0x2, 0x2, 0xfe, 0x102, 0x8, 0x9, 0x1, 0x2, 0xff, 
    0x101, 0x5, 0x14, 0xb, 0x2, 0x100, 0xff, 0x3, 0x2, 0x2, 0x2, 0x101, 
    0x104, 0x3, 0x2, 0x2, 0x2, 0x102, 0x100, 0x3, 0x2, 0x2, 0x2, 0x102, 
    0x103, 0x3, 0x2, 0x2, 0x2, 0x103, 0x113, 0x3, 0x2, 0x2, 0x2, 0x104, 
    0x102, 0x3, 0x2, 0x2, 0x2, 0x105, 0x106, 0x7, 0x22, 0x2, 0x2, 0x106, 
    0x10a, 0x8, 0x9, 0x1, 0x2, 0x107, 0x109, 0x5, 0x14, 0xb, 0x2, 0x108, 
    0x107, 0x3, 0x2, 0x2, 0x2, 0x109, 0x10c, 0x3, 0x2, 0x2, 0x2, 0x10a, 
    0x108, 0x3, 0x2, 0x2, 0x2, 0x10a, 0x10b, 0x3, 0x2, 0x2, 0x2, 0x10b, 
    0x110, 0x3, 0x2, 0x2, 0x2, 0x10c, 0x10a, 0x3, 0x2, 0x2, 0x2, 0x10d, 
    0x10e, 0x5, 0x16, 0xc, 0x2, 0x10e, 0x10f, 0x8, 0x9, 0x1, 0x2, 0x10f, 
    0x111, 0x3, 0x2, 0x2, 0x2, 0x110, 0x10d, 0x3, 0x2, 0x2, 0x2, 0x110, 
    0x111, 0x3, 0x2, 0x2, 0x2, 0x111, 0x113, 0x3, 0x2, 0x2, 0x2, 0x112, 
    0xfd, 0x3, 0x2, 0x2, 0x2, 0x112, 0x105, 0x3, 0x2, 0x2, 0x2, 0x113, 0x114, 
    0x3, 0x2, 0x2, 0x2, 0x114, 0x115, 0x5, 0x12, 0xa, 0x2, 0x115, 0x119, 
    0x8, 0x9, 0x1, 0x2, 0x116, 0x117, 0x5, 0x16, 0xc, 0x2, 0x117, 0x118, 
    0x8, 0x9, 0x1, 0x2, 0x118, 0x11a, 0x3, 0x2, 0x2, 0x2, 0x119, 0x116, 
    0x3, 0x2, 0x2, 0x2, 0x119, 0x11a, 0x3, 0x2, 0x2, 0x2, 0x11a, 0x11e, 
    0x3, 0x2, 0x2, 0x2, 0x11b, 0x11d, 0x5, 0x1a, 0xe, 0x2, 0x11c, 0x11b, 
    0x3, 0x2, 0x2, 0x2, 0x11d, 0x120, 0x3, 0x2, 0x2, 0x2, 0x11e, 0x11c, 
    0x3, 0x2, 0x2, 0x2, 0x11e, 0x11f, 0x3, 0x2, 0x2, 0x2, 0x11f, 0x11, 0x3, 
    0x2, 0x2, 0x2, 0x120, 0x11e, 0x3, 0x2, 0x2, 0x2, 0x121, 0x122, 0x7, 
    0x2a, 0x2, 0x2, 0x122, 0x13, 0x3, 0x2, 0x2, 0x2, 0x123, 0x127, 0x7, 
    0x2c, 0x2, 0x2, 0x124, 0x125, 0x7, 0x24, 0x2, 0x2, 0x125, 0x127, 0x5, 
    0xa, 0x6, 0x2, 0x126, 0x123, 0x3, 0x2, 0x2, 0x2, 0x126, 0x124, 0x3, 
    0x2, 0x2, 0x2, 0x127, 0x15, 0x3, 0x2, 0x2, 0x2, 0x128, 0x131, 0x7, 0xc, 
    0x2, 0x2, 0x129, 0x12e, 0x5, 0x18, 0xd, 0x2, 0x12a, 0x12b, 0x7, 0x6, 
    0x2, 0x2, 0x12b, 0x12d, 0x5, 0x18, 0xd, 0x2, 0x12c, 0x12a, 0x3, 0x2, 
    0x2, 0x2, 0x12d, 0x130, 0x3, 0x2, 0x2, 0x2, 0x12e, 0x12c, 0x3, 0x2, 
    0x2, 0x2, 0x12e, 0x12f, 0x3, 0x2, 0x2, 0x2, 0x12f, 0x132, 0x3, 0x2, 
    0x2, 0x2, 0x130, 0x12e, 0x3, 0x2, 0x2, 0x2, 0x131, 0x129, 0x3, 0x2, 
    0x2, 0x2, 0x131, 0x132, 0x3, 0x2, 0x2, 0x2, 0x132, 0x133, 0x3, 0x2, 
    0x2, 0x2, 0x133, 0x134, 0x7, 0xd, 0x2, 0x2, 0x134, 0x17, 0x3, 0x2, 0x2, 
    0x2, 0x135, 0x137, 0x5, 0x8, 0x5, 0x2, 0x136, 0x135, 0x3, 0x2, 0x2, 
    0x2, 0x137, 0x138, 0x3, 0x2, 0x2, 0x2, 0x138, 0x136, 0x3, 0x2, 0x2, 
    0x2, 0x138, 0x139, 0x3, 0x2, 0x2, 0x2, 0x139, 0x13a, 0x3, 0x2, 0x2, 
    0x2, 0x13a, 0x13b, 0x7, 0x2a, 0x2, 0x2, 0x13b, 0x141, 0x8, 0xd, 0x1, 
    0x2, 0x13c, 0x140, 0x5, 0x22, 0x12, 0x2, 0x13d, 0x140, 0x5, 0x20, 0x11, 
    0x2, 0x13e, 0x140, 0x5, 0x2a, 0x16, 0x2, 0x13f, 0x13c, 0x3, 0x2, 0x2, 
    0x2, 0x13f, 0x13d, 0x3, 0x2, 0x2, 0x2, 0x13f, 0x13e, 0x3, 0x2, 0x2, 
    0x2, 0x140, 0x143, 0x3, 0x2, 0x2, 0x2, 0x141, 0x13f, 0x3, 0x2, 0x2, 
    0x2, 0x141, 0x142, 0x3, 0x2, 0x2, 0x2, 0x142, 0x144, 0x3, 0x2, 0x2, 
    0x2, 0x143, 0x141, 0x3, 0x2, 0x2, 0x2, 0x144, 0x145, 0x8, 0xd, 0x1, 
    0x2, 0x145, 0x19, 0x3, 0x2, 0x2, 0x2, 0x146, 0x147, 0x7, 0x2c, 0x2, 
    0x2, 0x147, 0x149, 0x8, 0xe, 0x1, 0x2, 0x148, 0x14a, 0x5, 0x1c, 0xf, 
    0x2, 0x149, 0x148, 0x3, 0x2, 0x2, 0x2, 0x149, 0x14a, 0x3, 0x2, 0x2, 
    0x2, 0x14a, 0x14d, 0x3, 0x2, 0x2, 0x2, 0x14b, 0x14d, 0x5, 0xc, 0x7, 
    0x2, 0x14c, 0x146, 0x3, 0x2, 0x2, 0x2, 0x14c, 0x14b, 0x3, 0x2, 0x2, 
    0x2, 0x14d, 0x1b, 0x3, 0x2, 0x2, 0x2, 0x14e, 0x14f, 0x7, 0x2b, 0x2, 
    0x2, 0x14f, 0x155, 0x8, 0xf, 0x1, 0x2, 0x150, 0x151, 0x7, 0x6, 0x2, 
    0x2, 0x151, 0x152, 0x7, 0x2b, 0x2, 0x2, 0x152, 0x154, 0x8, 0xf, 0x1, 
    0x2, 0x153, 0x150, 0x3, 0x2, 0x2, 0x2, 0x154, 0x157, 0x3, 0x2, 0x2, 
    0x2, 0x155, 0x153, 0x3, 0x2, 0x2, 0x2, 0x155, 0x156, 0x3, 0x2, 0x2, 
    0x2, 0x156, 0x1d, 0x3, 0x2, 0x2, 0x2, 0x157, 0x155, 0x3, 0x2, 0x2, 0x2, 
    0x158, 0x159, 0x7, 0x2a, 0x2, 0x2, 0x159, 0x15d, 0x8, 0x10, 0x1, 0x2, 
    0x15a, 0x15b, 0x5, 0x20, 0x11, 0x2, 0x15b, 0x15c, 0x8, 0x10, 0x1, 0x2, 
    0x15c, 0x15e, 0x3, 0x2, 0x2, 0x2, 0x15d, 0x15a, 0x3, 0x2, 0x2, 0x2, 
    0x15d, 0x15e, 0x3, 0x2, 0x2, 0x2, 0x15e, 0x162, 0x3, 0x2, 0x2, 0x2, 
    0x15f, 0x161, 0x5, 0x22, 0x12, 0x2, 0x160, 0x15f, 0x3, 0x2, 0x2, 0x2, 
    0x161, 0x164, 0x3, 0x2, 0x2, 0x2, 0x162, 0x160, 0x3, 0x2, 0x2, 0x2, 
    0x162, 0x163, 0x3, 0x2, 0x2, 0x2, 0x163, 0x16a, 0x3, 0x2, 0x2, 0x2, 
    0x164, 0x162, 0x3, 0x2, 0x2, 0x2, 0x165, 0x166, 0x7, 0xe, 0x2, 0x2, 
    0x166, 0x167, 0x8, 0x10, 0x1, 0x2, 0x167, 0x168, 0x5, 0x2c, 0x17, 0x2, 
    0x168, 0x169, 0x8, 0x10, 0x1, 0x2, 0x169, 0x16b, 0x3, 0x2, 0x2, 0x2, 
    0x16a, 0x165, 0x3, 0x2, 0x2, 0x2, 0x16a, 0x16b, 0x3, 0x2, 0x2, 0x2, 
    0x16b, 0x171, 0x3, 0x2, 0x2, 0x2, 0x16c, 0x16d, 0x5, 0x2a, 0x16, 0x2, 
    0x16d, 0x16e, 0x8, 0x10, 0x1, 0x2, 0x16e, 0x170, 0x3, 0x2, 0x2, 0x2, 
    0x16f, 0x16c, 0x3, 0x2, 0x2, 0x2, 0x170, 0x173, 0x3, 0x2, 0x2, 0x2, 
    0x171, 0x16f, 0x3, 0x2, 0x2, 0x2, 0x171, 0x172, 0x3, 0x2, 0x2, 0x2, 
    0x172, 0x174, 0x3, 0x2, 0x2, 0x2, 0x173, 0x171, 0x3, 0x2, 0x2, 0x2, 
    0x174, 0x175, 0x8, 0x10, 0x1, 0x2, 0x175, 0x1f, 0x3, 0x2, 0x2, 0x2, 
    0x176, 0x177, 0x7, 0xf, 0x2, 0x2, 0x177, 0x178, 0x7, 0x2b, 0x2, 0x2, 
    0x178, 0x179, 0x7, 0x10, 0x2, 0x2, 0x179, 0x21, 0x3, 0x2, 0x2, 0x2, 
    0x17a, 0x17f, 0x7, 0x11, 0x2, 0x2, 0x17b, 0x17c, 0x5, 0x2c, 0x17, 0x2, 
    0x17c, 0x17d, 0x8, 0x12, 0x1, 0x2, 0x17d, 0x180, 0x3, 0x2, 0x2, 0x2, 
    0x17e, 0x180, 0x8, 0x12, 0x1, 0x2, 0x17f, 0x17b, 0x3, 0x2, 0x2, 0x2, 
    0x17f, 0x17e, 0x3, 0x2, 0x2, 0x2, 0x180, 0x181, 0x3, 0x2, 0x2, 0x2, 
    0x181, 0x182, 0x7, 0x12, 0x2, 0x2, 0x182, 0x23, 0x3, 0x2, 0x2, 0x2, 
    0x183, 0x188, 0x8, 0x13, 0x1, 0x2, 0x184, 0x185, 0x7, 0x2c, 0x2, 0x2, 
    0x185, 0x187, 0x8, 0x13, 0x1, 0x2, 0x186, 0x184, 0x3, 0x2, 0x2, 0x2, 
    0x187, 0x18a, 0x3, 0x2, 0x2, 0x2, 0x188, 0x186, 0x3, 0x2, 0x2, 0x2, 
    0x188, 0x189, 0x3, 0x2, 0x2, 0x2, 0x189, 0x18c, 0x3, 0x2, 0x2, 0x2, 
    0x18a, 0x188, 0x3, 0x2, 0x2, 0x2, 0x18b, 0x18d, 0x5, 0x26, 0x14, 0x2, 
    0x18c, 0x18b, 0x3, 0x2, 0x2, 0x2, 0x18c, 0x18d, 0x3, 0x2, 0x2, 0x2, 
    0x18d, 0x18e, 0x3, 0x2, 0x2, 0x2, 0x18e, 0x18f, 0x7, 0x5, 0x2, 0x2, 
    0x18f, 0x190, 0x8, 0x13, 0x1, 0x2, 0x190, 0x25, 0x3, 0x2, 0x2, 0x2, 
    0x191, 0x193, 0x5, 0x2c, 0x17, 0x2, 0x192, 0x194, 0x5, 0x28, 0x15, 0x2, 
    0x193, 0x192, 0x3, 0x2, 0x2, 0x2, 0x193, 0x194, 0x3, 0x2, 0x2, 0x2, 
    0x194, 0x195, 0x3, 0x2, 0x2, 0x2, 0x195, 0x196, 0x8, 0x14, 0x1, 0x2, 
    0x196, 0x19a, 0x3, 0x2, 0x2, 0x2, 0x197, 0x198, 0x7, 0x6, 0x2, 0x2, 
    0x198, 0x19a, 0x8, 0x14, 0x1, 0x2, 0x199, 0x191, 0x3, 0x2, 0x2, 0x2, 
    0x199, 0x197, 0x3, 0x2, 0x2, 0x2, 0x19a, 0x1a7, 0x3, 0x2, 0x2, 0x2, 
    0x19b, 0x1a3, 0x7, 0x6, 0x2, 0x2, 0x19c, 0x19e, 0x5, 0x2c, 0x17, 0x2, 
    0x19d, 0x19f, 0x5, 0x28, 0x15, 0x2, 0x19e, 0x19d, 0x3, 0x2, 0x2, 0x2, 
    0x19e, 0x19f, 0x3, 0x2, 0x2, 0x2, 0x19f, 0x1a0, 0x3, 0x2, 0x2, 0x2, 
    0x1a0, 0x1a1, 0x8, 0x14, 0x1, 0x2, 0x1a1, 0x1a4, 0x3, 0x2, 0x2, 0x2, 
    0x1a2, 0x1a4, 0x8, 0x14, 0x1, 0x2, 0x1a3, 0x19c, 0x3, 0x2, 0x2, 0x2, 
    0x1a3, 0x1a2, 0x3, 0x2, 0x2, 0x2, 0x1a4, 0x1a6, 0x3, 0x2, 0x2, 0x2, 
    0x1a5, 0x19b, 0x3, 0x2, 0x2, 0x2, 0x1a6, 0x1a9, 0x3, 0x2, 0x2, 0x2, 
    0x1a7, 0x1a5, 0x3, 0x2, 0x2, 0x2, 0x1a7, 0x1a8, 0x3, 0x2, 0x2, 0x2, 
    0x1a8, 0x27, 0x3, 0x2, 0x2, 0x2, 0x1a9, 0x1a7, 0x3, 0x2, 0x2, 0x2, 0x1aa, 
    0x1ab, 0x5, 0x2a, 0x16, 0x2, 0x1ab, 0x1ac, 0x8, 0x15, 0x1, 0x2, 0x1ac, 
    0x1bc, 0x3, 0x2, 0x2, 0x2, 0x1ad, 0x1ae, 0x7, 0x11, 0x2, 0x2, 0x1ae, 
    0x1b0, 0x8, 0x15, 0x1, 0x2, 0x1af, 0x1b1, 0x5, 0x26, 0x14, 0x2, 0x1b0, 
    0x1af, 0x3, 0x2, 0x2, 0x2, 0x1b0, 0x1b1, 0x3, 0x2, 0x2, 0x2, 0x1b1, 
    0x1b2, 0x3, 0x2, 0x2, 0x2, 0x1b2, 0x1b3, 0x7, 0x12, 0x2, 0x2, 0x1b3, 
    0x1bc, 0x8, 0x15, 0x1, 0x2, 0x1b4, 0x1b5, 0x7, 0x3, 0x2, 0x2, 0x1b5, 
    0x1b7, 0x8, 0x15, 0x1, 0x2, 0x1b6, 0x1b8, 0x5, 0x26, 0x14, 0x2, 0x1b7, 
    0x1b6, 0x3, 0x2, 0x2, 0x2, 0x1b7, 0x1b8, 0x3, 0x2, 0x2, 0x2, 0x1b8, 
    0x1b9, 0x3, 0x2, 0x2, 0x2, 0x1b9, 0x1ba, 0x7, 0x4, 0x2, 0x2, 0x1ba, 
    0x1bc, 0x8, 0x15, 0x1, 0x2, 0x1bb, 0x1aa, 0x3, 0x2, 0x2, 0x2, 0x1bb, 
    0x1ad, 0x3, 0x2, 0x2, 0x2, 0x1bb, 0x1b4, 0x3, 0x2, 0x2, 0x2, 0x1bc, 
    0x1bd, 0x3, 0x2, 0x2, 0x2, 0x1bd, 0x1bb, 0x3, 0x2, 0x2, 0x2, 0x1bd, 
    0x1be, 0x3, 0x2, 0x2, 0x2, 0x1be, 0x29, 0x3, 0x2, 0x2, 0x2, 0x1bf, 0x1c0, 
    0x9, 0x6, 0x2, 0x2, 0x1c0, 0x2b, 0x3, 0x2, 0x2, 0x2, 0x1c1, 0x1c2, 0x8, 
    0x17, 0x1, 0x2, 0x1c2, 0x1c8, 0x5, 0x2e, 0x18, 0x2, 0x1c3, 0x1c4, 0x5, 
    0x32, 0x1a, 0x2, 0x1c4, 0x1c5, 0x5, 0x2e, 0x18, 0x2, 0x1c5, 0x1c7, 0x3, 
    0x2, 0x2, 0x2, 0x1c6, 0x1c3, 0x3, 0x2, 0x2, 0x2, 0x1c7, 0x1ca, 0x3, 
    0x2, 0x2, 0x2, 0x1c8, 0x1c6, 0x3, 0x2, 0x2, 0x2, 0x1c8, 0x1c9, 0x3, 
    0x2, 0x2, 0x2, 0x1c9, 0x1d2, 0x3, 0x2, 0x2, 0x2, 0x1ca, 0x1c8, 0x3, 
    0x2, 0x2, 0x2, 0x1cb, 0x1cc, 0x7, 0x14, 0x2, 0x2, 0x1cc, 0x1cd, 0x8, 
    0x17, 0x1, 0x2, 0x1cd, 0x1ce, 0x5, 0x2c, 0x17, 0x2, 0x1ce, 0x1cf, 0x7, 
    0xa, 0x2, 0x2, 0x1cf, 0x1d0, 0x5, 0x2c, 0x17, 0x2, 0x1d0, 0x1d1, 0x8, 
    0x17, 0x1, 0x2, 0x1d1, 0x1d3, 0x3, 0x2, 0x2, 0x2, 0x1d2, 0x1cb, 0x3, 
    0x2, 0x2, 0x2, 0x1d2, 0x1d3, 0x3, 0x2, 0x2, 0x2, 0x1d3, 0x1d4, 0x3, 
    0x2, 0x2, 0x2, 0x1d4, 0x1d5, 0x8, 0x17, 0x1, 0x2, 0x1d5, 0x2d, 0x3, 
    0x2, 0x2, 0x2, 0x1d6, 0x1d7, 0x9, 0x7, 0x2, 0x2, 0x1d7, 0x1d9, 0x8, 
    0x18, 0x1, 0x2, 0x1d8, 0x1d6, 0x3, 0x2, 0x2, 0x2, 0x1d9, 0x1dc, 0x3, 
    0x2, 0x2, 0x2, 0x1da, 0x1d8, 0x3, 0x2, 0x2, 0x2, 0x1da, 0x1db, 0x3, 
    0x2, 0x2, 0x2, 0x1db, 0x204, 0x3, 0x2, 0x2, 0x2, 0x1dc, 0x1da, 0x3, 
    0x2, 0x2, 0x2, 0x1dd, 0x1de, 0x7, 0x2a, 0x2, 0x2, 0x1de, 0x1e0, 0x8, 
    0x18, 0x1, 0x2, 0x1df, 0x1e1, 0x5, 0x30, 0x19, 0x2, 0x1e0, 0x1df, 0x3, 
    0x2, 0x2, 0x2, 0x1e0, 0x1e1, 0x3, 0x2, 0x2, 0x2, 0x1e1, 0x205, 0x3, 
    0x2, 0x2, 0x2, 0x1e2, 0x1e3, 0x7, 0x2b, 0x2, 0x2, 0x1e3, 0x1e5, 0x8, 
    0x18, 0x1, 0x2, 0x1e4, 0x1e6, 0x5, 0x30, 0x19, 0x2, 0x1e5, 0x1e4, 0x3, 
    0x2, 0x2, 0x2, 0x1e5, 0x1e6, 0x3, 0x2, 0x2, 0x2, 0x1e6, 0x205, 0x3, 
    0x2, 0x2, 0x2, 0x1e7, 0x1e8, 0x7, 0x2d, 0x2, 0x2, 0x1e8, 0x205, 0x8, 
    0x18, 0x1, 0x2, 0x1e9, 0x1f4, 0x7, 0xc, 0x2, 0x2, 0x1ea, 0x1eb, 0x7, 
    0x2c, 0x2, 0x2, 0x1eb, 0x1ec, 0x7, 0xd, 0x2, 0x2, 0x1ec, 0x1ed, 0x8, 
    0x18, 0x1, 0x2, 0x1ed, 0x1f5, 0x5, 0x2e, 0x18, 0x2, 0x1ee, 0x1f0, 0x8, 
    0x18, 0x1, 0x2, 0x1ef, 0x1f1, 0x5, 0x26, 0x14, 0x2, 0x1f0, 0x1ef, 0x3, 
    0x2, 0x2, 0x2, 0x1f0, 0x1f1, 0x3, 0x2, 0x2, 0x2, 0x1f1, 0x1f2, 0x3, 
    0x2, 0x2, 0x2, 0x1f2, 0x1f3, 0x7, 0xd, 0x2, 0x2, 0x1f3, 0x1f5, 0x8, 
    0x18, 0x1, 0x2, 0x1f4, 0x1ea, 0x3, 0x2, 0x2, 0x2, 0x1f4, 0x1ee, 0x3, 
    0x2, 0x2, 0x2, 0x1f5, 0x205, 0x3, 0x2, 0x2, 0x2, 0x1f6, 0x1f7, 0x7, 
    0x11, 0x2, 0x2, 0x1f7, 0x1f9, 0x8, 0x18, 0x1, 0x2, 0x1f8, 0x1fa, 0x5, 
    0x26, 0x14, 0x2, 0x1f9, 0x1f8, 0x3, 0x2, 0x2, 0x2, 0x1f9, 0x1fa, 0x3, 
    0x2, 0x2, 0x2, 0x1fa, 0x1fb, 0x3, 0x2, 0x2, 0x2, 0x1fb, 0x1fc, 0x7, 
    0x12, 0x2, 0x2, 0x1fc, 0x205, 0x8, 0x18, 0x1, 0x2, 0x1fd, 0x1fe, 0x7, 
    0x3, 0x2, 0x2, 0x1fe, 0x200, 0x8, 0x18, 0x1, 0x2, 0x1ff, 0x201, 0x5, 
    0x26, 0x14, 0x2, 0x200, 0x1ff, 0x3, 0x2, 0x2, 0x2, 0x200, 0x201, 0x3, 
    0x2, 0x2, 0x2, 0x201, 0x202, 0x3, 0x2, 0x2, 0x2, 0x202, 0x203, 0x7, 
    0x4, 0x2, 0x2, 0x203, 0x205, 0x8, 0x18, 0x1, 0x2, 0x204, 0x1dd, 0x3, 
    0x2, 0x2, 0x2, 0x204, 0x1e2, 0x3, 0x2, 0x2, 0x2, 0x204, 0x1e7, 0x3, 
    0x2, 0x2, 0x2, 0x204, 0x1e9, 0x3, 0x2, 0x2, 0x2, 0x204, 0x1f6, 0x3, 
    0x2, 0x2, 0x2, 0x204, 0x1fd, 0x3, 0x2, 0x2, 0x2, 0x205, 0x2f, 0x3, 0x2, 
    0x2, 0x2, 0x206, 0x207, 0x7, 0xc, 0x2, 0x2, 0x207, 0x208, 0x8, 0x19, 
    0x1, 0x2, 0x208, 0x20d, 0x5, 0x2c, 0x17, 0x2, 0x209, 0x20a, 0x7, 0x6, 
    0x2, 0x2, 0x20a, 0x20c, 0x5, 0x2c, 0x17, 0x2, 0x20b, 0x209, 0x3, 0x2, 
    0x2, 0x2, 0x20c, 0x20f, 0x3, 0x2, 0x2, 0x2, 0x20d, 0x20b, 0x3, 0x2, 
    0x2, 0x2, 0x20d, 0x20e, 0x3, 0x2, 0x2, 0x2, 0x20e, 0x210, 0x3, 0x2, 
    0x2, 0x2, 0x20f, 0x20d, 0x3, 0x2, 0x2, 0x2, 0x210, 0x211, 0x7, 0xd, 
    0x2, 0x2, 0x211, 0x212, 0x8, 0x19, 0x1, 0x2, 0x212, 0x31, 0x3, 0x2, 
    0x2, 0x2, 0x213, 0x232, 0x7, 0x15, 0x2, 0x2, 0x214, 0x232, 0x7, 0x16, 
    0x2, 0x2, 0x215, 0x232, 0x7, 0x17, 0x2, 0x2, 0x216, 0x232, 0x7, 0x7, 
    0x2, 0x2, 0x217, 0x232, 0x7, 0xb, 0x2, 0x2, 0x218, 0x232, 0x7, 0x18, 
    0x2, 0x2, 0x219, 0x21b, 0x7, 0xf, 0x2, 0x2, 0x21a, 0x21c, 0x9, 0x8, 
    0x2, 0x2, 0x21b, 0x21a, 0x3, 0x2, 0x2, 0x2, 0x21b, 0x21c, 0x3, 0x2, 
    0x2, 0x2, 0x21c, 0x232, 0x3, 0x2, 0x2, 0x2, 0x21d, 0x21f, 0x7, 0x10, 
    0x2, 0x2, 0x21e, 0x220, 0x9, 0x9, 0x2, 0x2, 0x21f, 0x21e, 0x3, 0x2, 
    0x2, 0x2, 0x21f, 0x220, 0x3, 0x2, 0x2, 0x2, 0x220, 0x232, 0x3, 0x2, 
    0x2, 0x2, 0x221, 0x223, 0x7, 0xe, 0x2, 0x2, 0x222, 0x224, 0x7, 0xe, 
    0x2, 0x2, 0x223, 0x222, 0x3, 0x2, 0x2, 0x2, 0x223, 0x224, 0x3, 0x2, 
    0x2, 0x2, 0x224, 0x232, 0x3, 0x2, 0x2, 0x2, 0x225, 0x227, 0x7, 0x9, 
    0x2, 0x2, 0x226, 0x228, 0x7, 0xe, 0x2, 0x2, 0x227, 0x226, 0x3, 0x2, 
    0x2, 0x2, 0x227, 0x228, 0x3, 0x2, 0x2, 0x2, 0x228, 0x232, 0x3, 0x2, 
    0x2, 0x2, 0x229, 0x22b, 0x7, 0x19, 0x2, 0x2, 0x22a, 0x22c, 0x7, 0x19, 
    0x2, 0x2, 0x22b, 0x22a, 0x3, 0x2, 0x2, 0x2, 0x22b, 0x22c, 0x3, 0x2, 
    0x2, 0x2, 0x22c, 0x232, 0x3, 0x2, 0x2, 0x2, 0x22d, 0x22f, 0x7, 0x1a, 
    0x2, 0x2, 0x22e, 0x230, 0x7, 0x1a, 0x2, 0x2, 0x22f, 0x22e, 0x3, 0x2, 
    0x2, 0x2, 0x22f, 0x230, 0x3, 0x2, 0x2, 0x2, 0x230, 0x232, 0x3, 0x2, 
    0x2, 0x2, 0x231, 0x213, 0x3, 0x2, 0x2, 0x2, 0x231, 0x214, 0x3, 0x2, 
    0x2, 0x2, 0x231, 0x215, 0x3, 0x2, 0x2, 0x2, 0x231, 0x216, 0x3, 0x2, 
    0x2, 0x2, 0x231, 0x217, 0x3, 0x2, 0x2, 0x2, 0x231, 0x218, 0x3, 0x2, 
    0x2, 0x2, 0x231, 0x219, 0x3, 0x2, 0x2, 0x2, 0x231, 0x21d, 0x3, 0x2, 
    0x2, 0x2, 0x231, 0x221, 0x3, 0x2, 0x2, 0x2, 0x231, 0x225, 0x3, 0x2, 
    0x2, 0x2, 0x231, 0x229, 0x3, 0x2, 0x2, 0x2, 0x231, 0x22d, 0x3, 0x2, 
    0x2, 0x2, 0x232, 0x233, 0x3, 0x2, 0x2, 0x2, 0x233, 0x234, 0x8, 0x1a, 
    0x1, 0x2, 0x234, 0x33, 0x3, 0x2, 0x2, 0x2, 0x50, 0x45, 0x52, 0x5f, 0x64, 
    0x68, 0x72, 0x79, 0x83, 0x8d, 0x8f, 0x95, 0x99, 0x9d, 0xa1, 0xa5, 0xa9, 
    0xad, 0xb1, 0xb6, 0xbe, 0xc5, 0xc8, 0xcb, 0xcd, 0xd6, 0xde, 0xe0, 0xee, 
    0xfa, 0x102, 0x10a, 0x110, 0x112, 0x119, 0x11e, 0x126, 0x12e, 0x131, 
    0x138, 0x13f, 0x141, 0x149, 0x14c, 0x155, 0x15d, 0x162, 0x16a, 0x171, 
    0x17f, 0x188, 0x18c, 0x193, 0x199, 0x19e, 0x1a3, 0x1a7, 0x1b0, 0x1b7, 
    0x1bb, 0x1bd, 0x1c8, 0x1d2, 0x1da, 0x1e0, 0x1e5, 0x1f0, 0x1f4, 0x1f9, 
    0x200, 0x204, 0x20d, 0x21b, 0x21f, 0x223, 0x227, 0x22b, 0x22f, 0x231, 
  };

  atn::ATNDeserializer deserializer;
  _atn = deserializer.deserialize(_serializedATN);

  size_t count = _atn.getNumberOfDecisions();
  _decisionToDFA.reserve(count);
  for (size_t i = 0; i < count; i++) { 
    _decisionToDFA.emplace_back(_atn.getDecisionState(i), i);
  }
}

PTXParser::Initializer PTXParser::_init;
