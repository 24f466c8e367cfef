#pragma once

#include "grammar/module.h"

#include <string>
#include <unordered_set>
#include <vector>

namespace ptxasw {

/// What the builder throws for a statement that it cannot make sense of; caught in parse().
struct SyntaxError {
  std::uint32_t offset = 0;
  std::string message;
};

/// Turns statements, as the parser delimits them, into a Module. Keeps track of scopes and resolves
/// every register to its declaration as it goes (declarations come before uses in PTX).
class Builder {
public:
  explicit Builder(Module &module) : module_(module) {}

  /// One statement of PTX.g4. Throws SyntaxError.
  void statement(std::span<const Token> tokens);
  /// After the last statement. Throws SyntaxError if a body is still open.
  void finish(std::uint32_t end_offset);

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
  struct Cursor;

  std::string_view text(const Token &token) const { return module_.text(token.span); }
  void open_brace(const Token &token);
  void close_brace(const Token &token);
  void directive(std::span<const Token> tokens);
  void function_header(std::span<const Token> tokens, std::size_t keyword);
  void declaration(std::span<const Token> tokens);
  std::vector<Variable> parameter_list(std::span<const Token> tokens, std::size_t &position);
  void performance_directives(std::span<const Token> tokens, std::size_t position);
  void target_list(std::span<const Token> tokens);
  void location(std::span<const Token> tokens);
  void label(std::span<const Token> tokens);
  void instruction(std::span<const Token> tokens);

  void parse_operands(std::span<const Token> tokens, std::vector<Operand> &out, Instruction &user);
  Operand parse_operand(std::span<const Token> tokens, Instruction &user);
  Operand parse_address(std::span<const Token> inside, Instruction &user);
  Operand name_operand(const Token &token, Instruction &user);
  void store_registers(Operand &operand, std::span<const Token> tokens, Instruction &user);
  void store_children(Operand &operand, const std::vector<Operand> &children);
  std::uint32_t intern_opcode(std::span<const Token> tokens);

  Declaration *find_declaration(std::string_view name, std::uint32_t &index);
  RegisterId find_register(std::string_view name);
  RegisterId new_register(std::string_view name, const Declaration &declaration);
  void declare(std::string_view name, Declaration declaration);
  void note_body_variable(std::string_view name, StateSpace space);
  Function &function();
  std::uint32_t find_symbol(std::string_view name);
  void resolve_functions();
  std::vector<InitialValue> initial_values(std::span<const Token> tokens);

  Module &module_;
  bool in_body_ = false;
  bool body_expected_ = false; ///< the last statement was a function header without ';'
  std::uint32_t scope_ = 0;
  std::uint32_t location_ = no_index;
  std::string_view last_label_;
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

/// Value of an integer constant expression over tokens (PTX ISA 4.5): literals, casts, the unary
/// and binary operators, ?: and parentheses. Empty if it is none.
std::optional<std::int64_t> constant_expression(std::string_view text,
                                                std::span<const Token> tokens);

/// Value of one numeric token; `type` is f32 or f64 for reals, none for integers.
struct NumberValue {
  std::int64_t bits = 0;
  ScalarType type = ScalarType::none;
};
std::optional<NumberValue> number_value(std::string_view text);

} // namespace ptxasw
