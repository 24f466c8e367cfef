// Mixed second differences of a displacement field on a curvilinear grid, fourth order: Lame
// parameters mu and la along x, one metric coefficient per component along z, two at the point.
#include "grid.cuh"

/// Weight of the neighbour at `n` (1 or 2, either sign) in a fourth-order first difference.
__device__ constexpr float weight(int n) {
  return (n > 0 ? 1.0f : -1.0f) * (n == 1 || n == -1 ? 2.0f / 3.0f : -1.0f / 12.0f);
}

/// Fourth-order first difference of f along one axis.
template <class F> __device__ __forceinline__ float first(int here, int step, const F &f) {
  return weight(-2) * f(here - 2 * step) + weight(-1) * f(here - step) +
         weight(1) * f(here + step) + weight(2) * f(here + 2 * step);
}

/// Difference along `outer` of coefficient times difference of u along `inner`.
__device__ __forceinline__ float mixed(const float *coefficient, const float *u, int here,
                                       int outer, int inner) {
  const auto u_at = [=](int p) { return u[p]; };
  return first(here, outer, [=](int p) { return coefficient[p] * first(p, inner, u_at); });
}

extern "C" __global__ void derivative(int nx, int ny, int nz, const float *mu, const float *la,
                                      const float *met1, const float *met2, const float *met3,
                                      const float *met4, const float *jac, const float *u1,
                                      const float *u2, const float *u3, float *lu1, float *lu2,
                                      float *lu3) {
  GRID_LOOP(k, z, 2, nz) {
    GRID_LOOP(j, y, 2, ny) {
      GRID_LOOP(i, x, 2, nx) {
        const int here = at(nx, ny, i, j, k), row = nx, plane = nx * ny;
        const auto component = [=](const float *u, const float *met) {
          return jac[here] * (mixed(mu, u, here, 1, row) + mixed(la, u, here, 1, plane)) +
                 met4[here] * mixed(met, u, here, plane, row);
        };
        const float r1 = component(u1, met1), r2 = component(u2, met2), r3 = component(u3, met3);
        lu1[here] = r1;
        lu2[here] = r2;
        lu3[here] = r3;
      }
    }
  }
}
