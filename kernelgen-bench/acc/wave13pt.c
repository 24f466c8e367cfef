// One step of the 3-D wave equation, fourth order in space: 13 points of w1, one of w0.
#include "grid.h"

void wave13pt(int nx, int ny, int nz, float m0, float m1, float m2, float *w0, float *w1,
              float *w2) {
#pragma acc GANGS deviceptr(w0, w1, w2)
  for (int k = 2; k < nz - 2; k++)
#pragma acc loop BETWEEN
    for (int j = 2; j < ny - 2; j++) {
#pragma acc loop independent VECTOR(512)
      for (int i = 2; i < nx - 2; i++) {
        w2[AT3(i, j, k)] =
            m0 * w1[AT3(i, j, k)] - w0[AT3(i, j, k)] +
            m1 * (w1[AT3(i + 1, j, k)] + w1[AT3(i - 1, j, k)] + w1[AT3(i, j + 1, k)] +
                  w1[AT3(i, j - 1, k)] + w1[AT3(i, j, k + 1)] + w1[AT3(i, j, k - 1)]) +
            m2 * (w1[AT3(i + 2, j, k)] + w1[AT3(i - 2, j, k)] + w1[AT3(i, j + 2, k)] +
                  w1[AT3(i, j - 2, k)] + w1[AT3(i, j, k + 2)] + w1[AT3(i, j, k - 2)]);
      }
    }
}
