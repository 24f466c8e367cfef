// Tricubic interpolation: 4x4x4 values of u0 around a point, weighted by cubics in the offsets a,
// b, c of the point.
#include "grid.h"

void tricubic(int nx, int ny, int nz, float *u0, float *u1, float *a, float *b, float *c) {
#pragma acc GANGS deviceptr(u0, u1, a, b, c)
  for (int k = 1; k < nz - 2; k++)
#pragma acc loop BETWEEN
    for (int j = 1; j < ny - 2; j++) {
#pragma acc loop independent VECTOR(512)
      for (int i = 1; i < nx - 2; i++) {
        const float x[4] = CUBICS(a[AT3(i, j, k)]), y[4] = CUBICS(b[AT3(i, j, k)]);
        const float z[4] = CUBICS(c[AT3(i, j, k)]);
        // From (0, 0, 0) on, so that the sum begins with a product and not with a zero.
        float sum = x[0] * y[0] * z[0] * u0[AT3(i - 1, j - 1, k - 1)];
        for (int point = 1; point < 64; point++) {
          const int l = point % 4, m = point / 4 % 4, n = point / 16;
          sum += x[l] * y[m] * z[n] * u0[AT3(i + l - 1, j + m - 1, k + n - 1)];
        }
        u1[AT3(i, j, k)] = sum;
      }
    }
}
