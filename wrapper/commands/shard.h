#pragma once

// Cuts work into parts for several machines, which need not talk: `--shard 3/64`. The suite of
// random kernels does the same.
//   const auto [begin, end] = parse_shard("3/64")->range(kernels.size());

#include "grammar/namespaces.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace ptxasw::wrapper {

/// One of the `count` parts of some work, done by processes that know nothing of each other.
struct Shard {
  std::uint32_t number = 1; ///< from 1 to count
  std::uint32_t count = 1;

  /// Which of `total` things belong to this part: from the first up to, not including, the second.
  /// The parts follow one another in order, so their results, one behind the other, are those of
  /// the whole; their sizes differ by one at most.
  std::pair<std::size_t, std::size_t> range(std::size_t total) const;
};

/// `3/64`; nothing if it is something else, or there is no such part.
std::optional<Shard> parse_shard(std::string_view text);

} // namespace ptxasw::wrapper
