// Take a launch of N threads along an axis in blocks of B, and one of N threads in blocks of C, all
// else alike. For each global index below N there is one thread in either, and an axis is free if
// the kernel computes the same in both, to the letter, since it knows of the axis only the global
// index and N (extent_obstacle(), resize/prove.cpp). The code is the same, so nothing is left to
// prove. Several axes change one after the other: after each step, the launch is one of the kernel
// with the same threads, whatever its shape. Such a launch of the kernel has versions like any
// other, so a version in blocks of other shapes is one, too (in_other_blocks()): the launch in
// these blocks computes the same, and what the version does for that launch is proved.
//
// A version of four points a thread has a quarter of the kernel's threads in a block, and blocks of
// few threads begin too slowly for a stream. So the shape that is asked for is the one of its own
// blocks. The kernel's blocks may then have more threads than any GPU takes: of 128 threads with 16
// points each, 2,048. No launch has such blocks, and none needs to. Such a version knows of the
// axis x nothing but its own global index and its number of threads (write.cpp), so the axis is
// free in it as in the kernel, and in whichever blocks it is launched, it computes the same.
//
// Versions `tall` may have blocks of any number of rows, whether the launch has a multiple of them
// or not (synth/coarsen/prove.cpp): they are launched for the kernel in blocks of one row.
//
// Which shapes: what differs between two of them is how the threads of a warp lie, and so how many
// sectors its accesses touch (32x8 threads of a naive transpose read four sectors and write 32,
// 8x32 four and eight). So the shapes of warps are compared by the sectors that all accesses of the
// kernel touch, those in loops counted several times; only the shapes of blocks whose warps are the
// best are offered. Blocks of 128 and 256 threads come first: larger ones wait for the slowest of
// many warps, smaller ones may not fill a multiprocessor.

#include "emulator/facts/kernel_facts.h"
#include "synth/resize/resize.h"
#include "synth/spread.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <numeric>
#include <utility>

namespace ptxasw::synth {
namespace {

constexpr std::size_t most_reshaped = 4000; ///< the kernel is looked at once for each shape
constexpr std::uint32_t warp = 32, largest_z = 64, most_threads_of_a_block = 1024;
constexpr std::uint32_t in_a_loop = 16; ///< an access counts as so many where it is repeated
constexpr double alike = 1.05;          ///< shapes whose sectors differ by less are alike
constexpr std::size_t most_warps = 2;   ///< of these, those with the longest rows

using Shape = std::array<std::uint32_t, 3>;

/// The sectors that a warp of that shape touches; 0 if that is not known.
std::uint64_t sectors(const KernelContext &context, const Shape &block) {
  const facts::KernelFacts facts(
      context.module, context.kernel,
      {.block = BlockShape{block[0], block[1], block[2]}, .base_alignment = 256});
  std::uint64_t sum = 0;
  for (const facts::Access &access : facts.accesses())
    if (access.space == StateSpace::global)
      sum += std::uint64_t{facts.traffic(access).sectors.typical} *
             (access.loop_depth > 0 ? in_a_loop : 1);
  return sum;
}

/// Extents of a warp along free axes, the widest first.
std::vector<Shape> warps(const FreeAxes &axes) {
  std::vector<Shape> all;
  for (std::uint32_t x = warp; x > 0; x /= 2)
    for (std::uint32_t y = warp / x; y > 0; y /= 2)
      if (const Shape shape{x, y, warp / x / y};
          (axes.x || x == 1) && (axes.y || y == 1) && (axes.z || shape[2] == 1))
        all.push_back(shape);
  return all;
}

/// Blocks of so many threads with such warps.
std::vector<Shape> blocks(const FreeAxes &axes, const Shape &of_warp, std::uint32_t count) {
  std::vector<Shape> all;
  const std::uint32_t more = count / warp;
  // Rows as long as they can be, and as short; what lies between is seldom better than both.
  if (axes.x && of_warp[1] * of_warp[2] == 1)
    all.push_back({count, 1, 1});
  if (axes.y)
    all.push_back({of_warp[0], of_warp[1] * more, of_warp[2]});
  else if (axes.z)
    all.push_back({of_warp[0], of_warp[1], of_warp[2] * more});
  std::erase_if(all, [](const Shape &shape) { return shape[2] > largest_z; });
  return all;
}

/// The blocks of a kernel's launch of which a version has blocks of a shape; the shape itself where
/// a block would have more threads than there may be.
Shape kernel_blocks(const Sibling &version, const Shape &shape) {
  Shape result = shape;
  std::uint64_t threads = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    result[axis] *= version.block[axis];
    threads *= axis == 0 && has_points(version) ? shape[axis] : std::max(1u, result[axis]);
  }
  return threads <= most_threads_of_a_block ? result : shape;
}

/// What the table says of a version where the kernel has blocks of these extents; `shape` is what
/// its own blocks are called.
Sibling in_blocks_of(const Sibling &version, const Shape &extent, const std::string &shape) {
  Sibling one = version;
  one.code_of = version.name;
  one.extent = extent;
  one.name += "_in_" + shape;
  one.kind += " in " + shape;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto &multiple = one.needs.extent_multiple[axis];
    multiple = std::lcm(multiple, std::max(1u, extent[axis]));
  }
  return one;
}

} // namespace

FreeAxes free_axes(const KernelContext &context) {
  return {!extent_obstacle(context, 'x'), !extent_obstacle(context, 'y'),
          !extent_obstacle(context, 'z')};
}

Sibling reshaped(const KernelContext &context, const Shape &extent) {
  Sibling sibling;
  sibling.family = "block";
  sibling.extent = extent;
  sibling.own_code = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis == 0 || extent[axis] != 0 || extent[2] != 0)
      sibling.kind += fmt::format("{}{}", axis == 0 ? "" : "x", extent[axis]);
    if (extent[axis] == 0)
      continue;
    sibling.needs.extent_multiple[axis] = extent[axis];
    sibling.needs.max_extent[axis] = max_points;
  }
  sibling.name = fmt::format("{}__ptxasw_block_{}", context.kernel.name, sibling.kind);
  return sibling;
}

std::vector<Sibling> reshapes(const KernelContext &context, std::size_t most) {
  const FreeAxes axes = free_axes(context);
  if (!axes.x || context.kernel.instructions.size() > most_reshaped)
    return {};
  std::vector<Shape> good = warps(axes);
  if (good.size() > 1) {
    std::vector<std::uint64_t> costs(good.size());
    std::transform(good.begin(), good.end(), costs.begin(),
                   [&](const Shape &shape) { return sectors(context, shape); });
    const std::uint64_t least = *std::min_element(costs.begin(), costs.end());
    if (least == 0)
      return {};
    std::size_t i = 0;
    std::erase_if(good, [&](const Shape &) {
      return static_cast<double>(costs[i++]) > alike * static_cast<double>(least);
    });
    good.resize(std::min(good.size(), most_warps));
  }
  std::vector<Sibling> result;
  for (const std::uint32_t count : {256u, 128u, 64u, 512u})
    for (const Shape &shape : good)
      for (const Shape &block : blocks(axes, shape, count)) {
        Sibling one = reshaped(context, {block[0], axes.y ? block[1] : 0, axes.z ? block[2] : 0});
        if (result.size() < most && std::find(result.begin(), result.end(), one) == result.end())
          result.push_back(std::move(one));
      }
  return result;
}

std::vector<Sibling> in_tall_blocks(const std::vector<Sibling> &versions) {
  // 128 threads: rows that are near each other share what they load in the cache of one
  // multiprocessor.
  constexpr std::array<std::uint32_t, 2> shapes[] = {{32, 4}, {16, 8}};
  std::vector<Sibling> result;
  for (const Sibling &version : versions)
    for (const auto &[x, y] : shapes) {
      if (!version.tall || !has_points(version) || version.extent != Sibling{}.extent)
        continue;
      Sibling one = in_blocks_of(version, {x * version.block[0], 1, 0}, fmt::format("{}x{}", x, y));
      one.rows = y;
      one.needs.max_extent[1] = std::min(one.needs.max_extent[1], max_points);
      result.push_back(std::move(one));
    }
  return result;
}

std::vector<Sibling> in_other_blocks(const std::vector<Sibling> &versions,
                                     const std::vector<Sibling> &shapes, std::size_t most) {
  std::vector<Sibling> result;
  for (const Sibling &shape : shapes)
    for (const Sibling &version : versions) {
      if (result.size() == most || version.extent != Sibling{}.extent)
        continue;
      Sibling one = in_blocks_of(version, kernel_blocks(version, shape.extent), shape.kind);
      for (std::size_t axis = 0; axis < 3; ++axis)
        one.needs.max_extent[axis] =
            std::min(one.needs.max_extent[axis], shape.needs.max_extent[axis]);
      result.push_back(std::move(one));
    }
  return result;
}

} // namespace ptxasw::synth
