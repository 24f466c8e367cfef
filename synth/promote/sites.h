#pragma once

// Scalar replacement (promotion; Callahan, Carr, Kennedy 1990): a load that a loop repeats becomes
// a register. Where stores of the loop may hit what it reads, a test before the loop decides
// whether they do in any iteration; if they may, the loop runs as it was.
//
// Predictive commoning (carry; GCC's -fpredictive-commoning): so does a load that reads what
// another one has read, in this iteration or the one before: a[i] is a[i - 1] of the next one.
//
// What is tested and why it suffices: emulator/facts/loop_values.h. Which loads: sites.cpp. How it
// is written: write.cpp. Why it is right: prove.cpp.

#include "emulator/facts/loop_values.h"
#include "synth/family.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth::promote {

using facts::Atoms, facts::Condition, facts::LoopValues;

/// What is looked for.
enum class Wanted : std::uint8_t {
  repeated, ///< loads that read the same place in every iteration
  carried,  ///< besides those, loads that read what another one has read
};

/// A load that becomes a register.
struct RepeatedLoad {
  std::uint32_t instruction = 0;
  /// The load that read before what this one would read: itself, in earlier iterations; or another
  /// one, in this iteration (`ago` is 0) or in the one before.
  std::uint32_t source = 0;
  unsigned ago = 0; ///< of another one: iterations
  /// Stores of the loop to the very place that the source reads in that iteration, or has read in
  /// the iteration before: what they write is what this one would read next.
  std::array<std::vector<std::uint32_t>, 2> stored;

  bool is_carried() const { return source != instruction; }
};

/// What is promoted in a loop.
struct Promotion {
  Wanted wanted = Wanted::repeated;
  LoopId loop = 0;
  std::uint32_t line = 0; ///< of the loop's first instruction
  std::vector<RepeatedLoad> loads;
  std::vector<Condition> conditions; ///< that are tested before the loop, each once
  Atoms atoms;                       ///< of these
};

/// The loops of a kernel in which something can be promoted. Where loads are to be carried, one of
/// them is.
Sites<Promotion> promotion_sites(const KernelContext &context, Wanted wanted = Wanted::repeated);

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

/// Why a loop is none that the lemma speaks of, which is entered in one place only, with nothing in
/// it that calls or synchronises.
std::optional<Refusal> order_in(const KernelContext &context, LoopId loop);

/// What names begin with that a version has for itself; the predicate of a promotion's test is
/// `%promote0_apart`, or `%carry0_apart`.
constexpr std::string_view prefix_of(Wanted wanted) {
  return wanted == Wanted::repeated ? "promote" : "carry";
}
inline constexpr std::string_view predicate_suffix = "apart";

/// The module's text with loads of a loop promoted, and the loop as it was.
std::optional<std::string> write_promoted(const KernelContext &context, const Promotion &promotion);

/// Proves that in a kernel in which loads were promoted or carried each thread does what it did but
/// for loads whose values it has, for the same launch. Both may be of one module.
proof::Proved prove_promoted(const Module &before, const Function &kernel, const Module &after,
                             const Function &promoted);

} // namespace ptxasw::synth::promote
