// Second half of a separable blur: 9 taps along a column. No two taps share a row.
#include "grid.cuh"

extern "C" __global__ void blur_columns(int nx, int ny, float g0, float g1, float g2, float g3,
                                        float g4, const float *in, float *out) {
  GRID_LOOP(j, y, 4, ny) {
    GRID_LOOP(i, x, 0, nx) {
      out[at(nx, i, j)] = g4 * (in[at(nx, i, j - 4)] + in[at(nx, i, j + 4)]) +
                          g3 * (in[at(nx, i, j - 3)] + in[at(nx, i, j + 3)]) +
                          g2 * (in[at(nx, i, j - 2)] + in[at(nx, i, j + 2)]) +
                          g1 * (in[at(nx, i, j - 1)] + in[at(nx, i, j + 1)]) +
                          g0 * in[at(nx, i, j)];
    }
  }
}
