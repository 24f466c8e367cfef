// Sine of one array plus cosine of another: long arithmetic, nothing to share between lanes. From
// the suite's Fortran. The entry has a longer name than its file because `sincos` is a function of
// the C library.
#include "launch.cuh"

extern "C" __global__ void sincos_xy(int nx, int ny, int nz, int i_stride, int j_stride,
                                     int k_stride, const float *__restrict__ x,
                                     const float *__restrict__ y, float *__restrict__ xy) {
  for (int k = THREAD(z); k < nz; k += k_stride)
    for (int j = THREAD(y); j < ny; j += j_stride)
      for (int i = THREAD(x); i < nx; i += i_stride)
        xy[AT3(i, j, k)] = sinf(x[AT3(i, j, k)]) + cosf(y[AT3(i, j, k)]);
}
