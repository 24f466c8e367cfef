#pragma once

// Writes whole functions: declares the registers they need, places labels, and prints instructions
// of its own or renamed clones of another function's. What the writer knows cannot be mistyped: a
// register carries its type, a label is placed once.

#include "grammar/module.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ptxasw::ptx {

/// A register that the writer declared.
struct WrittenRegister {
  std::string name;
  ScalarType type = ScalarType::none;
};

/// A place in the text; see CodeWriter::place.
struct WrittenLabel {
  std::uint32_t index = no_index;
};

/// What the clone of an instruction replaces.
struct Renaming {
  /// By RegisterId of the cloned function: the name to write. All registers must have one.
  std::vector<std::string> registers;
  /// Special registers that become something else: `%ctaid.x` and the name of a register.
  std::vector<std::pair<std::string, std::string>> specials;
  /// Names that become others; what is added to them stays.
  std::vector<std::pair<Symbol, std::string>> symbols;
  /// The same as `registers` for those that the instruction writes in its destination, where that
  /// is not read, too; empty: `registers` it is.
  std::vector<std::string> written;
};

/// An operand of an instruction that the writer prints: a register, a label, a number, or verbatim
/// text (a special register, an address).
using WrittenOperand =
    std::variant<const WrittenRegister *, WrittenLabel, std::uint64_t, std::string_view>;

/// The body of one function, written from its beginning to its end.
class CodeWriter {
public:
  /// Declares a register. `name` has its percent sign and must be new in the function.
  WrittenRegister declare(std::string name, ScalarType type);
  /// Declares so many bytes in a state space, "shared"; `alignment` is a power of two.
  void declare_variable(std::string_view space, std::string_view name, std::uint64_t bytes,
                        unsigned alignment);
  /// Declares a variable like another one, but of this name and without what it holds at first.
  void declare_like(const Variable &variable, std::string_view name);
  /// Declares a text in global memory, with a zero behind it.
  void declare_text(std::string_view name, std::string_view text);
  /// A label to be placed later; `name` must be new in the function.
  WrittenLabel label(std::string name);
  /// The label stands before the next instruction.
  void place(WrittenLabel label);

  /// Prints an instruction.
  void write(std::string_view opcode, std::initializer_list<WrittenOperand> operands);
  /// The same under `@guard` or `@!guard`.
  void write_if(const WrittenRegister &guard, bool negated, std::string_view opcode,
                std::initializer_list<WrittenOperand> operands);
  /// The instruction's own text with its registers and special registers renamed.
  void clone(const Module &module, const Instruction &instruction, const Renaming &renaming);
  /// `.pragma "text";` for the statement that follows (PTX ISA 11.5).
  void pragma(std::string_view text);

  std::size_t instructions() const { return instructions_; }
  /// The body in its braces.
  std::string body() const;

private:
  void begin_line() { text_ += '\t'; }

  std::string declarations_, text_;
  std::vector<std::string> labels_;
  std::size_t instructions_ = 0;
};

/// An instruction's text under a renaming, its semicolon included.
std::string renamed(const Module &module, const Instruction &instruction, const Renaming &renaming);

/// `@%p ` or `@!%p `: what stands before an instruction for its guard; empty: it has none.
std::string guard_text(const Function &function, const Instruction &instruction);

/// Registers that a function gets besides its own: `%PREFIXb32_0` and on, by what declares them.
class NewRegisters {
public:
  explicit NewRegisters(std::string prefix) : prefix_(std::move(prefix)) {}
  /// One more of a type, "b32".
  std::string operator()(const std::string &type);
  /// A line for each type, a newline before each.
  std::string declarations() const;

private:
  const std::string prefix_;
  std::map<std::string, unsigned> count_; ///< by type
};

/// What stands before a function's body, from its linkage to the end of its parameters, taken
/// apart.
struct FunctionHeader {
  std::string_view before_name; ///< `.visible .entry `
  std::string_view parameters;  ///< what stands between the parentheses
};

FunctionHeader header_of(const Module &module, const Function &function);

} // namespace ptxasw::ptx
