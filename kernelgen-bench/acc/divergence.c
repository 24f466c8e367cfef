// Divergence of a vector field by central differences.
#include "grid.h"

void divergence(int nx, int ny, int nz, float a, float b, float c, float *u, float *ux, float *uy,
                float *uz) {
#pragma acc GANGS deviceptr(u, ux, uy, uz)
  for (int k = 1; k < nz - 1; k++)
#pragma acc loop BETWEEN
    for (int j = 1; j < ny - 1; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 1; i < nx - 1; i++)
        u[AT3(i, j, k)] = a * (ux[AT3(i + 1, j, k)] - ux[AT3(i - 1, j, k)]) +
                          b * (uy[AT3(i, j + 1, k)] - uy[AT3(i, j - 1, k)]) +
                          c * (uz[AT3(i, j, k + 1)] - uz[AT3(i, j, k - 1)]);
}
