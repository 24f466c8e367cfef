// Tricubic interpolation: 4x4x4 values of u0 around a point, weighted by cubics in the offsets a,
// b, c of the point, in float. Loops over rows and columns begin at the thread's number and skip
// the rim.
#include "launch.cuh"

/// The four cubics of an offset t, of the points at -1, 0, 1 and 2 along its axis.
struct Cubics {
  float w[4];
  __device__ __forceinline__ explicit Cubics(float t)
      : w{1.0f / 6.0f * t * (t + 1.0f) * (t + 2.0f), -0.5f * (t - 1.0f) * (t + 1.0f) * (t + 2.0f),
          0.5f * (t - 1.0f) * t * (t + 2.0f), -1.0f / 6.0f * (t - 1.0f) * t * (t + 1.0f)} {}
};

extern "C" __global__ void tricubic(int nx, int ny, int nz, LaunchPlan plan,
                                    const float *__restrict__ u0, float *__restrict__ u1,
                                    const float *__restrict__ a, const float *__restrict__ b,
                                    const float *__restrict__ c) {
  for (int k = 1 + THREAD(z); k < nz - 2; k += plan.stride.z)
    for (int j = THREAD(y); j < ny; j += plan.stride.y) {
      if (j < 1 || j >= ny - 2)
        continue;
      for (int i = THREAD(x); i < nx; i += plan.stride.x) {
        if (i < 1 || i >= nx - 2)
          continue;
        const Cubics x(a[AT3(i, j, k)]), y(b[AT3(i, j, k)]), z(c[AT3(i, j, k)]);
        // From (0, 0, 0) on, so that the sum begins with a product and not with a zero.
        float sum = x.w[0] * y.w[0] * z.w[0] * u0[AT3(i - 1, j - 1, k - 1)];
#pragma unroll
        for (int point = 1; point < 64; point++) {
          const int l = point % 4, m = point / 4 % 4, n = point / 16;
          sum += x.w[l] * y.w[m] * z.w[n] * u0[AT3(i + l - 1, j + m - 1, k + n - 1)];
        }
        u1[AT3(i, j, k)] = sum;
      }
    }
}
