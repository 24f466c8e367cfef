// Sum of two 3-D arrays, point by point: nothing to share between lanes.
#include "launch.cuh"

extern "C" __global__ void vecadd(int nx, int ny, int nz, LaunchPlan plan, float *w0, float *w1,
                                  float *w2) {
  for (int k = THREAD(z); k < nz; k += plan.stride.z)
    for (int j = THREAD(y); j < ny; j += plan.stride.y)
      for (int i = THREAD(x); i < nx; i += plan.stride.x)
        w2[AT3(i, j, k)] = w0[AT3(i, j, k)] + w1[AT3(i, j, k)];
}
