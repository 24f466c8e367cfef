// What each opcode may do to memory and to other lanes, in lists. What no list names does
// everything, so a new opcode is refused until someone has read the manual about it.

#include "emulator/effects.h"

#include <algorithm>
#include <array>

namespace ptxasw {
namespace {

using namespace std::string_view_literals;

// Arithmetic, logic, comparison, conversion and movement between registers (sorted).
constexpr std::array pure{
    "abs"sv,       "add"sv,   "addc"sv,  "and"sv,   "bfe"sv,      "bfi"sv,      "bfind"sv,
    "bmsk"sv,      "brev"sv,  "clz"sv,   "cnot"sv,  "copysign"sv, "cos"sv,      "cvt"sv,
    "cvta"sv,      "div"sv,   "dp2a"sv,  "dp4a"sv,  "ex2"sv,      "fma"sv,      "fns"sv,
    "lg2"sv,       "lop3"sv,  "mad"sv,   "mad24"sv, "madc"sv,     "max"sv,      "min"sv,
    "mov"sv,       "mul"sv,   "mul24"sv, "neg"sv,   "not"sv,      "or"sv,       "popc"sv,
    "prmt"sv,      "rcp"sv,   "rem"sv,   "rsqrt"sv, "sad"sv,      "selp"sv,     "set"sv,
    "setp"sv,      "shf"sv,   "shl"sv,   "shr"sv,   "sin"sv,      "slct"sv,     "sqrt"sv,
    "sub"sv,       "subc"sv,  "szext"sv, "tanh"sv,  "testp"sv,    "vabsdiff"sv, "vabsdiff2"sv,
    "vabsdiff4"sv, "vadd"sv,  "vadd2"sv, "vadd4"sv, "vavrg2"sv,   "vavrg4"sv,   "vmad"sv,
    "vmax"sv,      "vmax2"sv, "vmax4"sv, "vmin"sv,  "vmin2"sv,    "vmin4"sv,    "vset"sv,
    "vset2"sv,     "vset4"sv, "vshl"sv,  "vshr"sv,  "vsub"sv,     "vsub2"sv,    "vsub4"sv,
    "xor"sv,
};
static_assert(std::is_sorted(pure.begin(), pure.end()));

// Not pure (they ask the machine, or branch), but without effect on memory (sorted).
constexpr std::array harmless{
    "activemask"sv, "bra"sv,       "brx"sv, "exit"sv, "isspacep"sv, "istypep"sv, "mapa"sv,
    "prefetch"sv,   "prefetchu"sv, "ret"sv, "suq"sv,  "tex"sv,      "tld4"sv,    "txq"sv,
};
static_assert(std::is_sorted(harmless.begin(), harmless.end()));

// With an effect on memory or none, but never waiting for other lanes of the warp unless they have
// `.sync` (sorted).
constexpr std::array lane_by_lane{
    "applypriority"sv, "atom"sv,      "brkpt"sv, "cp"sv,       "createpolicy"sv, "discard"sv,
    "fence"sv,         "ld"sv,        "ldu"sv,   "mbarrier"sv, "membar"sv,       "multimem"sv,
    "nanosleep"sv,     "pmevent"sv,   "red"sv,   "st"sv,       "suld"sv,         "sured"sv,
    "sust"sv,          "tensormap"sv, "trap"sv};
static_assert(std::is_sorted(lane_by_lane.begin(), lane_by_lane.end()));

template <std::size_t N>
bool contains(const std::array<std::string_view, N> &list, std::string_view word) {
  return std::binary_search(list.begin(), list.end(), word);
}

/// Modifiers of ld and st that neither order nor refresh anything.
bool is_plain_access_modifier(std::string_view modifier) {
  static constexpr std::array plain{"ca"sv, "cg"sv, "cs"sv, "lu"sv,   "nc"sv, "v2"sv,
                                    "v4"sv, "v8"sv, "wb"sv, "weak"sv, "wt"sv};
  return std::find(plain.begin(), plain.end(), modifier) != plain.end() ||
         modifier.starts_with("L1::") || modifier.starts_with("L2::") ||
         modifier == "level::eviction_priority" || scalar_type(modifier) != ScalarType::none ||
         state_space(modifier) != StateSpace::generic || modifier == "unified";
}

} // namespace

std::span<const std::string_view> pure_opcodes() { return pure; }
std::span<const std::string_view> harmless_opcodes() { return harmless; }

bool is_pure(const Opcode &opcode) { return contains(pure, opcode.base); }

Effect effect_of(const Opcode &opcode) {
  if (opcode.base == "ld" || opcode.base == "st" || opcode.base == "ldu") {
    if (opcode.space == StateSpace::param || opcode.space == StateSpace::constant)
      return Effect::none;
    // .cv and .wt-like writes through, .volatile, .relaxed, .acquire, .release, .mmio, scopes
    for (const std::string_view modifier : opcode.modifiers)
      if (!is_plain_access_modifier(modifier))
        return Effect::sync;
    return opcode.base == "st" ? Effect::store : Effect::load;
  }
  return is_pure(opcode) || contains(harmless, opcode.base) ? Effect::none : Effect::sync;
}

bool reads_constant_memory(const Opcode &opcode) {
  return (opcode.base == "ld" && (opcode.space == StateSpace::constant ||
                                  (opcode.space == StateSpace::global && opcode.has("nc")))) ||
         opcode.base == "ldu";
}

bool gathers_lanes(const Opcode &opcode) {
  const bool by_itself =
      is_pure(opcode) || contains(harmless, opcode.base) || contains(lane_by_lane, opcode.base);
  return !by_itself || opcode.has("sync") || opcode.has("aligned");
}

} // namespace ptxasw
