// Magnetic half step of a 2-D finite-difference time-domain code, in place.
#include "grid.cuh"

extern "C" __global__ void fdtd2d_h(int nx, int ny, const float *ex, const float *ey, float *hz) {
  GRID_LOOP(j, y, 1, ny) {
    GRID_LOOP(i, x, 1, nx) {
      const int here = at(nx, i, j);
      hz[here] -= 0.7f * (ex[here + nx] - ex[here] + ey[here + 1] - ey[here]);
    }
  }
}
