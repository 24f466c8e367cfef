// Matrix-vector product, one thread per row: the only parallel loop runs over j, and takes the
// grid's x axis. The sum is kept in y itself.
#include "launch.cuh"

extern "C" __global__ void matvec(int nx, int ny, LaunchPlan plan, float *a, float *x, float *y) {
  for (int j = THREAD(x); j < ny; j += plan.stride.x) {
    y[j] = 0;
    for (int i = 0; i < nx; i++)
      y[j] += a[AT2(i, j)] * x[i];
  }
}
