// The part of the hyperbolic term along z: it adds to the fluxes.
#include "hypterm.cuh"
#include "launch.cuh"

extern "C" __global__ void hypterm_z(int nx, int ny, int nz, float dzinv,
                                     float *__restrict__ flux_0, float *__restrict__ flux_1,
                                     float *__restrict__ flux_2, float *__restrict__ flux_3,
                                     float *__restrict__ flux_4, const float *__restrict__ cons_1,
                                     const float *__restrict__ cons_2,
                                     const float *__restrict__ cons_3,
                                     const float *__restrict__ cons_4,
                                     const float *__restrict__ q_3, const float *__restrict__ q_4) {
  const int i = THREAD(x), j = THREAD(y), k = THREAD(z);
  if (!IN_CORE(i, j, k))
    return;
  const int here = AT3(i, j, k);
  flux_0[here] -= difference([=](int n) { return cons_3[here + nx * ny * n]; }) * dzinv;
  flux_1[here] -=
      difference([=](int n) { return cons_1[here + nx * ny * n] * q_3[here + nx * ny * n]; }) *
      dzinv;
  flux_2[here] -=
      difference([=](int n) { return cons_2[here + nx * ny * n] * q_3[here + nx * ny * n]; }) *
      dzinv;
  flux_3[here] -=
      difference([=](int n) {
        return cons_3[here + nx * ny * n] * q_3[here + nx * ny * n] + q_4[here + nx * ny * n];
      }) *
      dzinv;
  flux_4[here] -=
      difference([=](int n) {
        return (cons_4[here + nx * ny * n] + q_4[here + nx * ny * n]) * q_3[here + nx * ny * n];
      }) *
      dzinv;
}
