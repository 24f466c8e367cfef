// One velocity component of an earthquake model: stress differences of fourth order, divided by
// the density averaged over the four cells that share the edge.
#include "grid.h"

void uxx1(int nx, int ny, int nz, float dth, float c1, float c2, const float *u0, const float *xx,
          const float *xy, const float *xz, const float *d1, float *u1) {
#pragma acc kernels loop independent gang(65535) deviceptr(u0, xx, xy, xz, d1, u1)
  for (int k = 2; k < nz - 2; k++) {
#pragma acc loop independent
    for (int j = 2; j < ny - 2; j++) {
#pragma acc loop independent vector(512)
      for (int i = 2; i < nx - 2; i++) {
        const float d = 0.25f * (d1[AT3(i, j, k)] + d1[AT3(i, j - 1, k)] + d1[AT3(i, j, k - 1)] +
                                 d1[AT3(i, j - 1, k - 1)]);
        u1[AT3(i, j, k)] =
            u0[AT3(i, j, k)] +
            (dth / d) * (c2 * (xx[AT3(i + 1, j, k)] - xx[AT3(i - 2, j, k)] + xy[AT3(i, j + 1, k)] -
                               xy[AT3(i, j - 2, k)] + xz[AT3(i, j, k + 1)] - xz[AT3(i, j, k - 2)]) +
                         c1 * (xx[AT3(i, j, k)] - xx[AT3(i - 1, j, k)] + xy[AT3(i, j, k)] -
                               xy[AT3(i, j - 1, k)] + xz[AT3(i, j, k)] - xz[AT3(i, j, k - 1)]));
      }
    }
  }
}
