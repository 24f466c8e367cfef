// One step of a 2-D finite-difference time-domain scheme: the electric field e (components 0 and 1,
// as it was and as it will be), the magnetic field h and the energy u_em. The last read of h0
// repeats an address: it is behind the stores to the new field, which nothing says to be other
// memory.
#include "grid.h"

void whispering(int nx, int ny, float mu, float epsilon, float *e0_0, float *e0_1, float *e1_0,
                float *e1_1, float *h0, float *h1, float *u_em0, float *u_em1, float *ca, float *cb,
                float *da, float *db) {
#pragma acc GANGS                                                   \
    deviceptr(e0_0, e0_1, e1_0, e1_1, h0, h1, u_em0, u_em1, ca, cb, da, db)
  for (int j = 1; j < ny - 1; j++)
#pragma acc loop independent VECTOR(512)
    for (int i = 1; i < nx - 1; i++) {
      const float e0 =
          ca[AT2(i, j)] * e0_0[AT2(i, j)] + cb[AT2(i, j)] * (h0[AT2(i, j + 1)] - h0[AT2(i, j)]);
      const float e1 =
          ca[AT2(i, j)] * e0_1[AT2(i, j)] - cb[AT2(i, j)] * (h0[AT2(i + 1, j)] - h0[AT2(i, j)]);
      const float below = ca[AT2(i, j - 1)] * e0_0[AT2(i, j - 1)] +
                          cb[AT2(i, j - 1)] * (h0[AT2(i, j)] - h0[AT2(i, j - 1)]);
      const float left = ca[AT2(i - 1, j)] * e0_1[AT2(i - 1, j)] -
                         cb[AT2(i - 1, j)] * (h0[AT2(i, j)] - h0[AT2(i - 1, j)]);

      e1_0[AT2(i, j)] = e0;
      e1_1[AT2(i, j)] = e1;

      const float h = da[AT2(i, j)] * h0[AT2(i, j)] + db[AT2(i, j)] * (e0 - below + left - e1);
      h1[AT2(i, j)] = h;
      u_em1[AT2(i, j)] = u_em0[AT2(i, j)] + 0.5 * (h * h / mu + epsilon * (e0 * e0 + e1 * e1));
    }
}
