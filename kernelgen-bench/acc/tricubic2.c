// Tricubic interpolation as in tricubic, written the way a stencil generator writes it: a, b, c
// are read again in every weight and the result is accumulated in u1 itself, so that each read of
// u0 lies behind a store that might alias it.
#include "grid.h"

void tricubic2(int nx, int ny, int nz, const float *u0, const float *a, const float *b,
               const float *c, float *u1) {
#pragma acc kernels loop independent gang(65535) deviceptr(u0, a, b, c, u1)
  for (int k = 2; k < nz - 2; k++) {
#pragma acc loop independent
    for (int j = 2; j < ny - 2; j++) {
#pragma acc loop independent vector(512)
      for (int i = 2; i < nx - 2; i++) {
        const int here = AT3(i, j, k);
        const float wx[4] = {-1.0f / 6.0f * a[here] * (a[here] - 1.0f) * (a[here] - 2.0f),
                             0.5f * (a[here] + 1.0f) * (a[here] - 1.0f) * (a[here] - 2.0f),
                             -0.5f * a[here] * (a[here] + 1.0f) * (a[here] - 2.0f),
                             1.0f / 6.0f * a[here] * (a[here] + 1.0f) * (a[here] - 1.0f)};
        const float wy[4] = {-1.0f / 6.0f * b[here] * (b[here] - 1.0f) * (b[here] - 2.0f),
                             0.5f * (b[here] + 1.0f) * (b[here] - 1.0f) * (b[here] - 2.0f),
                             -0.5f * b[here] * (b[here] + 1.0f) * (b[here] - 2.0f),
                             1.0f / 6.0f * b[here] * (b[here] + 1.0f) * (b[here] - 1.0f)};
        const float wz[4] = {-1.0f / 6.0f * c[here] * (c[here] - 1.0f) * (c[here] - 2.0f),
                             0.5f * (c[here] + 1.0f) * (c[here] - 1.0f) * (c[here] - 2.0f),
                             -0.5f * c[here] * (c[here] + 1.0f) * (c[here] - 2.0f),
                             1.0f / 6.0f * c[here] * (c[here] + 1.0f) * (c[here] - 1.0f)};
        u1[here] = 0.0f;
        for (int n = 0; n < 4; n++) {
          for (int m = 0; m < 4; m++) {
            for (int l = 0; l < 4; l++)
              u1[here] += wx[l] * wy[m] * wz[n] * u0[AT3(i + l - 1, j + m - 1, k + n - 1)];
          }
        }
      }
    }
  }
}
