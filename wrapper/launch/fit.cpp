// Arguments are read where the launch has them: the driver copies them before cuLaunchKernel
// returns, and so may we. An argument's bytes are only read as far as the table says it extends.

#include "wrapper/launch/fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/core.h>
#include <functional>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Outcome::count)> outcome_names = {
    "sibling",        "no-siblings", "table",          "block-shape",     "block-size",
    "dynamic-shared", "grid",        "few-blocks",     "alignment",       "divisibility",
    "attributes",     "arguments",   "not-in-profile", "original",        "measuring",
    "captured",       "refused",     "other-context",  "too-many-shapes", "off"};

std::uint64_t read(const Arguments &arguments, const SiblingTable &table, std::uint32_t parameter,
                   std::uint32_t offset, std::uint32_t bytes) {
  std::uint64_t value = 0; // little-endian, as the machine is
  const unsigned char *from = arguments.list
                                  ? static_cast<const unsigned char *>(arguments.list[parameter])
                                  : arguments.buffer + table.parameters[parameter].offset;
  std::memcpy(&value, from + offset, bytes);
  return value;
}

/// Bytes of the first parameters, as the kernel lays them out.
std::size_t bytes_of(const SiblingTable &table, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < count; ++i)
    end = std::max<std::size_t>(end, std::size_t{table.parameters[i].offset} +
                                         table.parameters[i].bytes);
  return end;
}
std::size_t bytes_of(const SiblingTable &table) { return bytes_of(table, table.parameters.size()); }

/// Where a launch has the first `count` parameters of a table.
bool find_first(const Launch &launch, const SiblingTable &table, std::size_t count,
                Arguments &arguments) {
  arguments = {};
  if (launch.parameters) {
    arguments.list = launch.parameters;
    return !launch.extra;
  }
  if (count == 0)
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
  return arguments.buffer && size && *size >= bytes_of(table, count);
}

LaunchShape shape_of(const Launch &launch) {
  return {{launch.grid.x, launch.grid.y, launch.grid.z},
          {launch.block.x, launch.block.y, launch.block.z}};
}

/// The launch of the kernel that a sibling is said of, for the program's; and the sibling's.
LaunchShape kernel_launch(const Launch &launch, const Sibling &sibling) {
  return said_of(sibling, shape_of(launch));
}
LaunchShape sibling_launch(const Launch &launch, const Sibling &sibling) {
  return launch_of(sibling, kernel_launch(launch, sibling));
}

using Along = std::array<std::uint64_t, 3>;

Extents extents(const Along &all) {
  constexpr std::uint64_t most = ~0U;
  return {static_cast<unsigned>(std::min(all[0], most)),
          static_cast<unsigned>(std::min(all[1], most)),
          static_cast<unsigned>(std::min(all[2], most))};
}

std::uint64_t product(const Along &all) { return all[0] * all[1] * all[2]; }

/// Reads an argument, for is_met().
auto reader(const Arguments &arguments, const SiblingTable &table) {
  return [&](std::uint32_t parameter, std::uint32_t offset, std::uint32_t bytes) {
    return read(arguments, table, parameter, offset, bytes);
  };
}

/// Threads that a block may have along z.
constexpr std::uint32_t largest_z = 64;

/// Blocks that a grid may have along each axis.
constexpr std::uint64_t largest_grid[] = {0x7fffffff, 65535, 65535};

/// Returns true if blocks of other extents are asked for than the launch has.
bool is_reshaped(const Launch &launch, const Sibling &sibling) {
  const Along block = shape_of(launch).block;
  bool differs = sibling.rows > 1, given = false;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    given |= sibling.extent[axis] != 0;
    differs |= sibling.extent[axis] != 0 && sibling.extent[axis] != block[axis];
  }
  return differs || !given;
}

/// Bytes of shared memory of a block, static and dynamic together.
std::uint64_t shared_of(const Launch &launch, const Sibling &sibling, const SiblingLimits &limits) {
  return dynamic_shared_of(sibling.needs, launch.shared_bytes) + limits.static_shared;
}

std::string text(const Along &all) { return fmt::format("{}x{}x{}", all[0], all[1], all[2]); }

} // namespace

std::string_view name_of(Outcome outcome) {
  return outcome_names[static_cast<std::size_t>(outcome)];
}

bool find_arguments(const Launch &launch, const SiblingTable &table, Arguments &arguments) {
  return find_first(launch, table, table.parameters.size(), arguments);
}

bool ExtendedArguments::find(const Launch &launch, const SiblingTable &table,
                             const std::vector<DevicePointer> &addresses, Arguments &arguments) {
  const std::size_t all = table.parameters.size();
  if (addresses.size() > all || all > list_.size() ||
      !find_first(launch, table, all - addresses.size(), arguments))
    return false;
  for (std::size_t i = 0; i < all; ++i)
    if (const std::size_t own = all - addresses.size(); i >= own)
      list_[i] = const_cast<DevicePointer *>(&addresses[i - own]);
    else
      list_[i] = arguments.list
                     ? arguments.list[i]
                     : const_cast<unsigned char *>(arguments.buffer) + table.parameters[i].offset;
  arguments = {list_.data(), nullptr};
  return true;
}

Outcome own_fault(const Launch &launch, const SiblingLimits &limits) {
  const Along grid = shape_of(launch).grid;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (grid[axis] == 0 || grid[axis] > largest_grid[axis])
      return Outcome::grid;
  const Extents &block = launch.block;
  const std::uint64_t rows = std::uint64_t{block.y} * block.z;
  if (block.x == 0 || rows == 0 || block.z > largest_z || block.x > limits.max_threads ||
      rows > limits.max_threads || block.x * rows > limits.max_threads)
    return Outcome::block_size;
  return launch.shared_bytes > 0 &&
                 std::uint64_t{launch.shared_bytes} + limits.static_shared > limits.most_shared
             ? Outcome::dynamic_shared
             : Outcome::sibling;
}

Outcome fit(const Launch &launch, const Arguments &arguments, const SiblingTable &table,
            const Sibling &sibling, const SiblingLimits &limits) {
  const SiblingNeeds &needs = sibling.needs;
  const LaunchShape all = shape_of(launch), kernel = said_of(sibling, all),
                    own = launch_of(sibling, kernel);
  // What the proof is about is a launch that the driver takes, but for how many points a block has
  // along x (synth/resize/reshape.cpp).
  Along block = kernel.block;
  if (has_points(sibling) && !sibling.code_of.empty())
    block[0] /= sibling.block[0];
  if (const Outcome fault = own_fault({nullptr, extents(kernel.grid), extents(block)}, {});
      fault != Outcome::sibling)
    return fault;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (kernel.grid[axis] < std::max(1u, needs.min_grid[axis]))
      return Outcome::grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint64_t threads = all.threads(axis);
    if ((needs.max_extent[axis] != ~0u && threads > needs.max_extent[axis]) ||
        threads % needs.extent_multiple[axis] || own.grid[axis] > largest_grid[axis])
      return Outcome::grid;
    if (kernel.block[axis] % sibling.block[axis])
      return Outcome::block_shape;
  }
  if (!is_reshaped(launch, sibling)) // the kernel's own launch, and nothing to be gained
    return Outcome::block_shape;
  const std::uint64_t size = product(own.block);
  if (size == 0 || own.block[2] > largest_z || size > limits.max_threads ||
      (needs.max_block && size > *needs.max_block))
    return Outcome::block_size;
  const auto is_shape = [&](const std::array<std::uint32_t, 3> &shape) {
    return std::equal(shape.begin(), shape.end(), kernel.block.begin());
  };
  if (!needs.blocks.empty() && std::none_of(needs.blocks.begin(), needs.blocks.end(), is_shape))
    return Outcome::block_shape;
  if (launch.shared_bytes > 0 &&
      (needs.dynamic_shared == 0 || shared_of(launch, sibling, limits) > limits.most_shared))
    return Outcome::dynamic_shared;
  const auto argument = reader(arguments, table);
  return !are_met(needs.aligned, all, argument)     ? Outcome::alignment
         : !are_met(needs.divisible, all, argument) ? Outcome::divisibility
         : !are_met(needs.covered, all, argument) || !are_met(needs.bounded, all, argument)
             ? Outcome::grid
             : Outcome::sibling;
}

std::uint64_t met(const Launch &launch, const Arguments &arguments, const SiblingTable &table,
                  const AskedArguments &asked) {
  std::uint64_t bits = 0;
  std::size_t i = 0;
  const LaunchShape all = shape_of(launch);
  const auto note = [&](const auto &needs) {
    for (const auto &one : needs)
      if (i < 64)
        bits |= std::uint64_t{is_met(one, all, reader(arguments, table))} << i++;
  };
  note(asked.divisible);
  note(asked.covered);
  note(asked.bounded);
  return bits;
}

std::uint64_t bits_of(const Arguments &arguments, const SiblingTable &table,
                      const std::vector<std::uint32_t> &parameters) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < parameters.size() && i < 8; ++i)
    all |= std::uint64_t{static_cast<unsigned>(std::bit_width(
               read(arguments, table, parameters[i], 0, table.parameters[parameters[i]].bytes)))}
           << (8 * i);
  return all;
}

std::string explain(Outcome outcome, const Launch &launch, const Arguments &arguments,
                    const SiblingTable &table, const Sibling &sibling,
                    const SiblingLimits &limits) {
  const SiblingNeeds &needs = sibling.needs;
  const LaunchShape all = shape_of(launch), kernel = said_of(sibling, all);
  const std::string grid = text(all.grid), block = text(all.block);
  const auto argument = reader(arguments, table);
  switch (outcome) {
  case Outcome::grid:
    for (const ArgumentCover &need : needs.covered)
      if (!is_met(need, all, argument))
        return fmt::format(
            "the grid is {} of {} threads, and the number {} in parameter {}{} may be {} to {}",
            grid, block, read(arguments, table, need.parameter, need.offset, need.bytes),
            need.parameter, need.offset ? fmt::format(" at byte {}", need.offset) : "", need.least,
            all.threads(need.axis) + need.more);
    for (const IndexBound &bound : needs.bounded)
      if (!is_met(bound, all, argument))
        return fmt::format("an index of 32 bits may be 2^31 or more in a grid of {} of {} threads "
                           "with these numbers",
                           grid, block);
    if (std::equal(kernel.grid.begin(), kernel.grid.end(), needs.min_grid.begin(),
                   std::greater_equal<>()))
      return needs.extent_multiple == SiblingNeeds{}.extent_multiple
                 ? fmt::format("the grid is {} of {} threads, which may be {}x{}x{} together", grid,
                               block, needs.max_extent[0], needs.max_extent[1], needs.max_extent[2])
                 : fmt::format("the grid is {} of {} threads, which may be {}x{}x{} together, and "
                               "must be multiples of {}x{}x{}",
                               grid, block, needs.max_extent[0], needs.max_extent[1],
                               needs.max_extent[2], needs.extent_multiple[0],
                               needs.extent_multiple[1], needs.extent_multiple[2]);
    return fmt::format("the grid is {}, and must be at least {}x{}x{}", text(kernel.grid),
                       needs.min_grid[0], needs.min_grid[1], needs.min_grid[2]);
  case Outcome::block_size:
    return fmt::format("the block has {} threads, and may have {}",
                       threads_of_block(launch, sibling),
                       std::min(limits.max_threads, needs.max_block.value_or(~0u)));
  case Outcome::block_shape: {
    if (!is_reshaped(launch, sibling))
      return fmt::format("the block is {} already", block);
    if (needs.blocks.empty())
      return fmt::format("the block is {}, and must be a multiple of {}x{}x{}", text(kernel.block),
                         sibling.block[0], sibling.block[1], sibling.block[2]);
    std::string shapes;
    for (const auto &shape : needs.blocks)
      shapes +=
          fmt::format("{}{}x{}x{}", shapes.empty() ? "" : " or ", shape[0], shape[1], shape[2]);
    return fmt::format("the block is {}, and must be {}", text(kernel.block), shapes);
  }
  case Outcome::dynamic_shared:
    return needs.dynamic_shared == 0
               ? fmt::format("the launch has {} bytes of dynamic shared memory, and must have none",
                             launch.shared_bytes)
               : fmt::format("it would need {} bytes of shared memory, and {} are there",
                             shared_of(launch, sibling, limits), limits.most_shared);
  case Outcome::few_blocks:
    return fmt::format("a grid of {} would leave multiprocessors without a block; only "
                       "`ptxasw tune` tries that",
                       text(launch_of(sibling, kernel).grid));
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
    case attribute_programmatic_serialization: // when a grid may begin, which a version may as well
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
  return product(sibling_launch(launch, sibling).grid);
}

std::uint64_t threads_of_block(const Launch &launch, const Sibling &sibling) {
  return product(sibling_launch(launch, sibling).block);
}

double warps_of(const Launch &launch, const Sibling &sibling) {
  constexpr std::uint64_t lanes = 32;
  const auto warps = [](const Along &block) {
    const std::uint64_t whole = (product(block) + lanes - 1) / lanes;
    return static_cast<double>(whole);
  };
  const LaunchShape all = shape_of(launch), kernel = said_of(sibling, all),
                    version = launch_of(sibling, kernel);
  double mine = warps(version.block), own = warps(all.block);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool given = sibling.extent[axis] != 0 && sibling.code_of.empty();
    // What is left over of a grid that is divided is not computed.
    mine *= static_cast<double>(given ? version.grid[axis] : kernel.grid[axis]) *
            sibling.block[axis] / (axis == 1 ? sibling.rows : 1);
    own *= static_cast<double>(all.grid[axis]);
  }
  return own > 0 ? mine / own : 1;
}

bool SiblingLaunch::prepare(const Launch &launch, const Arguments &arguments,
                            const SiblingTable &table, const Sibling &sibling) {
  const LaunchShape kernel = kernel_launch(launch, sibling), own = launch_of(sibling, kernel);
  grid = extents(own.grid);
  block = extents(own.block);
  shared_bytes = static_cast<unsigned>(dynamic_shared_of(sibling.needs, launch.shared_bytes));
  const std::size_t count = table.parameters.size(), grids = sibling.appended.size(),
                    added = grids + sibling.appended_blocks.size();
  if (added > extents_.size())
    return false;
  for (std::size_t i = 0; i < added; ++i)
    extents_[i] = static_cast<std::uint32_t>(
        i < grids
            ? kernel.grid[static_cast<std::size_t>(sibling.appended[i] - 'x')]
            : kernel.block[static_cast<std::size_t>(sibling.appended_blocks[i - grids] - 'x')]);
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

} // namespace ptxasw::wrapper::launch
