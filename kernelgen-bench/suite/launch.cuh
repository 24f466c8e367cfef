#pragma once

#include "plan.h"

// What the suite's CUDA versions have in common: threads are spread over a grid whose steps the
// host works out and hands over, so that a kernel reads them instead of %nctaid.
//
// Qualifiers, types, bounds and the order of sums are the suite's; see README.md for what is not.
// Indices are `int`, `i` is the contiguous dimension. Doubles where a literal makes them: "0.5" is
// one.

/// The number of this thread along an axis of the grid.
#define THREAD(axis) (blockIdx.axis * blockDim.axis + threadIdx.axis)

/// Linear index of point (i, j) in rows of nx points, and of (i, j, k) in planes of ny such rows.
#define AT2(i, j) ((i) + nx * (j))
#define AT3(i, j, k) ((i) + nx * (j) + nx * ny * (k))
