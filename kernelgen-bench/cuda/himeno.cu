// One Jacobi sweep of the Himeno benchmark: pressure with variable coefficients, 19 points. The
// coefficients a (four), b and c (three each) are planes of one array each.
#include "grid.cuh"

extern "C" __global__ void himeno(int nx, int ny, int nz, float omega, const float *a,
                                  const float *b, const float *c, const float *p, const float *wrk1,
                                  const float *bnd, float *wrk2) {
  const int all = nx * ny * nz;
  GRID_LOOP(k, z, 1, nz) {
    GRID_LOOP(j, y, 1, ny) {
      GRID_LOOP(i, x, 1, nx) {
        const int here = at(nx, ny, i, j, k);
        const auto pressure = [=](int di, int dj, int dk) {
          return p[at(nx, ny, i + di, j + dj, k + dk)];
        };
        const float s0 = b[here] * (pressure(1, 1, 0) - pressure(1, -1, 0) - pressure(-1, 1, 0) +
                                    pressure(-1, -1, 0)) +
                         b[all + here] * (pressure(0, 1, 1) - pressure(0, -1, 1) -
                                          pressure(0, 1, -1) + pressure(0, -1, -1)) +
                         b[2 * all + here] * (pressure(1, 0, 1) - pressure(-1, 0, 1) -
                                              pressure(1, 0, -1) + pressure(-1, 0, -1)) +
                         a[here] * pressure(1, 0, 0) + a[all + here] * pressure(0, 1, 0) +
                         a[2 * all + here] * pressure(0, 0, 1) + c[here] * pressure(-1, 0, 0) +
                         c[all + here] * pressure(0, -1, 0) +
                         c[2 * all + here] * pressure(0, 0, -1) + wrk1[here];
        const float centre = pressure(0, 0, 0);
        const float ss = (s0 * a[3 * all + here] - centre) * bnd[here];
        wrk2[here] = centre + omega * ss;
      }
    }
  }
}
