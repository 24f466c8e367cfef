// Divergence of a vector field by central differences.
#include "grid.cuh"

extern "C" __global__ void divergence(int nx, int ny, int nz, float a, float b, float c,
                                      const float *ux, const float *uy, const float *uz, float *u) {
  GRID_LOOP(k, z, 1, nz) {
    GRID_LOOP(j, y, 1, ny) {
      GRID_LOOP(i, x, 1, nx) {
        u[at(nx, ny, i, j, k)] = a * (ux[at(nx, ny, i + 1, j, k)] - ux[at(nx, ny, i - 1, j, k)]) +
                                 b * (uy[at(nx, ny, i, j + 1, k)] - uy[at(nx, ny, i, j - 1, k)]) +
                                 c * (uz[at(nx, ny, i, j, k + 1)] - uz[at(nx, ny, i, j, k - 1)]);
      }
    }
  }
}
