// Arguments are read where the launch has them: the driver copies them before cuLaunchKernel
// returns, and so may we. An argument's bytes are only read as far as the table says it extends.

#include "wrapper/launch/fit.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <tuple>

namespace ptxasw::launch {
namespace {

/// Without opting in, a block has this much shared memory, static and dynamic together. What the
/// program opted into holds for the original alone.
constexpr std::uint64_t default_shared = 49152;

std::uint64_t read(const Arguments &arguments, const SiblingTable &table, std::uint32_t parameter,
                   std::uint32_t offset, std::uint32_t bytes) {
  std::uint64_t value = 0; // little-endian, as the machine is
  const unsigned char *from = arguments.list
                                  ? static_cast<const unsigned char *>(arguments.list[parameter])
                                  : arguments.buffer + table.parameters[parameter].offset;
  std::memcpy(&value, from + offset, bytes);
  return value;
}

/// Bytes of all parameters, as the kernel lays them out.
std::size_t bytes_of(const SiblingTable &table) {
  std::size_t end = 0;
  for (const SiblingParameter &parameter : table.parameters)
    end = std::max<std::size_t>(end, std::size_t{parameter.offset} + parameter.bytes);
  return end;
}

std::uint32_t divide_up(std::uint32_t extent, std::uint32_t by) {
  return static_cast<std::uint32_t>((std::uint64_t{extent} + by - 1) / by);
}

std::uint64_t threads(const Extents &block) { return std::uint64_t{block.x} * block.y * block.z; }

Extents divided(const Extents &block, const std::array<std::uint32_t, 3> &by) {
  return {block.x / by[0], block.y / by[1], block.z / by[2]};
}

std::uint64_t shared_of(const Launch &launch, const Sibling &sibling) {
  return std::uint64_t{launch.shared_bytes} * sibling.needs.dynamic_shared;
}

std::string text(const Extents &extents) {
  return fmt::format("{}x{}x{}", extents.x, extents.y, extents.z);
}

} // namespace

bool find_arguments(const Launch &launch, const SiblingTable &table, Arguments &arguments) {
  arguments = {};
  if (launch.parameters) {
    arguments.list = launch.parameters;
    return !launch.extra;
  }
  if (table.parameters.empty())
    return !launch.extra || !*launch.extra;
  if (!launch.extra)
    return false;
  const std::size_t *size = nullptr;
  for (void *const *word = launch.extra; *word != extra_end; word += 2)
    if (*word == extra_buffer)
      arguments.buffer = static_cast<const unsigned char *>(word[1]);
    else if (*word == extra_size)
      size = static_cast<const std::size_t *>(word[1]);
    else
      return false;
  return arguments.buffer && size && *size >= bytes_of(table);
}

Outcome fit(const Launch &launch, const Arguments &arguments, const SiblingTable &table,
            const Sibling &sibling, const SiblingLimits &limits) {
  const SiblingNeeds &needs = sibling.needs;
  const Extents &grid = launch.grid, &block = launch.block;
  if (grid.x < std::max(1u, needs.min_grid[0]) || grid.y < std::max(1u, needs.min_grid[1]) ||
      grid.z < std::max(1u, needs.min_grid[2]))
    return Outcome::grid;
  for (const auto &[blocks, threads_of_block, most] :
       {std::tuple(grid.x, block.x, needs.max_extent[0]),
        std::tuple(grid.y, block.y, needs.max_extent[1]),
        std::tuple(grid.z, block.z, needs.max_extent[2])})
    if (most != ~0u && std::uint64_t{blocks} * threads_of_block > most)
      return Outcome::grid;
  for (const auto &[extent, by] :
       {std::pair(block.x, sibling.block[0]), std::pair(block.y, sibling.block[1]),
        std::pair(block.z, sibling.block[2])})
    if (extent % by)
      return Outcome::block_shape;
  const std::uint64_t size = threads(divided(block, sibling.block));
  if (size == 0 || size > limits.max_threads || (needs.max_block && size > *needs.max_block))
    return Outcome::block_size;
  if (!needs.blocks.empty() &&
      std::find(needs.blocks.begin(), needs.blocks.end(),
                std::array<std::uint32_t, 3>{block.x, block.y, block.z}) == needs.blocks.end())
    return Outcome::block_shape;
  if (launch.shared_bytes > 0 &&
      (needs.dynamic_shared == 0 ||
       shared_of(launch, sibling) + limits.static_shared > default_shared))
    return Outcome::dynamic_shared;
  for (const ArgumentAlignment &need : needs.aligned)
    if (read(arguments, table, need.parameter, need.offset, 8) & (need.alignment - 1))
      return Outcome::alignment;
  for (const ArgumentDivisor &need : needs.divisible)
    if (read(arguments, table, need.parameter, need.offset, need.bytes) % need.divisor)
      return Outcome::divisibility;
  return Outcome::sibling;
}

std::string explain(Outcome outcome, const Launch &launch, const Arguments &arguments,
                    const SiblingTable &table, const Sibling &sibling,
                    const SiblingLimits &limits) {
  const SiblingNeeds &needs = sibling.needs;
  switch (outcome) {
  case Outcome::grid:
    if (launch.grid.x >= needs.min_grid[0] && launch.grid.y >= needs.min_grid[1] &&
        launch.grid.z >= needs.min_grid[2])
      return fmt::format("the grid is {} of {} threads, which may be {}x{}x{} together",
                         text(launch.grid), text(launch.block), needs.max_extent[0],
                         needs.max_extent[1], needs.max_extent[2]);
    return fmt::format("the grid is {}, and must be at least {}x{}x{}", text(launch.grid),
                       needs.min_grid[0], needs.min_grid[1], needs.min_grid[2]);
  case Outcome::block_size:
    return fmt::format("the block has {} threads, and may have {}",
                       threads(divided(launch.block, sibling.block)),
                       std::min(limits.max_threads, needs.max_block.value_or(~0u)));
  case Outcome::block_shape: {
    if (needs.blocks.empty())
      return fmt::format("the block is {}, and must be a multiple of {}x{}x{}", text(launch.block),
                         sibling.block[0], sibling.block[1], sibling.block[2]);
    std::string shapes;
    for (const auto &shape : needs.blocks)
      shapes +=
          fmt::format("{}{}x{}x{}", shapes.empty() ? "" : " or ", shape[0], shape[1], shape[2]);
    return fmt::format("the block is {}, and must be {}", text(launch.block), shapes);
  }
  case Outcome::dynamic_shared:
    return needs.dynamic_shared == 0
               ? fmt::format("the launch has {} bytes of dynamic shared memory, and must have none",
                             launch.shared_bytes)
               : fmt::format("it would need {} bytes of shared memory, and {} are there",
                             shared_of(launch, sibling) + limits.static_shared, default_shared);
  case Outcome::few_blocks:
    return fmt::format("a grid of {}x{}x{} would leave multiprocessors without a block; only "
                       "`ptxasw tune` tries that",
                       divide_up(launch.grid.x, sibling.grid[0]),
                       divide_up(launch.grid.y, sibling.grid[1]),
                       divide_up(launch.grid.z, sibling.grid[2]));
  case Outcome::alignment:
    for (const ArgumentAlignment &need : needs.aligned)
      if (const std::uint64_t value = read(arguments, table, need.parameter, need.offset, 8);
          value & (need.alignment - 1))
        return fmt::format(
            "the address 0x{:x} in parameter {}{} is no multiple of {}", value, need.parameter,
            need.offset ? fmt::format(" at byte {}", need.offset) : "", need.alignment);
    break;
  case Outcome::divisibility:
    for (const ArgumentDivisor &need : needs.divisible)
      if (const std::uint64_t value =
              read(arguments, table, need.parameter, need.offset, need.bytes);
          value % need.divisor)
        return fmt::format(
            "the number {} in parameter {}{} is no multiple of {}", value, need.parameter,
            need.offset ? fmt::format(" at byte {}", need.offset) : "", need.divisor);
    break;
  default:
    break;
  }
  return std::string(name_of(outcome));
}

bool harmless_attributes(const LaunchConfig &config) {
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const LaunchAttribute &attribute = config.attributes[i];
    switch (attribute.id) {
    case attribute_ignore:
    case attribute_access_policy:
    case attribute_synchronization_policy:
    case attribute_priority:
    case attribute_memory_domain_map:
    case attribute_memory_domain:
      continue;
    case attribute_cooperative:
      if (attribute.value.number == 0)
        continue;
      return false;
    default:
      return false;
    }
  }
  return true;
}

std::uint64_t blocks_of(const Launch &launch, const Sibling &sibling) {
  return std::uint64_t{divide_up(launch.grid.x, sibling.grid[0])} *
         divide_up(launch.grid.y, sibling.grid[1]) * divide_up(launch.grid.z, sibling.grid[2]);
}

bool SiblingLaunch::prepare(const Launch &launch, const Arguments &arguments,
                            const SiblingTable &table, const Sibling &sibling) {
  grid = {divide_up(launch.grid.x, sibling.grid[0]), divide_up(launch.grid.y, sibling.grid[1]),
          divide_up(launch.grid.z, sibling.grid[2])};
  block = divided(launch.block, sibling.block);
  shared_bytes = static_cast<unsigned>(shared_of(launch, sibling));
  const std::size_t count = table.parameters.size(), added = sibling.appended.size();
  if (added > extents_.size())
    return false;
  for (std::size_t i = 0; i < added; ++i)
    extents_[i] = sibling.appended[i] == 'x'   ? launch.grid.x
                  : sibling.appended[i] == 'y' ? launch.grid.y
                                               : launch.grid.z;
  if (!arguments.buffer) {
    if (count > most_parameters)
      return false;
    for (std::size_t i = 0; i < count; ++i)
      list_[i] = arguments.list[i];
    for (std::size_t i = 0; i < added; ++i)
      list_[count + i] = &extents_[i];
    parameters = list_.data();
    extra = nullptr;
    return true;
  }
  const std::size_t end = bytes_of(table), aligned = (end + 3) / 4 * 4;
  bytes_ = aligned + 4 * added;
  if (bytes_ > most_bytes)
    return false;
  std::memcpy(buffer_.data(), arguments.buffer, end);
  std::memset(buffer_.data() + end, 0, aligned - end);
  std::memcpy(buffer_.data() + aligned, extents_.data(), 4 * added);
  words_ = {extra_buffer, buffer_.data(), extra_size, &bytes_, extra_end};
  parameters = nullptr;
  extra = words_.data();
  return true;
}

} // namespace ptxasw::launch
