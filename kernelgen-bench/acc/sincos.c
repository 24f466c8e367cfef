// Sine of one array plus cosine of another: long arithmetic, nothing to share between lanes. The
// entry has a longer name than its file because `sincos` is a function of the C library.
#include "grid.h"

#include <math.h>

void sincos_xy(int nx, int ny, int nz, float *x, float *y, float *xy) {
#pragma acc GANGS deviceptr(x, y, xy)
  for (int k = 0; k < nz; k++)
#pragma acc loop BETWEEN
    for (int j = 0; j < ny; j++)
#pragma acc loop independent VECTOR(512)
      for (int i = 0; i < nx; i++)
        xy[AT3(i, j, k)] = sinf(x[AT3(i, j, k)]) + cosf(y[AT3(i, j, k)]);
}
