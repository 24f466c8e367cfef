// Launches of a kernel that stands in for another: its grid, blocks and arguments follow from those
// of the kernel by what the table of siblings says.

#include "emulator/machine/verifier.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ptxasw::emulator::verification {
namespace {

/// The coordinates of a block by its number, and back.
Extents coordinates(std::uint64_t number, const Extents &grid) {
  return {static_cast<std::uint32_t>(number % grid.x),
          static_cast<std::uint32_t>(number / grid.x % grid.y),
          static_cast<std::uint32_t>(number / grid.x / grid.y)};
}
std::uint64_t number_of(const Extents &at, const Extents &grid) {
  return (std::uint64_t{at.z} * grid.y + at.y) * grid.x + at.x;
}

Extents divided(const Extents &by, Extents extents, bool up) {
  for (int axis = 0; axis < 3; ++axis)
    extents[axis] = extents[axis] / by[axis] + (up && extents[axis] % by[axis] != 0);
  return extents;
}

/// The rows of the stand-in's blocks for each of the kernel's, in a launch of that: where they may
/// be any number, one that hangs on the launch alone.
std::uint32_t rows_of(const Sibling &how, const Function &function, const Extents &grid,
                      const Extents &block) {
  if (!how.tall || !how.code_of.empty())
    return how.rows;
  constexpr std::uint32_t most = 5;
  const std::uint64_t may_be = most_threads(function) / std::max<std::uint64_t>(block.count(), 1);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(1 + (std::uint64_t{grid.x} + grid.y + block.x) % most, 1,
                                std::max<std::uint64_t>(may_be, 1)));
}

LaunchShape shape_of(const Extents &grid, const Extents &block) {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};
}
Extents extents(const std::array<std::uint64_t, 3> &of) {
  return {static_cast<std::uint32_t>(of[0]), static_cast<std::uint32_t>(of[1]),
          static_cast<std::uint32_t>(of[2])};
}

/// What numbers among the arguments must be multiples of.
std::vector<ArgumentDivisor> multiples(const SiblingNeeds &needs) {
  std::vector<ArgumentDivisor> all = needs.divisible;
  for (const ArgumentAlignment &one : needs.aligned)
    all.push_back({one.parameter, one.offset, 8, one.alignment});
  return all;
}

} // namespace

std::optional<int> Verifier::thin_axis() const {
  const Sibling &how = *options_.stand_in;
  for (int axis = 2; axis >= 0; --axis)
    if (extents(how.grid)[axis] > 1 && !how.needs.blocks.empty() &&
        how.kind.find("rows") != std::string::npos)
      return axis;
  return std::nullopt;
}

// Those that its blocks may have, of which it matters; empty: any. To rows all else is the same.
std::vector<Extents> Verifier::shapes() const {
  std::vector<Extents> all;
  if (!thin_axis())
    for (const auto &shape : options_.stand_in->needs.blocks)
      all.push_back(extents(shape));
  return all;
}

// Of a part of a grid, the blocks that one block of the stand-in does, all of them or none.
void Verifier::complete_groups(WarpLaunch &launch) const {
  const Extents grid = launch.grid;
  Extents by = extents(options_.stand_in->grid);
  by.y *= rows_of(*options_.stand_in, other_, grid, launch.block);
  if (any_along_x())
    by.x = grid.x;
  std::vector<std::uint64_t> all;
  for (const std::uint64_t block : launch.blocks) {
    const Extents group = divided(by, coordinates(block, grid), false);
    for (std::uint32_t z = group.z * by.z; z < std::min(grid.z, (group.z + 1) * by.z); ++z)
      for (std::uint32_t y = group.y * by.y; y < std::min(grid.y, (group.y + 1) * by.y); ++y)
        for (std::uint32_t x = group.x * by.x; x < std::min(grid.x, (group.x + 1) * by.x); ++x)
          all.push_back(number_of({x, y, z}, grid));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  launch.blocks = std::move(all);
}

// The launch that the stand-in is said of, for one of the kernel.
void Verifier::cut(WarpLaunch &launch) const {
  for (int axis = 0; axis < 3; ++axis)
    if (const std::uint32_t extent = cut_along(axis)) {
      launch.grid[axis] = static_cast<std::uint32_t>(std::uint64_t{launch.grid[axis]} *
                                                     launch.block[axis] / extent);
      launch.block[axis] = extent;
    }
}

// Of a launch in the blocks that the stand-in is said of one of the kernel in any blocks that make
// the same threads.
void Verifier::uncut(LaunchCandidate &candidate) {
  for (int axis = 0; axis < 3; ++axis) {
    if (cut_along(axis) == 0)
      continue;
    std::uint32_t &block = candidate.block[axis];
    const std::uint64_t others = candidate.block.count() / block;
    const std::uint64_t all = std::uint64_t{candidate.grid[axis]} * block;
    const std::uint64_t thread =
        std::uint64_t{candidate.block_index[axis]} * block + candidate.thread[axis];
    std::vector<std::uint32_t> extents;
    const std::uint64_t most = std::min(most_threads(kernel_) / std::max<std::uint64_t>(others, 1),
                                        std::uint64_t{axis == 2 ? 64u : 1024u});
    for (std::uint32_t extent = 1; extent <= most && extent <= all; ++extent)
      if (all % extent == 0)
        extents.push_back(extent);
    if (extents.empty())
      continue;
    block = extents[random_.below(extents.size())];
    candidate.grid[axis] = static_cast<std::uint32_t>(all / block);
    candidate.block_index[axis] = static_cast<std::uint32_t>(thread / block);
    candidate.thread[axis] = static_cast<std::uint32_t>(thread % block);
  }
}

// The launch of the stand-in for a launch of the kernel.
void Verifier::stand_in(const Extents &grid, WarpLaunch &launch) const {
  Sibling how = *options_.stand_in;
  const Extents own_block = launch.block;
  launch.dynamic_shared = dynamic_shared_of(how.needs, launch.dynamic_shared);
  how.rows = rows_of(how, other_, grid, own_block);
  const LaunchShape shape = launch_of(how, shape_of(grid, own_block));
  launch.grid = extents(shape.grid);
  launch.block = extents(shape.block);
  std::vector<std::uint64_t> blocks;
  for (const std::uint64_t block : launch.blocks) {
    Extents at = divided(extents(how.grid), coordinates(block, grid), false);
    at.y /= how.rows;
    const bool any = given_along_x() != 0; // of them may have its threads
    for (std::uint32_t i = 0; i < (any ? launch.grid.x : 1); ++i) {
      at.x = any ? i : at.x;
      blocks.push_back(number_of(at, launch.grid));
    }
  }
  launch.blocks = std::move(blocks);
  std::sort(launch.blocks.begin(), launch.blocks.end());
  launch.blocks.erase(std::unique(launch.blocks.begin(), launch.blocks.end()), launch.blocks.end());
  launch.parameters.resize(kernel_parameter_bytes(other_));
  std::size_t parameter = kernel_.parameters.size();
  const auto append = [&](const Extents &from, const std::vector<char> &axes) {
    for (const char axis : axes) {
      const std::uint32_t extent = from[axis - 'x'];
      std::memcpy(launch.parameters.data() + kernel_parameter_offset(other_, parameter++), &extent,
                  sizeof extent);
    }
  };
  append(grid, how.appended);
  append(own_block, how.appended_blocks);
}

// Blocks that the stand-in may be launched for. What was searched for in the stand-in speaks of its
// threads, each of which does several of the kernel's.
void Verifier::suit_block(LaunchCandidate &candidate, bool searched_there) const {
  if (!options_.stand_in)
    return;
  const Sibling &how = *options_.stand_in;
  for (int axis = 0; axis < 3; ++axis)
    if (const std::uint32_t extent = cut_along(axis)) {
      candidate.block[axis] = extent;
      candidate.thread[axis] = std::min(candidate.thread[axis], extent - 1);
    }
  for (int axis = 0; axis < 3; ++axis)
    while (only_reshapes(how) && cut_along(axis) == 0 && candidate.block[axis] > 1 &&
           candidate.block.count() > most_threads(kernel_))
      candidate.block[axis] /= 2;
  if (const std::optional<int> thin = thin_axis()) {
    candidate.block[*thin] = 1;
    candidate.thread[*thin] = 0;
  }
  if (const std::vector<Extents> all = shapes();
      !all.empty() && std::find(all.begin(), all.end(), candidate.block) == all.end()) {
    std::vector<Extents> possible;
    for (const Extents &shape : all) {
      bool fits = shape.count() <= most_threads(kernel_);
      for (int axis = 0; axis < 3; ++axis)
        fits &= cut_along(axis) == 0 || shape[axis] == cut_along(axis);
      if (fits)
        possible.push_back(shape);
    }
    if (!possible.empty())
      candidate.block = possible[candidate.salt % possible.size()];
    for (int axis = 0; axis < 3; ++axis)
      candidate.thread[axis] = std::min(candidate.thread[axis], candidate.block[axis] - 1);
  }
  constexpr std::uint64_t most = 1024;
  constexpr std::uint32_t whole = 16; // blocks along x that are run at all
  if (any_along_x() && candidate.grid.x > whole) {
    candidate.grid.x = 1 + candidate.grid.x % whole;
    candidate.block_index.x = std::min(candidate.block_index.x, candidate.grid.x - 1);
  }
  if (given_along_x() != 0)
    suit_other_block(candidate);
  const Extents divisor = extents(how.block);
  if (divisor.count() == 1)
    return;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t by = divisor[axis];
    std::uint32_t &extent = candidate.block[axis];
    if (searched_there)
      candidate.thread[axis] *= by;
    extent = std::max(1u, searched_there ? extent : extent / by) * by;
  }
  for (int axis = 0; candidate.block.count() > most; axis = (axis + 1) % 3) {
    const std::uint32_t by = divisor[axis];
    candidate.block[axis] = std::max(1u, candidate.block[axis] / by / 2) * by;
  }
  for (int axis = 0; axis < 3; ++axis)
    candidate.thread[axis] = std::min(candidate.thread[axis], candidate.block[axis] - 1);
}

// A launch whose threads may be cut into blocks of another extent along x: no more of them than a
// block may have, and as many along x as the stand-in needs.
void Verifier::suit_other_block(LaunchCandidate &candidate) const {
  const std::uint32_t multiple = options_.stand_in->needs.extent_multiple[0];
  const std::uint64_t most = most_threads(other_);
  for (const int axis : {2, 1})
    if (const std::uint64_t others = std::uint64_t{given_along_x()} * candidate.block[3 - axis];
        others * candidate.block[axis] > most)
      candidate.block[axis] =
          std::max<std::uint32_t>(1, static_cast<std::uint32_t>(most / std::min(most, others)));
  if (std::uint64_t{candidate.grid.x} * candidate.block.x % multiple != 0) {
    // Blocks of a power of two, and a number of them that makes a multiple.
    std::uint32_t power = 1;
    while (2 * power <= candidate.block.x)
      power *= 2;
    const std::uint32_t least = multiple / std::gcd(multiple, power);
    candidate.block.x = power;
    candidate.grid.x = (candidate.grid.x + least - 1) / least * least;
  }
  for (int axis = 0; axis < 3; ++axis) {
    candidate.thread[axis] = std::min(candidate.thread[axis], candidate.block[axis] - 1);
    candidate.block_index[axis] = std::min(candidate.block_index[axis], candidate.grid[axis] - 1);
  }
}

// Arguments that the stand-in may be launched with.
void Verifier::suit_arguments(LaunchCandidate &candidate) const {
  if (!options_.stand_in)
    return;
  const std::vector<ArgumentDivisor> divisors = multiples(options_.stand_in->needs);
  for (const ArgumentDivisor &need : divisors)
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].width == 8 * need.bytes &&
          slots_[i].offset == kernel_parameter_offset(kernel_, need.parameter) + need.offset)
        candidate.values[i] -= candidate.values[i] % need.divisor;
  // Of what threads cover no more than they do, and often all.
  for (const ArgumentCover &need : options_.stand_in->needs.covered)
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].width == 8 * need.bytes &&
          slots_[i].offset == kernel_parameter_offset(kernel_, need.parameter) + need.offset) {
        const std::uint64_t most =
            shape_of(candidate.grid, candidate.block).threads(need.axis) + need.more;
        std::uint64_t &value = candidate.values[i];
        if (value > most)
          value = most - std::min<std::uint64_t>(most, value % 4);
        value = std::max<std::uint64_t>(value, need.least);
        for (const ArgumentDivisor &other : divisors)
          if (other.parameter == need.parameter && other.offset == need.offset) {
            value -= value % other.divisor;
            value += value < need.least ? other.divisor : 0;
          }
      }
}

bool Verifier::meets_needs(const DrawnLaunch &drawn) const {
  if (!options_.stand_in)
    return true;
  const Sibling &how = *options_.stand_in;
  const SiblingNeeds &needs = how.needs;
  const LaunchShape all = shape_of(drawn.launch.grid, drawn.launch.block);
  WarpLaunch cut_launch = drawn.launch;
  cut(cut_launch);
  const Extents &block = cut_launch.block, divisor = extents(how.block);
  for (int axis = 0; axis < 3; ++axis)
    if (block[axis] % divisor[axis] != 0 ||
        all.threads(static_cast<std::size_t>(axis)) % block[axis] != 0)
      return false;
  const std::optional<int> thin = thin_axis();
  const std::vector<Extents> possible = shapes();
  if (!possible.empty() && std::find(possible.begin(), possible.end(), block) == possible.end())
    return false;
  if ((thin && block[*thin] != 1) || block.count() > most_threads(kernel_) ||
      rows_of(how, other_, cut_launch.grid, block) * block.count() / divisor.count() >
          most_threads(other_) ||
      all.threads(0) % needs.extent_multiple[0] != 0 ||
      std::uint64_t{given_along_x()} * block.y * block.z > most_threads(other_))
    return false;
  if (needs.aligned.empty() && needs.divisible.empty() && needs.covered.empty() &&
      needs.bounded.empty())
    return true;
  GlobalMemory memory;
  WarpLaunch launch;
  place_buffers(drawn, memory, launch);
  const auto argument = [&](std::uint32_t parameter, std::uint32_t offset, std::uint32_t bytes) {
    std::uint64_t value = 0; // little-endian
    std::memcpy(&value,
                launch.parameters.data() + kernel_parameter_offset(kernel_, parameter) + offset,
                bytes);
    return value;
  };
  return are_met(needs.aligned, all, argument) && are_met(needs.divisible, all, argument) &&
         are_met(needs.covered, all, argument) && are_met(needs.bounded, all, argument);
}

// What was searched for in the stand-in speaks of its blocks, which are groups of the kernel's,
// whole or not.
void Verifier::suit_stand_in(LaunchCandidate &candidate, bool searched_there) {
  if (!options_.stand_in)
    return;
  suit_block(candidate, searched_there);
  constexpr std::uint32_t large = 1024;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t by = extents(options_.stand_in->grid)[axis];
    std::uint32_t &grid = candidate.grid[axis];
    if (by == 1 || grid > large)
      continue;
    auto part = static_cast<std::uint32_t>(random_.below(by));
    if (part % 4 == 0) // the largest part of a group: what any part of one does
      part = 1;
    if (searched_there) {
      grid = grid * by - (random_.one_in(2) ? part : 0);
      candidate.block_index[axis] = std::min(candidate.block_index[axis] * by, grid - 1);
    }
  }
}

bool Verifier::fits_stand_in() const {
  const std::size_t own = kernel_.parameters.size(),
                    more = options_.stand_in->appended.size() +
                           options_.stand_in->appended_blocks.size();
  for (std::size_t i = own; i < other_.parameters.size(); ++i)
    if (other_.parameters[i].size() != sizeof(std::uint32_t))
      return false;
  return other_.parameters.size() == own + more;
}

} // namespace ptxasw::emulator::verification
