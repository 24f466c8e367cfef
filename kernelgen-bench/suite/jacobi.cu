// Weighted sum over the 3x3 neighbourhood: centre, edge neighbours, corners. From the suite's
// Fortran: steps come as integers, and the array that is read is known not to be written. For that
// nvcc would unroll the loop over a row, of which NVHPC made nine loads.
#include "launch.cuh"

extern "C" __global__ void jacobi(int nx, int ny, int i_stride, int j_stride, float c0, float c1,
                                  float c2, const float *__restrict__ w0, float *__restrict__ w1) {
  for (int j = 1 + THREAD(y); j < ny - 1; j += j_stride)
#pragma unroll 1
    for (int i = 1 + THREAD(x); i < nx - 1; i += i_stride)
      w1[AT2(i, j)] =
          c0 * w0[AT2(i, j)] +
          c1 * (w0[AT2(i - 1, j)] + w0[AT2(i, j - 1)] + w0[AT2(i + 1, j)] + w0[AT2(i, j + 1)]) +
          c2 * (w0[AT2(i - 1, j - 1)] + w0[AT2(i - 1, j + 1)] + w0[AT2(i + 1, j - 1)] +
                w0[AT2(i + 1, j + 1)]);
}
