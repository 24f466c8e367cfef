#pragma once

// A parsed PTX module, as every other folder has it: what the text says, and nothing of what
// instructions do (roles.h and emulator/semantics know that).
//   const auto module = parse(text, "saxpy.ptx"); // an error has line and column
//   for (const Instruction &one : (*module)->functions[0].instructions) (*module)->opcode(one).op

#include "grammar/diagnostic.h"
#include "grammar/opcodes.h"
#include "grammar/scanner.h"
#include "grammar/types.h"

#include <bitset>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

namespace ptxasw::ptx {

/// Index of a register within its function.
using RegisterId = std::uint32_t;
inline constexpr RegisterId no_register = ~0u;
inline constexpr std::uint32_t no_index = ~0u;

/// One distinct dotted opcode of a module, `ld.global.nc.f32` say. Instructions share it, so what
/// depends on opcode and modifiers alone is worked out once per module.
struct Opcode {
  std::string_view text;                   ///< all of it
  std::string_view base;                   ///< up to the first dot: `ld`
  Op op = Op::unknown;                     ///< `base` by number
  std::vector<std::string_view> modifiers; ///< the rest, without dots: `global`, `nc`, `f32`
  std::bitset<static_cast<std::size_t>(Modifier::count)> known_modifiers; ///< by Modifier

  /// Takes an opcode apart: everything below follows from its text.
  static Opcode of(std::string_view text);

  /// True if the opcode has a modifier.
  bool has(Modifier modifier) const { return known_modifiers[static_cast<std::size_t>(modifier)]; }
  /// The same of any word, without its dot: for words that are data themselves.
  bool has(std::string_view modifier) const;
  /// The types among the modifiers, in order; at most the first two (`cvt.s64.s32`).
  ScalarType type = ScalarType::none;
  ScalarType second_type = ScalarType::none;
  /// The state space among the modifiers; generic if there is none.
  StateSpace space = StateSpace::generic;
  /// 1, 2, 4 or 8 for no `.v2` `.v4` `.v8`.
  unsigned vector = 1;
  /// Of all elements of that type.
  unsigned bytes() const { return bit_width(type) / 8 * vector; }
};

/// What a name in an operand or an initializer means (PTX ISA 5.4 and 7).
struct Symbol {
  enum class Kind : std::uint8_t {
    module_variable,   ///< Module::variables[index]
    function_variable, ///< Module::functions[function].variables[index]
    parameter,         ///< Module::functions[function].parameters[index]
    return_parameter,  ///< Module::functions[function].return_parameters[index]
    function,          ///< Module::functions[index], the first of that name: a declaration, maybe
    other,             ///< a label, a prototype, or an undeclared name
  };
  Kind kind = Kind::other;
  std::string_view name;
  std::uint32_t function = no_index;
  std::uint32_t index = no_index;
  bool operator==(const Symbol &) const = default;
};

/// One element of an initializer: a number, or the address of a symbol.
struct InitialValue {
  std::uint64_t bits = 0;                  ///< of a number; what is added to an address
  ScalarType real_type = ScalarType::none; ///< f32 or f64: `bits` are a number of that type
  std::uint32_t symbol = no_index;         ///< in Module::symbols
};

/// Who may see a function or variable (PTX ISA 11.6).
enum class Linkage : std::uint8_t { internal, external, visible, weak, common };

/// An operand, structurally.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,     ///< a declared register; `reg`, `selector`
    special, ///< `%tid.x`, `%laneid`, `WARP_SZ`: an undeclared name starting with '%', or WARP_SZ
    symbol,  ///< a variable, parameter, function or label, see `symbol`; `value` is an added
             ///< constant
    integer, ///< `value` holds its 64 bits
    real,    ///< a floating constant; `value` holds its bits, `real_type` f32 (0f) or f64 (0d,
             ///< decimal)
    address, ///< `[base+offset]`: first child is the base (reg, symbol or integer), `value` the
             ///< offset
    vector,  ///< `{a, b}`: children
    pair,    ///< `a|b`: two children
    group,   ///< `(a, b)` of a call: children
    sink,    ///< `_`
    other,   ///< anything else: opaque; children are the registers in it. Of `[tensor, {x, y}]`,
             ///< which only reads them, its elements; every other shape makes its instruction not
             ///< well-formed
  };
  Kind kind = Kind::other;
  bool negated = false; ///< `!p`
  char selector = 0; ///< x y z w (also r g b a), or 0..3 for .b0 .. .b3, h/H for .h0 .h1; 0: none
  ScalarType real_type = ScalarType::none;
  Span span;
  RegisterId reg = no_register;
  std::uint32_t symbol = no_index; ///< in Module::symbols
  std::uint32_t first_child = 0;   ///< in Module::operands
  std::uint32_t child_count = 0;
  std::int64_t value = 0;
};

/// One instruction with its guard.
struct Instruction {
  Span span;                ///< from the guard or opcode to the ';' inclusive
  std::uint32_t line = 0;   ///< 1-based line of the span's first byte
  std::uint32_t opcode = 0; ///< index in Module::opcodes
  Span opcode_span;
  RegisterId guard = no_register; ///< predicate of `@p`
  bool guard_negated = false;
  /// False: an unknown operand shape, or the name of a variable that hides another one of this
  /// function, its parameters or the module. The instruction is opaque.
  bool well_formed = true;
  std::uint16_t operand_count = 0;
  std::uint32_t first_operand = 0;   ///< in Module::operands
  std::uint32_t location = no_index; ///< in Module::locations, the last `.loc` before it
  std::uint32_t scope = 0;           ///< in Function::scopes
};

/// A declared register, or one of a declared range (`%r<10>`).
struct Register {
  std::string_view name;
  ScalarType type = ScalarType::none;
  unsigned vector = 1; ///< `.v2`, `.v4` registers
};

/// A variable: module scope, function scope or parameter.
struct Variable {
  std::string_view name;
  StateSpace space = StateSpace::generic;
  ScalarType type = ScalarType::none;
  unsigned vector = 1;
  std::uint64_t count = 1; ///< array elements; 0 for an unsized array
  unsigned alignment = 0;  ///< bytes; 0: natural
  bool has_rows = false;   ///< braces within braces in the initializer
  bool is_array = false;
  Linkage linkage = Linkage::internal;
  Span initializer; ///< what follows '='; empty if there is none
  /// Its elements, rows of braces one behind the other; empty if there is none, or one that is not
  /// understood (then `initializer` is not empty).
  std::vector<InitialValue> values;
  Span span; ///< the whole declaration
  /// Bytes one object occupies; 0 for an unsized array.
  std::uint64_t size() const { return std::uint64_t{bit_width(type)} / 8 * vector * count; }
};

/// A `{ }` scope of a function; 0 is the body itself.
struct Scope {
  std::uint32_t parent = no_index;
  Span span; ///< from '{' to '}' inclusive
};

/// A label and the instruction it stands before.
struct Label {
  std::string_view name;
  std::uint32_t position = 0; ///< index in Function::instructions; may be one past the last
  std::uint32_t scope = 0;
  Span span; ///< including ':'
};

/// `.pragma` in a body; it applies to the statement that follows.
struct Pragma {
  std::string_view text; ///< without quotes
  std::uint32_t position = 0;
  Span span;
};

/// A source position (`.loc`).
struct Location {
  std::uint32_t file = 0; ///< index of `.file`
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// `.maxntid`, `.reqntid` and the like, as written: name without dot, up to three numbers.
struct PerformanceDirective {
  std::string_view name;
  std::uint32_t values[3] = {0, 1, 1};
  unsigned count = 0;
  bool operator==(const PerformanceDirective &) const = default;
};

/// A table of branch targets (`.branchtargets`) or call targets, named by its label.
struct TargetList {
  std::string_view name;
  std::uint32_t scope = 0;
  std::vector<std::string_view> targets;
};

/// An `.entry` or `.func`.
struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  Linkage linkage = Linkage::internal;
  Span span; ///< header and body
  Span body; ///< from '{' to '}' inclusive
  std::uint32_t line = 0;
  std::vector<Variable> parameters;
  std::vector<Variable> return_parameters;
  std::vector<PerformanceDirective> directives;
  std::vector<Register> registers;
  std::vector<RegisterId> return_registers; ///< results in `.reg`: read by `ret`
  std::vector<Variable> variables;          ///< `.local`, `.shared`, `.param` declared in the body
  std::vector<Scope> scopes;
  std::vector<Label> labels;
  std::vector<Pragma> pragmas;
  std::vector<TargetList> target_lists;
  std::vector<Instruction> instructions;

  /// The directive of that name, or null.
  const PerformanceDirective *directive(std::string_view directive_name) const;
  /// How many threads a block has, or has at most, if that is said (PTX ISA 11.4.2).
  std::optional<std::uint64_t> most_threads() const;
  /// The target list a use in `scope` means, as for labels.
  const TargetList *find_target_list(std::string_view list, std::uint32_t scope) const;
  /// The label a use in `scope` means: the innermost one around it. Null if there is none.
  const Label *find_label(std::string_view label, std::uint32_t scope) const;
};

/// A parsed PTX module. Names and spans point into `text`, which the module owns.
class Module {
public:
  std::string_view text() const { return *text_; }
  std::string_view text(Span span) const {
    return std::string_view(*text_).substr(span.begin, span.size());
  }
  std::span<const Operand> operands(const Instruction &instruction) const {
    return {all_operands.data() + instruction.first_operand, instruction.operand_count};
  }
  std::span<const Operand> children(const Operand &operand) const {
    return {all_operands.data() + operand.first_child, operand.child_count};
  }
  const Opcode &opcode(const Instruction &instruction) const { return opcodes[instruction.opcode]; }
  /// What an operand of kind symbol means.
  const Symbol &symbol(const Operand &operand) const { return symbols[operand.symbol]; }
  /// The variable or parameter that a symbol is; null if it is none.
  const Variable *variable(const Symbol &symbol) const;
  /// Line and column, both 1-based, of a byte.
  std::pair<std::uint32_t, std::uint32_t> position(std::uint32_t offset) const;

  unsigned version_major = 0; ///< `.version`
  unsigned version_minor = 0;
  std::string_view target;    ///< first word of `.target`: sm_90a
  unsigned sm = 0;            ///< its number: 90
  bool debug = false;         ///< `.target ..., debug`
  unsigned address_size = 32; ///< `.address_size`, bits
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Opcode> opcodes;
  std::deque<std::string> joined_opcodes; ///< texts of those whose words stand apart in `text`
  std::vector<Operand> all_operands;
  std::vector<Symbol> symbols;
  std::vector<Location> locations;
  std::unordered_map<std::uint32_t, std::string_view> files; ///< `.file` index to name

private:
  friend tl::expected<std::unique_ptr<Module>, Diagnostic> parse(std::string, std::string_view);
  std::unique_ptr<const std::string> text_;
};

/// Parses a module and resolves its registers. `file_name` only appears in the error.
tl::expected<std::unique_ptr<Module>, Diagnostic> parse(std::string text,
                                                        std::string_view file_name);

} // namespace ptxasw::ptx
