#pragma once

// What one access costs a warp: sectors, lines, wavefronts, from the form of its address.

#include "emulator/facts/address_form.h"
#include "emulator/semantics/banks.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ptxasw::facts {

/// What the memory system moves at once.
inline constexpr std::int64_t sector_bytes = 32;

/// How much a number says. `exact`: every execution by all of the lanes that can take part costs
/// exactly that, and one by fewer of them no more. `bound`: no execution costs more. `unknown`: no
/// execution costs more, but the bound is that of lanes which have nothing in common.
enum class Verdict : std::uint8_t { exact, bound, unknown };
std::string_view to_string(Verdict verdict);

/// A number per warp execution, over all warps of the block and all possible start addresses.
struct Count {
  std::uint32_t most = 0;
  /// What a warp needs at least when all lanes that can take part do.
  std::uint32_t least = 0;
  /// The most over all warps if strides without a known number are large, and unknown starts are
  /// multiples of 128 bytes, unless they are known to wander: what the pattern costs apart from
  /// its alignment.
  std::uint32_t typical = 0;
  Verdict verdict = Verdict::unknown;
  /// Sums over all warps of a block, each executing the access once.
  std::uint64_t block_most = 0, block_least = 0;
};

/// The cost of one access, by its state space: sectors (32 bytes) and lines (128 bytes) for global
/// and local memory, wavefronts for shared memory.
struct Traffic {
  Count sectors, lines, wavefronts;
  /// What the same bytes, distinct ones counted once, would cost packed one behind the other; the
  /// most over all warps.
  std::uint32_t ideal_sectors = 0, ideal_lines = 0, ideal_wavefronts = 0;
  std::uint32_t lanes = 0;        ///< of a warp that can take part, the most over all warps
  std::uint32_t warps = 0;        ///< of a block that can take part, all copies counted
  std::optional<BankClash> clash; ///< of shared memory, in the first warp that has one
  bool misaligned = false; ///< no start address exists at which all lanes are naturally aligned
};

/// What is asked about an access.
struct TrafficQuery {
  const AddressForm *form = nullptr;
  unsigned bytes = 0;      ///< per lane, 1 to 32
  unsigned alignment = 1;  ///< bytes; a power of two that divides the part all lanes share
  bool shared = false;     ///< wavefronts instead of sectors and lines
  bool load = false;       ///< wide loads of shared memory may be served in pairs of lanes
  unsigned exceptions = 0; ///< lanes of a warp, at most, that go elsewhere than `form` says
  bool wanders = false;    ///< there are warps at every place that `alignment` allows
  /// By thread of the layout: true if it can take part at all.
  const std::vector<bool> *active = nullptr;
};

Traffic traffic_of(LaneValues &lanes, const TrafficQuery &query);

/// Bytes that each thread of the layout adds to what all lanes share, without strides and whatever
/// is not known.
std::vector<std::int64_t> lane_offsets(LaneValues &lanes, const AddressForm &form);

} // namespace ptxasw::facts
