#pragma once

// What the suite's kernels are told of their launch, for them and for the runner, which tells them.

#include <stddef.h>

/// Three numbers, one for each axis.
struct Axes {
  unsigned x, y, z;
};

/// The launch as the host planned it, given by value after the extents: of its 56 bytes the kernels
/// read `stride` alone.
struct LaunchPlan {
  Axes grid, block;
  Axes stride; ///< threads of the whole grid along an axis: what a loop over it steps by
  size_t shared_bytes;
  ptrdiff_t *shared_offsets;
};
