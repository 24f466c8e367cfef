// What one access asks, counted over the 32 addresses themselves: banks, lines and bytes each take
// their cycles, and the slowest counts, which is what the probe measures.

#include "analysis/cost/request.h"

#include "analysis/cost/sector_cache.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ptxasw::analysis::cost {
namespace {

constexpr unsigned banks = 32, word_bytes = 4;

/// Sorts and leaves each once.
void unify(std::vector<std::uint64_t> &list) {
  if (!std::is_sorted(list.begin(), list.end()))
    std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

double load_cycles(const std::vector<std::uint64_t> &words, std::size_t lines, unsigned bytes) {
  std::array<unsigned, banks> of_bank{};
  unsigned conflicts = 0;
  for (const std::uint64_t word : words)
    conflicts = std::max(conflicts, ++of_bank[word % banks]);
  const std::size_t lookups = (lines + 3) / 4;
  return std::max({double(conflicts), double(lookups), double(bytes) / word_bytes, 1.0});
}

/// Of each of `sectors` the bytes that are stored in it, a bit each.
std::vector<std::uint32_t> bytes_of(const std::vector<std::uint64_t> &sectors,
                                    const std::uint64_t *addresses, unsigned bytes,
                                    LaneMask lanes) {
  std::vector<std::uint32_t> masks(sectors.size());
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t first = addresses[std::countr_zero(lanes)];
    for (std::uint64_t byte = first; byte < first + bytes; ++byte) {
      const auto at = std::lower_bound(sectors.begin(), sectors.end(), byte / sector_bytes);
      masks[static_cast<std::size_t>(at - sectors.begin())] |= 1u << byte % sector_bytes;
    }
  }
  return masks;
}

} // namespace

Request request_of(Kernel &kernel, const Access &access, LaneMask active) {
  if (access.guard != ~0u)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if (kernel.values()[access.guard][lane] == 0)
        active &= ~(LaneMask{1} << lane);
  Request request =
      request_of(access.traffic, access.bytes, kernel.values()[access.address], active);
  request.known = access.known;
  return request;
}

Request request_of(Traffic traffic, unsigned bytes, const std::uint64_t *addresses,
                   LaneMask active) {
  Request request;
  request.traffic = traffic;
  std::vector<std::uint64_t> words;
  words.reserve(std::size_t{warp_lanes} * ((bytes + word_bytes - 1) / word_bytes));
  const LaneMask storing = active;
  for (; active != 0; active &= active - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(active));
    const std::uint64_t first = addresses[lane];
    for (std::uint64_t byte = first / word_bytes * word_bytes; byte < first + bytes;
         byte += word_bytes)
      words.push_back(byte / word_bytes);
  }
  if (words.empty())
    return request;
  unify(words);
  std::size_t lines = 0, in_sector = 0;
  constexpr std::size_t words_of_sector = sector_bytes / word_bytes;
  constexpr std::size_t words_of_line = line_bytes / word_bytes;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t sector = words[i] / words_of_sector;
    if (request.sectors.empty() || request.sectors.back() != sector)
      request.sectors.push_back(sector);
    lines += i == 0 || words[i] / words_of_line != words[i - 1] / words_of_line;
    ++in_sector;
    if (i + 1 == words.size() || words[i + 1] / words_of_sector != sector) {
      request.partial += in_sector < words_of_sector || bytes < word_bytes;
      in_sector = 0;
    }
  }
  if (traffic == Traffic::load) {
    request.cycles = load_cycles(words, lines, bytes);
  } else {
    request.written = bytes_of(request.sectors, addresses, bytes, storing);
    const auto sectors = static_cast<double>(request.sectors.size());
    request.cycles =
        std::max({sectors + 0.25 * request.partial, 2.0 * static_cast<double>(lines), 2.0});
  }
  return request;
}

} // namespace ptxasw::analysis::cost
