// Hyperbolic term of the compressible Navier-Stokes equations, in the style of a combustion code:
// flux differences of density, two momenta and energy (cons1 to cons4) along x, the leading
// dimension, and y, fourth order. q1 and q2 are the velocities along x and y, q4 is the pressure.
#include "grid.cuh"

/// Fourth-order difference of f over the four points at one and two steps around `here`.
template <class F> __device__ __forceinline__ float difference(int here, int step, const F &f) {
  const float inner = f(here + step) - f(here - step);
  const float outer = f(here + 2 * step) - f(here - 2 * step);
  return 2.0f / 3.0f * inner - 1.0f / 12.0f * outer;
}

extern "C" __global__ void hypterm(int nx, int ny, int nz, float dxinv, float dyinv,
                                   const float *cons1, const float *cons2, const float *cons3,
                                   const float *cons4, const float *q1, const float *q2,
                                   const float *q4, float *flux1, float *flux2, float *flux3,
                                   float *flux4) {
  GRID_LOOP(k, z, 0, nz) {
    GRID_LOOP(j, y, 2, ny) {
      GRID_LOOP(i, x, 2, nx) {
        const int here = at(nx, ny, i, j, k);
        const float density = dxinv * difference(here, 1, [=](int p) { return cons1[p] * q1[p]; }) +
                              dyinv * difference(here, nx, [=](int p) { return cons1[p] * q2[p]; });
        const float momentum_x =
            dxinv * difference(here, 1, [=](int p) { return cons2[p] * q1[p] + q4[p]; }) +
            dyinv * difference(here, nx, [=](int p) { return cons2[p] * q2[p]; });
        const float momentum_y =
            dxinv * difference(here, 1, [=](int p) { return cons3[p] * q1[p]; }) +
            dyinv * difference(here, nx, [=](int p) { return cons3[p] * q2[p] + q4[p]; });
        const float energy =
            dxinv * difference(here, 1, [=](int p) { return (cons4[p] + q4[p]) * q1[p]; }) +
            dyinv * difference(here, nx, [=](int p) { return (cons4[p] + q4[p]) * q2[p]; });
        flux1[here] = -density;
        flux2[here] = -momentum_x;
        flux3[here] = -momentum_y;
        flux4[here] = -energy;
      }
    }
  }
}
