// Plausible launches for a kernel without a description.
//
// A pointer gets a buffer that reaches as far as a 32-bit index of 16-byte elements does, and
// further, in sparse memory, so that no index goes out of bounds and even an index that wraps
// around is just another place. Integers are drawn so that guards like `i < n` let most threads
// through, and some not; what that does not reach is searched for (launch_search.cpp).

#include "emulator/machine/warp_draw.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

constexpr std::uint64_t reach = std::uint64_t{1} << 37; ///< bytes on either side of a pointer

/// Threads of a grid that is run as a whole; of a larger one the blocks around the one that
/// matters.
constexpr std::uint64_t whole_grid = 8192, part_of_grid = 1024;

/// How many launches there are for one whose buffers hold the numbers at which results change.
constexpr std::uint64_t edges_one_in = 8;

/// What a launch without wraps keeps to: indices are sums of products of two of these.
constexpr std::uint32_t tame_grid = 8, tame_number = 4096;

constexpr Extents shapes[] = {{32, 1, 1}, {64, 1, 1},  {33, 1, 1},  {16, 16, 1}, {48, 2, 1},
                              {8, 4, 4},  {128, 1, 1}, {32, 4, 1},  {96, 1, 1},  {16, 2, 1},
                              {7, 5, 1},  {40, 3, 1},  {256, 1, 1}, {64, 2, 1},  {8, 8, 1},
                              {1, 40, 1}, {31, 1, 1},  {32, 2, 2},  {17, 3, 2},  {512, 1, 1}};
constexpr Extents small_shapes[] = {{32, 1, 1}, {64, 1, 1}, {33, 1, 1}, {16, 2, 1}, {8, 4, 1},
                                    {16, 4, 1}, {40, 1, 1}, {8, 2, 2},  {32, 2, 1}, {17, 3, 1}};
constexpr Extents large_shapes[] = {{1024, 1, 1}, {1024, 1, 1}, {32, 32, 1}, {768, 1, 1},
                                    {64, 16, 1},  {16, 8, 8},   {640, 1, 1}, {512, 1, 1},
                                    {256, 1, 1},  {16, 16, 1},  {128, 1, 1}, {64, 1, 1}};

constexpr Extents usual_shapes[] = {
    {256, 1, 1}, {128, 1, 1},  {16, 16, 1}, {64, 1, 1}, {32, 32, 1}, {32, 8, 1}, {8, 8, 1},
    {512, 1, 1}, {1024, 1, 1}, {32, 1, 1},  {32, 4, 1}, {32, 16, 1}, {16, 8, 1}, {8, 32, 1},
    {64, 4, 1},  {8, 8, 8},    {192, 1, 1}, {4, 4, 1},  {96, 1, 1},  {8, 4, 4}};

Extents draw_shape(const Function &kernel, const DrawHints &hints, WarpRandom &random) {
  if (const auto *required = kernel.directive("reqntid"))
    return {std::max(required->values[0], 1u), std::max(required->values[1], 1u),
            std::max(required->values[2], 1u)};
  if (hints.alone)
    return {};
  const std::uint64_t most = most_threads(kernel);
  if (hints.block && hints.block->count() <= most)
    return *hints.block;
  const auto allowed = [&](const Extents &shape) {
    return shape.count() <= most && !(hints.flat && (shape.y > 1 || shape.z > 1));
  };
  for (int i = 0; i < 50; ++i) {
    const Extents &shape = hints.large   ? large_shapes[random.below(std::size(large_shapes))]
                           : hints.small ? small_shapes[random.below(std::size(small_shapes))]
                                         : shapes[random.below(std::size(shapes))];
    if (allowed(shape))
      return shape;
  }
  return {static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 32)), 1, 1};
}

GlobalMemory::Fill draw_fill(ScalarType element, bool moderate, WarpRandom &random) {
  using Fill = GlobalMemory::Fill;
  if (random.one_in(12) && !moderate)
    return Fill::random;
  switch (element) {
  case ScalarType::f32:
    return Fill::f32;
  case ScalarType::f64:
    return Fill::f64;
  case ScalarType::b32:
    return random.one_in(2) ? Fill::f32 : Fill::small;
  case ScalarType::u32:
  case ScalarType::s32:
    return random.one_in(4) ? Fill::random : Fill::small;
  case ScalarType::u64:
  case ScalarType::s64:
  case ScalarType::b64:
    return Fill::small_wide;
  default:
    return Fill::random;
  }
}

/// For reals what is no number or has no ordinary exponent, for integers the least and greatest.
GlobalMemory::Fill edges_of(ScalarType element) {
  return bit_width(element) == 64   ? GlobalMemory::Fill::edges_wide
         : bit_width(element) == 32 ? GlobalMemory::Fill::edges
                                    : GlobalMemory::Fill::random;
}

} // namespace

std::span<const Extents> usual_blocks() { return usual_shapes; }

std::uint64_t most_threads(const Function &kernel) {
  return std::clamp<std::uint64_t>(kernel.most_threads().value_or(1024), 1, 1024);
}

LaunchCandidate draw_candidate(const Function &kernel, const std::vector<ParameterSlot> &slots,
                               const DrawHints &hints, WarpRandom &random) {
  LaunchCandidate candidate;
  candidate.salt = random.next();
  const Extents shape = draw_shape(kernel, hints, random);
  candidate.block = shape;
  Extents &grid = candidate.grid;
  if (hints.alone) {
    grid = {};
  } else if (hints.small && !hints.one_block) {
    grid.x = static_cast<std::uint32_t>(1 + random.below(2));
  } else if (!hints.one_block) {
    grid.x = static_cast<std::uint32_t>(1 + random.below(3));
    grid.y = static_cast<std::uint32_t>(shape.y > 1 || random.one_in(4) ? 1 + random.below(2) : 1);
    grid.z = static_cast<std::uint32_t>(shape.z > 1 || random.one_in(8) ? 1 + random.below(2) : 1);
    if (random.one_in(6))
      grid[static_cast<int>(random.below(3))] = static_cast<std::uint32_t>(3 + random.below(8));
  }
  for (int axis = 0; axis < 3; ++axis)
    if (const std::uint32_t by = hints.groups[axis];
        by > 1 && !hints.one_block && !hints.alone && !random.one_in(4))
      grid[axis] = std::max(grid[axis], by * (1 + static_cast<std::uint32_t>(random.below(2))) +
                                            static_cast<std::uint32_t>(random.below(by)));
  for (int axis = 0; axis < 3; ++axis) {
    candidate.thread[axis] = static_cast<std::uint32_t>(random.below(shape[axis]));
    candidate.block_index[axis] = static_cast<std::uint32_t>(random.below(grid[axis]));
  }

  std::uint64_t threads[3];
  for (int i = 0; i < 3; ++i)
    threads[i] = std::uint64_t{grid[i]} * shape[i];
  const std::uint64_t widest = std::max({threads[0], threads[1], threads[2]});
  const bool roomy = random.below(5) < 3;
  const bool extreme = !hints.no_wrap && random.one_in(8);
  const auto dimension = [&]() -> std::uint64_t {
    if (hints.small)
      return 1 + random.below(12);
    if (extreme && random.one_in(2)) {
      static constexpr std::uint64_t numbers[] = {0,          1,          0xffffffff, 0x7fffffff,
                                                  0x80000000, 0x40000000, 0x7ffffff0, 0xfffffff0};
      return numbers[random.below(std::size(numbers))];
    }
    if (roomy && hints.block && random.one_in(2)) // whole tiles
      return 32 * (widest / 32 + 1 + random.below(2));
    if (hints.groups.count() > 1 && random.one_in(3)) // loops over the grid come around again
      return threads[0] * (2 + random.below(3)) + random.below(threads[0]);
    if (roomy)
      return widest + 2 + random.below(8);
    switch (random.below(5)) {
    case 0:
      return threads[random.below(3)] + random.below(3);
    case 1:
      return threads[0] * (random.one_in(2) ? threads[1] : 1) - random.below(2);
    case 2:
      return 1 + random.below(8);
    case 3:
      return 3 + random.below(60);
    default:
      return 32 * (1 + random.below(3));
    }
  };
  std::vector<std::size_t> pointers;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ParameterSlot &slot = slots[i];
    const auto real = [&] { return static_cast<double>(random.below(4096)) / 1024.0 - 2.0; };
    std::uint64_t bits = 0;
    if (slot.is_pointer) {
      bits = LaunchCandidate::pointer_base(i);
      if (!pointers.empty() && !hints.apart && random.one_in(6)) {
        std::int64_t shift = 16 *
                             (static_cast<std::int64_t>(random.below(2 * widest)) -
                              static_cast<std::int64_t>(widest)) /
                             4;
        shift = random.one_in(3) ? 0 : shift - shift % 16;
        bits = LaunchCandidate::pointer_base(pointers[random.below(pointers.size())]) +
               static_cast<std::uint64_t>(shift);
      }
      pointers.push_back(i);
    } else if (slot.type == ScalarType::f32) {
      bits = floating::from_double(ScalarType::f32, real(), FloatRounding::nearest_even);
    } else if (slot.type == ScalarType::f64) {
      bits = floating::convert(
          ScalarType::f64, ScalarType::f32, {},
          floating::from_double(ScalarType::f32, real(), FloatRounding::nearest_even));
    } else {
      bits = dimension() & mask64(std::max(slot.width, 8u));
    }
    candidate.values.push_back(bits);
  }
  return candidate;
}

void widen_grid(const std::vector<ParameterSlot> &slots, WarpRandom &random,
                LaunchCandidate &candidate) {
  static constexpr Extents largest{0x7fffffff, 0xffff, 0xffff};
  std::vector<std::uint64_t> extents;
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!slots[i].is_pointer && !is_float(slots[i].type) && candidate.values[i] < 0x80000000)
      extents.push_back(candidate.values[i]);
  const std::uint64_t kind = random.below(4);
  if (kind == 0 || extents.empty())
    return;
  // The first extent along x, the second along y, as people write them; or any along any.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::uint32_t &grid = candidate.grid[static_cast<int>(axis)];
    const std::uint64_t block = candidate.block[static_cast<int>(axis)];
    std::uint64_t wanted = grid;
    if (kind == 1)
      wanted = std::uint64_t{1} << random.below(axis == 0 ? 24 : 14);
    else if (kind == 2)
      wanted = extents[random.below(extents.size())] / block + 1;
    else if (axis < extents.size())
      wanted = extents[axis] / block + 1;
    grid = std::max(grid, static_cast<std::uint32_t>(
                              std::min<std::uint64_t>(wanted, largest[static_cast<int>(axis)])));
  }
}

void lengthen_steps(const std::vector<ParameterSlot> &slots, WarpRandom &random,
                    LaunchCandidate &candidate) {
  const auto is_step = [](const ParameterSlot &slot) { return slot.is_step && slot.width >= 32; };
  if (std::none_of(slots.begin(), slots.end(), is_step) || random.one_in(4))
    return;
  std::uint64_t widest = 1;
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!slots[i].is_pointer && !is_float(slots[i].type) && candidate.values[i] < 0x80000000)
      widest = std::max(widest, candidate.values[i]);
  const std::uint64_t step =
      random.one_in(2) ? std::min<std::uint64_t>(widest, 1 << 30) : 1 << random.below(31);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (is_step(slots[i]))
      candidate.values[i] = step;
}

SearchLimits search_limits(const Function &kernel, const DrawHints &hints) {
  SearchLimits limits;
  if (hints.no_wrap) {
    limits.largest_grid = {tame_grid, tame_grid, tame_grid};
    limits.largest_number = tame_number;
  }
  if (hints.one_block)
    limits.largest_grid = {1, 1, 1};
  limits.fixed_pointers = hints.apart;
  limits.fixed_block = hints.alone || kernel.directive("reqntid") != nullptr;
  limits.most_block_threads = most_threads(kernel);
  return limits;
}

DrawnLaunch finish_launch(const Function &kernel, const std::vector<ParameterSlot> &slots,
                          const LaunchCandidate &candidate, bool dynamic_shared, bool moderate,
                          WarpRandom &random) {
  DrawnLaunch drawn;
  drawn.seed = random.next();
  WarpLaunch &launch = drawn.launch;
  launch.block = candidate.block;
  launch.grid = candidate.grid;
  if (const auto *cluster = kernel.directive("reqnctapercluster")) {
    // Whole clusters, and whole grids of them.
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint32_t size = std::max(cluster->values[axis], 1u);
      launch.grid[axis] = (std::min(launch.grid[axis], 4u) + size - 1) / size * size;
    }
  } else if (launch.grid.count() > whole_grid / launch.block.count()) {
    const Extents &at = candidate.block_index;
    const auto add = [&](const Extents &index) {
      const Extents &grid = launch.grid;
      const std::uint64_t number = (std::uint64_t{index.z} * grid.y + index.y) * grid.x + index.x;
      if (index.x < grid.x && index.y < grid.y && index.z < grid.z &&
          (launch.blocks.empty() || launch.blocks.size() * launch.block.count() < part_of_grid))
        launch.blocks.push_back(number);
    };
    add(at);
    add({at.x + 1, at.y, at.z});
    if (at.x > 0)
      add({at.x - 1, at.y, at.z});
    add({at.x, at.y + 1, at.z});
    std::sort(launch.blocks.begin(), launch.blocks.end());
  }
  if (dynamic_shared)
    launch.dynamic_shared = random.one_in(8) ? 16384 : 49152 - 16384;
  launch.parameters.resize(kernel_parameter_bytes(kernel));
  // Where branches depend on what is loaded, lanes rarely agree by chance.
  const bool same = random.one_in(10) && !moderate;
  const bool edges = scramble(~drawn.seed) % edges_one_in == 0 && !moderate;
  std::vector<std::size_t> buffer_of(slots.size(), 0);
  std::size_t buffers = 0;
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].is_pointer)
      buffer_of[i] = buffers++;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ParameterSlot &slot = slots[i];
    const std::uint64_t bits = candidate.values[i];
    if (!slot.is_pointer) {
      if (slot.offset + slot.width / 8 <= launch.parameters.size())
        std::memcpy(launch.parameters.data() + slot.offset, &bits, slot.width / 8);
      drawn.text.push_back(fmt::format("{}: {:#x} ({})", slot.name, bits, to_string(slot.type)));
      continue;
    }
    DrawnLaunch::Buffer buffer;
    buffer.fill = same ? GlobalMemory::Fill::same : draw_fill(slot.element, moderate, random);
    if (edges)
      buffer.fill = edges_of(slot.element);
    buffer.slot_offset = slot.offset;
    for (std::size_t other = 0; other < slots.size(); ++other) {
      const auto apart = static_cast<std::int64_t>(bits - LaunchCandidate::pointer_base(other));
      if (slots[other].is_pointer && std::abs(apart) < static_cast<std::int64_t>(reach)) {
        buffer.of = buffer_of[other];
        buffer.shift = apart;
      }
    }
    drawn.text.push_back(
        buffer.shift == 0 ? fmt::format("{}: buffer {}", slot.name, buffer.of)
                          : fmt::format("{}: buffer {} {:+}", slot.name, buffer.of, buffer.shift));
    drawn.buffers.push_back(buffer);
  }
  return drawn;
}

void place_buffers(const DrawnLaunch &drawn, GlobalMemory &memory, WarpLaunch &launch) {
  launch = drawn.launch;
  std::vector<std::uint64_t> middles;
  for (std::size_t i = 0; i < drawn.buffers.size(); ++i) {
    const std::size_t index = memory.allocate(fmt::format("buffer {}", i), 2 * reach,
                                              drawn.buffers[i].fill, scramble(drawn.seed + i));
    middles.push_back(memory.allocations()[index].base + reach);
  }
  for (const DrawnLaunch::Buffer &buffer : drawn.buffers) {
    const std::uint64_t address = middles[buffer.of] + static_cast<std::uint64_t>(buffer.shift);
    if (buffer.slot_offset + 8 <= launch.parameters.size())
      std::memcpy(launch.parameters.data() + buffer.slot_offset, &address, 8);
  }
}

LaunchDescription to_description(const DrawnLaunch &drawn, const Function &kernel) {
  LaunchDescription result;
  result.kernel = kernel.name;
  result.grid = drawn.launch.grid;
  result.block = drawn.launch.block;
  result.blocks = drawn.launch.blocks;
  result.shared = drawn.launch.dynamic_shared;
  result.variables_seed = drawn.seed;
  for (std::size_t i = 0; i < drawn.buffers.size(); ++i) {
    BufferDescription buffer;
    buffer.name = fmt::format("buffer {}", i);
    buffer.size = 2 * reach;
    buffer.fill = drawn.buffers[i].fill;
    buffer.seed = scramble(drawn.seed + i);
    result.buffers.push_back(std::move(buffer));
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const std::uint32_t offset = kernel_parameter_offset(kernel, i);
    const std::uint64_t size = kernel.parameters[i].size();
    const auto from = drawn.launch.parameters.begin() + offset;
    ArgumentDescription argument{{from, from + static_cast<std::ptrdiff_t>(size)}, {}};
    for (const DrawnLaunch::Buffer &buffer : drawn.buffers)
      if (buffer.slot_offset >= offset && buffer.slot_offset + 8 <= offset + size)
        argument.fields.push_back({FieldDescription::Kind::buffer, buffer.slot_offset - offset, 8,
                                   reach + static_cast<std::uint64_t>(buffer.shift),
                                   fmt::format("buffer {}", buffer.of)});
    result.arguments.push_back(std::move(argument));
  }
  return result;
}

std::string describe(const DrawnLaunch &drawn) {
  const WarpLaunch &l = drawn.launch;
  std::string text = fmt::format("grid {},{},{} block {},{},{} shared {}\n", l.grid.x, l.grid.y,
                                 l.grid.z, l.block.x, l.block.y, l.block.z, l.dynamic_shared);
  if (!l.blocks.empty()) {
    text += "  of these only blocks";
    for (const std::uint64_t block : l.blocks)
      text += fmt::format(" {}", block);
    text += "\n";
  }
  for (const std::string &line : drawn.text)
    text += "  " + line + "\n";
  return text;
}

} // namespace ptxasw::emulator
