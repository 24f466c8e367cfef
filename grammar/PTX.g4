// PTX, structurally (PTX ISA 9.0, chapters 4 to 6 and 11). The grammar knows how statements are
// delimited and how brackets nest; what an opcode or a directive means is decided above it, so a new
// instruction needs no change here.
//
// Every decision is LL(1): the generated parser never calls the adaptive predictor, which is what
// makes it fast enough for a drop-in assembler. `statement` is the start rule; the caller asks for
// one statement after another until EOF, so that memory does not grow with the module. Braces that
// open and close bodies and scopes are statements of their own for the same reason.
//
// The lexical rules are the definition; grammar/scanner.cpp implements them by hand for speed, and a
// test holds it to the lexer that ANTLR generates from this file.
grammar PTX;

statement
    : '{'
    | '}'
    | ';'
    | DWARF_LINE
    | VERSION NUMBER
    | TARGET WORD (',' WORD)*
    | ADDRESS_SIZE NUMBER
    | FILE NUMBER STRING (',' NUMBER)*
    | LOC NUMBER NUMBER NUMBER (',' WORD (WORD ('+' NUMBER)? | NUMBER NUMBER NUMBER))*
    | SECTION (WORD | DOT_WORD) (',' (STRING | WORD))* '{' sectionElement* '}'
    | DOT_WORD directivePart* ';'?
    | '@' '!'? WORD WORD tail? ';'
    | WORD (':' | tail? ';')
    ;

// Debug data: `.b8 1,2,3`, `.b32 .debug_abbrev`, labels, differences of labels.
sectionElement
    : DOT_WORD | WORD | NUMBER | STRING | ',' | ':' | '+' | '-' | '(' | ')'
    ;

// A declaration, a function header or a performance directive. A header ends before its body's '{';
// everything else at ';'.
directivePart
    : DOT_WORD | WORD | NUMBER | STRING | ',' | ':' | op
    | '=' ('{' operands '}')?
    | '(' operands ')'
    | '[' operands ']'
    ;

// What follows an opcode: modifiers set apart from it and operands. A ':' first would be a label's.
tail
    : (WORD | NUMBER | STRING | DOT_WORD | ',' | '=' | op | group) operands
    ;

operands
    : (WORD | NUMBER | STRING | DOT_WORD | ',' | '=' | ':' | op | group)*
    ;

group
    : '(' operands ')'
    | '[' operands ']'
    | '{' operands '}'
    ;

op
    : '!' | '+' | '-' | '~' | '|' | '&' | '^' | '*' | '/' | '%' | '<' | '>' | '?'
    ;

VERSION      : '.version' ;
TARGET       : '.target' ;
ADDRESS_SIZE : '.address_size' ;
FILE         : '.file' ;
LOC          : '.loc' ;
SECTION      : '.section' ;
// PTX before 3.0 carries debug data in lines of this form.
DWARF_LINE   : '@@DWARF' ~[\r\n]* ;
// Identifiers with their dotted tail: `ld.global.f32`, `%tid.x`, `mbarrier.test_wait.shared::cta.b64`.
WORD         : ([A-Za-z_$] | '%' [A-Za-z0-9_$]) [A-Za-z0-9_$]* ('.' [A-Za-z0-9_$]+ ('::' [A-Za-z0-9_$]+)*)* ;
DOT_WORD     : '.' [A-Za-z0-9_$]+ ('::' [A-Za-z0-9_$]+)* ;
// Integers in every base with suffix, decimal reals, and the hexadecimal reals 0f.. and 0d..
NUMBER       : [0-9] [A-Za-z0-9_]* ('.' [0-9]* ([eE] [+-]? [0-9]+)?)? | [0-9]+ [eE] [+-] [0-9]+ ;
STRING       : '"' ~["\r\n]* '"' ;
WHITE_SPACE  : [ \t\r\n\f\u000B]+ -> skip ;
LINE_COMMENT : '//' ~[\n]* -> skip ;
// What the C preprocessor leaves: `# 33 "file.cu" 1`, anywhere.
LINE_MARKER  : '#' [ \t]* 'line'? [ \t]* [0-9]+ [ \t]+ '"' ~["\r\n]* '"' ([ \t]+ [0-9]+)* -> skip ;
BLOCK_COMMENT: '/*' .*? '*/' -> skip ;
