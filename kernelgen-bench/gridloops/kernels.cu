// Loops that people write: streams by a loop over the grid, with an index of each type that is
// common, sums by one, and loops of one thread over a row of a matrix, dense or sparse.

#include <cstddef>
#include <cstdint>

// `Index`: of the type that counts.
#define GRID_LOOP(Index, i, n)                                                                     \
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < (n);               \
       i += static_cast<Index>(gridDim.x) * blockDim.x)

#define STREAMS(suffix, Index)                                                                     \
  __global__ void copy_##suffix(float *out, const float *in, Index n) {                            \
    GRID_LOOP(Index, i, n)                                                                         \
    out[i] = in[i];                                                                                \
  }                                                                                                \
  __global__ void axpy_##suffix(float *y, const float *x, Index n, float a) {                      \
    GRID_LOOP(Index, i, n)                                                                         \
    y[i] = a * x[i] + y[i];                                                                        \
  }                                                                                                \
  __global__ void triad_##suffix(float *out, const float *b, const float *c, Index n, float s) {   \
    GRID_LOOP(Index, i, n)                                                                         \
    out[i] = b[i] + s * c[i];                                                                      \
  }                                                                                                \
  __global__ void sum_##suffix(float *out, const float *in, Index n) {                             \
    float sum = 0;                                                                                 \
    GRID_LOOP(Index, i, n)                                                                         \
    sum += in[i];                                                                                  \
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;                                              \
  }

extern "C" {

STREAMS(int, int)
STREAMS(unsigned, unsigned)
STREAMS(size, size_t)

// The sum as a reduction has it: a warp's lanes add up what theirs have.
__global__ void warp_sum(float *out, const float *in, int n) {
  float sum = 0;
  GRID_LOOP(int, i, n)
  sum += in[i];
  for (int lane = 16; lane > 0; lane /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, lane);
  if (threadIdx.x % 32 == 0)
    out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}

// A row of `width` numbers by a thread, and by a warp.
__global__ void row_sums(float *out, const float *in, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j < width; ++j)
    sum += in[static_cast<size_t>(row) * width + j];
  out[row] = sum;
}
__global__ void warp_rows(float *out, const float *in, int rows, int width) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows)
    return;
  float sum = 0;
  for (int j = threadIdx.x % 32; j < width; j += 32)
    sum += in[static_cast<size_t>(row) * width + j];
  for (int lane = 16; lane > 0; lane /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, lane);
  if (threadIdx.x % 32 == 0)
    out[row] = sum;
}

// A row of a sparse matrix times a vector by a thread.
__global__ void csr(float *y, const int *first, const int *column, const float *value,
                    const float *x, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int j = first[row]; j < first[row + 1]; ++j)
    sum += value[j] * x[column[j]];
  y[row] = sum;
}

// Floats from 0.5 to 1.5 that depend on their place and on `seed`.
__global__ void fill(float *out, size_t n, unsigned seed) {
  GRID_LOOP(size_t, i, n) {
    unsigned x = static_cast<unsigned>(i) * 2654435761U + seed;
    x = (x ^ (x >> 15)) * 2246822519U;
    out[i] = 0.5F + static_cast<float>((x ^ (x >> 13)) >> 8) * (1.0F / 16777216.0F);
  }
}
// How many words differ.
__global__ void differ(unsigned *count, const unsigned *a, const unsigned *b, size_t n) {
  GRID_LOOP(size_t, i, n)
  if (a[i] != b[i])
    atomicAdd(count, 1U);
}
}
