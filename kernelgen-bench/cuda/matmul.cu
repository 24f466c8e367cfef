// Matrix product C += A B, column-major as in the Fortran original: A is nx by nz, B nz by ny.
#include "grid.cuh"

extern "C" __global__ void matmul(int nx, int ny, int nz, const float *a, const float *b,
                                  float *c) {
  GRID_LOOP(j, y, 0, ny) {
    GRID_LOOP(i, x, 0, nx) {
      float sum = c[at(nx, i, j)];
      for (int k = 0; k < nz; k++)
        sum += a[at(nx, i, k)] * b[at(nz, k, j)];
      c[at(nx, i, j)] = sum;
    }
  }
}
