// Divergence of a vector field by central differences.
#include "launch.cuh"

extern "C" __global__ void divergence(int nx, int ny, int nz, LaunchPlan plan, float a, float b,
                                      float c, float *u, float *ux, float *uy, float *uz) {
  for (int k = 1 + THREAD(z); k < nz - 1; k += plan.stride.z)
    for (int j = 1 + THREAD(y); j < ny - 1; j += plan.stride.y)
      for (int i = 1 + THREAD(x); i < nx - 1; i += plan.stride.x)
        u[AT3(i, j, k)] = a * (ux[AT3(i + 1, j, k)] - ux[AT3(i - 1, j, k)]) +
                          b * (uy[AT3(i, j + 1, k)] - uy[AT3(i, j - 1, k)]) +
                          c * (uz[AT3(i, j, k + 1)] - uz[AT3(i, j, k - 1)]);
}
