// First half of a separable blur: 9 taps along a row.
#include "grid.cuh"

extern "C" __global__ void blur_rows(int nx, int ny, float g0, float g1, float g2, float g3,
                                     float g4, const float *in, float *out) {
  GRID_LOOP(j, y, 0, ny) {
    GRID_LOOP(i, x, 4, nx) {
      const int here = at(nx, i, j);
      out[here] = g4 * (in[here - 4] + in[here + 4]) + g3 * (in[here - 3] + in[here + 3]) +
                  g2 * (in[here - 2] + in[here + 2]) + g1 * (in[here - 1] + in[here + 1]) +
                  g0 * in[here];
    }
  }
}
