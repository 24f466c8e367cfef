// PTX (PTX ISA 9.0, chapters 4 to 6 and 11): statements, directives, declarations with their
// initializers, instructions with their operands, and constant expressions. What an opcode does is decided
// above, so a new instruction needs no change here.
//
// The actions call grammar/builder.h; no tree is built. `statement` is the start rule: the caller asks for
// one statement after another until EOF, so that memory does not grow with the module. Braces that open
// and close bodies and scopes are statements of their own for the same reason.
//
// Every decision is LL(1): the generated parser never calls the adaptive predictor, which is what makes it
// fast enough for a drop-in assembler. That has two consequences. The precedence of operators (PTX ISA
// 4.5) is the builder's matter, which reduces while the parser shifts. And what PTX may bring tomorrow is
// `unknown` where it can be: it makes its instruction opaque instead of wrong.
//
// The lexical rules are the definition; grammar/scanner.cpp implements them by hand for speed, and a
// test holds it to the lexer that ANTLR generates from this file.
grammar PTX;

@parser::postinclude {
#include "grammar/builder.h"
}

@parser::members {
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
}

statement
    : '{'                                                { build->open_brace(); }
    | '}'                                                { build->close_brace(); }
    | ';'
    | DWARF_LINE
    | VERSION NUMBER                                     { build->version(); }
    | TARGET WORD                                        { build->target(); }
      (',' WORD                                          { build->target_option(); }
      )*
    | ADDRESS_SIZE NUMBER                                { build->address_size(); }
    | FILE NUMBER STRING (',' NUMBER)*                   { build->file(); }
    | LOC NUMBER NUMBER NUMBER (',' WORD (WORD ('+' NUMBER)? | NUMBER NUMBER NUMBER))*
                                                         { build->location(); }
    | SECTION (WORD | DOT_WORD) (',' (STRING | WORD))* '{' sectionElement* '}'
    | directive                                          { build->end_directive(); }
    | '@' ('!'                                           { build->negate_guard(); }
      )? WORD                                            { build->guard(); }
      WORD instruction
    | WORD ( ':'                                         { build->label(); }
           | instruction
           )
    ;

// Debug data: `.b8 1,2,3`, `.b32 .debug_abbrev`, labels, differences of labels.
sectionElement
    : DOT_WORD | WORD | NUMBER | STRING | ',' | ':' | '+' | '-' | '(' | ')'
    ;

// Directives (PTX ISA 5 and 11). All begin with words after a dot; what comes next says whether these
// belong to a function, to variables, or are performance directives (of a header that the ';' of a
// `.pragma` cut in two).
directive
    : pragma ';'?
    | targetList ';'?
    | CALL_PROTOTYPE parameters? WORD parameters? (DOT_WORD NUMBER?)* ';'?
    | function ';'?
    | specifier+
      ( function
      | variable (',' variable)*
      | performanceValues performance*
      )?
      ';'?
    ;

specifier
    : DOT_WORD                                           { build->specifier(); }
    | ALIGN NUMBER                                       { build->alignment(); }
    | ATTRIBUTE arguments
    ;

// `.attribute(.managed)`, `.attribute(.unified(19, 95))`
arguments
    : '(' (DOT_WORD | WORD | NUMBER | ',' | arguments)* ')'
    ;

pragma
    : PRAGMA                                             { build->begin_pragma(); }
      STRING                                             { build->pragma(); }
      (',' STRING                                        { build->pragma(); }
      )*
    ;

targetList
    : (BRANCH_TARGETS | CALL_TARGETS)                    { build->begin_target_list(); }
      WORD                                               { build->target_label(); }
      (',' WORD                                          { build->target_label(); }
      )*
    ;

function
    : ( ENTRY                                            { build->begin_function(true); }
        attribute*
      | FUNC                                             { build->begin_function(false); }
        attribute* (parameters                           { build->return_parameters(); }
        )?
      )
      functionName                                       { build->function_name(); }
      (parameters                                        { build->parameters(); }
      )?
      performance*
    ;

functionName
    : WORD
    ;

attribute
    : DOT_WORD | ATTRIBUTE arguments
    ;

parameters
    : '(' (parameter (',' parameter)*)? ')'
    ;

parameter
    : specifier+ WORD                                    { build->begin_parameter(); }
      (extent | registerCount | unknown)*                { build->end_parameter(); }
    ;

// `.maxntid 16, 16`, `.noreturn`
performance
    : DOT_WORD                                           { build->performance(); }
      performanceValues?
    | pragma
    ;

performanceValues
    : NUMBER                                             { build->performance_value(); }
      (',' NUMBER                                        { build->performance_value(); }
      )*
    ;

variable
    : WORD                                               { build->begin_variable(); }
      (registerCount                                     { build->register_range(); }
      )?
      extent*
      ('='                                               { build->begin_initializer(); }
       expression                                        { build->end_initializer(); }
      )?
      (unknown                                           { build->unknown_in_declaration(); }
      )*                                                 { build->end_variable(); }
    ;

registerCount
    : '<' NUMBER '>'
    ;

extent
    : '[' ( expression                                   { build->extent(); }
          |                                              { build->no_extent(); }
          ) ']'
    ;

// What follows the opcode (PTX ISA 4.3.2). Modifiers may be set apart from it.
instruction
    :                                                    { build->opcode(); }
      (DOT_WORD                                          { build->modifier_apart(); }
      )*
      operands? ';'                                      { build->end_instruction(); }
    ;

operands
    : ( expression unknownTail?                          { build->end_operand(); }
      | ','                                              { build->missing_before(); }
      )
      (',' ( expression unknownTail?                     { build->end_operand(); }
           |                                             { build->missing_after(); }
           )
      )*
    ;

unknownTail
    : ( unknown                                          { build->unknown_in_operand(); }
      | '['                                              { build->open_list(); }
        operands? ']'                                    { build->unknown_list(); }
      | '{'                                              { build->open_list(); }
        operands? '}'                                    { build->unknown_list(); }
      )+
    ;

// What may follow an operand or a variable in no syntax of today.
unknown
    : WORD | NUMBER | STRING | DOT_WORD | ':' | '~'
    ;

// Operands and constant expressions (PTX ISA 4.5 and 6): `-8 * (4 + n)`, `%r1`, `%v.x`, `!%p1`, `name+4`,
// `generic(name)+8`, `%p1|%p2`, `[%rd1+8]`, `[tensor, {%r1, %r2}]`, `{%f1, %f2}`, `(%r1, 7)`.
expression
    :                                                    { build->begin_expression(); }
      term (binaryOperator term)*
      ('?'                                               { build->question(); }
       expression ':' expression                         { build->select(); }
      )?                                                 { build->end_expression(); }
    ;

term
    : ( ('-' | '+' | '~' | '!')                          { build->prefix(); }
      )*
      ( WORD                                             { build->name(); }
        application?
      | NUMBER                                           { build->number(); }
        application?
      | STRING                                           { build->string(); }
      | '(' ( DOT_WORD ')'                               { build->cast(); }
              term
            |                                            { build->open_list(); }
              operands? ')'                              { build->group(); }
            )
      | '['                                              { build->open_list(); }
        operands? ']'                                    { build->address(); }
      | '{'                                              { build->open_list(); }
        operands? '}'                                    { build->vector(); }
      )
    ;

// `generic(name)`, and the masks `0xff00(name)` in initializers
application
    : '('                                                { build->open_list(); }
      expression (',' expression)* ')'                   { build->application(); }
    ;

// Two characters are one operator if nothing stands between them.
binaryOperator
    : ( '*' | '/' | '%' | '+' | '-' | '^'
      | '<' ('<' | '=')?
      | '>' ('>' | '=')?
      | '=' '='?
      | '!' '='?
      | '&' '&'?
      | '|' '|'?
      )                                                  { build->binary(); }
    ;

VERSION         : '.version' ;
TARGET          : '.target' ;
ADDRESS_SIZE    : '.address_size' ;
FILE            : '.file' ;
LOC             : '.loc' ;
SECTION         : '.section' ;
ENTRY           : '.entry' ;
FUNC            : '.func' ;
ALIGN           : '.align' ;
ATTRIBUTE       : '.attribute' ;
PRAGMA          : '.pragma' ;
BRANCH_TARGETS  : '.branchtargets' ;
CALL_TARGETS    : '.calltargets' ;
CALL_PROTOTYPE  : '.callprototype' ;
// PTX before 3.0 carries debug data in lines of this form.
DWARF_LINE      : '@@DWARF' ~[\r\n]* ;
// Identifiers with their dotted tail: `ld.global.f32`, `%tid.x`, `mbarrier.test_wait.shared::cta.b64`.
WORD            : ([A-Za-z_$] | '%' [A-Za-z0-9_$]) [A-Za-z0-9_$]* ('.' [A-Za-z0-9_$]+ ('::' [A-Za-z0-9_$]+)*)* ;
// Integers in every base with suffix, decimal reals, and the hexadecimal reals 0f.. and 0d..
NUMBER          : [0-9] [A-Za-z0-9_]* ('.' [0-9]* ([eE] [+-]? [0-9]+)?)? | [0-9]+ [eE] [+-] [0-9]+
                | '.' [0-9]+ ([eE] [+-]? [0-9]+)? ;
DOT_WORD        : '.' [A-Za-z0-9_$]+ ('::' [A-Za-z0-9_$]+)* ;
STRING          : '"' ~["\r\n]* '"' ;
WHITE_SPACE     : [ \t\r\n\f\u000B]+ -> skip ;
LINE_COMMENT    : '//' ~[\n]* -> skip ;
// What the C preprocessor leaves: `# 33 "file.cu" 1`, anywhere.
LINE_MARKER     : '#' [ \t]* 'line'? [ \t]* [0-9]+ [ \t]+ '"' ~["\r\n]* '"' ([ \t]+ [0-9]+)* -> skip ;
BLOCK_COMMENT   : '/*' .*? '*/' -> skip ;
