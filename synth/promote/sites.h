#pragma once

// Which loads of a loop read what it has read already, and what its stores may do to that.

#include "emulator/facts/loop_values.h"
#include "synth/family.h"

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::synth::promote {

using facts::AtomId, facts::Atom, facts::Atoms, facts::Polynomial;
using facts::Condition, facts::LoopValues;

/// What is looked for.
enum class Wanted : std::uint8_t {
  repeated, ///< loads that read the same place in every round
  carried,  ///< besides those, loads that read what another one has read
};

/// A load that becomes a register.
struct RepeatedLoad {
  std::uint32_t instruction = 0;
  /// The load that read before what this one would read: itself, in earlier rounds; or another one,
  /// in this round (`ago` is 0) or in the one before.
  std::uint32_t source = 0;
  unsigned ago = 0; ///< of another one: rounds
  /// Stores of the loop to the very place that the source reads in that round: what they write is
  /// what this one would read next.
  std::vector<std::uint32_t> to_the_place;
  /// Stores to the very place that the source has read in the round before.
  std::vector<std::uint32_t> to_the_place_before;

  bool is_carried() const { return source != instruction; }
};

/// What is promoted in a loop.
struct Promotion {
  Wanted wanted = Wanted::repeated;
  LoopId loop = 0;
  std::vector<RepeatedLoad> loads;
  std::vector<Condition> conditions; ///< each once
};

/// The instructions of a loop in the order of the text.
std::vector<std::uint32_t> instructions_of(const ControlFlowGraph &cfg, LoopId loop);

/// Returns true if a load may be promoted as far as its opcode says: weak, from memory that is
/// global or generic.
bool is_repeatable(const Opcode &opcode);

/// The register of which a store to a scalar place of 32 or 64 bits writes all bits, or a number;
/// null if it is another store, or does not write what `load` would read back.
const Operand *forwarded(const KernelContext &context, std::uint32_t load, std::uint32_t store);

/// Returns true if a load gives its registers all that another one gives, if they read the same
/// place: it may leave bytes undefined that nothing uses (`used_bytes_mask`, PTX ISA 12.2), and
/// then it does not.
bool reads_alike(const KernelContext &context, std::uint32_t load, std::uint32_t other);

/// Why nothing in a loop is promoted; or what is. Where loads are to be carried, one of them is.
tl::expected<Promotion, Refusal> promotion_of(const KernelContext &context, LoopId loop,
                                              Atoms &atoms, Wanted wanted);

/// Why a loop is none that the law speaks of, which is entered in one place only, with nothing in
/// it that calls or synchronises.
std::optional<Refusal> order_in(const KernelContext &context, LoopId loop);

/// What the predicate of a promotion's test is called: `%promote0_apart`, `%carry0_apart`.
constexpr std::string_view prefix_of(Wanted wanted) {
  return wanted == Wanted::repeated ? "promote" : "carry";
}
inline constexpr std::string_view predicate_suffix = "apart";

/// The module's text with loads of a loop promoted, and the loop as it was; nothing if the loop
/// cannot be taken apart.
std::optional<std::string> write_promoted(const KernelContext &context, const Promotion &promotion,
                                          Atoms &atoms);

} // namespace ptxasw::synth::promote
