// 7-point Laplacian.
#include "grid.cuh"

extern "C" __global__ void laplacian(int nx, int ny, int nz, float alpha, float beta,
                                     const float *w0, float *w1) {
  GRID_LOOP(k, z, 1, nz) {
    GRID_LOOP(j, y, 1, ny) {
      GRID_LOOP(i, x, 1, nx) {
        w1[at(nx, ny, i, j, k)] =
            beta * (w0[at(nx, ny, i - 1, j, k)] + w0[at(nx, ny, i + 1, j, k)] +
                    w0[at(nx, ny, i, j - 1, k)] + w0[at(nx, ny, i, j + 1, k)] +
                    w0[at(nx, ny, i, j, k - 1)] + w0[at(nx, ny, i, j, k + 1)]) +
            alpha * w0[at(nx, ny, i, j, k)];
      }
    }
  }
}
