#pragma once

// Floating-point arithmetic as PTX has it, on the bits of numbers: every rounding, flushing and
// saturation. Whatever executes or folds an instruction on such numbers asks here:
//   floating::compute(FloatOperation::fma, ScalarType::f32, decode_float_mode(opcode), operands)

#include "emulator/semantics/bits.h"
#include "grammar/module.h"

#include <cstdint>
#include <span>

namespace ptxasw::emulator {

/// What a floating-point instruction computes. The line of the table names it; FloatMode says how
/// it rounds and what it does with subnormals.
enum class FloatOperation : std::uint8_t {
  add,
  sub,
  mul,
  fma,
  div,
  rcp,
  sqrt,
  rsqrt,
  sin,
  cos,
  lg2,
  ex2,
  tanh,
  abs,
  neg,
  min,
  max,
  copysign,
};

/// Direction of rounding to a floating-point format or, for cvt.rni and its siblings, to an
/// integer.
enum class FloatRounding : std::uint8_t { nearest_even, zero, down, up, nearest_away };

/// The modifiers of a floating-point opcode, decoded.
struct FloatMode {
  FloatRounding rounding = FloatRounding::nearest_even;
  bool integral = false;    ///< .rni .rzi .rmi .rpi
  bool flush = false;       ///< .ftz: subnormal operands and results become zeros of their sign
  bool saturate = false;    ///< .sat: to [0, 1], NaN to 0
  bool approximate = false; ///< .approx, .full
  bool full_range = false;  ///< .full
  bool nan = false;         ///< .NaN of min and max: a NaN operand gives NaN
  bool relu = false;        ///< .relu: negative results and NaN become 0 (NaN stays for cvt)
  bool absolute = false;    ///< .xorsign.abs of min and max
};

FloatMode decode_float_mode(const Opcode &opcode);

/// Floating-point arithmetic on bit patterns, as the PTX ISA (9.7.3, 9.7.4, 9.7.9) describes it.
/// `type` is a scalar type: f16, bf16, tf32, f32, f64, e4m3 or e5m2. Which NaN results, and what
/// else the manual leaves open, is what an H200 does (tests/conformance).
namespace floating {

/// The result of an operation, rounded once. `.approx` functions are computed in double and rounded
/// to nearest, except the steps in which a GPU makes them, where those matter: deterministic, and
/// within every documented error.
std::uint64_t compute(FloatOperation operation, ScalarType type, const FloatMode &mode,
                      std::span<const std::uint64_t> arguments);

/// Three-way comparison: -1, 0, 1; 2 if an operand is a NaN.
int compare(ScalarType type, bool flush, std::uint64_t a, std::uint64_t b);

std::uint64_t from_integer(ScalarType to, const FloatMode &mode, std::uint64_t value,
                           unsigned width, bool is_signed);
/// Out of range clamps; NaN gives 0, or the most negative number from f64 or to 64 bits.
std::uint64_t to_integer(ScalarType from, const FloatMode &mode, std::uint64_t value,
                         unsigned width, bool is_signed);
std::uint64_t convert(ScalarType to, ScalarType from, const FloatMode &mode, std::uint64_t value);

/// The class of a number, for testp.
enum class NumberClass : std::uint8_t { zero, subnormal, normal, infinite, nan };
NumberClass classify(ScalarType type, std::uint64_t value);

/// The value as a double, exact.
double to_double(ScalarType type, std::uint64_t value);
/// Rounds to a type. A double that stands for a longer number must be rounded to odd.
std::uint64_t from_double(ScalarType type, double value, FloatRounding rounding);

} // namespace floating
} // namespace ptxasw::emulator
