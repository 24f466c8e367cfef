#pragma once

// Tiling for shared memory (staging; Baskaran and others 2008): what all threads of a block read in
// a loop is brought to shared memory by all of them together, a tile at a time, and read there.
//
// Which loop that is, and how it is staged, is the lemma that the family rests on: it writes what
// is found here (write.cpp), and its proof asks for it again, of the kernel that it reads, and
// compares the text with that (prove.cpp). Both have told what that is, line by line (script.cpp).

#include "emulator/facts/loop_values.h"
#include "synth/family.h"
#include "synth/script.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth::stage {

/// A load whose place a load of shared memory takes.
struct StagedLoad {
  std::uint32_t instruction = 0;
  std::int64_t offset = 0; ///< bytes behind the beginning of the iteration's part of the range
  unsigned bytes = 0;      ///< all elements together, a power of two
};

/// Loads that go on by the same in every iteration, and so a range of memory: in iteration k, the
/// first one being 0, a thread reads what each of them names within the `step` bytes at first + k *
/// step, if not by this load then by another one that names the same.
struct StagedRange {
  facts::Polynomial first; ///< in what registers hold where the loop is entered
  std::int64_t step = 0;   ///< positive; a multiple of all loads' bytes
  std::vector<StagedLoad> loads;
  std::uint32_t place = 0; ///< in the tile: where its first byte is kept
};

/// How often a thread comes to a place, and the conditions under which that, and all else that is
/// said of the loop, is so.
struct Counted {
  facts::Polynomial count;
  std::vector<facts::Condition> conditions;
};

/// The ways to a loop, without another one among them: the blocks from which it can be reached, and
/// those of their instructions that decide which way is taken, and that compute from parameters and
/// special registers what these and the registers asked for hold. Whoever runs them, and follows
/// the ways, comes to the loop where the kernel does, and has in these registers what it has. A
/// version does that a first time before the kernel itself begins.
using Before = std::map<BlockId, std::set<std::uint32_t>>;

/// A loop with loads that are staged.
struct Staging {
  LoopId loop = 0;
  std::uint32_t header = 0; ///< the first instruction of the outermost loop's header
  std::uint32_t entry = 0;  ///< that of its own header, where it is entered
  /// Where an iteration begins that reads: the header's first instruction if the loop is left at
  /// its foot, else the first one behind the branch that leaves it.
  std::uint32_t round = 0;
  std::uint32_t rounds = 0; ///< that the tile has room for
  std::vector<StagedRange> ranges;
  Counted own; ///< how often a thread that enters comes to `round`, then
  /// Of the loop around it, if there is one, the number of its last iteration; the first one is 0.
  /// All threads of a block come to the inner loop in the same iterations, again and again.
  std::optional<Counted> around;
  facts::Atoms atoms; ///< of all polynomials
  Before before;
  /// Bytes of shared memory. At its beginning are the first address of each range and the number of
  /// iterations, 8 bytes each.
  std::uint32_t size = 0;

  /// What is known before the kernel begins.
  const Counted &at_first() const { return around ? *around : own; }
  std::size_t ranges_at_first() const { return around ? 0 : ranges.size(); }
  /// Where the number of iterations stands.
  std::uint32_t place_of_rounds() const { return static_cast<std::uint32_t>(8 * ranges.size()); }
};

/// Returns true if no load of a range before this one reads the same.
bool is_first(const StagedRange &range, const StagedLoad &load);

/// What tells whether a thread comes to a loop before the kernel runs, and what it has in registers
/// then. Throws a Refusal where nothing does.
Before before_loop(const KernelContext &context, LoopId loop, std::set<RegisterId> registers);

/// Bytes of a tile.
inline constexpr std::string_view stage_variants[] = {"4k", "16k"};

/// What of a kernel is staged in a variant: at most one loop, the first that can be.
Sites<Staging> staging_of(const KernelContext &context, std::string_view variant);

/// Begins the names of what is written, behind `%` or `$`.
inline constexpr std::string_view prefix = "stage";

/// The module's text with a loop of a kernel staged.
std::optional<std::string> write_staged(const KernelContext &context, const Staging &staging);

/// Where the first instruction of a body begins with all that stands before it for its sake.
std::uint32_t begin_of_code(const Function &kernel);

/// What is known where a loop is entered, which a version may compute in any way: where so many of
/// the ranges begin, in `<w_first0>` and on, and a number of iterations in `<w_rounds>`;
/// `<r_comes>` is 1 if the conditions hold, else 0. Registers for it are named as `name` says.
using KnowLoop =
    std::function<void(std::string_view name, std::size_t ranges, const Counted &rounds)>;

/// Tells what a version with a staged loop has before the kernel's own code, line by line; the
/// variable in shared memory is named after the script.
void tell_staged(const KernelContext &context, const Staging &staging, Script &to,
                 const KnowLoop &know);

/// Proves that in a kernel with a staged loop each thread does what it did but for loads of what
/// another one of its block has read, for the same launch. Both may be of one module.
proof::Proved prove_staged(const KernelContext &context, const Module &after,
                           const Function &staged, std::string_view variant);

} // namespace ptxasw::synth::stage
