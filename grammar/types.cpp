// Names of PTX's scalar types and state spaces, and their widths (PTX ISA 5.2).

#include "grammar/types.h"

#include <array>
#include <utility>

namespace ptxasw::ptx {
namespace {

enum class Family : std::uint8_t { other, integer_signed, real };

struct TypeInfo {
  std::string_view name;
  ScalarType type;
  unsigned width;
  Family family = Family::other;
};

using enum ScalarType;
using enum Family;

// In the order of the enum, so that it is indexed by the type.
constexpr std::array<TypeInfo, 43> type_table{{
    {"", none, 0},
    {"pred", pred, 1},
    {"b8", b8, 8},
    {"b16", b16, 16},
    {"b32", b32, 32},
    {"b64", b64, 64},
    {"b128", b128, 128},
    {"u8", u8, 8},
    {"u16", u16, 16},
    {"u32", u32, 32},
    {"u64", u64, 64},
    {"s8", s8, 8, integer_signed},
    {"s16", s16, 16, integer_signed},
    {"s32", s32, 32, integer_signed},
    {"s64", s64, 64, integer_signed},
    {"f16", f16, 16, real},
    {"f16x2", f16x2, 32, real},
    {"bf16", bf16, 16, real},
    {"bf16x2", bf16x2, 32, real},
    {"tf32", tf32, 32, real},
    {"f32", f32, 32, real},
    {"f32x2", f32x2, 64, real},
    {"f64", f64, 64, real},
    {"u8x4", u8x4, 32},
    {"s8x4", s8x4, 32, integer_signed},
    {"u16x2", u16x2, 32},
    {"s16x2", s16x2, 32, integer_signed},
    {"e4m3", e4m3, 8, real},
    {"e5m2", e5m2, 8, real},
    {"e4m3x2", e4m3x2, 16, real},
    {"e5m2x2", e5m2x2, 16, real},
    {"e2m3x2", e2m3x2, 16, real},
    {"e3m2x2", e3m2x2, 16, real},
    {"e2m1x2", e2m1x2, 8, real},
    {"ue8m0x2", ue8m0x2, 16, real},
    {"texref", texref, 0},
    {"samplerref", samplerref, 0},
    {"surfref", surfref, 0},
    {"e4m3x4", e4m3x4, 32, real},
    {"e5m2x4", e5m2x4, 32, real},
    {"e2m3x4", e2m3x4, 32, real},
    {"e3m2x4", e3m2x4, 32, real},
    {"e2m1x4", e2m1x4, 16, real},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < type_table.size(); ++i)
    if (static_cast<std::size_t>(type_table[i].type) != i)
      return false;
  return true;
}
static_assert(in_enum_order());

const TypeInfo &info(ScalarType type) { return type_table[static_cast<std::size_t>(type)]; }

constexpr std::array<std::pair<std::string_view, StateSpace>, 11> space_table{{
    {"reg", StateSpace::reg},
    {"sreg", StateSpace::sreg},
    {"const", StateSpace::constant},
    {"global", StateSpace::global},
    {"local", StateSpace::local},
    {"param", StateSpace::param},
    {"shared", StateSpace::shared},
    {"tex", StateSpace::tex},
    {"shared::cta", StateSpace::shared},
    {"shared::cluster", StateSpace::shared},
    {"param::entry", StateSpace::param},
}};

std::string_view without_dot(std::string_view name) {
  if (!name.empty() && name.front() == '.')
    name.remove_prefix(1);
  return name;
}

} // namespace

ScalarType scalar_type(std::string_view name) {
  name = without_dot(name);
  for (const TypeInfo &entry : type_table)
    if (entry.name == name)
      return entry.type;
  return none;
}

std::string_view to_string(ScalarType type) { return info(type).name; }
unsigned bit_width(ScalarType type) { return info(type).width; }
bool is_signed(ScalarType type) { return info(type).family == integer_signed; }
bool is_float(ScalarType type) { return info(type).family == real; }

std::string_view to_string(StateSpace space) {
  for (const auto &[spelling, candidate] : space_table)
    if (candidate == space)
      return spelling;
  return "generic";
}

StateSpace state_space(std::string_view name) {
  name = without_dot(name);
  for (const auto &[spelling, space] : space_table)
    if (spelling == name)
      return space;
  return name == "param::func" ? StateSpace::param : StateSpace::generic;
}

} // namespace ptxasw::ptx
