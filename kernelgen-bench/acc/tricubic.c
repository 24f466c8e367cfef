// Tricubic interpolation: 4x4x4 values of u0, Lagrange weights from the offsets a, b, c of the
// point. The weights are worked out once and stay in registers.
#include "grid.h"

void tricubic(int nx, int ny, int nz, const float *u0, const float *a, const float *b,
              const float *c, float *u1) {
#pragma acc kernels loop independent gang(65535) deviceptr(u0, a, b, c, u1)
  for (int k = 2; k < nz - 2; k++) {
#pragma acc loop independent
    for (int j = 2; j < ny - 2; j++) {
#pragma acc loop independent vector(512)
      for (int i = 2; i < nx - 2; i++) {
        const float at = a[AT3(i, j, k)];
        const float wx[4] = {-1.0f / 6.0f * at * (at - 1.0f) * (at - 2.0f),
                             0.5f * (at + 1.0f) * (at - 1.0f) * (at - 2.0f),
                             -0.5f * at * (at + 1.0f) * (at - 2.0f),
                             1.0f / 6.0f * at * (at + 1.0f) * (at - 1.0f)};
        const float bt = b[AT3(i, j, k)];
        const float wy[4] = {-1.0f / 6.0f * bt * (bt - 1.0f) * (bt - 2.0f),
                             0.5f * (bt + 1.0f) * (bt - 1.0f) * (bt - 2.0f),
                             -0.5f * bt * (bt + 1.0f) * (bt - 2.0f),
                             1.0f / 6.0f * bt * (bt + 1.0f) * (bt - 1.0f)};
        const float ct = c[AT3(i, j, k)];
        const float wz[4] = {-1.0f / 6.0f * ct * (ct - 1.0f) * (ct - 2.0f),
                             0.5f * (ct + 1.0f) * (ct - 1.0f) * (ct - 2.0f),
                             -0.5f * ct * (ct + 1.0f) * (ct - 2.0f),
                             1.0f / 6.0f * ct * (ct + 1.0f) * (ct - 1.0f)};
        float sum = 0.0f;
        for (int n = 0; n < 4; n++) {
          for (int m = 0; m < 4; m++) {
            float row = 0.0f;
            for (int l = 0; l < 4; l++)
              row += wx[l] * u0[AT3(i + l - 1, j + m - 1, k + n - 1)];
            sum += wz[n] * wy[m] * row;
          }
        }
        u1[AT3(i, j, k)] = sum;
      }
    }
  }
}
