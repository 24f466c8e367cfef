// 7-point Laplacian.
#include "grid.h"

void laplacian(int nx, int ny, int nz, float alpha, float beta, float *w0, float *w1) {
#pragma acc GANGS deviceptr(w0, w1)
  for (int k = 1; k < nz - 1; k++)
#pragma acc loop BETWEEN
    for (int j = 1; j < ny - 1; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 1; i < nx - 1; i++)
        w1[AT3(i, j, k)] =
            alpha * w0[AT3(i, j, k)] +
            beta * (w0[AT3(i + 1, j, k)] + w0[AT3(i - 1, j, k)] + w0[AT3(i, j + 1, k)] +
                    w0[AT3(i, j - 1, k)] + w0[AT3(i, j, k + 1)] + w0[AT3(i, j, k - 1)]);
}
