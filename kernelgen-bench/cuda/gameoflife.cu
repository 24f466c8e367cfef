// One generation of Conway's game of life in floating point: a cell is 1 or (nearly) 0. The
// product below is zero exactly where a cell lives on or is born.
#include "grid.cuh"

extern "C" __global__ void gameoflife(int nx, int ny, const float *u0, float *u1) {
  GRID_LOOP(j, y, 1, ny) {
    GRID_LOOP(i, x, 1, nx) {
      const float neighbours = u0[at(nx, i - 1, j - 1)] + u0[at(nx, i + 1, j - 1)] +
                               u0[at(nx, i - 1, j + 1)] + u0[at(nx, i + 1, j + 1)] +
                               u0[at(nx, i - 1, j)] + u0[at(nx, i + 1, j)] + u0[at(nx, i, j - 1)] +
                               u0[at(nx, i, j + 1)];
      u1[at(nx, i, j)] =
          1.0f / (1.0f + (u0[at(nx, i, j)] + neighbours - 3.0f) * (neighbours - 3.0f) * 1e20f);
    }
  }
}
