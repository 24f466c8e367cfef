// One access pattern per kernel, to check predictions against the counters of a GPU: each loads and
// stores global memory, or shared memory, in one way. Every launch has 4 blocks of 256 threads,
// whole warps all the way; pointers come from cudaMalloc.
//
//   nvcc -O3 -arch=sm_90 -o patterns patterns.cu && ncu --csv --metrics ... ./patterns
//   nvcc -O3 -arch=sm_90 -ptx -o patterns.ptx patterns.cu && ptxasw lint --json patterns.ptx

#include <cstdio>

#define BLOCK __launch_bounds__(256)
#define I (blockIdx.x * 256 + threadIdx.x)

// global: a load at `from` of one type, a store at `to`
#define GLOBAL(name, T, from, to)                                                                  \
  extern "C" __global__ void BLOCK global_##name(const T *a, T *b) { b[to] = a[from]; }

GLOBAL(unit, float, I, I)
GLOBAL(next, float, I + 1, I + 1)
GLOBAL(stride2, float, 2 * I, 2 * I)
GLOBAL(stride3, float, 3 * I, 3 * I + 2)
GLOBAL(stride8, float, 8 * I, 8 * I)
GLOBAL(stride33, float, 33 * I, 33 * I)
GLOBAL(bytes, unsigned char, I, I)
GLOBAL(byte_offset, unsigned char, I + 31, I + 1)
GLOBAL(shorts, short, 2 * I, I + 5)
GLOBAL(doubles, double, I, I)
GLOBAL(double_next, double, I + 1, 2 * I)
GLOBAL(pairs, float2, I, 3 * I)
GLOBAL(quads, float4, I, I)
GLOBAL(quad_stride2, float4, 2 * I, 2 * I + 1)
GLOBAL(uniform, float, blockIdx.x, I)
GLOBAL(halves, float, I / 2, I)
GLOBAL(quarter_rows, float, (threadIdx.x / 8) * 100 + threadIdx.x % 8, I)
GLOBAL(rows16_pitch100, float, (threadIdx.x / 16) * 100 + threadIdx.x % 16, (threadIdx.x / 16) * 128 + threadIdx.x % 16)
GLOBAL(transposed16, float, (threadIdx.x % 16) * 16 + threadIdx.x / 16, I)
GLOBAL(reversed, float, 1024 - I, 1023 - I)
GLOBAL(xor5, float, I ^ 5, I ^ 64)

// shared: a store at `to`, a barrier, a load at `from`
#define SHARED(name, T, count, from, to)                                                           \
  extern "C" __global__ void BLOCK shared_##name(const T *a, T *b) {                               \
    __shared__ T t[count];                                                                         \
    const unsigned i = threadIdx.x;                                                                \
    t[to] = a[I];                                                                                  \
    __syncthreads();                                                                               \
    b[I] = t[from];                                                                                \
  }

SHARED(unit, float, 256, i ^ 32, i)
SHARED(stride2, float, 512, 2 * (i ^ 32), 2 * i)
SHARED(stride3, float, 1024, 3 * (i ^ 32), 3 * i)
SHARED(stride4, float, 1024, 4 * (i ^ 32), 4 * i)
SHARED(column32, float, 1024, (i % 32) * 32 + i / 32, i)
SHARED(column33, float, 1056, (i % 32) * 33 + i / 32, i)
SHARED(column16, float, 256, (i % 16) * 16 + i / 16, i)
SHARED(broadcast, float, 256, i / 32, i)
SHARED(bytes, unsigned char, 1024, i ^ 32, i)
SHARED(byte_stride4, unsigned char, 4096, 4 * (i ^ 32), 4 * i)
SHARED(byte_stride128, unsigned char, 40960, 128 * (i ^ 32), 128 * i)
SHARED(shorts, short, 512, i ^ 32, 2 * i)
SHARED(wide_unit, double, 256, i ^ 32, i)
SHARED(wide_stride2, double, 512, 2 * (i ^ 32), 2 * i)
SHARED(wide_stride3, double, 1024, 3 * (i ^ 32), i)
SHARED(wide_broadcast, double, 256, i / 32, i)
SHARED(wide_halves, double, 256, (i / 16) ^ 2, i)
SHARED(wide_same_half, double, 256, (i % 16) + (i / 32) * 16, i)
SHARED(wide_pairs, double, 256, (i / 2) ^ 32, i)
SHARED(wide_column, double, 1024, (i % 32) * 16 + i / 32, i)
SHARED(wide_odd_even, double, 512, (i % 2) * 256 + i / 2, i)
SHARED(quad_unit, float4, 256, i ^ 32, i)
SHARED(quad_stride2, float4, 512, 2 * (i ^ 32), 2 * i)
SHARED(quad_stride3, float4, 768, 3 * (i ^ 32), i)
SHARED(quad_broadcast, float4, 256, i / 32, i)
SHARED(quad_pairs, float4, 256, (i / 2) ^ 32, i)
SHARED(quad_eighths, float4, 256, (i / 8) ^ 16, i)
SHARED(quad_same_quarter, float4, 256, (i % 8) + (i / 32) * 8, i)
SHARED(quad_column, float4, 512, (i % 32) * 8 + i / 32, i)
SHARED(wide_xor2, double, 256, i & ~2u, i)
SHARED(wide_xor4, double, 256, i & ~4u, i)
SHARED(wide_xor16, double, 256, i & ~16u, i)
SHARED(wide_xor3, double, 256, (i & ~3u) + ((i ^ (i >> 1)) & 1), i)
SHARED(wide_some_pairs, double, 256, i % 32 < 16 ? i & ~1u : i, i)
SHARED(wide_some_xor2, double, 256, i % 32 < 16 ? i & ~1u : i & ~2u, i)
SHARED(wide_pairs_stride, double, 1024, 8 * (i / 2), i)
SHARED(quad_xor2, float4, 256, i & ~2u, i)
SHARED(quad_xor4, float4, 256, i & ~4u, i)
SHARED(quad_xor8, float4, 256, i & ~8u, i)
SHARED(quad_xor16, float4, 256, i & ~16u, i)
SHARED(quad_fours, float4, 256, i / 4, i)
SHARED(quad_pairs_stride, float4, 1024, 8 * (i / 2), i)
SHARED(quad_some_pairs, float4, 256, i % 32 < 16 ? i & ~1u : i, i)
SHARED(wide_store_pairs, double, 256, i, i & ~1u)
SHARED(wide_store_xor2, double, 256, i, i & ~2u)
SHARED(quad_store_pairs, float4, 256, i, i & ~1u)
SHARED(quad_store_xor2, float4, 256, i, i & ~2u)
SHARED(quad_store_uniform, float4, 256, i, i / 32)

// the same with a part of the lanes
#define SOME(name, T, count, from, lanes)                                                          \
  extern "C" __global__ void BLOCK some_##name(const T *a, T *b) {                                 \
    __shared__ T t[count];                                                                         \
    const unsigned i = threadIdx.x;                                                                \
    t[i] = a[I];                                                                                   \
    __syncthreads();                                                                               \
    if (lanes)                                                                                     \
      b[I] = t[from];                                                                              \
  }

SOME(wide_low_half, double, 256, i, i % 32 < 16)
SOME(wide_even, double, 256, i, i % 2 == 0)
SOME(wide_every_fourth, double, 256, i, i % 4 == 0)
SOME(quad_low_half, float4, 256, i, i % 32 < 16)
SOME(quad_low_quarter, float4, 256, i, i % 32 < 8)
SOME(quad_even, float4, 256, i, i % 2 == 0)
SOME(quad_every_eighth, float4, 256, i, i % 8 == 0)
SOME(float_even, float, 256, 2 * (i / 2), i % 2 == 0)

#define EACH(run)                                                                                  \
  run(global_unit) run(global_next) run(global_stride2) run(global_stride3) run(global_stride8)    \
  run(global_stride33) run(global_bytes) run(global_byte_offset) run(global_shorts)                \
  run(global_doubles) run(global_double_next) run(global_pairs) run(global_quads)                  \
  run(global_quad_stride2) run(global_uniform) run(global_halves) run(global_quarter_rows)         \
  run(global_rows16_pitch100) run(global_transposed16) run(global_reversed) run(global_xor5)       \
  run(shared_unit) run(shared_stride2) run(shared_stride3) run(shared_stride4)                     \
  run(shared_column32) run(shared_column33) run(shared_column16) run(shared_broadcast)             \
  run(shared_bytes) run(shared_byte_stride4) run(shared_byte_stride128) run(shared_shorts)         \
  run(shared_wide_unit) run(shared_wide_stride2) run(shared_wide_stride3)                          \
  run(shared_wide_broadcast) run(shared_wide_halves) run(shared_wide_same_half)                    \
  run(shared_wide_pairs) run(shared_wide_column) run(shared_wide_odd_even) run(shared_quad_unit)   \
  run(shared_quad_stride2) run(shared_quad_stride3) run(shared_quad_broadcast)                     \
  run(shared_quad_pairs) run(shared_quad_eighths) run(shared_quad_same_quarter)                    \
  run(shared_quad_column) run(shared_wide_xor2) run(shared_wide_xor4) run(shared_wide_xor16)       \
  run(shared_wide_xor3) run(shared_wide_some_pairs) run(shared_wide_some_xor2)                     \
  run(shared_wide_pairs_stride) run(shared_quad_xor2) run(shared_quad_xor4)                        \
  run(shared_quad_xor8) run(shared_quad_xor16) run(shared_quad_fours)                              \
  run(shared_quad_pairs_stride) run(shared_quad_some_pairs) run(shared_wide_store_pairs)           \
  run(shared_wide_store_xor2) run(shared_quad_store_pairs) run(shared_quad_store_xor2)             \
  run(shared_quad_store_uniform) run(some_wide_low_half) run(some_wide_even)                       \
  run(some_wide_every_fourth) run(some_quad_low_half) run(some_quad_low_quarter)                   \
  run(some_quad_even) run(some_quad_every_eighth) run(some_float_even)

template <typename T> static void launch(void (*kernel)(const T *, T *)) {
  void *a, *b;
  cudaMalloc(&a, 1 << 20);
  cudaMalloc(&b, 1 << 20);
  kernel<<<4, 256>>>(static_cast<const T *>(a), static_cast<T *>(b));
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess)
    std::printf("%s\n", cudaGetErrorString(error));
  cudaFree(a);
  cudaFree(b);
}

int main() {
#define RUN(kernel) launch(kernel);
  EACH(RUN)
  std::printf("done\n");
}
