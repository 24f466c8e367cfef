// Tricubic interpolation with the weights in arrays, worked out in double, and the result
// accumulated in u1 itself: nothing says that u1 is other memory than u0, so that each read of u0
// is behind a store.
#include "launch.cuh"

/// The four cubics of an offset t, of the points at -1, 0, 1 and 2 along its axis.
__device__ __forceinline__ void cubics(float t, float *w) {
  w[0] = 1.0 / 6.0 * t * (t + 1.0) * (t + 2.0);
  w[1] = -0.5 * (t - 1.0) * (t + 1.0) * (t + 2.0);
  w[2] = 0.5 * (t - 1.0) * t * (t + 2.0);
  w[3] = -1.0 / 6.0 * (t - 1.0) * t * (t + 1.0);
}

extern "C" __global__ void tricubic2(int nx, int ny, int nz, LaunchPlan plan, float *u0, float *u1,
                                     float *a, float *b, float *c) {
  for (int k = 2 + THREAD(z); k < nz - 2; k += plan.stride.z)
    for (int j = 2 + THREAD(y); j < ny - 2; j += plan.stride.y)
      for (int i = 2 + THREAD(x); i < nx - 2; i += plan.stride.x) {
        float wa[4], wb[4], wc[4];
        cubics(a[AT3(i, j, k)], wa);
        cubics(b[AT3(i, j, k)], wb);
        cubics(c[AT3(i, j, k)], wc);
        u1[AT3(i, j, k)] = 0;
        for (int n = 0; n < 4; n++)
          for (int m = 0; m < 4; m++)
            for (int l = 0; l < 4; l++)
              u1[AT3(i, j, k)] += wa[l] * wb[m] * wc[n] * u0[AT3(i + l - 1, j + m - 1, k + n - 1)];
      }
}
