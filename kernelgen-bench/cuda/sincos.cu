// Sine of one array plus cosine of another: long arithmetic, nothing to share between lanes. The
// entry has a longer name than its file because `sincos` is a function of the C library.
#include "grid.cuh"

extern "C" __global__ void sincos_xy(int nx, int ny, int nz, const float *x, const float *y,
                                     float *xy) {
  GRID_LOOP(k, z, 0, nz) {
    GRID_LOOP(j, y, 0, ny) {
      GRID_LOOP(i, x, 0, nx) {
        xy[at(nx, ny, i, j, k)] = sinf(x[at(nx, ny, i, j, k)]) + cosf(y[at(nx, ny, i, j, k)]);
      }
    }
  }
}
