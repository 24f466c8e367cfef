#pragma once

// Base opcodes and modifiers by number. What is known of a base opcode without looking at its
// modifiers is a row of opcodes.def; this header makes the enum and the columns from the rows, so
// that a list and an enum cannot disagree. `traits(opcode.op).memory` is a column.

#include "grammar/namespaces.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace ptxasw::ptx {

/// What an instruction's first operand is. Purely syntactic knowledge, from the operand lists of
/// PTX ISA chapter 9; what is computed is the emulator's business.
enum class FirstOperand : std::uint8_t {
  destination, ///< written if it is a register, vector or pair
  source,      ///< read: `bar.sync %r1`, `brx.idx %r1, table`
  unknown,     ///< an unknown opcode: every register operand may be written
};

/// What an opcode does to memory that a load could see (soundness.md, rules 5 and 6).
enum class MemoryUse : std::uint8_t {
  pure,     ///< nothing: its result depends on its operands alone
  harmless, ///< nothing, but it asks the machine, branches or hints
  access,   ///< a load or store: as its modifiers say
  silent,   ///< reads and writes no byte of global or shared memory, but may order or gather
  any,      ///< anything
};

/// Whether lanes of a warp that control flow keeps apart may meet at an opcode that has neither
/// `.sync` nor `.aligned`.
enum class Lanes : std::uint8_t {
  alone,    ///< each lane goes by itself
  together, ///< they may wait for each other
};

/// A base opcode: `ld` of `ld.global.f32` (PTX ISA chapter 9).
enum class Op : std::uint8_t {
  unknown,
#define OPCODE(name, first, memory, lanes) name,
#include "grammar/opcodes.def"
#undef OPCODE
};

/// One row of opcodes.def.
struct OpcodeTraits {
  std::string_view name; ///< as spelled in PTX
  FirstOperand first = FirstOperand::unknown;
  MemoryUse memory = MemoryUse::any;
  Lanes lanes = Lanes::together;
};

/// All rows in the order of `Op`; the first is that of `Op::unknown`.
std::span<const OpcodeTraits> opcode_table();

/// The row of an opcode.
inline const OpcodeTraits &traits(Op op) { return opcode_table()[static_cast<std::size_t>(op)]; }

/// The base opcode of a name; `Op::unknown` if no row has it.
Op base_opcode(std::string_view name);

/// True if an opcode is one of a few.
inline bool is_one_of(Op op, std::initializer_list<Op> ops) {
  for (const Op other : ops)
    if (op == other)
      return true;
  return false;
}

/// True if an opcode may go on elsewhere than at the next instruction (PTX ISA 9.7.12).
inline bool is_branch(Op op) { return op == Op::bra || op == Op::brx; }

/// True if the thread, or the function, ends at an opcode whose guard is true.
inline bool ends_thread(Op op) { return op == Op::ret || op == Op::exit || op == Op::trap; }

/// A modifier that is asked for by name.
enum class Modifier : std::uint8_t {
#define MODIFIER(name, text) name,
#include "grammar/modifiers.def"
#undef MODIFIER
  count
};

/// The modifier of a word without its dot; `Modifier::count` if nobody asks for it.
Modifier modifier(std::string_view word);

} // namespace ptxasw::ptx
