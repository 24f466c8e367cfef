#pragma once

// Indexing and launch arithmetic shared by every CUDA kernel of the suite.
//
// Indices are `int`, as in the suite: the largest grid has 2^30 points. `i` is the contiguous
// dimension. Pointers stay plain (no __restrict__): that is the code people bring, and it is what
// makes the compiler keep a load that lies behind a store.
//
// Stencils are summed from the farthest neighbours inwards, lower index first. A row is then read
// from one of its ends, as by compilers that sort loads by address: the first load of a row is the
// one that the others can take their value from.

/// First index of this thread in a dimension: the halo plus the global thread number.
#define FIRST(axis, halo) ((int)(blockIdx.axis * blockDim.axis + threadIdx.axis) + (halo))

/// Distance between two indices of one thread in a dimension: all threads of the grid.
#define STRIDE(axis) ((int)(gridDim.axis * blockDim.axis))

/// A grid-stride loop over the points of a dimension that are `halo` away from both its ends.
/// Never unrolled: a kernel has exactly the loads its formula has.
#define GRID_LOOP(index, axis, halo, extent)                                                       \
  _Pragma("unroll 1") for (int index = FIRST(axis, halo); index < (extent) - (halo);               \
                           index += STRIDE(axis))

/// Linear index of point (i, j) in rows of nx points.
__device__ __forceinline__ int at(int nx, int i, int j) { return j * nx + i; }

/// Linear index of point (i, j, k) in planes of ny rows of nx points.
__device__ __forceinline__ int at(int nx, int ny, int i, int j, int k) {
  return (k * ny + j) * nx + i;
}
