#include "analysis/cost/request.h"

#include "analysis/cost/sector_cache.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ptxasw::cost {
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
  return std::max({double(conflicts), double((lines + 3) / 4), double(bytes) / word_bytes, 1.0});
}

} // namespace

Request request_of(Kernel &kernel, const Access &access, LaneMask active) {
  Request request;
  request.traffic = access.traffic;
  if (access.guard != ~0u)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if (kernel.values()[access.guard][lane] == 0)
        active &= ~(LaneMask{1} << lane);
  std::vector<std::uint64_t> words;
  words.reserve(warp_lanes * ((access.bytes + word_bytes - 1) / word_bytes));
  std::uint64_t bytes = 0;
  for (; active != 0; active &= active - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(active));
    const std::uint64_t first = kernel.values()[access.address][lane];
    for (std::uint64_t byte = first / word_bytes * word_bytes; byte < first + access.bytes;
         byte += word_bytes)
      words.push_back(byte / word_bytes);
    bytes += access.bytes;
  }
  if (words.empty())
    return request;
  unify(words);
  std::vector<std::uint64_t> lines;
  for (const std::uint64_t word : words) {
    const std::uint64_t sector = word * word_bytes / sector_bytes;
    if (request.sectors.empty() || request.sectors.back() != sector)
      request.sectors.push_back(sector);
    const std::uint64_t line = word * word_bytes / line_bytes;
    if (lines.empty() || lines.back() != line)
      lines.push_back(line);
  }
  const auto sectors = static_cast<double>(request.sectors.size());
  if (access.traffic == Traffic::load) {
    request.cycles = load_cycles(words, lines.size(), access.bytes);
  } else {
    request.partial = bytes < request.sectors.size() * sector_bytes;
    request.cycles = std::max(
        {sectors * (request.partial ? 1.25 : 1.0), 2.0 * static_cast<double>(lines.size()), 2.0});
  }
  return request;
}

} // namespace ptxasw::cost
