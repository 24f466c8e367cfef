// 25-point Laplacian: centre, faces, edges of the 3x3x3 cube and the faces at distance two.
#include "grid.h"

void lapgsrb(int nx, int ny, int nz, float c0, float c1, float c2, float c3, float *w0, float *w1) {
#pragma acc GANGS deviceptr(w0, w1)
  for (int k = 2; k < nz - 2; k++)
#pragma acc loop BETWEEN
    for (int j = 2; j < ny - 2; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 2; i < nx - 2; i++)
        w1[AT3(i, j, k)] =
            c0 * w0[AT3(i, j, k)] +
            c1 * (w0[AT3(i + 1, j, k)] + w0[AT3(i - 1, j, k)] + w0[AT3(i, j + 1, k)] +
                  w0[AT3(i, j - 1, k)] + w0[AT3(i, j, k + 1)] + w0[AT3(i, j, k - 1)]) +
            c2 * (w0[AT3(i + 1, j + 1, k)] + w0[AT3(i + 1, j, k + 1)] + w0[AT3(i + 1, j, k - 1)] +
                  w0[AT3(i + 1, j - 1, k)] + w0[AT3(i, j + 1, k + 1)] + w0[AT3(i, j + 1, k - 1)] +
                  w0[AT3(i, j - 1, k + 1)] + w0[AT3(i, j - 1, k - 1)] + w0[AT3(i - 1, j + 1, k)] +
                  w0[AT3(i - 1, j, k + 1)] + w0[AT3(i - 1, j, k - 1)] + w0[AT3(i - 1, j - 1, k)]) +
            c3 * (w0[AT3(i + 2, j, k)] + w0[AT3(i - 2, j, k)] + w0[AT3(i, j + 2, k)] +
                  w0[AT3(i, j - 2, k)] + w0[AT3(i, j, k + 2)] + w0[AT3(i, j, k - 2)]);
}
