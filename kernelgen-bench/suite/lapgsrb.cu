// 25-point Laplacian: centre, faces, edges of the 3x3x3 cube and the faces at distance two.
#include "launch.cuh"

extern "C" __global__ void lapgsrb(int nx, int ny, int nz, LaunchPlan plan, float c0, float c1,
                                   float c2, float c3, float *w0, float *w1) {
  for (int k = 2 + THREAD(z); k < nz - 2; k += plan.stride.z)
    for (int j = 2 + THREAD(y); j < ny - 2; j += plan.stride.y)
      for (int i = 2 + THREAD(x); i < nx - 2; i += plan.stride.x)
        w1[AT3(i, j, k)] =
            c0 * w0[AT3(i, j, k)] +
            c1 * (w0[AT3(i + 1, j, k)] + w0[AT3(i - 1, j, k)] + w0[AT3(i, j + 1, k)] +
                  w0[AT3(i, j - 1, k)] + w0[AT3(i, j, k + 1)] + w0[AT3(i, j, k - 1)]) +
            c2 * (w0[AT3(i + 1, j + 1, k)] + w0[AT3(i + 1, j, k + 1)] + w0[AT3(i + 1, j, k - 1)] +
                  w0[AT3(i + 1, j - 1, k)] + w0[AT3(i, j + 1, k + 1)] + w0[AT3(i, j + 1, k - 1)] +
                  w0[AT3(i, j - 1, k + 1)] + w0[AT3(i, j - 1, k - 1)] + w0[AT3(i - 1, j + 1, k)] +
                  w0[AT3(i - 1, j, k + 1)] + w0[AT3(i - 1, j, k - 1)] + w0[AT3(i - 1, j - 1, k)]) +
            c3 * (w0[AT3(i + 2, j, k)] + w0[AT3(i - 2, j, k)] + w0[AT3(i, j + 2, k)] +
                  w0[AT3(i, j - 2, k)] + w0[AT3(i, j, k + 2)] + w0[AT3(i, j, k - 2)]);
}
