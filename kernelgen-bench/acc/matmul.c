// Matrix product C += A B, column-major as in the Fortran version: A is nx by nz, B nz by ny. The
// sum is kept in C itself: nothing says that A and B are other memory.
#include "grid.h"

void matmul(int nx, int ny, int nz, float *a, float *b, float *c) {
#pragma acc GANGS deviceptr(a, b, c)
  for (int j = 0; j < ny; j++)
#pragma acc loop independent VECTOR(512)
    for (int i = 0; i < nx; i++)
      for (int k = 0; k < nz; k++)
        c[AT2(i, j)] += a[AT2(i, k)] * b[k + nz * j];
}
