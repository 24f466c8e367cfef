// What a plan of reuses says of itself.

#include "synth/shuffle/reuse.h"

#include <fmt/core.h>

#include <algorithm>

namespace ptxasw::synth {

bool Reuse::is_copy() const {
  return std::all_of(elements.begin(), elements.end(),
                     [](const ElementSource &from) { return from.lane.is_own(); });
}

std::string to_string(SourceLane lane) {
  return lane.flip != 0 ? fmt::format("the lane whose number differs by {}", lane.flip)
                        : fmt::format("lane {:+}", lane.delta);
}

SourceLane Reuse::lane() const {
  SourceLane result;
  for (const ElementSource &from : elements)
    if (from.lane.reach() > result.reach())
      result = from.lane;
  return result;
}

std::set<std::uint32_t> Reuse::sources() const {
  std::set<std::uint32_t> result;
  for (const ElementSource &from : elements)
    for (const LoadedElement &source : from.sources)
      result.insert(source.load);
  return result;
}

} // namespace ptxasw::synth
