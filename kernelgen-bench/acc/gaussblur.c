// 5x5 blur. The weight of a neighbour depends on its squared distance alone (s0 is the centre's).
#include "grid.h"

void gaussblur(int nx, int ny, float s0, float s1, float s2, float s4, float s5, float s8,
               float *w0, float *w1) {
  const float f = 1. / (s0 + 4 * (s1 + s2 + s4 + s8) + 8 * s5);
#pragma acc GANGS deviceptr(w0, w1)
  for (int j = 2; j < ny - 2; j++)
#pragma acc loop independent VECTOR(512)
    for (int i = 2; i < nx - 2; i++)
      w1[AT2(i, j)] =
          f *
          (s0 * w0[AT2(i, j)] +
           s1 * (w0[AT2(i - 1, j)] + w0[AT2(i + 1, j)] + w0[AT2(i, j - 1)] + w0[AT2(i, j + 1)]) +
           s2 * (w0[AT2(i - 1, j - 1)] + w0[AT2(i + 1, j - 1)] + w0[AT2(i - 1, j + 1)] +
                 w0[AT2(i + 1, j + 1)]) +
           s4 * (w0[AT2(i - 2, j)] + w0[AT2(i + 2, j)] + w0[AT2(i, j - 2)] + w0[AT2(i, j + 2)]) +
           s5 * (w0[AT2(i - 2, j - 1)] + w0[AT2(i - 1, j - 2)] + w0[AT2(i + 1, j - 2)] +
                 w0[AT2(i + 2, j - 1)] + w0[AT2(i - 2, j + 1)] + w0[AT2(i - 1, j + 2)] +
                 w0[AT2(i + 1, j + 2)] + w0[AT2(i + 2, j + 1)]) +
           s8 * (w0[AT2(i - 2, j - 2)] + w0[AT2(i + 2, j - 2)] + w0[AT2(i - 2, j + 2)] +
                 w0[AT2(i + 2, j + 2)]));
}
