#pragma once

// The parser's other half: PTX.g4 says what may stand where, its actions say so to a Builder, and
// that makes the Module of it. Internal to the grammar; everybody else calls parse() (module.h).

#include "grammar/constant.h"
#include "grammar/module.h"
#include "grammar/scanner.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ptxasw::ptx {

/// What the builder throws for a statement that it cannot make sense of; caught in parse().
struct SyntaxError {
  std::uint32_t offset = 0;
  std::string message;
};

/// The tokens of the statement that is being parsed, and those that the parser looked ahead at.
struct StatementTokens {
  std::vector<Token> tokens;
  std::size_t consumed = 0; ///< how many of them the parser has taken

  const Token &last() const { return tokens[consumed - 1]; }
  const Token &ahead() const { return tokens[consumed]; }
  /// The statement so far.
  std::span<const Token> statement() const { return {tokens.data(), consumed}; }
};

/// Turns what the actions of PTX.g4 tell it into a Module. An action means the token that was taken
/// last. Keeps track of scopes and resolves every register to its declaration as it goes
/// (declarations come before uses in PTX). Every member may throw SyntaxError.
class Builder {
public:
  Builder(Module &module, const StatementTokens &tokens) : module_(module), tokens_(tokens) {}

  /// Before a statement; its first token is ahead.
  void begin_statement();
  /// After the last statement, at the end of the text.
  void finish(std::uint32_t end_offset);

  // Statements
  void open_brace();
  void close_brace();
  void version();
  void target();
  void target_option();
  void address_size();
  void file();
  void location();
  void label();

  // Directives and declarations
  void specifier();
  void alignment();
  void begin_pragma();
  void pragma();
  void begin_target_list();
  void target_label();
  void begin_function(bool is_entry);
  void function_name();
  void return_parameters();
  void parameters();
  void begin_parameter();
  void end_parameter();
  void performance();
  void performance_value();
  void begin_variable();
  void register_range();
  void extent();
  void no_extent();
  void begin_initializer();
  void end_initializer();
  void unknown_in_declaration();
  void end_variable();
  void end_directive();

  // Instructions
  void negate_guard();
  void guard();
  void opcode();
  void modifier_apart();
  void missing_before(); ///< an operand, where the token stands that was taken last
  void missing_after();  ///< an operand, where the next token stands
  void unknown_in_operand();
  void unknown_list();
  void end_operand();
  void end_instruction();

  // Expressions. The parser shifts, the builder reduces: values and operators lie on two stacks.
  void begin_expression();
  void end_expression();
  void prefix();
  void cast();
  void binary();
  void question();
  void select();
  void name();
  void number();
  void string();
  void open_list();
  void group();
  void address();
  void vector();
  void application();

private:
  struct Declaration {
    ScalarType type = ScalarType::none;
    unsigned vector = 1;
    std::uint64_t count = 0; ///< > 0: a range `%r<count>`
    std::uint32_t scope = 0;
    bool is_register = true;     ///< false: a variable that hides outer registers
    RegisterId id = no_register; ///< of a single register
    Symbol symbol;               ///< of a variable
    /// Registers of a range met so far, by index.
    std::unordered_map<std::uint32_t, RegisterId> members;
  };

  /// What the words before a declaration's name say.
  struct Specifier {
    StateSpace space = StateSpace::generic;
    ScalarType type = ScalarType::none;
    unsigned vector = 1;
    unsigned alignment = 0;
    Linkage linkage = Linkage::internal;
    bool is_pointer = false; ///< after `.ptr`: what follows is the pointee's
  };

  /// A part of an expression. What it becomes depends on what is around it, so names are looked up
  /// and children stored when an operand is complete.
  struct Value {
    enum class Form : std::uint8_t {
      constant, ///< `constant`
      real,     ///< `constant.bits`, `real_type`
      name,     ///< the token `name`
      sum,      ///< the token `name` plus `constant`
      negated,  ///< `!`, the token `name`
      complete, ///< `operand`
      elements, ///< the braces of an initializer, whose elements are stored already
      opaque,   ///< anything else
    };
    Form form = Form::opaque;
    ScalarType real_type = ScalarType::none;
    bool in_parentheses = false; ///< a constant: it may still be an argument list, `(1)`
    bool is_generic = false;     ///< a name: `generic(name)`
    std::uint32_t first = 0;     ///< its tokens in the statement
    std::uint32_t last = 0;
    std::uint32_t name = 0;
    Constant constant;
    Operand operand;
  };
  using Form = Value::Form;

  /// An expression that is being read.
  struct Frame {
    std::uint32_t first = 0; ///< its first token in the statement
    std::size_t operators = 0;
  };
  /// An open bracket.
  struct List {
    std::uint32_t bracket = 0; ///< the token in the statement
    std::size_t values = 0;
  };

  std::string_view text(const Token &token) const { return module_.text(token.span); }
  std::string_view last_text() const { return text(tokens_.last()); }
  std::uint32_t last_index() const { return static_cast<std::uint32_t>(tokens_.consumed - 1); }
  const Token &first_token() const { return tokens_.tokens.front(); }
  /// From the statement's first token to the last one taken.
  Span statement_span() const { return {first_token().span.begin, tokens_.last().span.end}; }
  Span span_of(const Value &value) const;

  std::vector<Variable> &variables();
  void declare_parameters();
  void add_performance(std::string_view name);
  Variable make_variable() const;
  void add_initial(const Value &value);

  void push(Value value);
  void shift(ConstantOperator op);
  void reduce_down_to(int lowest);
  bool is_constant(Value &value) const;
  Value combine(ConstantOperator op, Value left, Value right);
  Value combine(ConstantOperator op, Value value) const;
  std::span<const Value> elements() const;
  void close_list(Value value);

  Operand name_operand(const Token &token);
  Operand complete(const Value &value);
  Operand opaque_operand(const Value &value);
  void store_registers(Operand &operand, const Value &value);
  void store_children(Operand &operand, std::span<const Operand> children);
  void store_complete(Operand &operand, std::span<const Value> values);
  std::uint32_t intern_opcode(std::string_view text);

  Declaration *find_declaration(std::string_view name, std::uint32_t &index);
  RegisterId find_register(std::string_view name);
  RegisterId new_register(std::string_view name, const Declaration &declaration);
  void declare(std::string_view name, Declaration declaration);
  void note_body_variable(std::string_view name, StateSpace space);
  Function &function();
  std::uint32_t find_symbol(std::string_view name);
  void resolve_functions();

  Module &module_;
  const StatementTokens &tokens_;
  bool in_body_ = false;
  bool body_expected_ = false; ///< the last statement was a function header without ';'
  std::uint32_t scope_ = 0;
  std::uint32_t location_ = no_index;
  std::string_view last_label_;

  // The directive that is being read
  Specifier specifier_;
  std::vector<std::string_view> specifier_words_;
  enum class Directive : std::uint8_t { plain, function, performance, pragma, targets };
  Directive directive_ = Directive::plain;
  std::uint32_t specifier_first_ = 0;   ///< its first word's token, of a parameter
  bool has_name_ = false;               ///< it names a variable
  std::size_t first_declared_ = 0;      ///< of variables(): the first that it declares
  std::size_t first_pragma_ = 0;        ///< of Function::pragmas
  std::uint32_t initializer_first_ = 0; ///< token
  Variable variable_;
  std::uint64_t range_ = 0; ///< `%r<range>`; 0: no range
  unsigned braces_ = 0;     ///< of the initializer so far
  bool in_initializer_ = false;
  bool initial_known_ = false; ///< every element so far is understood
  std::vector<Variable> parameters_;

  // The instruction that is being read
  Instruction instruction_;
  bool in_instruction_ = false;
  bool is_call_ = false;

  std::vector<Value> values_;
  std::vector<ConstantOperator> operators_;
  std::vector<Frame> frames_;
  std::vector<List> lists_;
  std::vector<Operand> scratch_; ///< operands of the list that is being stored

  std::unordered_map<std::string_view, std::uint32_t> opcode_ids_;
  /// The last symbol met by that name, in Module::symbols: most mentions mean the same one.
  std::unordered_map<std::string_view, std::uint32_t> symbol_ids_;
  /// The declarations visible now, by name; a range is found by its prefix.
  std::unordered_map<std::string_view, std::vector<Declaration>> visible_;
  std::unordered_map<std::string_view, std::vector<Declaration>> visible_ranges_;
  /// Variables declared in this body so far; true if all of that name are `.param`.
  std::unordered_map<std::string_view, bool> body_variables_;
  /// Names that mean several variables of this function: its own, a parameter, the module's.
  std::unordered_set<std::string_view> ambiguous_;
  /// What each open scope declared, to be undone when it closes.
  std::vector<std::vector<std::pair<std::string_view, bool>>> declared_;
};

} // namespace ptxasw::ptx
