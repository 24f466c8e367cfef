#pragma once

// What chunks.cu and maps.cu have in common.

#include <cstddef>
#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t error = (call);                                                              \
    if (error != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                          \
      return 1;                                                                                    \
    }                                                                                              \
  } while (false)

/// Forward substitution of Gaussian elimination (Rodinia's Fan2), a thread per row.
extern "C" __global__ void fan2(const float *m, float *a, float *b, int n, int i) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n - 1 - i)
    return;
  const float factor = m[row + 1 + i];
  for (int y = 0; y < n - i; ++y)
    a[(row + 1 + i) * n + y + i] -= factor * a[i * n + y + i];
  b[row + 1 + i] -= factor * b[i];
}

/// Numbers from 1 to 2, in no simple order.
__global__ void fill_numbers(float *to, std::size_t count) {
  for (std::size_t i = blockIdx.x * (std::size_t)blockDim.x + threadIdx.x; i < count;
       i += (std::size_t)gridDim.x * blockDim.x)
    to[i] = 1.0f + (float)(i % 1021) / 1021;
}
