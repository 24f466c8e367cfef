#pragma once

// What is known of a launch before it happens: from a kernel's directives, or because the user
// vouches for it. Emulation, rewrites and proofs begin with it:
//   const LaunchFacts facts = launch_facts(kernel, options.assume_block);

#include "grammar/module.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace ptxasw::emulator {

/// Threads of a warp, on all GPUs so far (PTX ISA 10.4).
inline constexpr unsigned warp_lanes = 32;

/// The extents of a grid in blocks or of a block in threads.
struct Extents {
  std::uint32_t x = 1, y = 1, z = 1;

  std::uint32_t &operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
  std::uint32_t operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  /// How many there are; all ones if that does not fit in 64 bits.
  std::uint64_t count() const;
  bool operator==(const Extents &) const = default;
};

/// The extents of a thread block, each at least 1: ntid.x, ntid.y, ntid.z.
using BlockShape = Extents;

/// Errors: what is wrong with a launch of that shape on any device (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
tl::expected<void, std::string> check_launch_shape(const Extents &grid, const Extents &block);

/// What is known about a kernel's launch before it is launched.
struct LaunchFacts {
  std::optional<BlockShape> block;  ///< the exact shape of every block, if it is known
  bool block_assumed = false;       ///< the shape is the user's word, not stated by a directive
  bool one_dimensional = false;     ///< ntid.y = ntid.z = 1
  std::uint32_t max_block_x = 1024; ///< upper bound of ntid.x
  std::uint32_t max_grid_x = 0x7fffffff; ///< upper bound of nctaid.x

  /// True if every warp lies in one row of its block, with lane = tid.x mod 32: blocks of one row,
  /// or rows that are whole warps.
  bool whole_warps() const { return one_dimensional || (block && block->x % 32 == 0); }
};

/// The facts that `.reqntid` and `.maxntid` state (PTX ISA 11.4), and, where no `.reqntid` fixes
/// the shape of a block, the one that the user vouches for. `.maxntid` bounds the number of
/// threads, in whatever shape.
LaunchFacts launch_facts(const Function &function,
                         const std::optional<BlockShape> &assumed = std::nullopt);

} // namespace ptxasw::emulator
