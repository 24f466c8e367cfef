// Matrix-vector product, one thread a row: the only parallel loop runs over j.
#include "grid.h"

void matvec(int nx, int ny, const float *a, const float *x, float *y) {
#pragma acc kernels loop independent gang(65535) vector(512) deviceptr(a, x, y)
  for (int j = 0; j < ny; j++) {
    float sum = 0.0f;
    for (int i = 0; i < nx; i++)
      sum += a[AT2(i, j)] * x[i];
    y[j] = sum;
  }
}
