#pragma once

// The words of PTX that name scalar types and state spaces (PTX ISA 5.1, 5.2), as enums:
// `bit_width(scalar_type(".f32")) == 32`.

#include "grammar/namespaces.h"

#include <cstdint>
#include <string_view>

namespace ptxasw::ptx {

/// Fundamental and packed types (PTX ISA 5.2).
enum class ScalarType : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  u8x4,
  s8x4,
  u16x2,
  s16x2,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m3x2,
  e3m2x2,
  e2m1x2,
  ue8m0x2,
  texref,
  samplerref,
  surfref,
  e4m3x4,
  e5m2x4,
  e2m3x4,
  e3m2x4,
  e2m1x4,
};

/// The type a modifier names, with or without its dot; `none` if it names no type.
ScalarType scalar_type(std::string_view name);

/// The spelling of a type without its dot.
std::string_view to_string(ScalarType type);

/// Width in bits; 1 for pred, 0 for none and the opaque references.
unsigned bit_width(ScalarType type);

/// True if values of the type are compared and extended as signed integers.
bool is_signed(ScalarType type);

/// True if the type is a floating-point type, packed or not.
bool is_float(ScalarType type);

/// State spaces (PTX ISA 5.1).
enum class StateSpace : std::uint8_t {
  generic,
  reg,
  sreg,
  constant,
  global,
  local,
  param,
  shared,
  tex
};

/// The spelling of a state space without its dot; "generic" for none.
std::string_view to_string(StateSpace space);

/// Returns true if what is said to be in a state space may be in global memory.
inline bool may_be_global(StateSpace space) {
  return space == StateSpace::global || space == StateSpace::generic;
}

/// The state space a modifier names (`.shared::cta` included); `generic` if it names none.
StateSpace state_space(std::string_view name);

} // namespace ptxasw::ptx
