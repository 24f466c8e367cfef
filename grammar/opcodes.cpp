// The rows of opcodes.def and modifiers.def as arrays, and names looked up in them. A look-up
// happens once per distinct opcode of a module, so a search from front to back would do; the map
// keeps it independent of how many rows there are.

#include "grammar/opcodes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace ptxasw::ptx {
namespace {

/// A name as PTX spells it: without the underscore that keeps it apart from a word of C++.
constexpr std::string_view spelled(std::string_view name) { return name.substr(0, name.find('_')); }

constexpr std::array table{
    OpcodeTraits{},
#define OPCODE(name, first, memory, lanes)                                                         \
  OpcodeTraits{spelled(#name), FirstOperand::first, MemoryUse::memory, Lanes::lanes},
#include "grammar/opcodes.def"
#undef OPCODE
};

constexpr std::array modifier_words{
#define MODIFIER(name, text) std::string_view(text),
#include "grammar/modifiers.def"
#undef MODIFIER
};

static_assert(table.size() <= 256 && modifier_words.size() < 256);

} // namespace

std::span<const OpcodeTraits> opcode_table() { return table; }

Op base_opcode(std::string_view name) {
  static const auto ops = [] {
    std::unordered_map<std::string_view, Op> result;
    for (std::size_t i = 1; i < table.size(); ++i)
      result.emplace(table[i].name, static_cast<Op>(i));
    return result;
  }();
  const auto found = ops.find(name);
  return found == ops.end() ? Op::unknown : found->second;
}

Modifier modifier(std::string_view word) {
  static const auto modifiers = [] {
    std::unordered_map<std::string_view, Modifier> result;
    for (std::size_t i = 0; i < modifier_words.size(); ++i)
      result.emplace(modifier_words[i], static_cast<Modifier>(i));
    return result;
  }();
  const auto found = modifiers.find(word);
  return found == modifiers.end() ? Modifier::count : found->second;
}

} // namespace ptxasw::ptx
