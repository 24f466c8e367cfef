// One step of a 2-D finite-difference time-domain scheme: the electric field e (two planes, x then
// y component), the magnetic field h and the energy u_em.
//
// The new e goes to its own array: a thread also reads e of its left and lower neighbour, so an
// update in place would race. The last read of h0 repeats an address that was read before; it lies
// behind the stores to e_new, which might alias h0, and so the compiler must load it again.
#include "grid.h"

void whispering(int nx, int ny, float mu, float eps, const float *ca, const float *cb,
                const float *da, const float *db, const float *u_em0, float *u_em1, const float *e,
                float *e_new, const float *h0, float *h1) {
#pragma acc kernels loop independent gang(65535)                                                   \
    deviceptr(ca, cb, da, db, u_em0, u_em1, e, e_new, h0, h1)
  for (int j = 1; j < ny - 1; j++) {
#pragma acc loop independent vector(512)
    for (int i = 1; i < nx - 1; i++) {
      const int here = AT2(i, j), left = AT2(i - 1, j), below = AT2(i, j - 1);
      const int plane = nx * ny;

      const float e0 = ca[here] * e[here] + cb[here] * (h0[AT2(i, j + 1)] - h0[here]);
      const float e1 = ca[here] * e[plane + here] - cb[here] * (h0[AT2(i + 1, j)] - h0[here]);
      const float ey = ca[below] * e[below] + cb[below] * (h0[here] - h0[below]);
      const float ex = ca[left] * e[plane + left] - cb[left] * (h0[here] - h0[left]);

      e_new[here] = e0;
      e_new[plane + here] = e1;

      const float h = da[here] * h0[here] + db[here] * (e0 - ey + ex - e1);
      h1[here] = h;
      u_em1[here] = u_em0[here] + 0.5f * (h * h / mu + eps * (e0 * e0 + e1 * e1));
    }
  }
}
