// The part of the hyperbolic term along x, the leading dimension: it sets the fluxes.
#include "hypterm.cuh"
#include "launch.cuh"

extern "C" __global__ void hypterm_x(int nx, int ny, int nz, float dxinv,
                                     float *__restrict__ flux_0, float *__restrict__ flux_1,
                                     float *__restrict__ flux_2, float *__restrict__ flux_3,
                                     float *__restrict__ flux_4, const float *__restrict__ cons_1,
                                     const float *__restrict__ cons_2,
                                     const float *__restrict__ cons_3,
                                     const float *__restrict__ cons_4,
                                     const float *__restrict__ q_1, const float *__restrict__ q_4) {
  const int i = THREAD(x), j = THREAD(y), k = THREAD(z);
  if (!IN_CORE(i, j, k))
    return;
  const int here = AT3(i, j, k);
  flux_0[here] = -difference([=](int n) { return cons_1[here + n]; }) * dxinv;
  flux_1[here] =
      -difference([=](int n) { return cons_1[here + n] * q_1[here + n] + q_4[here + n]; }) * dxinv;
  flux_2[here] = -difference([=](int n) { return cons_2[here + n] * q_1[here + n]; }) * dxinv;
  flux_3[here] = -difference([=](int n) { return cons_3[here + n] * q_1[here + n]; }) * dxinv;
  flux_4[here] = -difference([=](int n) {
    return (cons_4[here + n] + q_4[here + n]) * q_1[here + n];
  }) * dxinv;
}
