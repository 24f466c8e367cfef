// Matrix product C += A B, column-major as in the Fortran original: A is nx by nz, B nz by ny.
#include "grid.h"

void matmul(int nx, int ny, int nz, const float *a, const float *b, float *c) {
#pragma acc kernels loop independent gang(65535) deviceptr(a, b, c)
  for (int j = 0; j < ny; j++) {
#pragma acc loop independent vector(512)
    for (int i = 0; i < nx; i++) {
      float sum = c[AT2(i, j)];
      for (int k = 0; k < nz; k++)
        sum += a[AT2(i, k)] * b[j * nz + k];
      c[AT2(i, j)] = sum;
    }
  }
}
