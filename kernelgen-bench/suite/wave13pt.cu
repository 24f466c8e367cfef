// One step of the 3-D wave equation, fourth order in space: 13 points of w1, one of w0. Loops over
// rows and columns begin at the thread's number and skip the rim.
#include "launch.cuh"

extern "C" __global__ void wave13pt(int nx, int ny, int nz, LaunchPlan plan, float m0, float m1,
                                    float m2, const float *__restrict__ w0,
                                    const float *__restrict__ w1, float *__restrict__ w2) {
  for (int k = 2 + THREAD(z); k < nz - 2; k += plan.stride.z)
    for (int j = THREAD(y); j < ny; j += plan.stride.y) {
      if (j < 2 || j >= ny - 2)
        continue;
      for (int i = THREAD(x); i < nx; i += plan.stride.x) {
        if (i < 2 || i >= nx - 2)
          continue;
        w2[AT3(i, j, k)] =
            m0 * w1[AT3(i, j, k)] - w0[AT3(i, j, k)] +
            m1 * (w1[AT3(i + 1, j, k)] + w1[AT3(i - 1, j, k)] + w1[AT3(i, j + 1, k)] +
                  w1[AT3(i, j - 1, k)] + w1[AT3(i, j, k + 1)] + w1[AT3(i, j, k - 1)]) +
            m2 * (w1[AT3(i + 2, j, k)] + w1[AT3(i - 2, j, k)] + w1[AT3(i, j + 2, k)] +
                  w1[AT3(i, j - 2, k)] + w1[AT3(i, j, k + 2)] + w1[AT3(i, j, k - 2)]);
      }
    }
}
