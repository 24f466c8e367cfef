#pragma once

// A cache on which the cost model replays the accesses of warps, to count what misses:
//   misses += !cache.read(address / sector_bytes);

#include "grammar/namespaces.h"

#include <cstdint>
#include <vector>

namespace ptxasw::analysis::cost {

/// Bytes of a line, and of the sectors of which a line has four.
inline constexpr unsigned line_bytes = 128, sector_bytes = 32;

/// A cache of lines whose sectors come one by one: sets of 16 lines, of which the least recently
/// used is evicted. Holds no data.
class SectorCache {
public:
  /// At least one set.
  explicit SectorCache(std::uint64_t bytes);

  /// True if the sector (address / 32) is there. Afterwards it is.
  bool read(std::uint64_t sector);
  /// A store: it writes through, and does not allocate a missing line.
  void write(std::uint64_t sector);

private:
  static constexpr unsigned ways = 16;
  struct Line {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint64_t used = 0;
    std::uint32_t sectors = 0;
  };
  Line *set_of(std::uint64_t tag);

  std::vector<Line> lines_;
  std::uint64_t sets_ = 1, time_ = 0;
};

} // namespace ptxasw::analysis::cost
