// Finite impulse response filter with 16 taps over a 1-D signal.
#include "grid.cuh"

extern "C" __global__ void fir(int nx, const float *taps, const float *in, float *out) {
#pragma unroll 1
  for (int i = FIRST(x, 0); i < nx - 15; i += STRIDE(x)) {
    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t < 16; t++)
      sum += taps[t] * in[i + t];
    out[i] = sum;
  }
}
