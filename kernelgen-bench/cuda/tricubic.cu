// Tricubic interpolation: 4x4x4 values of u0, Lagrange weights from the offsets a, b, c of the
// point. The weights are worked out once and stay in registers.
#include "grid.cuh"

/// Lagrange weights of a point at `t` between the second and third of four equidistant nodes.
struct CubicWeights {
  float w[4];
  __device__ __forceinline__ explicit CubicWeights(float t)
      : w{-1.0f / 6.0f * t * (t - 1.0f) * (t - 2.0f), 0.5f * (t + 1.0f) * (t - 1.0f) * (t - 2.0f),
          -0.5f * t * (t + 1.0f) * (t - 2.0f), 1.0f / 6.0f * t * (t + 1.0f) * (t - 1.0f)} {}
};

extern "C" __global__ void tricubic(int nx, int ny, int nz, const float *u0, const float *a,
                                    const float *b, const float *c, float *u1) {
  GRID_LOOP(k, z, 2, nz) {
    GRID_LOOP(j, y, 2, ny) {
      GRID_LOOP(i, x, 2, nx) {
        const CubicWeights wx(a[at(nx, ny, i, j, k)]);
        const CubicWeights wy(b[at(nx, ny, i, j, k)]);
        const CubicWeights wz(c[at(nx, ny, i, j, k)]);
        float sum = 0.0f;
#pragma unroll
        for (int n = 0; n < 4; n++) {
#pragma unroll
          for (int m = 0; m < 4; m++) {
            float row = 0.0f;
#pragma unroll
            for (int l = 0; l < 4; l++)
              row += wx.w[l] * u0[at(nx, ny, i + l - 1, j + m - 1, k + n - 1)];
            sum += wz.w[n] * wy.w[m] * row;
          }
        }
        u1[at(nx, ny, i, j, k)] = sum;
      }
    }
  }
}
