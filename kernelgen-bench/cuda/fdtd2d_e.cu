// Electric half step of a 2-D finite-difference time-domain code: both components in place.
#include "grid.cuh"

extern "C" __global__ void fdtd2d_e(int nx, int ny, const float *hz, float *ex, float *ey) {
  GRID_LOOP(j, y, 1, ny) {
    GRID_LOOP(i, x, 1, nx) {
      const int here = at(nx, i, j);
      const float left = hz[here - 1], centre = hz[here], below = hz[here - nx];
      ex[here] -= 0.5f * (centre - below);
      ey[here] -= 0.5f * (centre - left);
    }
  }
}
