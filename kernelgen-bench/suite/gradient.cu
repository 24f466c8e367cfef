// Gradient of a scalar field by central differences. Two of its six loads stand behind a store.
#include "launch.cuh"

extern "C" __global__ void gradient(int nx, int ny, int nz, LaunchPlan plan, float a, float b,
                                    float c, float *u, float *ux, float *uy, float *uz) {
  for (int k = 1 + THREAD(z); k < nz - 1; k += plan.stride.z)
    for (int j = 1 + THREAD(y); j < ny - 1; j += plan.stride.y)
      for (int i = 1 + THREAD(x); i < nx - 1; i += plan.stride.x) {
        ux[AT3(i, j, k)] = a * (u[AT3(i + 1, j, k)] - u[AT3(i - 1, j, k)]);
        uy[AT3(i, j, k)] = b * (u[AT3(i, j + 1, k)] - u[AT3(i, j - 1, k)]);
        uz[AT3(i, j, k)] = c * (u[AT3(i, j, k + 1)] - u[AT3(i, j, k - 1)]);
      }
}
