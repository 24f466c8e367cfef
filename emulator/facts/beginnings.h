#pragma once

// Where warps begin: what an access costs some warp at least, whatever the numbers of a launch that
// nobody knows.

#include "emulator/facts/traffic.h"

#include <functional>

namespace ptxasw::facts {

/// What is known of the symbols in an address.
struct UnknownNumbers {
  /// True of what takes all small values within a launch: indices of blocks, iterations of loops.
  std::function<bool(Expr)> counts_up;
  /// The most that such a one comes to, as far as that is known.
  std::function<std::uint64_t(Expr)> most;
  /// True of what is one number for a whole launch: parameters, extents, addresses of variables.
  std::function<bool(Expr)> fixed;
  /// Low bits that are known to be zero.
  std::function<unsigned(Expr)> zeros;
  /// True if a warp may make the access while what counts up has these values.
  std::function<bool(const std::vector<std::pair<Expr, std::uint64_t>> &)> possible;
};

/// Units of `unit` bytes (a power of two up to 128) that some warp touches, if lanes come to it as
/// TrafficQuery says: the most over warps and what counts up, the least over fixed numbers. Looks
/// no further, and returns at most `enough`, once it is clear that some numbers cost no more than
/// that, or if the address is not made of sums and products.
std::uint32_t certain_units(LaneValues &lanes, const TrafficQuery &query, std::int64_t unit,
                            const UnknownNumbers &numbers, std::uint32_t enough);

} // namespace ptxasw::facts
