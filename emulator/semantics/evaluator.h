#pragma once

// One instruction over a domain: what stands between its text and its line of the table. The line
// says what is computed from values; here is which operands these values are, what a constant is
// worth where it stands, how registers are packed into a value and taken out of one, and what of a
// result goes to the destination, to the carry flag and to the second predicate of `p|q`.
//
// The symbolic emulator and the warp machine differ in where registers are and in what a guard does
// (an if-then-else there, a choice of lanes here). Everything else of an instruction that computes
// they have from here, so that they cannot read it in two ways.

#include "emulator/semantics/instructions.h"

#include <array>
#include <optional>
#include <span>
#include <tl/expected.hpp>

namespace ptxasw::emulator {

/// The operands of an instruction, sorted by the shape of the line that describes it.
struct LineOperands {
  std::span<const Operand> destinations; ///< one, or the two of `p|q`
  std::span<const Operand> sources;      ///< one for each of `letters`
  std::string_view letters;              ///< of the shape; see shape_width
  bool takes_carry = false;              ///< the flag is one more source, the last
  bool gives_carry = false;              ///< the result has the flag on top
  unsigned width = 0;                    ///< bits of the result without that
};

/// Sorts them; or says why they do not fit the shape, in words that follow "is not emulated:".
tl::expected<LineOperands, std::string_view> line_operands(const Module &module,
                                                           const Instruction &instruction,
                                                           std::string_view shape,
                                                           const Form &form);

/// The registers of a mov that packs or unpacks a vector (PTX ISA 9.7.9.5), lowest part first.
struct MoveOperands {
  std::span<const Operand> destinations, sources;
  unsigned width = 0; ///< of all destinations together, and of all sources

  /// Returns true if there are parts, as wide as each other, on both sides.
  bool fits() const {
    return width != 0 && !destinations.empty() && !sources.empty() &&
           width % destinations.size() == 0 && width % sources.size() == 0;
  }
  unsigned source_width() const { return width / static_cast<unsigned>(sources.size()); }
  unsigned destination_width() const { return width / static_cast<unsigned>(destinations.size()); }
};

/// Nothing: it is no mov, or one of a value as a whole, which the table describes.
std::optional<MoveOperands> vector_move(const Module &module, const Instruction &instruction);

/// What a constant is worth as a source of a type (PTX ISA 4.5): integers are 64 bits and a sign,
/// floating-point ones become the precision of their place. ScalarType::none: as it is written.
/// Nothing: the operand is no constant.
std::optional<Bits> literal(const Operand &operand, ScalarType type);

namespace semantics {

/// The parts of a vector as one value, lowest part first.
template <Domain D> Value<D> pack(D &d, Args<D> parts) {
  Value<D> whole = parts[0];
  for (const Value<D> &part : parts.subspan(1))
    whole = d.concat(part, whole);
  return whole;
}

/// One part of a value that is taken apart into parts of `width` bits.
template <Domain D> Value<D> unpack(D &d, Value<D> whole, std::size_t part, unsigned width) {
  return d.extract(whole, static_cast<unsigned>(part) * width, width);
}

/// What goes to the carry flag of a result of `width` bits that has it on top.
template <Domain D> Value<D> carry_of(D &d, Value<D> result, unsigned width) {
  return d.extract(result, width, 1);
}

/// What goes to q of `p|q`, from what goes to p. `compute` gives the line's result for other
/// sources.
///
/// setp compares, may combine with a third source, and gives q the opposite comparison combined in
/// the same way (9.7.7.2); with a third source that leaves the comparison as it is, the line says
/// what that was. Comparisons of packed halves have q's bit above p's, and lop3 says if any bit of
/// its result is set (9.7.8.6).
template <Domain D, class Compute>
Value<D> second_of(D &d, const Opcode &opcode, Value<D> first, std::span<const Value<D>> sources,
                   Compute compute) {
  const auto combined = [&](Value<D> value) {
    return opcode.has(Modifier::and_)  ? d.bit_and(value, sources.back())
           : opcode.has(Modifier::or_) ? d.bit_or(value, sources.back())
                                       : d.bit_xor(value, sources.back());
  };
  if (opcode.op == Op::lop3)
    return combined(d.bit_not(d.eq(first, number(d, d.width(first), 0))));
  if (d.width(first) == 2)
    return d.extract(first, 1, 1);
  if (sources.size() < 3)
    return d.bit_not(first);
  const std::array<Value<D>, 3> alone{sources[0], sources[1],
                                      number(d, 1, opcode.has(Modifier::and_) ? 1 : 0)};
  return combined(d.bit_not(compute(Args<D>(alone))));
}

} // namespace semantics
} // namespace ptxasw::emulator
