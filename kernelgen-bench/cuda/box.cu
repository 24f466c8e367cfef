// Box filter: the mean over the 7x7 neighbourhood.
#include "grid.cuh"

extern "C" __global__ void box(int nx, int ny, const float *in, float *out) {
  GRID_LOOP(j, y, 3, ny) {
    GRID_LOOP(i, x, 3, nx) {
      float sum = 0.0f;
#pragma unroll
      for (int m = -3; m <= 3; m++) {
#pragma unroll
        for (int l = -3; l <= 3; l++)
          sum += in[at(nx, i + l, j + m)];
      }
      out[at(nx, i, j)] = sum / 49.0f;
    }
  }
}
