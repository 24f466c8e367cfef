#pragma once

// 2-D convolution with a dense Taps x Taps mask; the weights are read from memory, row by row.
#include "grid.cuh"

template <int Taps>
__device__ __forceinline__ void conv2d(int nx, int ny, const float *weights, const float *in,
                                       float *out) {
  constexpr int radius = Taps / 2;
  GRID_LOOP(j, y, radius, ny) {
    GRID_LOOP(i, x, radius, nx) {
      float sum = 0.0f;
#pragma unroll
      for (int m = 0; m < Taps; m++) {
#pragma unroll
        for (int l = 0; l < Taps; l++)
          sum += weights[m * Taps + l] * in[at(nx, i + l - radius, j + m - radius)];
      }
      out[at(nx, i, j)] = sum;
    }
  }
}
