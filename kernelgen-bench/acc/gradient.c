// Gradient of a scalar field by central differences. Two of its six loads stand behind a store.
#include "grid.h"

void gradient(int nx, int ny, int nz, float a, float b, float c, float *u, float *ux, float *uy,
              float *uz) {
#pragma acc GANGS deviceptr(u, ux, uy, uz)
  for (int k = 1; k < nz - 1; k++)
#pragma acc loop BETWEEN
    for (int j = 1; j < ny - 1; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 1; i < nx - 1; i++) {
        ux[AT3(i, j, k)] = a * (u[AT3(i + 1, j, k)] - u[AT3(i - 1, j, k)]);
        uy[AT3(i, j, k)] = b * (u[AT3(i, j + 1, k)] - u[AT3(i, j - 1, k)]);
        uz[AT3(i, j, k)] = c * (u[AT3(i, j, k + 1)] - u[AT3(i, j, k - 1)]);
      }
}
