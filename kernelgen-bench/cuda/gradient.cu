// Gradient of a scalar field by central differences.
#include "grid.cuh"

extern "C" __global__ void gradient(int nx, int ny, int nz, float a, float b, float c,
                                    const float *u, float *ux, float *uy, float *uz) {
  GRID_LOOP(k, z, 1, nz) {
    GRID_LOOP(j, y, 1, ny) {
      GRID_LOOP(i, x, 1, nx) {
        const int here = at(nx, ny, i, j, k);
        ux[here] = a * (u[at(nx, ny, i + 1, j, k)] - u[at(nx, ny, i - 1, j, k)]);
        uy[here] = b * (u[at(nx, ny, i, j + 1, k)] - u[at(nx, ny, i, j - 1, k)]);
        uz[here] = c * (u[at(nx, ny, i, j, k + 1)] - u[at(nx, ny, i, j, k - 1)]);
      }
    }
  }
}
