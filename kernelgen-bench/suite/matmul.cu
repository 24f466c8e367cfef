// Matrix product C += A B, column-major as in the suite's Fortran: A is nx by nz, B nz by ny. The
// sum is kept in C itself: nothing says that A and B are other memory.
#include "launch.cuh"

extern "C" __global__ void matmul(int nx, int ny, int nz, int i_stride, int j_stride, float *a,
                                  float *b, float *c) {
  for (int j = THREAD(y); j < ny; j += j_stride)
    for (int i = THREAD(x); i < nx; i += i_stride)
      for (int k = 0; k < nz; k++)
        c[AT2(i, j)] += a[AT2(i, k)] * b[k + nz * j];
}
