// One generation of Conway's game of life in floating point: a cell is 1 or (nearly) 0, and the
// product is zero exactly where a cell lives on or is born. The literals make the rule double.
#include "launch.cuh"

extern "C" __global__ void gameoflife(int nx, int ny, LaunchPlan plan, float *u0, float *u1) {
  for (int j = 1 + THREAD(y); j < ny - 1; j += plan.stride.y)
    for (int i = 1 + THREAD(x); i < nx - 1; i += plan.stride.x) {
      const float huge = 1e20;
      const float alive = u0[AT2(i - 1, j - 1)] + u0[AT2(i, j - 1)] + u0[AT2(i + 1, j - 1)] +
                          u0[AT2(i - 1, j)] + u0[AT2(i + 1, j)] + u0[AT2(i - 1, j + 1)] +
                          u0[AT2(i, j + 1)] + u0[AT2(i + 1, j + 1)];
      u1[AT2(i, j)] = 1. / (1. + (u0[AT2(i, j)] + alive - 3.) * (alive - 3.) * huge);
    }
}
