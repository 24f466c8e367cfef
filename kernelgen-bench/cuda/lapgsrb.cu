// 25-point Laplacian: centre, faces, edges of the 3x3x3 cube and the faces at distance two.
#include "grid.cuh"

extern "C" __global__ void lapgsrb(int nx, int ny, int nz, float c0, float c1, float c2, float c3,
                                   const float *w0, float *w1) {
  GRID_LOOP(k, z, 2, nz) {
    GRID_LOOP(j, y, 2, ny) {
      GRID_LOOP(i, x, 2, nx) {
        w1[at(nx, ny, i, j, k)] =
            c3 * (w0[at(nx, ny, i - 2, j, k)] + w0[at(nx, ny, i + 2, j, k)] +
                  w0[at(nx, ny, i, j - 2, k)] + w0[at(nx, ny, i, j + 2, k)] +
                  w0[at(nx, ny, i, j, k - 2)] + w0[at(nx, ny, i, j, k + 2)]) +
            c2 * (w0[at(nx, ny, i - 1, j, k - 1)] + w0[at(nx, ny, i + 1, j, k - 1)] +
                  w0[at(nx, ny, i, j - 1, k - 1)] + w0[at(nx, ny, i, j + 1, k - 1)] +
                  w0[at(nx, ny, i - 1, j - 1, k)] + w0[at(nx, ny, i + 1, j - 1, k)] +
                  w0[at(nx, ny, i - 1, j + 1, k)] + w0[at(nx, ny, i + 1, j + 1, k)] +
                  w0[at(nx, ny, i - 1, j, k + 1)] + w0[at(nx, ny, i + 1, j, k + 1)] +
                  w0[at(nx, ny, i, j - 1, k + 1)] + w0[at(nx, ny, i, j + 1, k + 1)]) +
            c1 * (w0[at(nx, ny, i - 1, j, k)] + w0[at(nx, ny, i + 1, j, k)] +
                  w0[at(nx, ny, i, j - 1, k)] + w0[at(nx, ny, i, j + 1, k)] +
                  w0[at(nx, ny, i, j, k - 1)] + w0[at(nx, ny, i, j, k + 1)]) +
            c0 * w0[at(nx, ny, i, j, k)];
      }
    }
  }
}
