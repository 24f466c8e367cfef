// Weighted sum over the 3x3 neighbourhood: corners, edge neighbours, centre.
#include "grid.cuh"

extern "C" __global__ void jacobi(int nx, int ny, float c0, float c1, float c2, const float *w0,
                                  float *w1) {
  GRID_LOOP(j, y, 1, ny) {
    GRID_LOOP(i, x, 1, nx) {
      w1[at(nx, i, j)] = c2 * (w0[at(nx, i - 1, j - 1)] + w0[at(nx, i + 1, j - 1)] +
                               w0[at(nx, i - 1, j + 1)] + w0[at(nx, i + 1, j + 1)]) +
                         c1 * (w0[at(nx, i - 1, j)] + w0[at(nx, i + 1, j)] + w0[at(nx, i, j - 1)] +
                               w0[at(nx, i, j + 1)]) +
                         c0 * w0[at(nx, i, j)];
    }
  }
}
