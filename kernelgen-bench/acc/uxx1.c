// One velocity component of an earthquake model: stress differences of fourth order, divided by the
// density averaged over the four cells that share the edge. Two points of halo below, one above.
#include "grid.h"

void uxx1(int nx, int ny, int nz, float c1, float c2, float *u0, float *u1, float *d1, float *xx,
          float *xy, float *xz) {
  const float dth = 1. / nx;
#pragma acc GANGS deviceptr(u0, u1, d1, xx, xy, xz)
  for (int k = 2; k < nz - 1; k++)
#pragma acc loop BETWEEN
    for (int j = 2; j < ny - 1; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 2; i < nx - 1; i++) {
        const float d = 0.25 * (d1[AT3(i, j, k)] + d1[AT3(i, j - 1, k)] + d1[AT3(i, j, k - 1)] +
                                d1[AT3(i, j - 1, k - 1)]);
        u1[AT3(i, j, k)] =
            u0[AT3(i, j, k)] + (dth / d) * (c1 * (xx[AT3(i, j, k)] - xx[AT3(i - 1, j, k)]) +
                                            c2 * (xx[AT3(i + 1, j, k)] - xx[AT3(i - 2, j, k)]) +
                                            c1 * (xy[AT3(i, j, k)] - xy[AT3(i, j - 1, k)]) +
                                            c2 * (xy[AT3(i, j + 1, k)] - xy[AT3(i, j - 2, k)]) +
                                            c1 * (xz[AT3(i, j, k)] - xz[AT3(i, j, k - 1)]) +
                                            c2 * (xz[AT3(i, j, k + 1)] - xz[AT3(i, j, k - 2)]));
      }
}
