// Every line of a set remembers when it was last used, so that the victim is the one with the
// smallest time. Sectors are bits of a line: one that is missing is fetched alone.

#include "analysis/cost/sector_cache.h"

#include <algorithm>

namespace ptxasw::analysis::cost {

SectorCache::SectorCache(std::uint64_t bytes)
    : sets_(std::max<std::uint64_t>(1, bytes / line_bytes / ways)) {
  lines_.resize(sets_ * ways);
}

// Neighbouring lines lie in different sets, and so do lines that are a power of two apart.
SectorCache::Line *SectorCache::set_of(std::uint64_t tag) {
  const std::uint64_t hash = tag ^ (tag >> 7) * 0x9e3779b97f4a7c15 >> 32;
  return &lines_[hash % sets_ * ways];
}

bool SectorCache::read(std::uint64_t sector) {
  const std::uint64_t tag = sector / (line_bytes / sector_bytes);
  const std::uint32_t bit = 1u << sector % (line_bytes / sector_bytes);
  Line *const set = set_of(tag), *const end = set + ways;
  Line *line = std::find_if(set, end, [&](const Line &l) { return l.tag == tag; });
  if (line == end) {
    line = std::min_element(set, end, [](const Line &a, const Line &b) { return a.used < b.used; });
    *line = {tag, 0, 0};
  }
  line->used = ++time_;
  const bool hit = (line->sectors & bit) != 0;
  line->sectors |= bit;
  return hit;
}

void SectorCache::write(std::uint64_t sector) {
  const std::uint64_t tag = sector / (line_bytes / sector_bytes);
  Line *const set = set_of(tag);
  for (Line *line = set; line != set + ways; ++line)
    if (line->tag == tag) {
      line->used = ++time_;
      line->sectors |= 1u << sector % (line_bytes / sector_bytes);
    }
}

} // namespace ptxasw::analysis::cost
