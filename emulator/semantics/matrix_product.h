#pragma once

// The arithmetic of tensor cores, element by element: `mma`, `wmma`, `wgmma` and `tcgen05` have it
// in common. The PTX ISA leaves the rounding of sums open; it is what GPUs were seen to do.

#include "grammar/types.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::emulator {

/// Types of matrix elements (PTX ISA 9.7.14.2), some of which nothing else has.
enum class MatrixType : std::uint8_t {
  none,
  f16,
  bf16,
  tf32, ///< an f32 of which the low 13 bits do not count
  e4m3,
  e5m2,
  e2m3, ///< of 6 bits, and of 4: without infinities and NaNs
  e3m2,
  e2m1,
  f32,
  f64,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32,
};

/// By its name without a dot; none if it is not a matrix type.
MatrixType matrix_type(std::string_view name);
/// Bits of an element in memory and in registers.
unsigned bit_width(MatrixType type);

/// How the elements of `d = a * b + c` are computed.
struct MatrixArithmetic {
  MatrixType a = MatrixType::none, b = MatrixType::none, c = MatrixType::none, d = MatrixType::none;
  bool saturate = false;    ///< integers: to the range of s32
  bool bitwise_and = false; ///< b1: and, not xor
  unsigned step = 0;        ///< products that are summed up at once; 0: all of an instruction
  bool coarse = false;      ///< wgmma of numbers of 8 bits: sums have fewer places
};

/// An element of a or b, taken apart for many products.
struct MatrixElement {
  enum class Kind : std::uint8_t { zero, finite, infinite, nan };
  Kind kind = Kind::zero;
  bool negative = false;
  int exponent = 0;              ///< of the unit that `significand` counts
  int top = 0;                   ///< exponent of the leading place, also where it holds a zero
  std::uint64_t significand = 0; ///< of integers the bits
};
MatrixElement take_apart(MatrixType type, std::uint64_t bits);

/// One element of the result, bit for bit as an H100 computes it (tests/conformance): products are
/// exact; the numbers of a step are truncated, towards zero, 25 places below the largest's leading
/// place, added up, and truncated to f32 or rounded to f16. A zero is positive. Products of 8-bit
/// numbers are added up in two steps, without c, which is added after that; in wgmma they are one
/// sum with c, of numbers truncated 13 places below the largest's leading place, of which an f32
/// keeps 13 bits of its fraction. f64 is a chain of fused operations.
std::uint64_t multiply_add(const MatrixArithmetic &how, std::span<const MatrixElement> a,
                           std::span<const MatrixElement> b, std::uint64_t c);

} // namespace ptxasw::emulator
