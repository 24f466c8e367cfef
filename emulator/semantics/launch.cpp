// What directives say about launches, and which shapes no device takes.

#include "emulator/semantics/launch.h"

#include <algorithm>
#include <fmt/core.h>
#include <string_view>

namespace ptxasw::emulator {

std::uint64_t Extents::count() const {
  const std::uint64_t plane = std::uint64_t{x} * y;
  return z != 0 && plane > ~std::uint64_t{0} / z ? ~std::uint64_t{0} : plane * z;
}

tl::expected<void, std::string> check_launch_shape(const Extents &grid, const Extents &block) {
  static constexpr Extents largest_grid{0x7fffffff, 0xffff, 0xffff}, largest_block{1024, 1024, 64};
  const auto beyond = [](std::string_view what, const Extents &extents,
                         const Extents &largest) -> tl::expected<void, std::string> {
    for (int axis = 0; axis < 3; ++axis) {
      if (extents[axis] == 0)
        return tl::unexpected(fmt::format("the {} has no extent along {}", what, "xyz"[axis]));
      if (extents[axis] > largest[axis])
        return tl::unexpected(fmt::format("the {}'s extent along {} is {}, more than {}", what,
                                          "xyz"[axis], extents[axis], largest[axis]));
    }
    return {};
  };
  for (const auto &legal :
       {beyond("grid", grid, largest_grid), beyond("block", block, largest_block)})
    if (!legal)
      return legal;
  if (block.count() > 1024)
    return tl::unexpected(fmt::format("{} threads a block, more than 1024", block.count()));
  return {};
}

LaunchFacts launch_facts(const Function &function, const std::optional<BlockShape> &assumed) {
  LaunchFacts facts;
  // `.maxntid 256` admits a block of 16 x 16: it bounds the product of the extents, none
  // individually.
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

} // namespace ptxasw::emulator
