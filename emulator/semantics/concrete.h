#pragma once

// The instruction tables on numbers: one way to read them, of which ExprPool is the other
// (domain.h). The warp emulator executes by it, and `ptxasw prove` computes constant results by it.

#include "emulator/semantics/bits.h"
#include "emulator/semantics/float_instructions.h"

#include <string_view>

namespace ptxasw::emulator {

/// The domain of numbers for the instruction table: what ExprPool does with expressions, on bits.
class ConcreteDomain {
public:
  struct Value {
    Bits bits;
    unsigned width = 0;
  };

  unsigned width(Value a) const { return a.width; }
  Value constant(unsigned width, Bits value) const { return {truncate(value, width), width}; }

  Value add(Value a, Value b) const { return {bits::add(a.bits, b.bits, a.width), a.width}; }
  Value sub(Value a, Value b) const { return {bits::sub(a.bits, b.bits, a.width), a.width}; }
  Value neg(Value a) const { return {bits::sub({}, a.bits, a.width), a.width}; }
  Value mul(Value a, Value b) const { return {bits::mul(a.bits, b.bits, a.width), a.width}; }
  // The manual leaves open what a division by zero gives; GPUs give all ones.
  Value udiv(Value a, Value b) const {
    return b.bits.is_zero() ? ones(a) : Value{bits::udiv(a.bits, b.bits, a.width), a.width};
  }
  Value urem(Value a, Value b) const {
    return b.bits.is_zero() ? ones(a) : Value{bits::urem(a.bits, b.bits, a.width), a.width};
  }
  Value sdiv(Value a, Value b) const {
    return b.bits.is_zero() ? ones(a) : Value{bits::sdiv(a.bits, b.bits, a.width), a.width};
  }
  Value srem(Value a, Value b) const {
    return b.bits.is_zero() ? ones(a) : Value{bits::srem(a.bits, b.bits, a.width), a.width};
  }
  Value bit_and(Value a, Value b) const {
    return {{a.bits.low & b.bits.low, a.bits.high & b.bits.high}, a.width};
  }
  Value bit_or(Value a, Value b) const {
    return {{a.bits.low | b.bits.low, a.bits.high | b.bits.high}, a.width};
  }
  Value bit_xor(Value a, Value b) const {
    return {{a.bits.low ^ b.bits.low, a.bits.high ^ b.bits.high}, a.width};
  }
  Value bit_not(Value a) const { return {truncate({~a.bits.low, ~a.bits.high}, a.width), a.width}; }
  Value shl(Value a, Value by) const { return {bits::shl(a.bits, by.bits, a.width), a.width}; }
  Value lshr(Value a, Value by) const { return {bits::lshr(a.bits, by.bits, a.width), a.width}; }
  Value ashr(Value a, Value by) const { return {bits::ashr(a.bits, by.bits, a.width), a.width}; }
  Value eq(Value a, Value b) const { return {{a.bits == b.bits}, 1}; }
  Value ult(Value a, Value b) const { return {{bits::ult(a.bits, b.bits)}, 1}; }
  Value slt(Value a, Value b) const { return {{bits::slt(a.bits, b.bits, a.width)}, 1}; }
  Value ite(Value condition, Value yes, Value no) const {
    return condition.bits.is_zero() ? no : yes;
  }
  Value zext(Value a, unsigned width) const { return {a.bits, width}; }
  Value sext(Value a, unsigned width) const { return {bits::sext(a.bits, a.width, width), width}; }
  Value extract(Value a, unsigned low, unsigned width) const {
    return {bits::extract(a.bits, low, width), width};
  }
  Value concat(Value high, Value low) const {
    return {bits::concat(high.bits, low.bits, low.width), high.width + low.width};
  }
  // Floating point, see float_instructions.h.
  Value floating(FloatOperation operation, const FloatForm &f, std::span<const Value> s) const;
  Value float_comparison(const FloatForm &f, Value a, Value b) const;
  Value float_conversion(const FloatForm &f, Value a) const;
  Value float_class(const FloatForm &f, Value a) const;
  /// For slct: an f32 operand is zero or greater; a NaN is not.
  Value float_not_negative(const FloatForm &f, Value a) const;

  /// cvta: the warp emulator lays its windows out so that addresses need no conversion.
  Value generic_address(std::string_view, Value a) const { return a; }

private:
  Value ones(Value like) const { return bit_not(constant(like.width, {})); }
};

} // namespace ptxasw::emulator
