// One velocity component of an earthquake model: stress differences of fourth order, divided by
// the density averaged over the four cells that share the edge.
#include "grid.cuh"

extern "C" __global__ void uxx1(int nx, int ny, int nz, float dth, float c1, float c2,
                                const float *u0, const float *xx, const float *xy, const float *xz,
                                const float *d1, float *u1) {
  GRID_LOOP(k, z, 2, nz) {
    GRID_LOOP(j, y, 2, ny) {
      GRID_LOOP(i, x, 2, nx) {
        const float d = 0.25f * (d1[at(nx, ny, i, j, k)] + d1[at(nx, ny, i, j - 1, k)] +
                                 d1[at(nx, ny, i, j, k - 1)] + d1[at(nx, ny, i, j - 1, k - 1)]);
        u1[at(nx, ny, i, j, k)] =
            u0[at(nx, ny, i, j, k)] +
            (dth / d) * (c2 * (xx[at(nx, ny, i + 1, j, k)] - xx[at(nx, ny, i - 2, j, k)] +
                               xy[at(nx, ny, i, j + 1, k)] - xy[at(nx, ny, i, j - 2, k)] +
                               xz[at(nx, ny, i, j, k + 1)] - xz[at(nx, ny, i, j, k - 2)]) +
                         c1 * (xx[at(nx, ny, i, j, k)] - xx[at(nx, ny, i - 1, j, k)] +
                               xy[at(nx, ny, i, j, k)] - xy[at(nx, ny, i, j - 1, k)] +
                               xz[at(nx, ny, i, j, k)] - xz[at(nx, ny, i, j, k - 1)]));
      }
    }
  }
}
