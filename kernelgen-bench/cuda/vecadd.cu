// Sum of two 3-D arrays, point by point: nothing to share between lanes.
#include "grid.cuh"

extern "C" __global__ void vecadd(int nx, int ny, int nz, const float *w0, const float *w1,
                                  float *w2) {
  GRID_LOOP(k, z, 0, nz) {
    GRID_LOOP(j, y, 0, ny) {
      GRID_LOOP(i, x, 0, nx) {
        w2[at(nx, ny, i, j, k)] = w0[at(nx, ny, i, j, k)] + w1[at(nx, ny, i, j, k)];
      }
    }
  }
}
