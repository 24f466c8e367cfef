#include "emulator/launch.h"

#include <algorithm>

namespace ptxasw {

LaunchFacts launch_facts(const Function &function, const std::optional<BlockShape> &assumed) {
  LaunchFacts facts;
  // `.maxntid 256` admits a block of 16 x 16: it bounds the product of the extents, none by itself.
  if (const PerformanceDirective *directive = function.directive("maxntid")) {
    std::uint64_t threads = 1;
    for (const std::uint64_t extent : directive->values)
      threads = std::min<std::uint64_t>(threads * std::max<std::uint64_t>(extent, 1), 1u << 31);
    facts.max_block_x =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(facts.max_block_x, threads));
  }
  // Extents that are not written are 1.
  if (const PerformanceDirective *directive = function.directive("reqntid")) {
    const auto &values = directive->values;
    facts.block = {std::max(values[0], 1u), std::max(values[1], 1u), std::max(values[2], 1u)};
  } else if (assumed) {
    facts.block = assumed;
    facts.block_assumed = true;
  }
  if (facts.block) {
    facts.one_dimensional = facts.block->y == 1 && facts.block->z == 1;
    facts.max_block_x = std::min(facts.max_block_x, facts.block->x);
  }
  return facts;
}

} // namespace ptxasw
