#pragma once

// Numbers of PTX and constant expressions (PTX ISA 4.5): what a text stands for. What ptxas
// computes decides where the manual leaves it open (constant.cpp).

#include "grammar/types.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ptxasw::ptx {

/// Value of one numeric token; `type` is f32 or f64 for reals, none for integers.
struct NumberValue {
  std::int64_t bits = 0;
  ScalarType type = ScalarType::none;
};
/// Empty if `text` is no number of PTX (PTX ISA 4.5), or an integer that does not fit 64 bits.
std::optional<NumberValue> number_value(std::string_view text);

/// An integer constant: 64 bits, and whether they count as unsigned (PTX ISA 4.5.6, and what ptxas
/// makes of it).
struct Constant {
  std::uint64_t bits = 0;
  bool is_unsigned = false;

  std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
};

/// What one integer token stands for; its value must fit.
Constant constant_of(std::string_view text, std::int64_t bits);

/// An operator of constant expressions (PTX ISA 4.5.4).
enum class ConstantOperator : std::uint8_t {
  logical_or,
  logical_and,
  equal,
  not_equal,
  less_equal,
  greater_equal,
  shift_left,
  shift_right,
  bit_or,
  bit_xor,
  bit_and,
  less,
  greater,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  // Before their operand
  negate,
  plus,
  complement,
  logical_not,
  to_signed,   ///< `(.s64)`
  to_unsigned, ///< `(.u64)`
  other_cast,
  none, ///< no operator of PTX; it makes its expression opaque
};

/// The binary operator that these characters are, `second` 0 for one character.
ConstantOperator binary_operator(char first, char second);
/// Higher binds tighter: 1 for `||` to 10 for `*`, then what stands before its operand.
int precedence(ConstantOperator op);
constexpr int prefix_precedence = 11;
inline bool is_prefix(ConstantOperator op) {
  return op >= ConstantOperator::negate && op <= ConstantOperator::other_cast;
}

/// The value as ptxas computes it; empty for a division by zero. `op` takes two operands.
std::optional<Constant> apply(ConstantOperator op, Constant a, Constant b);
/// The same for what stands before its operand.
Constant apply(ConstantOperator op, Constant a);

} // namespace ptxasw::ptx
