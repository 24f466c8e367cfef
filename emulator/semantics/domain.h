#pragma once

// What the table of instructions is written over. An instruction means the same to whoever runs it;
// what differs is what a value is: an expression to the symbolic emulator (ExprPool), a number to
// the warp machine (ConcreteDomain). A third domain needs these operations and no others.

#include "emulator/semantics/bits.h"

#include <concepts>
#include <string_view>

namespace ptxasw::emulator {

/// Bit-vectors of 1 to 128 bits, all operations modulo 2^width. Operands have equal widths, except
/// those of `ite`, `concat`, `zext` and `sext`; `eq`, `ult` and `slt` give one bit. A shift by the
/// width or more gives 0, or the sign. What a division by zero gives is the domain's affair.
template <class D>
concept Domain = requires(D &d, typename D::Value a, unsigned width, Bits bits,
                          std::string_view opcode) {
  { d.width(a) } -> std::convertible_to<unsigned>;
  { d.constant(width, bits) } -> std::same_as<typename D::Value>;
  { d.add(a, a) } -> std::same_as<typename D::Value>;
  { d.sub(a, a) } -> std::same_as<typename D::Value>;
  { d.neg(a) } -> std::same_as<typename D::Value>;
  { d.mul(a, a) } -> std::same_as<typename D::Value>;
  { d.udiv(a, a) } -> std::same_as<typename D::Value>;
  { d.urem(a, a) } -> std::same_as<typename D::Value>;
  { d.sdiv(a, a) } -> std::same_as<typename D::Value>;
  { d.srem(a, a) } -> std::same_as<typename D::Value>;
  { d.bit_and(a, a) } -> std::same_as<typename D::Value>;
  { d.bit_or(a, a) } -> std::same_as<typename D::Value>;
  { d.bit_xor(a, a) } -> std::same_as<typename D::Value>;
  { d.bit_not(a) } -> std::same_as<typename D::Value>;
  { d.shl(a, a) } -> std::same_as<typename D::Value>;
  { d.lshr(a, a) } -> std::same_as<typename D::Value>;
  { d.ashr(a, a) } -> std::same_as<typename D::Value>;
  { d.eq(a, a) } -> std::same_as<typename D::Value>;
  { d.ult(a, a) } -> std::same_as<typename D::Value>;
  { d.slt(a, a) } -> std::same_as<typename D::Value>;
  { d.ite(a, a, a) } -> std::same_as<typename D::Value>;
  { d.zext(a, width) } -> std::same_as<typename D::Value>;             // width >= a's
  { d.sext(a, width) } -> std::same_as<typename D::Value>;             // width >= a's
  { d.extract(a, width, width) } -> std::same_as<typename D::Value>;   // from a bit on, so many
  { d.concat(a, a) } -> std::same_as<typename D::Value>;               // the upper one first
  { d.generic_address(opcode, a) } -> std::same_as<typename D::Value>; // what cvta gives
};

template <Domain D> using Value = typename D::Value;

} // namespace ptxasw::emulator
