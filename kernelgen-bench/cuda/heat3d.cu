// Explicit heat equation in 3-D. A thread owns a column and marches along z, so that the values
// above and below its point stay in registers; only the four neighbours of a plane are read anew.
#include "grid.cuh"

extern "C" __global__ void heat3d(int nx, int ny, int nz, float alpha, const float *t0, float *t1) {
  GRID_LOOP(j, y, 1, ny) {
    GRID_LOOP(i, x, 1, nx) {
      float below = t0[at(nx, ny, i, j, 0)];
      float centre = t0[at(nx, ny, i, j, 1)];
#pragma unroll 1
      for (int k = 1; k < nz - 1; k++) {
        const int here = at(nx, ny, i, j, k);
        const float above = t0[here + nx * ny];
        t1[here] = centre + alpha * (t0[here - 1] + t0[here + 1] + t0[here - nx] + t0[here + nx] +
                                     below + above - 6.0f * centre);
        below = centre;
        centre = above;
      }
    }
  }
}
