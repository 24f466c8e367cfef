#pragma once

// What an instruction reads and writes, place by place in its text, and which places may differ in
// two instructions that are melded into one.

#include "grammar/module.h"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::synth::meld {

/// What stands in a place: a register, or text that is the same wherever it stands.
struct Source {
  RegisterId reg = no_register;
  std::string text; ///< of anything but a register
  bool operator==(const Source &) const = default;
  bool operator<(const Source &other) const {
    return std::tie(reg, text) < std::tie(other.reg, other.text);
  }
};

/// What stands in one place of two instructions: where the predicate is true and where it is not.
struct SourcePair {
  Source when, otherwise;
  std::string type; ///< what `selp` takes to choose between them: `b32`; or `pred`
  bool operator==(const SourcePair &) const = default;
  bool operator<(const SourcePair &other) const {
    return std::tie(when, otherwise, type) < std::tie(other.when, other.otherwise, other.type);
  }
};

/// A place of an instruction's text.
struct Leaf {
  Span span;
  SourcePair pair;
  bool is_written = false;
};

/// Two addresses with different offsets: the whole operand is replaced by a sum.
struct OffsetPair {
  Span span; ///< of the operand in the first instruction
  SourcePair base;
  std::int64_t when = 0, otherwise = 0; ///< bytes
};

/// How two instructions become one: the text of the first with its places filled anew.
struct InstructionPair {
  std::uint32_t when = no_index, otherwise = no_index;
  std::vector<Leaf> leaves; ///< the guard is none of them
  std::optional<SourcePair> guard;
  std::vector<OffsetPair> offsets;
};

/// Nothing if they are not the same but for places that may differ. `offsets`: those of addresses
/// may, too.
std::optional<InstructionPair> pair_of(const Module &module, const Function &function,
                                       std::uint32_t when, std::uint32_t otherwise, bool offsets);

} // namespace ptxasw::synth::meld
