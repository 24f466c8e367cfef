// Sum of two 3-D arrays, point by point: nothing to share between lanes.
#include "grid.h"

void vecadd(int nx, int ny, int nz, float *w0, float *w1, float *w2) {
#pragma acc GANGS deviceptr(w0, w1, w2)
  for (int k = 0; k < nz; k++)
#pragma acc loop BETWEEN
    for (int j = 0; j < ny; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 0; i < nx; i++)
        w2[AT3(i, j, k)] = w0[AT3(i, j, k)] + w1[AT3(i, j, k)];
}
