// One generation of Conway's game of life in floating point: a cell is 1 or (nearly) 0, and the
// product is zero exactly where a cell lives on or is born. The literals make the rule double.
#include "grid.h"

void gameoflife(int nx, int ny, float *u0, float *u1) {
#pragma acc GANGS deviceptr(u0, u1)
  for (int j = 1; j < ny - 1; j++)
#pragma acc loop independent VECTOR(128)
    for (int i = 1; i < nx - 1; i++) {
      const float huge = 1e20;
      const float alive = u0[AT2(i - 1, j - 1)] + u0[AT2(i, j - 1)] + u0[AT2(i + 1, j - 1)] +
                          u0[AT2(i - 1, j)] + u0[AT2(i + 1, j)] + u0[AT2(i - 1, j + 1)] +
                          u0[AT2(i, j + 1)] + u0[AT2(i + 1, j + 1)];
      u1[AT2(i, j)] = 1. / (1. + (u0[AT2(i, j)] + alive - 3.) * (alive - 3.) * huge);
    }
}
