// Matrix-vector product, one thread per row: the only parallel loop runs over j. The sum is kept in
// y itself.
#include "grid.h"

void matvec(int nx, int ny, float *a, float *x, float *y) {
#pragma acc GANGS VECTOR(512) deviceptr(a, x, y)
  for (int j = 0; j < ny; j++) {
    y[j] = 0;
    for (int i = 0; i < nx; i++)
      y[j] += a[AT2(i, j)] * x[i];
  }
}
