
// Generated from PTX.g4 by ANTLR 4.7.2



#include "PTXParser.h"


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

std::vector<PTXParser::DirectivePartContext *> PTXParser::StatementContext::directivePart() {
  return getRuleContexts<PTXParser::DirectivePartContext>();
}

PTXParser::DirectivePartContext* PTXParser::StatementContext::directivePart(size_t i) {
  return getRuleContext<PTXParser::DirectivePartContext>(i);
}

PTXParser::TailContext* PTXParser::StatementContext::tail() {
  return getRuleContext<PTXParser::TailContext>(0);
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
    setState(107);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::T__0: {
        enterOuterAlt(_localctx, 1);
        setState(14);
        match(PTXParser::T__0);
        break;
      }

      case PTXParser::T__1: {
        enterOuterAlt(_localctx, 2);
        setState(15);
        match(PTXParser::T__1);
        break;
      }

      case PTXParser::T__2: {
        enterOuterAlt(_localctx, 3);
        setState(16);
        match(PTXParser::T__2);
        break;
      }

      case PTXParser::DWARF_LINE: {
        enterOuterAlt(_localctx, 4);
        setState(17);
        match(PTXParser::DWARF_LINE);
        break;
      }

      case PTXParser::VERSION: {
        enterOuterAlt(_localctx, 5);
        setState(18);
        match(PTXParser::VERSION);
        setState(19);
        match(PTXParser::NUMBER);
        break;
      }

      case PTXParser::TARGET: {
        enterOuterAlt(_localctx, 6);
        setState(20);
        match(PTXParser::TARGET);
        setState(21);
        match(PTXParser::WORD);
        setState(26);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(22);
          match(PTXParser::T__3);
          setState(23);
          match(PTXParser::WORD);
          setState(28);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        break;
      }

      case PTXParser::ADDRESS_SIZE: {
        enterOuterAlt(_localctx, 7);
        setState(29);
        match(PTXParser::ADDRESS_SIZE);
        setState(30);
        match(PTXParser::NUMBER);
        break;
      }

      case PTXParser::FILE: {
        enterOuterAlt(_localctx, 8);
        setState(31);
        match(PTXParser::FILE);
        setState(32);
        match(PTXParser::NUMBER);
        setState(33);
        match(PTXParser::STRING);
        setState(38);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(34);
          match(PTXParser::T__3);
          setState(35);
          match(PTXParser::NUMBER);
          setState(40);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        break;
      }

      case PTXParser::LOC: {
        enterOuterAlt(_localctx, 9);
        setState(41);
        match(PTXParser::LOC);
        setState(42);
        match(PTXParser::NUMBER);
        setState(43);
        match(PTXParser::NUMBER);
        setState(44);
        match(PTXParser::NUMBER);
        setState(59);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(45);
          match(PTXParser::T__3);
          setState(46);
          match(PTXParser::WORD);
          setState(55);
          _errHandler->sync(this);
          switch (_input->LA(1)) {
            case PTXParser::WORD: {
              setState(47);
              match(PTXParser::WORD);
              setState(50);
              _errHandler->sync(this);

              _la = _input->LA(1);
              if (_la == PTXParser::T__4) {
                setState(48);
                match(PTXParser::T__4);
                setState(49);
                match(PTXParser::NUMBER);
              }
              break;
            }

            case PTXParser::NUMBER: {
              setState(52);
              match(PTXParser::NUMBER);
              setState(53);
              match(PTXParser::NUMBER);
              setState(54);
              match(PTXParser::NUMBER);
              break;
            }

          default:
            throw NoViableAltException(this);
          }
          setState(61);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        break;
      }

      case PTXParser::SECTION: {
        enterOuterAlt(_localctx, 10);
        setState(62);
        match(PTXParser::SECTION);
        setState(63);
        _la = _input->LA(1);
        if (!(_la == PTXParser::WORD

        || _la == PTXParser::DOT_WORD)) {
        _errHandler->recoverInline(this);
        }
        else {
          _errHandler->reportMatch(this);
          consume();
        }
        setState(68);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while (_la == PTXParser::T__3) {
          setState(64);
          match(PTXParser::T__3);
          setState(65);
          _la = _input->LA(1);
          if (!(_la == PTXParser::WORD

          || _la == PTXParser::STRING)) {
          _errHandler->recoverInline(this);
          }
          else {
            _errHandler->reportMatch(this);
            consume();
          }
          setState(70);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        setState(71);
        match(PTXParser::T__0);
        setState(75);
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
          | (1ULL << PTXParser::DOT_WORD)
          | (1ULL << PTXParser::NUMBER)
          | (1ULL << PTXParser::STRING))) != 0)) {
          setState(72);
          sectionElement();
          setState(77);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        setState(78);
        match(PTXParser::T__1);
        break;
      }

      case PTXParser::DOT_WORD: {
        enterOuterAlt(_localctx, 11);
        setState(79);
        match(PTXParser::DOT_WORD);
        setState(83);
        _errHandler->sync(this);
        _la = _input->LA(1);
        while ((((_la & ~ 0x3fULL) == 0) &&
          ((1ULL << _la) & ((1ULL << PTXParser::T__3)
          | (1ULL << PTXParser::T__4)
          | (1ULL << PTXParser::T__6)
          | (1ULL << PTXParser::T__7)
          | (1ULL << PTXParser::T__8)
          | (1ULL << PTXParser::T__9)
          | (1ULL << PTXParser::T__11)
          | (1ULL << PTXParser::T__12)
          | (1ULL << PTXParser::T__14)
          | (1ULL << PTXParser::T__15)
          | (1ULL << PTXParser::T__16)
          | (1ULL << PTXParser::T__17)
          | (1ULL << PTXParser::T__18)
          | (1ULL << PTXParser::T__19)
          | (1ULL << PTXParser::T__20)
          | (1ULL << PTXParser::T__21)
          | (1ULL << PTXParser::T__22)
          | (1ULL << PTXParser::T__23)
          | (1ULL << PTXParser::WORD)
          | (1ULL << PTXParser::DOT_WORD)
          | (1ULL << PTXParser::NUMBER)
          | (1ULL << PTXParser::STRING))) != 0)) {
          setState(80);
          directivePart();
          setState(85);
          _errHandler->sync(this);
          _la = _input->LA(1);
        }
        setState(87);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__2) {
          setState(86);
          match(PTXParser::T__2);
        }
        break;
      }

      case PTXParser::T__5: {
        enterOuterAlt(_localctx, 12);
        setState(89);
        match(PTXParser::T__5);
        setState(91);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__6) {
          setState(90);
          match(PTXParser::T__6);
        }
        setState(93);
        match(PTXParser::WORD);
        setState(94);
        match(PTXParser::WORD);
        setState(96);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if ((((_la & ~ 0x3fULL) == 0) &&
          ((1ULL << _la) & ((1ULL << PTXParser::T__0)
          | (1ULL << PTXParser::T__3)
          | (1ULL << PTXParser::T__4)
          | (1ULL << PTXParser::T__6)
          | (1ULL << PTXParser::T__8)
          | (1ULL << PTXParser::T__9)
          | (1ULL << PTXParser::T__11)
          | (1ULL << PTXParser::T__12)
          | (1ULL << PTXParser::T__14)
          | (1ULL << PTXParser::T__15)
          | (1ULL << PTXParser::T__16)
          | (1ULL << PTXParser::T__17)
          | (1ULL << PTXParser::T__18)
          | (1ULL << PTXParser::T__19)
          | (1ULL << PTXParser::T__20)
          | (1ULL << PTXParser::T__21)
          | (1ULL << PTXParser::T__22)
          | (1ULL << PTXParser::T__23)
          | (1ULL << PTXParser::WORD)
          | (1ULL << PTXParser::DOT_WORD)
          | (1ULL << PTXParser::NUMBER)
          | (1ULL << PTXParser::STRING))) != 0)) {
          setState(95);
          tail();
        }
        setState(98);
        match(PTXParser::T__2);
        break;
      }

      case PTXParser::WORD: {
        enterOuterAlt(_localctx, 13);
        setState(99);
        match(PTXParser::WORD);
        setState(105);
        _errHandler->sync(this);
        switch (_input->LA(1)) {
          case PTXParser::T__7: {
            setState(100);
            match(PTXParser::T__7);
            break;
          }

          case PTXParser::T__0:
          case PTXParser::T__2:
          case PTXParser::T__3:
          case PTXParser::T__4:
          case PTXParser::T__6:
          case PTXParser::T__8:
          case PTXParser::T__9:
          case PTXParser::T__11:
          case PTXParser::T__12:
          case PTXParser::T__14:
          case PTXParser::T__15:
          case PTXParser::T__16:
          case PTXParser::T__17:
          case PTXParser::T__18:
          case PTXParser::T__19:
          case PTXParser::T__20:
          case PTXParser::T__21:
          case PTXParser::T__22:
          case PTXParser::T__23:
          case PTXParser::WORD:
          case PTXParser::DOT_WORD:
          case PTXParser::NUMBER:
          case PTXParser::STRING: {
            setState(102);
            _errHandler->sync(this);

            _la = _input->LA(1);
            if ((((_la & ~ 0x3fULL) == 0) &&
              ((1ULL << _la) & ((1ULL << PTXParser::T__0)
              | (1ULL << PTXParser::T__3)
              | (1ULL << PTXParser::T__4)
              | (1ULL << PTXParser::T__6)
              | (1ULL << PTXParser::T__8)
              | (1ULL << PTXParser::T__9)
              | (1ULL << PTXParser::T__11)
              | (1ULL << PTXParser::T__12)
              | (1ULL << PTXParser::T__14)
              | (1ULL << PTXParser::T__15)
              | (1ULL << PTXParser::T__16)
              | (1ULL << PTXParser::T__17)
              | (1ULL << PTXParser::T__18)
              | (1ULL << PTXParser::T__19)
              | (1ULL << PTXParser::T__20)
              | (1ULL << PTXParser::T__21)
              | (1ULL << PTXParser::T__22)
              | (1ULL << PTXParser::T__23)
              | (1ULL << PTXParser::WORD)
              | (1ULL << PTXParser::DOT_WORD)
              | (1ULL << PTXParser::NUMBER)
              | (1ULL << PTXParser::STRING))) != 0)) {
              setState(101);
              tail();
            }
            setState(104);
            match(PTXParser::T__2);
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
    setState(109);
    _la = _input->LA(1);
    if (!((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__3)
      | (1ULL << PTXParser::T__4)
      | (1ULL << PTXParser::T__7)
      | (1ULL << PTXParser::T__8)
      | (1ULL << PTXParser::T__9)
      | (1ULL << PTXParser::T__10)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::DOT_WORD)
      | (1ULL << PTXParser::NUMBER)
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

//----------------- DirectivePartContext ------------------------------------------------------------------

PTXParser::DirectivePartContext::DirectivePartContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

tree::TerminalNode* PTXParser::DirectivePartContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

tree::TerminalNode* PTXParser::DirectivePartContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

tree::TerminalNode* PTXParser::DirectivePartContext::NUMBER() {
  return getToken(PTXParser::NUMBER, 0);
}

tree::TerminalNode* PTXParser::DirectivePartContext::STRING() {
  return getToken(PTXParser::STRING, 0);
}

PTXParser::OpContext* PTXParser::DirectivePartContext::op() {
  return getRuleContext<PTXParser::OpContext>(0);
}

PTXParser::OperandsContext* PTXParser::DirectivePartContext::operands() {
  return getRuleContext<PTXParser::OperandsContext>(0);
}


size_t PTXParser::DirectivePartContext::getRuleIndex() const {
  return PTXParser::RuleDirectivePart;
}


PTXParser::DirectivePartContext* PTXParser::directivePart() {
  DirectivePartContext *_localctx = _tracker.createInstance<DirectivePartContext>(_ctx, getState());
  enterRule(_localctx, 4, PTXParser::RuleDirectivePart);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    setState(133);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::DOT_WORD: {
        enterOuterAlt(_localctx, 1);
        setState(111);
        match(PTXParser::DOT_WORD);
        break;
      }

      case PTXParser::WORD: {
        enterOuterAlt(_localctx, 2);
        setState(112);
        match(PTXParser::WORD);
        break;
      }

      case PTXParser::NUMBER: {
        enterOuterAlt(_localctx, 3);
        setState(113);
        match(PTXParser::NUMBER);
        break;
      }

      case PTXParser::STRING: {
        enterOuterAlt(_localctx, 4);
        setState(114);
        match(PTXParser::STRING);
        break;
      }

      case PTXParser::T__3: {
        enterOuterAlt(_localctx, 5);
        setState(115);
        match(PTXParser::T__3);
        break;
      }

      case PTXParser::T__7: {
        enterOuterAlt(_localctx, 6);
        setState(116);
        match(PTXParser::T__7);
        break;
      }

      case PTXParser::T__4:
      case PTXParser::T__6:
      case PTXParser::T__8:
      case PTXParser::T__14:
      case PTXParser::T__15:
      case PTXParser::T__16:
      case PTXParser::T__17:
      case PTXParser::T__18:
      case PTXParser::T__19:
      case PTXParser::T__20:
      case PTXParser::T__21:
      case PTXParser::T__22:
      case PTXParser::T__23: {
        enterOuterAlt(_localctx, 7);
        setState(117);
        op();
        break;
      }

      case PTXParser::T__11: {
        enterOuterAlt(_localctx, 8);
        setState(118);
        match(PTXParser::T__11);
        setState(123);
        _errHandler->sync(this);

        _la = _input->LA(1);
        if (_la == PTXParser::T__0) {
          setState(119);
          match(PTXParser::T__0);
          setState(120);
          operands();
          setState(121);
          match(PTXParser::T__1);
        }
        break;
      }

      case PTXParser::T__9: {
        enterOuterAlt(_localctx, 9);
        setState(125);
        match(PTXParser::T__9);
        setState(126);
        operands();
        setState(127);
        match(PTXParser::T__10);
        break;
      }

      case PTXParser::T__12: {
        enterOuterAlt(_localctx, 10);
        setState(129);
        match(PTXParser::T__12);
        setState(130);
        operands();
        setState(131);
        match(PTXParser::T__13);
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

//----------------- TailContext ------------------------------------------------------------------

PTXParser::TailContext::TailContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

PTXParser::OperandsContext* PTXParser::TailContext::operands() {
  return getRuleContext<PTXParser::OperandsContext>(0);
}

tree::TerminalNode* PTXParser::TailContext::WORD() {
  return getToken(PTXParser::WORD, 0);
}

tree::TerminalNode* PTXParser::TailContext::NUMBER() {
  return getToken(PTXParser::NUMBER, 0);
}

tree::TerminalNode* PTXParser::TailContext::STRING() {
  return getToken(PTXParser::STRING, 0);
}

tree::TerminalNode* PTXParser::TailContext::DOT_WORD() {
  return getToken(PTXParser::DOT_WORD, 0);
}

PTXParser::OpContext* PTXParser::TailContext::op() {
  return getRuleContext<PTXParser::OpContext>(0);
}

PTXParser::GroupContext* PTXParser::TailContext::group() {
  return getRuleContext<PTXParser::GroupContext>(0);
}


size_t PTXParser::TailContext::getRuleIndex() const {
  return PTXParser::RuleTail;
}


PTXParser::TailContext* PTXParser::tail() {
  TailContext *_localctx = _tracker.createInstance<TailContext>(_ctx, getState());
  enterRule(_localctx, 6, PTXParser::RuleTail);

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(143);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::WORD: {
        setState(135);
        match(PTXParser::WORD);
        break;
      }

      case PTXParser::NUMBER: {
        setState(136);
        match(PTXParser::NUMBER);
        break;
      }

      case PTXParser::STRING: {
        setState(137);
        match(PTXParser::STRING);
        break;
      }

      case PTXParser::DOT_WORD: {
        setState(138);
        match(PTXParser::DOT_WORD);
        break;
      }

      case PTXParser::T__3: {
        setState(139);
        match(PTXParser::T__3);
        break;
      }

      case PTXParser::T__11: {
        setState(140);
        match(PTXParser::T__11);
        break;
      }

      case PTXParser::T__4:
      case PTXParser::T__6:
      case PTXParser::T__8:
      case PTXParser::T__14:
      case PTXParser::T__15:
      case PTXParser::T__16:
      case PTXParser::T__17:
      case PTXParser::T__18:
      case PTXParser::T__19:
      case PTXParser::T__20:
      case PTXParser::T__21:
      case PTXParser::T__22:
      case PTXParser::T__23: {
        setState(141);
        op();
        break;
      }

      case PTXParser::T__0:
      case PTXParser::T__9:
      case PTXParser::T__12: {
        setState(142);
        group();
        break;
      }

    default:
      throw NoViableAltException(this);
    }
    setState(145);
    operands();
   
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

std::vector<tree::TerminalNode *> PTXParser::OperandsContext::WORD() {
  return getTokens(PTXParser::WORD);
}

tree::TerminalNode* PTXParser::OperandsContext::WORD(size_t i) {
  return getToken(PTXParser::WORD, i);
}

std::vector<tree::TerminalNode *> PTXParser::OperandsContext::NUMBER() {
  return getTokens(PTXParser::NUMBER);
}

tree::TerminalNode* PTXParser::OperandsContext::NUMBER(size_t i) {
  return getToken(PTXParser::NUMBER, i);
}

std::vector<tree::TerminalNode *> PTXParser::OperandsContext::STRING() {
  return getTokens(PTXParser::STRING);
}

tree::TerminalNode* PTXParser::OperandsContext::STRING(size_t i) {
  return getToken(PTXParser::STRING, i);
}

std::vector<tree::TerminalNode *> PTXParser::OperandsContext::DOT_WORD() {
  return getTokens(PTXParser::DOT_WORD);
}

tree::TerminalNode* PTXParser::OperandsContext::DOT_WORD(size_t i) {
  return getToken(PTXParser::DOT_WORD, i);
}

std::vector<PTXParser::OpContext *> PTXParser::OperandsContext::op() {
  return getRuleContexts<PTXParser::OpContext>();
}

PTXParser::OpContext* PTXParser::OperandsContext::op(size_t i) {
  return getRuleContext<PTXParser::OpContext>(i);
}

std::vector<PTXParser::GroupContext *> PTXParser::OperandsContext::group() {
  return getRuleContexts<PTXParser::GroupContext>();
}

PTXParser::GroupContext* PTXParser::OperandsContext::group(size_t i) {
  return getRuleContext<PTXParser::GroupContext>(i);
}


size_t PTXParser::OperandsContext::getRuleIndex() const {
  return PTXParser::RuleOperands;
}


PTXParser::OperandsContext* PTXParser::operands() {
  OperandsContext *_localctx = _tracker.createInstance<OperandsContext>(_ctx, getState());
  enterRule(_localctx, 8, PTXParser::RuleOperands);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(158);
    _errHandler->sync(this);
    _la = _input->LA(1);
    while ((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__0)
      | (1ULL << PTXParser::T__3)
      | (1ULL << PTXParser::T__4)
      | (1ULL << PTXParser::T__6)
      | (1ULL << PTXParser::T__7)
      | (1ULL << PTXParser::T__8)
      | (1ULL << PTXParser::T__9)
      | (1ULL << PTXParser::T__11)
      | (1ULL << PTXParser::T__12)
      | (1ULL << PTXParser::T__14)
      | (1ULL << PTXParser::T__15)
      | (1ULL << PTXParser::T__16)
      | (1ULL << PTXParser::T__17)
      | (1ULL << PTXParser::T__18)
      | (1ULL << PTXParser::T__19)
      | (1ULL << PTXParser::T__20)
      | (1ULL << PTXParser::T__21)
      | (1ULL << PTXParser::T__22)
      | (1ULL << PTXParser::T__23)
      | (1ULL << PTXParser::WORD)
      | (1ULL << PTXParser::DOT_WORD)
      | (1ULL << PTXParser::NUMBER)
      | (1ULL << PTXParser::STRING))) != 0)) {
      setState(156);
      _errHandler->sync(this);
      switch (_input->LA(1)) {
        case PTXParser::WORD: {
          setState(147);
          match(PTXParser::WORD);
          break;
        }

        case PTXParser::NUMBER: {
          setState(148);
          match(PTXParser::NUMBER);
          break;
        }

        case PTXParser::STRING: {
          setState(149);
          match(PTXParser::STRING);
          break;
        }

        case PTXParser::DOT_WORD: {
          setState(150);
          match(PTXParser::DOT_WORD);
          break;
        }

        case PTXParser::T__3: {
          setState(151);
          match(PTXParser::T__3);
          break;
        }

        case PTXParser::T__11: {
          setState(152);
          match(PTXParser::T__11);
          break;
        }

        case PTXParser::T__7: {
          setState(153);
          match(PTXParser::T__7);
          break;
        }

        case PTXParser::T__4:
        case PTXParser::T__6:
        case PTXParser::T__8:
        case PTXParser::T__14:
        case PTXParser::T__15:
        case PTXParser::T__16:
        case PTXParser::T__17:
        case PTXParser::T__18:
        case PTXParser::T__19:
        case PTXParser::T__20:
        case PTXParser::T__21:
        case PTXParser::T__22:
        case PTXParser::T__23: {
          setState(154);
          op();
          break;
        }

        case PTXParser::T__0:
        case PTXParser::T__9:
        case PTXParser::T__12: {
          setState(155);
          group();
          break;
        }

      default:
        throw NoViableAltException(this);
      }
      setState(160);
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

//----------------- GroupContext ------------------------------------------------------------------

PTXParser::GroupContext::GroupContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}

PTXParser::OperandsContext* PTXParser::GroupContext::operands() {
  return getRuleContext<PTXParser::OperandsContext>(0);
}


size_t PTXParser::GroupContext::getRuleIndex() const {
  return PTXParser::RuleGroup;
}


PTXParser::GroupContext* PTXParser::group() {
  GroupContext *_localctx = _tracker.createInstance<GroupContext>(_ctx, getState());
  enterRule(_localctx, 10, PTXParser::RuleGroup);

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    setState(173);
    _errHandler->sync(this);
    switch (_input->LA(1)) {
      case PTXParser::T__9: {
        enterOuterAlt(_localctx, 1);
        setState(161);
        match(PTXParser::T__9);
        setState(162);
        operands();
        setState(163);
        match(PTXParser::T__10);
        break;
      }

      case PTXParser::T__12: {
        enterOuterAlt(_localctx, 2);
        setState(165);
        match(PTXParser::T__12);
        setState(166);
        operands();
        setState(167);
        match(PTXParser::T__13);
        break;
      }

      case PTXParser::T__0: {
        enterOuterAlt(_localctx, 3);
        setState(169);
        match(PTXParser::T__0);
        setState(170);
        operands();
        setState(171);
        match(PTXParser::T__1);
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

//----------------- OpContext ------------------------------------------------------------------

PTXParser::OpContext::OpContext(ParserRuleContext *parent, size_t invokingState)
  : ParserRuleContext(parent, invokingState) {
}


size_t PTXParser::OpContext::getRuleIndex() const {
  return PTXParser::RuleOp;
}


PTXParser::OpContext* PTXParser::op() {
  OpContext *_localctx = _tracker.createInstance<OpContext>(_ctx, getState());
  enterRule(_localctx, 12, PTXParser::RuleOp);
  size_t _la = 0;

  auto onExit = finally([=] {
    exitRule();
  });
  try {
    enterOuterAlt(_localctx, 1);
    setState(175);
    _la = _input->LA(1);
    if (!((((_la & ~ 0x3fULL) == 0) &&
      ((1ULL << _la) & ((1ULL << PTXParser::T__4)
      | (1ULL << PTXParser::T__6)
      | (1ULL << PTXParser::T__8)
      | (1ULL << PTXParser::T__14)
      | (1ULL << PTXParser::T__15)
      | (1ULL << PTXParser::T__16)
      | (1ULL << PTXParser::T__17)
      | (1ULL << PTXParser::T__18)
      | (1ULL << PTXParser::T__19)
      | (1ULL << PTXParser::T__20)
      | (1ULL << PTXParser::T__21)
      | (1ULL << PTXParser::T__22)
      | (1ULL << PTXParser::T__23))) != 0))) {
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

// Static vars and initialization.
std::vector<dfa::DFA> PTXParser::_decisionToDFA;
atn::PredictionContextCache PTXParser::_sharedContextCache;

// We own the ATN which in turn owns the ATN states.
atn::ATN PTXParser::_atn;
std::vector<uint16_t> PTXParser::_serializedATN;

std::vector<std::string> PTXParser::_ruleNames = {
  "statement", "sectionElement", "directivePart", "tail", "operands", "group", 
  "op"
};

std::vector<std::string> PTXParser::_literalNames = {
  "", "'{'", "'}'", "';'", "','", "'+'", "'@'", "'!'", "':'", "'-'", "'('", 
  "')'", "'='", "'['", "']'", "'~'", "'|'", "'&'", "'^'", "'*'", "'/'", 
  "'%'", "'<'", "'>'", "'?'", "'.version'", "'.target'", "'.address_size'", 
  "'.file'", "'.loc'", "'.section'"
};

std::vector<std::string> PTXParser::_symbolicNames = {
  "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", 
  "", "", "", "", "", "", "", "VERSION", "TARGET", "ADDRESS_SIZE", "FILE", 
  "LOC", "SECTION", "DWARF_LINE", "WORD", "DOT_WORD", "NUMBER", "STRING", 
  "WHITE_SPACE", "LINE_COMMENT", "LINE_MARKER", "BLOCK_COMMENT"
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
    0x3, 0x29, 0xb4, 0x4, 0x2, 0x9, 0x2, 0x4, 0x3, 0x9, 0x3, 0x4, 0x4, 0x9, 
    0x4, 0x4, 0x5, 0x9, 0x5, 0x4, 0x6, 0x9, 0x6, 0x4, 0x7, 0x9, 0x7, 0x4, 
    0x8, 0x9, 0x8, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 
    0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x7, 0x2, 0x1b, 0xa, 0x2, 
    0xc, 0x2, 0xe, 0x2, 0x1e, 0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 
    0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x7, 0x2, 0x27, 0xa, 0x2, 0xc, 0x2, 
    0xe, 0x2, 0x2a, 0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 
    0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x5, 0x2, 0x35, 0xa, 0x2, 
    0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x5, 0x2, 0x3a, 0xa, 0x2, 0x7, 0x2, 0x3c, 
    0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 0x3f, 0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 
    0x2, 0x3, 0x2, 0x7, 0x2, 0x45, 0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 0x48, 0xb, 
    0x2, 0x3, 0x2, 0x3, 0x2, 0x7, 0x2, 0x4c, 0xa, 0x2, 0xc, 0x2, 0xe, 0x2, 
    0x4f, 0xb, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x7, 0x2, 0x54, 0xa, 0x2, 
    0xc, 0x2, 0xe, 0x2, 0x57, 0xb, 0x2, 0x3, 0x2, 0x5, 0x2, 0x5a, 0xa, 0x2, 
    0x3, 0x2, 0x3, 0x2, 0x5, 0x2, 0x5e, 0xa, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 
    0x2, 0x5, 0x2, 0x63, 0xa, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 0x3, 0x2, 
    0x5, 0x2, 0x69, 0xa, 0x2, 0x3, 0x2, 0x5, 0x2, 0x6c, 0xa, 0x2, 0x5, 0x2, 
    0x6e, 0xa, 0x2, 0x3, 0x3, 0x3, 0x3, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 
    0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 
    0x4, 0x3, 0x4, 0x5, 0x4, 0x7e, 0xa, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 
    0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x3, 0x4, 0x5, 0x4, 0x88, 0xa, 
    0x4, 0x3, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 
    0x5, 0x3, 0x5, 0x5, 0x5, 0x92, 0xa, 0x5, 0x3, 0x5, 0x3, 0x5, 0x3, 0x6, 
    0x3, 0x6, 0x3, 0x6, 0x3, 0x6, 0x3, 0x6, 0x3, 0x6, 0x3, 0x6, 0x3, 0x6, 
    0x3, 0x6, 0x7, 0x6, 0x9f, 0xa, 0x6, 0xc, 0x6, 0xe, 0x6, 0xa2, 0xb, 0x6, 
    0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 
    0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x3, 0x7, 0x5, 0x7, 0xb0, 0xa, 
    0x7, 0x3, 0x8, 0x3, 0x8, 0x3, 0x8, 0x2, 0x2, 0x9, 0x2, 0x4, 0x6, 0x8, 
    0xa, 0xc, 0xe, 0x2, 0x6, 0x3, 0x2, 0x22, 0x23, 0x4, 0x2, 0x22, 0x22, 
    0x25, 0x25, 0x5, 0x2, 0x6, 0x7, 0xa, 0xd, 0x22, 0x25, 0x6, 0x2, 0x7, 
    0x7, 0x9, 0x9, 0xb, 0xb, 0x11, 0x1a, 0x2, 0xe1, 0x2, 0x6d, 0x3, 0x2, 
    0x2, 0x2, 0x4, 0x6f, 0x3, 0x2, 0x2, 0x2, 0x6, 0x87, 0x3, 0x2, 0x2, 0x2, 
    0x8, 0x91, 0x3, 0x2, 0x2, 0x2, 0xa, 0xa0, 0x3, 0x2, 0x2, 0x2, 0xc, 0xaf, 
    0x3, 0x2, 0x2, 0x2, 0xe, 0xb1, 0x3, 0x2, 0x2, 0x2, 0x10, 0x6e, 0x7, 
    0x3, 0x2, 0x2, 0x11, 0x6e, 0x7, 0x4, 0x2, 0x2, 0x12, 0x6e, 0x7, 0x5, 
    0x2, 0x2, 0x13, 0x6e, 0x7, 0x21, 0x2, 0x2, 0x14, 0x15, 0x7, 0x1b, 0x2, 
    0x2, 0x15, 0x6e, 0x7, 0x24, 0x2, 0x2, 0x16, 0x17, 0x7, 0x1c, 0x2, 0x2, 
    0x17, 0x1c, 0x7, 0x22, 0x2, 0x2, 0x18, 0x19, 0x7, 0x6, 0x2, 0x2, 0x19, 
    0x1b, 0x7, 0x22, 0x2, 0x2, 0x1a, 0x18, 0x3, 0x2, 0x2, 0x2, 0x1b, 0x1e, 
    0x3, 0x2, 0x2, 0x2, 0x1c, 0x1a, 0x3, 0x2, 0x2, 0x2, 0x1c, 0x1d, 0x3, 
    0x2, 0x2, 0x2, 0x1d, 0x6e, 0x3, 0x2, 0x2, 0x2, 0x1e, 0x1c, 0x3, 0x2, 
    0x2, 0x2, 0x1f, 0x20, 0x7, 0x1d, 0x2, 0x2, 0x20, 0x6e, 0x7, 0x24, 0x2, 
    0x2, 0x21, 0x22, 0x7, 0x1e, 0x2, 0x2, 0x22, 0x23, 0x7, 0x24, 0x2, 0x2, 
    0x23, 0x28, 0x7, 0x25, 0x2, 0x2, 0x24, 0x25, 0x7, 0x6, 0x2, 0x2, 0x25, 
    0x27, 0x7, 0x24, 0x2, 0x2, 0x26, 0x24, 0x3, 0x2, 0x2, 0x2, 0x27, 0x2a, 
    0x3, 0x2, 0x2, 0x2, 0x28, 0x26, 0x3, 0x2, 0x2, 0x2, 0x28, 0x29, 0x3, 
    0x2, 0x2, 0x2, 0x29, 0x6e, 0x3, 0x2, 0x2, 0x2, 0x2a, 0x28, 0x3, 0x2, 
    0x2, 0x2, 0x2b, 0x2c, 0x7, 0x1f, 0x2, 0x2, 0x2c, 0x2d, 0x7, 0x24, 0x2, 
    0x2, 0x2d, 0x2e, 0x7, 0x24, 0x2, 0x2, 0x2e, 0x3d, 0x7, 0x24, 0x2, 0x2, 
    0x2f, 0x30, 0x7, 0x6, 0x2, 0x2, 0x30, 0x39, 0x7, 0x22, 0x2, 0x2, 0x31, 
    0x34, 0x7, 0x22, 0x2, 0x2, 0x32, 0x33, 0x7, 0x7, 0x2, 0x2, 0x33, 0x35, 
    0x7, 0x24, 0x2, 0x2, 0x34, 0x32, 0x3, 0x2, 0x2, 0x2, 0x34, 0x35, 0x3, 
    0x2, 0x2, 0x2, 0x35, 0x3a, 0x3, 0x2, 0x2, 0x2, 0x36, 0x37, 0x7, 0x24, 
    0x2, 0x2, 0x37, 0x38, 0x7, 0x24, 0x2, 0x2, 0x38, 0x3a, 0x7, 0x24, 0x2, 
    0x2, 0x39, 0x31, 0x3, 0x2, 0x2, 0x2, 0x39, 0x36, 0x3, 0x2, 0x2, 0x2, 
    0x3a, 0x3c, 0x3, 0x2, 0x2, 0x2, 0x3b, 0x2f, 0x3, 0x2, 0x2, 0x2, 0x3c, 
    0x3f, 0x3, 0x2, 0x2, 0x2, 0x3d, 0x3b, 0x3, 0x2, 0x2, 0x2, 0x3d, 0x3e, 
    0x3, 0x2, 0x2, 0x2, 0x3e, 0x6e, 0x3, 0x2, 0x2, 0x2, 0x3f, 0x3d, 0x3, 
    0x2, 0x2, 0x2, 0x40, 0x41, 0x7, 0x20, 0x2, 0x2, 0x41, 0x46, 0x9, 0x2, 
    0x2, 0x2, 0x42, 0x43, 0x7, 0x6, 0x2, 0x2, 0x43, 0x45, 0x9, 0x3, 0x2, 
    0x2, 0x44, 0x42, 0x3, 0x2, 0x2, 0x2, 0x45, 0x48, 0x3, 0x2, 0x2, 0x2, 
    0x46, 0x44, 0x3, 0x2, 0x2, 0x2, 0x46, 0x47, 0x3, 0x2, 0x2, 0x2, 0x47, 
    0x49, 0x3, 0x2, 0x2, 0x2, 0x48, 0x46, 0x3, 0x2, 0x2, 0x2, 0x49, 0x4d, 
    0x7, 0x3, 0x2, 0x2, 0x4a, 0x4c, 0x5, 0x4, 0x3, 0x2, 0x4b, 0x4a, 0x3, 
    0x2, 0x2, 0x2, 0x4c, 0x4f, 0x3, 0x2, 0x2, 0x2, 0x4d, 0x4b, 0x3, 0x2, 
    0x2, 0x2, 0x4d, 0x4e, 0x3, 0x2, 0x2, 0x2, 0x4e, 0x50, 0x3, 0x2, 0x2, 
    0x2, 0x4f, 0x4d, 0x3, 0x2, 0x2, 0x2, 0x50, 0x6e, 0x7, 0x4, 0x2, 0x2, 
    0x51, 0x55, 0x7, 0x23, 0x2, 0x2, 0x52, 0x54, 0x5, 0x6, 0x4, 0x2, 0x53, 
    0x52, 0x3, 0x2, 0x2, 0x2, 0x54, 0x57, 0x3, 0x2, 0x2, 0x2, 0x55, 0x53, 
    0x3, 0x2, 0x2, 0x2, 0x55, 0x56, 0x3, 0x2, 0x2, 0x2, 0x56, 0x59, 0x3, 
    0x2, 0x2, 0x2, 0x57, 0x55, 0x3, 0x2, 0x2, 0x2, 0x58, 0x5a, 0x7, 0x5, 
    0x2, 0x2, 0x59, 0x58, 0x3, 0x2, 0x2, 0x2, 0x59, 0x5a, 0x3, 0x2, 0x2, 
    0x2, 0x5a, 0x6e, 0x3, 0x2, 0x2, 0x2, 0x5b, 0x5d, 0x7, 0x8, 0x2, 0x2, 
    0x5c, 0x5e, 0x7, 0x9, 0x2, 0x2, 0x5d, 0x5c, 0x3, 0x2, 0x2, 0x2, 0x5d, 
    0x5e, 0x3, 0x2, 0x2, 0x2, 0x5e, 0x5f, 0x3, 0x2, 0x2, 0x2, 0x5f, 0x60, 
    0x7, 0x22, 0x2, 0x2, 0x60, 0x62, 0x7, 0x22, 0x2, 0x2, 0x61, 0x63, 0x5, 
    0x8, 0x5, 0x2, 0x62, 0x61, 0x3, 0x2, 0x2, 0x2, 0x62, 0x63, 0x3, 0x2, 
    0x2, 0x2, 0x63, 0x64, 0x3, 0x2, 0x2, 0x2, 0x64, 0x6e, 0x7, 0x5, 0x2, 
    0x2, 0x65, 0x6b, 0x7, 0x22, 0x2, 0x2, 0x66, 0x6c, 0x7, 0xa, 0x2, 0x2, 
    0x67, 0x69, 0x5, 0x8, 0x5, 0x2, 0x68, 0x67, 0x3, 0x2, 0x2, 0x2, 0x68, 
    0x69, 0x3, 0x2, 0x2, 0x2, 0x69, 0x6a, 0x3, 0x2, 0x2, 0x2, 0x6a, 0x6c, 
    0x7, 0x5, 0x2, 0x2, 0x6b, 0x66, 0x3, 0x2, 0x2, 0x2, 0x6b, 0x68, 0x3, 
    0x2, 0x2, 0x2, 0x6c, 0x6e, 0x3, 0x2, 0x2, 0x2, 0x6d, 0x10, 0x3, 0x2, 
    0x2, 0x2, 0x6d, 0x11, 0x3, 0x2, 0x2, 0x2, 0x6d, 0x12, 0x3, 0x2, 0x2, 
    0x2, 0x6d, 0x13, 0x3, 0x2, 0x2, 0x2, 0x6d, 0x14, 0x3, 0x2, 0x2, 0x2, 
    0x6d, 0x16, 0x3, 0x2, 0x2, 0x2, 0x6d, 0x1f, 0x3, 0x2, 0x2, 0x2, 0x6d, 
    0x21, 0x3, 0x2, 0x2, 0x2, 0x6d, 0x2b, 0x3, 0x2, 0x2, 0x2, 0x6d, 0x40, 
    0x3, 0x2, 0x2, 0x2, 0x6d, 0x51, 0x3, 0x2, 0x2, 0x2, 0x6d, 0x5b, 0x3, 
    0x2, 0x2, 0x2, 0x6d, 0x65, 0x3, 0x2, 0x2, 0x2, 0x6e, 0x3, 0x3, 0x2, 
    0x2, 0x2, 0x6f, 0x70, 0x9, 0x4, 0x2, 0x2, 0x70, 0x5, 0x3, 0x2, 0x2, 
    0x2, 0x71, 0x88, 0x7, 0x23, 0x2, 0x2, 0x72, 0x88, 0x7, 0x22, 0x2, 0x2, 
    0x73, 0x88, 0x7, 0x24, 0x2, 0x2, 0x74, 0x88, 0x7, 0x25, 0x2, 0x2, 0x75, 
    0x88, 0x7, 0x6, 0x2, 0x2, 0x76, 0x88, 0x7, 0xa, 0x2, 0x2, 0x77, 0x88, 
    0x5, 0xe, 0x8, 0x2, 0x78, 0x7d, 0x7, 0xe, 0x2, 0x2, 0x79, 0x7a, 0x7, 
    0x3, 0x2, 0x2, 0x7a, 0x7b, 0x5, 0xa, 0x6, 0x2, 0x7b, 0x7c, 0x7, 0x4, 
    0x2, 0x2, 0x7c, 0x7e, 0x3, 0x2, 0x2, 0x2, 0x7d, 0x79, 0x3, 0x2, 0x2, 
    0x2, 0x7d, 0x7e, 0x3, 0x2, 0x2, 0x2, 0x7e, 0x88, 0x3, 0x2, 0x2, 0x2, 
    0x7f, 0x80, 0x7, 0xc, 0x2, 0x2, 0x80, 0x81, 0x5, 0xa, 0x6, 0x2, 0x81, 
    0x82, 0x7, 0xd, 0x2, 0x2, 0x82, 0x88, 0x3, 0x2, 0x2, 0x2, 0x83, 0x84, 
    0x7, 0xf, 0x2, 0x2, 0x84, 0x85, 0x5, 0xa, 0x6, 0x2, 0x85, 0x86, 0x7, 
    0x10, 0x2, 0x2, 0x86, 0x88, 0x3, 0x2, 0x2, 0x2, 0x87, 0x71, 0x3, 0x2, 
    0x2, 0x2, 0x87, 0x72, 0x3, 0x2, 0x2, 0x2, 0x87, 0x73, 0x3, 0x2, 0x2, 
    0x2, 0x87, 0x74, 0x3, 0x2, 0x2, 0x2, 0x87, 0x75, 0x3, 0x2, 0x2, 0x2, 
    0x87, 0x76, 0x3, 0x2, 0x2, 0x2, 0x87, 0x77, 0x3, 0x2, 0x2, 0x2, 0x87, 
    0x78, 0x3, 0x2, 0x2, 0x2, 0x87, 0x7f, 0x3, 0x2, 0x2, 0x2, 0x87, 0x83, 
    0x3, 0x2, 0x2, 0x2, 0x88, 0x7, 0x3, 0x2, 0x2, 0x2, 0x89, 0x92, 0x7, 
    0x22, 0x2, 0x2, 0x8a, 0x92, 0x7, 0x24, 0x2, 0x2, 0x8b, 0x92, 0x7, 0x25, 
    0x2, 0x2, 0x8c, 0x92, 0x7, 0x23, 0x2, 0x2, 0x8d, 0x92, 0x7, 0x6, 0x2, 
    0x2, 0x8e, 0x92, 0x7, 0xe, 0x2, 0x2, 0x8f, 0x92, 0x5, 0xe, 0x8, 0x2, 
    0x90, 0x92, 0x5, 0xc, 0x7, 0x2, 0x91, 0x89, 0x3, 0x2, 0x2, 0x2, 0x91, 
    0x8a, 0x3, 0x2, 0x2, 0x2, 0x91, 0x8b, 0x3, 0x2, 0x2, 0x2, 0x91, 0x8c, 
    0x3, 0x2, 0x2, 0x2, 0x91, 0x8d, 0x3, 0x2, 0x2, 0x2, 0x91, 0x8e, 0x3, 
    0x2, 0x2, 0x2, 0x91, 0x8f, 0x3, 0x2, 0x2, 0x2, 0x91, 0x90, 0x3, 0x2, 
    0x2, 0x2, 0x92, 0x93, 0x3, 0x2, 0x2, 0x2, 0x93, 0x94, 0x5, 0xa, 0x6, 
    0x2, 0x94, 0x9, 0x3, 0x2, 0x2, 0x2, 0x95, 0x9f, 0x7, 0x22, 0x2, 0x2, 
    0x96, 0x9f, 0x7, 0x24, 0x2, 0x2, 0x97, 0x9f, 0x7, 0x25, 0x2, 0x2, 0x98, 
    0x9f, 0x7, 0x23, 0x2, 0x2, 0x99, 0x9f, 0x7, 0x6, 0x2, 0x2, 0x9a, 0x9f, 
    0x7, 0xe, 0x2, 0x2, 0x9b, 0x9f, 0x7, 0xa, 0x2, 0x2, 0x9c, 0x9f, 0x5, 
    0xe, 0x8, 0x2, 0x9d, 0x9f, 0x5, 0xc, 0x7, 0x2, 0x9e, 0x95, 0x3, 0x2, 
    0x2, 0x2, 0x9e, 0x96, 0x3, 0x2, 0x2, 0x2, 0x9e, 0x97, 0x3, 0x2, 0x2, 
    0x2, 0x9e, 0x98, 0x3, 0x2, 0x2, 0x2, 0x9e, 0x99, 0x3, 0x2, 0x2, 0x2, 
    0x9e, 0x9a, 0x3, 0x2, 0x2, 0x2, 0x9e, 0x9b, 0x3, 0x2, 0x2, 0x2, 0x9e, 
    0x9c, 0x3, 0x2, 0x2, 0x2, 0x9e, 0x9d, 0x3, 0x2, 0x2, 0x2, 0x9f, 0xa2, 
    0x3, 0x2, 0x2, 0x2, 0xa0, 0x9e, 0x3, 0x2, 0x2, 0x2, 0xa0, 0xa1, 0x3, 
    0x2, 0x2, 0x2, 0xa1, 0xb, 0x3, 0x2, 0x2, 0x2, 0xa2, 0xa0, 0x3, 0x2, 
    0x2, 0x2, 0xa3, 0xa4, 0x7, 0xc, 0x2, 0x2, 0xa4, 0xa5, 0x5, 0xa, 0x6, 
    0x2, 0xa5, 0xa6, 0x7, 0xd, 0x2, 0x2, 0xa6, 0xb0, 0x3, 0x2, 0x2, 0x2, 
    0xa7, 0xa8, 0x7, 0xf, 0x2, 0x2, 0xa8, 0xa9, 0x5, 0xa, 0x6, 0x2, 0xa9, 
    0xaa, 0x7, 0x10, 0x2, 0x2, 0xaa, 0xb0, 0x3, 0x2, 0x2, 0x2, 0xab, 0xac, 
    0x7, 0x3, 0x2, 0x2, 0xac, 0xad, 0x5, 0xa, 0x6, 0x2, 0xad, 0xae, 0x7, 
    0x4, 0x2, 0x2, 0xae, 0xb0, 0x3, 0x2, 0x2, 0x2, 0xaf, 0xa3, 0x3, 0x2, 
    0x2, 0x2, 0xaf, 0xa7, 0x3, 0x2, 0x2, 0x2, 0xaf, 0xab, 0x3, 0x2, 0x2, 
    0x2, 0xb0, 0xd, 0x3, 0x2, 0x2, 0x2, 0xb1, 0xb2, 0x9, 0x5, 0x2, 0x2, 
    0xb2, 0xf, 0x3, 0x2, 0x2, 0x2, 0x16, 0x1c, 0x28, 0x34, 0x39, 0x3d, 0x46, 
    0x4d, 0x55, 0x59, 0x5d, 0x62, 0x68, 0x6b, 0x6d, 0x7d, 0x87, 0x91, 0x9e, 
    0xa0, 0xaf, 
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
