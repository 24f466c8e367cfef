// 7-point Laplacian.
#include "launch.cuh"

extern "C" __global__ void laplacian(int nx, int ny, int nz, LaunchPlan plan, float alpha,
                                     float beta, float *w0, float *w1) {
  for (int k = 1 + THREAD(z); k < nz - 1; k += plan.stride.z)
    for (int j = 1 + THREAD(y); j < ny - 1; j += plan.stride.y)
      for (int i = 1 + THREAD(x); i < nx - 1; i += plan.stride.x)
        w1[AT3(i, j, k)] =
            alpha * w0[AT3(i, j, k)] +
            beta * (w0[AT3(i + 1, j, k)] + w0[AT3(i - 1, j, k)] + w0[AT3(i, j + 1, k)] +
                    w0[AT3(i, j - 1, k)] + w0[AT3(i, j, k + 1)] + w0[AT3(i, j, k - 1)]);
}
