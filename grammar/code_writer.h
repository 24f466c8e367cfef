#pragma once

// Writes functions, or pieces of them: declares the registers they need, places labels, and prints
// instructions of its own or renamed clones of another function's.
//
//   CodeWriter out;
//   out.write("mov.u32 {}, %laneid", lane);
//   edits.replace(load.span, out.piece());

#include "grammar/module.h"

#include <cstdint>
#include <fmt/core.h>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::ptx {

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

/// Instructions one behind the other, a line each, and the declarations of what they use.
class CodeWriter {
public:
  /// Declares a register. `name` has its percent sign and must be new in the function.
  void declare(std::string_view name, ScalarType type);
  /// Declares so many bytes in a state space, "shared"; `alignment` is a power of two.
  void declare_variable(std::string_view space, std::string_view name, std::uint64_t bytes,
                        unsigned alignment);
  /// Declares a variable like another one, but of this name and without what it holds at first.
  void declare_like(const Variable &variable, std::string_view name);
  /// Declares a text in global memory, with a zero behind it.
  void declare_text(std::string_view name, std::string_view text);
  /// A label, with its `$`, stands before the next instruction.
  void place(std::string_view label);

  /// Prints an instruction, of which this is the text without its semicolon.
  template <typename... Parts> void write(fmt::format_string<Parts...> text, Parts &&...parts) {
    add(fmt::format(text, std::forward<Parts>(parts)...) + ";");
  }
  /// Prints an instruction as it is, with its semicolon.
  void add(std::string_view instruction);
  /// The instruction's own text with its registers and special registers renamed.
  void clone(const Module &module, const Instruction &instruction, const Renaming &renaming);
  /// The lines of another one.
  void append(const CodeWriter &more);
  /// `.pragma "text";` for the statement that follows (PTX ISA 11.5).
  void pragma(std::string_view text);

  std::size_t instructions() const { return instructions_; }
  /// The body in its braces.
  std::string body() const;
  /// The lines alone.
  const std::string &lines() const { return text_; }
  /// The lines as they stand in the place of an instruction, whose line has its own beginning and
  /// end.
  std::string piece() const;

private:
  std::string declarations_, text_;
  std::size_t instructions_ = 0;
};

/// An instruction's text under a renaming, its semicolon included.
std::string renamed(const Module &module, const Instruction &instruction, const Renaming &renaming);

/// `@%p ` or `@!%p `: what stands before an instruction for its guard; empty: it has none.
std::string guard_text(const Function &function, const Instruction &instruction);
/// The same of one that has a guard, under another name.
std::string guard_text(const Instruction &instruction, std::string_view name);

/// What `mov` takes to copy a register of a type: `pred`, or `b32`.
std::string copied_as(ScalarType type);
/// Returns true if it can copy such a register at all.
bool can_be_copied(const Register &reg);

/// Registers that a function gets besides its own: `%PREFIXb32_0` and on, by what declares them, or
/// for short `%PREFIXr0`, by a letter.
class NewRegisters {
public:
  explicit NewRegisters(std::string prefix, bool short_names = false)
      : prefix_(std::move(prefix)), short_(short_names) {}
  /// One more of a type, "b32".
  std::string operator()(const std::string &type);
  /// A line for each type, a newline before each.
  std::string declarations() const;

private:
  std::string stem(const std::string &type) const;

  const std::string prefix_;
  const bool short_;
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
