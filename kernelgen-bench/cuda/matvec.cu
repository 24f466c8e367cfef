// Matrix-vector product, one thread per row: the only parallel loop runs over j.
#include "grid.cuh"

extern "C" __global__ void matvec(int nx, int ny, const float *a, const float *x, float *y) {
  GRID_LOOP(j, x, 0, ny) {
    float sum = 0.0f;
    for (int i = 0; i < nx; i++)
      sum += a[at(nx, i, j)] * x[i];
    y[j] = sum;
  }
}
