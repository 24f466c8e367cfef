// Stencils whose threads read what their neighbours read at an offset: rows, stars and boxes, a
// thread for each point. jacobi_loops walks over the grid in loops, as the kernels of ../cuda do.
#include "../cuda/grid.cuh"

template <int radius, typename Real>
__device__ __forceinline__ void row(const Real *x, Real *y, int n) {
  const int i = FIRST(x, 0);
  if (i < radius || i >= n - radius)
    return;
  Real sum = 0;
#pragma unroll
  for (int k = -radius; k <= radius; ++k)
    sum += Real(radius + 1 - (k < 0 ? -k : k)) * x[i + k];
  y[i] = sum;
}

extern "C" __global__ void row1(const float *x, float *y, int n) { row<1>(x, y, n); }
extern "C" __global__ void row2(const float *x, float *y, int n) { row<2>(x, y, n); }
extern "C" __global__ void row3(const float *x, float *y, int n) { row<3>(x, y, n); }
extern "C" __global__ void row4(const float *x, float *y, int n) { row<4>(x, y, n); }
extern "C" __global__ void row8(const float *x, float *y, int n) { row<8>(x, y, n); }
extern "C" __global__ void row4_double(const double *x, double *y, int n) { row<4>(x, y, n); }

template <int radius>
__device__ __forceinline__ void star(const float *x, float *y, int nx, int ny) {
  const int i = FIRST(x, 0), j = FIRST(y, 0);
  if (i < radius || i >= nx - radius || j < radius || j >= ny - radius)
    return;
  float sum = x[at(nx, i, j)];
#pragma unroll
  for (int k = 1; k <= radius; ++k)
    sum += 0.1f * (x[at(nx, i - k, j)] + x[at(nx, i + k, j)]) +
           0.2f * (x[at(nx, i, j - k)] + x[at(nx, i, j + k)]);
  y[at(nx, i, j)] = sum;
}

extern "C" __global__ void star1(const float *x, float *y, int nx, int ny) { star<1>(x, y, nx, ny); }
extern "C" __global__ void star2(const float *x, float *y, int nx, int ny) { star<2>(x, y, nx, ny); }
extern "C" __global__ void star4(const float *x, float *y, int nx, int ny) { star<4>(x, y, nx, ny); }

template <int radius>
__device__ __forceinline__ void box(const float *x, float *y, int nx, int ny) {
  const int i = FIRST(x, 0), j = FIRST(y, 0);
  if (i < radius || i >= nx - radius || j < radius || j >= ny - radius)
    return;
  float sum = 0;
#pragma unroll
  for (int b = -radius; b <= radius; ++b)
#pragma unroll
    for (int a = -radius; a <= radius; ++a)
      sum += 1.0f / float(1 + a * a + b * b) * x[at(nx, i + a, j + b)];
  y[at(nx, i, j)] = sum;
}

extern "C" __global__ void box1(const float *x, float *y, int nx, int ny) { box<1>(x, y, nx, ny); }
extern "C" __global__ void box2(const float *x, float *y, int nx, int ny) { box<2>(x, y, nx, ny); }
extern "C" __global__ void box3(const float *x, float *y, int nx, int ny) { box<3>(x, y, nx, ny); }

extern "C" __global__ void jacobi_loops(const float *x, float *y, int nx, int ny) {
  GRID_LOOP(j, y, 1, ny) {
    GRID_LOOP(i, x, 1, nx) {
      y[at(nx, i, j)] = 0.3f * (x[at(nx, i - 1, j - 1)] + x[at(nx, i + 1, j - 1)] +
                                x[at(nx, i - 1, j + 1)] + x[at(nx, i + 1, j + 1)]) +
                        0.2f * (x[at(nx, i - 1, j)] + x[at(nx, i + 1, j)] + x[at(nx, i, j - 1)] +
                                x[at(nx, i, j + 1)]) +
                        x[at(nx, i, j)];
    }
  }
}

template <int radius>
__device__ __forceinline__ void cube_star(const float *x, float *y, int nx, int ny, int nz) {
  const int i = FIRST(x, 0), j = FIRST(y, 0), k = FIRST(z, 0);
  if (i < radius || i >= nx - radius || j < radius || j >= ny - radius || k < radius ||
      k >= nz - radius)
    return;
  float sum = x[at(nx, ny, i, j, k)];
#pragma unroll
  for (int d = 1; d <= radius; ++d)
    sum += 0.1f * (x[at(nx, ny, i - d, j, k)] + x[at(nx, ny, i + d, j, k)]) +
           0.2f * (x[at(nx, ny, i, j - d, k)] + x[at(nx, ny, i, j + d, k)]) +
           0.3f * (x[at(nx, ny, i, j, k - d)] + x[at(nx, ny, i, j, k + d)]);
  y[at(nx, ny, i, j, k)] = sum;
}

extern "C" __global__ void cube7(const float *x, float *y, int nx, int ny, int nz) {
  cube_star<1>(x, y, nx, ny, nz);
}
extern "C" __global__ void cube13(const float *x, float *y, int nx, int ny, int nz) {
  cube_star<2>(x, y, nx, ny, nz);
}

extern "C" __global__ void cube27(const float *x, float *y, int nx, int ny, int nz) {
  const int i = FIRST(x, 0), j = FIRST(y, 0), k = FIRST(z, 0);
  if (i < 1 || i >= nx - 1 || j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1)
    return;
  float sum = 0;
#pragma unroll
  for (int c = -1; c <= 1; ++c)
#pragma unroll
    for (int b = -1; b <= 1; ++b)
#pragma unroll
      for (int a = -1; a <= 1; ++a)
        sum += 1.0f / float(1 + a * a + b * b + c * c) * x[at(nx, ny, i + a, j + b, k + c)];
  y[at(nx, ny, i, j, k)] = sum;
}
