// Kernels in which lanes of a warp hand each other values, and kernels whose shared memory has the
// size that the launch says: norms and softmaxes of rows, sums by shuffles, counts by ballots and
// by atomics that nobody reads, blocks that reverse their part, a warp for each row of a block, and
// products by tensor cores. Blocks are whole warps. Others work on each number of an array: they
// assert something of it, call what they do, print what is no number, look it up in a texture, take
// its power or its sine, or number it among its like by an atomic that tells.

#include <cassert>
#include <cstdio>
#include <mma.h>

namespace {

__device__ float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__device__ float warp_maximum(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

/// Adds up a block's numbers, a word a thread; the sum is in the first one.
__device__ void add_up(float *words, const float *in, int n) {
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  words[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int distance = blockDim.x / 2; distance > 0; distance /= 2) {
    if (t < distance)
      words[t] += words[t + distance];
    __syncthreads();
  }
}

} // namespace

/// One sum for each warp, written by its first lane.
extern "C" __global__ void warp_sums(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = warp_sum(i < n ? in[i] : 0.0f);
  if (threadIdx.x % 32 == 0)
    out[i / 32] = sum;
}

/// How many values of each warp are above a limit.
extern "C" __global__ void warp_count(int *out, const float *in, int n, float limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned votes = __ballot_sync(0xffffffffu, i < n && in[i] > limit);
  if (threadIdx.x % 32 == 0)
    out[i / 32] = __popc(votes);
}

/// How many of all are, one atomic operation for each warp.
extern "C" __global__ void atomic_count(int *out, const float *in, int n, float limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned votes = __ballot_sync(0xffffffffu, i < n && in[i] > limit);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, __popc(votes));
}

/// Root mean square norm of a row for each block of 256.
extern "C" __global__ void rms_norm(float *out, const float *in, const float *weight, int columns) {
  __shared__ float part[8];
  const float *row = in + static_cast<long long>(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256)
    sum += row[i] * row[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = warp_sum(threadIdx.x % 32 < 8 ? part[threadIdx.x % 32] : 0.0f);
  const float scale = rsqrtf(sum / static_cast<float>(columns) + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += 256)
    out[static_cast<long long>(blockIdx.x) * columns + i] = row[i] * scale * weight[i];
}

/// Softmax of a row for each block of 256.
extern "C" __global__ void softmax(float *out, const float *in, int columns) {
  __shared__ float part[8];
  const float *row = in + static_cast<long long>(blockIdx.x) * columns;
  float most = -3.0e38f;
  for (int i = threadIdx.x; i < columns; i += 256)
    most = fmaxf(most, row[i]);
  most = warp_maximum(most);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = most;
  __syncthreads();
  most = warp_maximum(threadIdx.x % 32 < 8 ? part[threadIdx.x % 32] : -3.0e38f);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256)
    sum += __expf(row[i] - most);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = warp_sum(threadIdx.x % 32 < 8 ? part[threadIdx.x % 32] : 0.0f);
  for (int i = threadIdx.x; i < columns; i += 256)
    out[static_cast<long long>(blockIdx.x) * columns + i] = __expf(row[i] - most) / sum;
}

/// The sum of each block in shared memory of the launch's size: a word a thread.
extern "C" __global__ void dynamic_sum(float *out, const float *in, int n) {
  extern __shared__ float words[];
  add_up(words, in, n);
  if (threadIdx.x == 0)
    out[blockIdx.x] = words[0];
}

/// The same with a word more, for the sum.
extern "C" __global__ void dynamic_odd(float *out, const float *in, int n) {
  extern __shared__ float words[];
  add_up(words, in, n);
  if (threadIdx.x == 0)
    words[blockDim.x] = words[0];
  __syncthreads();
  if (threadIdx.x == 1)
    out[blockIdx.x] = words[blockDim.x];
}

/// Each block reverses its part of an array.
extern "C" __global__ void dynamic_reverse(float *out, const float *in, int n) {
  extern __shared__ float words[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  words[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n)
    out[i] = words[blockDim.x - 1 - t];
}

/// The sum of a short row for each warp of blocks of 32 x 8.
extern "C" __global__ void row_sums(float *out, const float *in, int rows, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32)
    sum += in[row * columns + i];
  sum = warp_sum(sum);
  if (threadIdx.x == 0)
    out[row] = sum;
}

/// Scales an array of numbers none of which is negative.
extern "C" __global__ void asserted_scale(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  assert(in[i] >= 0);
  out[i] = 3 * in[i];
}

namespace {
__device__ __noinline__ float scaled(float value) { return 3 * value; }
} // namespace

/// Scales an array by a function.
extern "C" __global__ void called_scale(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scaled(in[i]);
}

/// The product of 16 x 8 and 8 x 16 numbers for each warp of blocks of 32 x 4.
extern "C" __global__ void tensor_products(float *c, const float *a, const float *b) {
  using namespace nvcuda::wmma;
  const int which = blockIdx.x * blockDim.y + threadIdx.y;
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> left;
  fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> right;
  fragment<accumulator, 16, 16, 8, float> sums;
  fill_fragment(sums, 0.0f);
  load_matrix_sync(left, a + which * 128, 8);
  load_matrix_sync(right, b + which * 128, 16);
  mma_sync(sums, left, right, sums);
  store_matrix_sync(c + which * 256, sums, 16, mem_row_major);
}

/// Scales an array, and says which number is none.
extern "C" __global__ void printed_scale(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (in[i] != in[i])
    printf("%d is no number\n", i);
  out[i] = 3 * in[i];
}

/// Scales what a texture has.
extern "C" __global__ void textured_scale(float *out, cudaTextureObject_t in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 3 * tex1Dfetch<float>(in, i);
}

/// Powers of 2.5, in double precision.
extern "C" __global__ void powers(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = static_cast<float>(pow(static_cast<double>(in[i]), 2.5));
}

/// Sines, of which large numbers take a slow path through local memory.
extern "C" __global__ void sines(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = sinf(in[i]);
}

/// Gives each number a place among the sixteen of its bin; who comes later takes an old place.
extern "C" __global__ void binned(float *out, const float *in, int n, int *taken) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const int bin = (__float_as_int(in[i]) >> 2) & ((1 << 20) - 1);
  out[bin * 16 + (atomicAdd(&taken[bin], 1) & 15)] = 1;
}

/// Who comes first to a bin leaves a mark there.
extern "C" __global__ void claimed(float *out, const float *in, int n, int *taken) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const int bin = (__float_as_int(in[i]) >> 2) & ((1 << 20) - 1);
  if (atomicExch(&taken[bin], 1) != 1)
    out[bin] = 1;
}

/// Each block reverses its part of an array, by accesses that are relaxed among its threads.
extern "C" __global__ void relaxed_reverse(float *out, const float *in, int n) {
  __shared__ float words[1024];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  const unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(words + t));
  const unsigned other =
      static_cast<unsigned>(__cvta_generic_to_shared(words + blockDim.x - 1 - t));
  float value = i < n ? in[i] : 0.0f;
  asm volatile("st.relaxed.cta.shared.f32 [%0], %1;" ::"r"(mine), "f"(value) : "memory");
  __syncthreads();
  asm volatile("ld.relaxed.cta.shared.f32 %0, [%1];" : "=f"(value) : "r"(other) : "memory");
  if (i < n)
    out[i] = value;
}

/// The product of tensor_products, by way of shared memory.
extern "C" __global__ void tiled_products(float *c, const float *a, const float *b) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) float left_tile[4][128], right_tile[4][128];
  const int own = threadIdx.y, which = blockIdx.x * blockDim.y + own;
  for (int i = threadIdx.x; i < 128; i += 32) {
    left_tile[own][i] = a[which * 128 + i];
    right_tile[own][i] = b[which * 128 + i];
  }
  __syncthreads();
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> left;
  fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> right;
  fragment<accumulator, 16, 16, 8, float> sums;
  fill_fragment(sums, 0.0f);
  load_matrix_sync(left, left_tile[own], 8);
  load_matrix_sync(right, right_tile[own], 16);
  mma_sync(sums, left, right, sums);
  store_matrix_sync(c + which * 256, sums, 16, mem_row_major);
}
