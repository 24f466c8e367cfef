// Weighted sum over the 3x3 neighbourhood: centre, edge neighbours, corners.
#include "grid.h"

void jacobi(int nx, int ny, float c0, float c1, float c2, float *w0, float *w1) {
#pragma acc GANGS deviceptr(w0, w1)
  for (int j = 1; j < ny - 1; j++)
#pragma acc loop independent VECTOR(512)
    for (int i = 1; i < nx - 1; i++)
      w1[AT2(i, j)] =
          c0 * w0[AT2(i, j)] +
          c1 * (w0[AT2(i - 1, j)] + w0[AT2(i, j - 1)] + w0[AT2(i + 1, j)] + w0[AT2(i, j + 1)]) +
          c2 * (w0[AT2(i - 1, j - 1)] + w0[AT2(i - 1, j + 1)] + w0[AT2(i + 1, j - 1)] +
                w0[AT2(i + 1, j + 1)]);
}
