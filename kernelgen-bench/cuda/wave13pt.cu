// One step of the 3-D wave equation, fourth order in space: 13 points of w1, one of w0.
#include "grid.cuh"

extern "C" __global__ void wave13pt(int nx, int ny, int nz, float m0, float m1, float m2,
                                    const float *w0, const float *w1, float *w2) {
  GRID_LOOP(k, z, 2, nz) {
    GRID_LOOP(j, y, 2, ny) {
      GRID_LOOP(i, x, 2, nx) {
        w2[at(nx, ny, i, j, k)] = m2 * (w1[at(nx, ny, i - 2, j, k)] + w1[at(nx, ny, i + 2, j, k)] +
                                        w1[at(nx, ny, i, j - 2, k)] + w1[at(nx, ny, i, j + 2, k)] +
                                        w1[at(nx, ny, i, j, k - 2)] + w1[at(nx, ny, i, j, k + 2)]) +
                                  m1 * (w1[at(nx, ny, i - 1, j, k)] + w1[at(nx, ny, i + 1, j, k)] +
                                        w1[at(nx, ny, i, j - 1, k)] + w1[at(nx, ny, i, j + 1, k)] +
                                        w1[at(nx, ny, i, j, k - 1)] + w1[at(nx, ny, i, j, k + 1)]) +
                                  m0 * w1[at(nx, ny, i, j, k)] - w0[at(nx, ny, i, j, k)];
      }
    }
  }
}
