// Tricubic interpolation with the weights in arrays, worked out in double, and the result
// accumulated in u1 itself: nothing says that u1 is other memory than u0, so that each read of u0
// is behind a store.
#include "grid.h"

void tricubic2(int nx, int ny, int nz, float *u0, float *u1, float *a, float *b, float *c) {
#pragma acc GANGS deviceptr(u0, u1, a, b, c)
  for (int k = 2; k < nz - 2; k++)
#pragma acc loop BETWEEN
    for (int j = 2; j < ny - 2; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 2; i < nx - 2; i++) {
        const float wa[4] = CUBICS(a[AT3(i, j, k)]), wb[4] = CUBICS(b[AT3(i, j, k)]);
        const float wc[4] = CUBICS(c[AT3(i, j, k)]);
        u1[AT3(i, j, k)] = 0;
        for (int n = 0; n < 4; n++)
          for (int m = 0; m < 4; m++)
            for (int l = 0; l < 4; l++)
              u1[AT3(i, j, k)] += wa[l] * wb[m] * wc[n] * u0[AT3(i + l - 1, j + m - 1, k + n - 1)];
      }
}
