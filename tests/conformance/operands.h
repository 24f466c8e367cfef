#pragma once

#include "grammar/namespaces.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::conformance {

/// How an operand is drawn. A kind says how many bits there are and which values are corners.
enum class OperandKind : std::uint8_t {
  flag,   ///< 0 or 1: a predicate, a carry
  amount, ///< 32 bits: mostly small, as shift amounts, positions and lanes are
  b8,
  b16,
  b32,
  b64,
  few32, ///< 32 bits with few values, so that lanes agree
  few64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f64,
  angle,    ///< f32 of moderate size: what sin and cos are documented for
  every16,  ///< set i is i: all numbers of 16 bits, whatever the format
  tiny_f32, ///< near the square root of the smallest normal number
  tiny_f16,
  e4m3x2,
  e5m2x2,
};

/// Bytes of an operand in memory: 1, 2, 4 or 8. A flag has 4.
unsigned operand_bytes(OperandKind kind);

/// Bytes from one set of operands to the next, and from one operand to the next.
inline constexpr unsigned set_stride = 32, operand_stride = 8;

/// The operands of `sets` evaluations, at most four each. They follow from the kinds alone: set i
/// takes corner i of the first operand while there are corners, and otherwise each operand is a
/// corner, a relative of the first operand (equal, a bit away, its negation) or random, as a hash
/// of kinds, set and position decides.
std::vector<std::uint8_t> operand_table(const std::vector<OperandKind> &kinds, unsigned sets);

} // namespace ptxasw::conformance
