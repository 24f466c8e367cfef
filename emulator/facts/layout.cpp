// The threads of a block in the order of their numbers, cut into warps of 32; where only rows are
// known, one warp of a row stands for all.

#include "emulator/facts/layout.h"

#include <algorithm>

namespace ptxasw::facts {

Layout layout_of(const LaunchFacts &launch) {
  Layout layout;
  layout.symbolic = !launch.block;
  layout.shape = launch.block.value_or(BlockShape{launch.max_block_x, 1, 1});
  layout.whole_rows = layout.symbolic || launch.whole_warps();
  BlockShape rows = layout.shape;
  if (layout.whole_rows) {
    layout.copies = std::uint64_t{rows.y} * rows.z;
    rows.y = rows.z = 1;
  }
  // No launch can have more (PTX ISA 11.4); what lies beyond would never run.
  const auto threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows.count(), 1024));
  for (std::uint32_t i = 0; i < threads; ++i)
    layout.threads.push_back({i % rows.x, i / rows.x % rows.y, i / rows.x / rows.y});
  for (std::uint32_t first = 0; first < threads; first += warp_lanes)
    layout.warps.push_back({first, std::min(threads - first, warp_lanes)});
  return layout;
}

} // namespace ptxasw::facts
