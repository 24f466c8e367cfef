// Arithmetic: n bodies, Mandelbrot in three precisions, Monte Carlo, a stencil in time.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void bodies(int n, float step, const float4 *in, float4 *out) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = i < n ? in[i] : make_float4(0, 0, 0, 0);
  float x = 0, y = 0, z = 0;
  for (int t = 0; t < n; t += 64) {
    __syncthreads();
    tile[threadIdx.x] = t + threadIdx.x < n ? in[t + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      const float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      const float square = dx * dx + dy * dy + dz * dz + 0.01f;
      const float inverse = 1.0f / sqrtf(square);
      const float force = tile[j].w * inverse * inverse * inverse;
      x += dx * force;
      y += dy * force;
      z += dz * force;
    }
  }
  if (i < n)
    out[i] = make_float4(me.x + step * x, me.y + step * y, me.z + step * z, me.w);
}

template <class T> __device__ int mandelbrot(T cx, T cy, T four, int limit) {
  T x = cx, y = cy;
  int count = 0;
  while (count < limit) {
    const T xx = x * x, yy = y * y;
    if (xx + yy > four)
      break;
    const T xy = x * y;
    x = xx - yy + cx;
    y = xy + xy + cy;
    ++count;
  }
  return count;
}

extern "C" __global__ void mandelbrot_f32(int width, int height, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < width && j < height)
    out[j * width + i] = mandelbrot(-2.0f + 2.5f * i / width, -1.25f + 2.5f * j / height, 4.0f, 60);
}
extern "C" __global__ void mandelbrot_f64(int width, int height, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < width && j < height)
    out[j * width + i] = mandelbrot(-2.0 + 2.5 * i / width, -1.25 + 2.5 * j / height, 4.0, 60);
}
extern "C" __global__ void mandelbrot_f16(int width, int height, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < width && j < height)
    out[j * width + i] = mandelbrot(__float2half(-2.0f + 2.5f * i / width),
                                    __float2half(-1.25f + 2.5f * j / height),
                                    __float2half(4.0f), 60);
}

extern "C" __global__ void dot_halves(int n, const __half2 *a, const __nv_bfloat162 *b,
                                      float *out) {
  __half2 sum = __float2half2_rn(0);
  __nv_bfloat162 other = __float2bfloat162_rn(0);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const __half2 x = __hmin2(__hmax2(a[i], __float2half2_rn(-4)), __float2half2_rn(4));
    sum = __hfma2(x, x, sum);
    other = __hfma2(b[i], b[i], other);
    if (__hbgt2(x, __hneg2(x)))
      sum = __hadd2(sum, __habs2(x));
  }
  out[4 * threadIdx.x] = __low2float(sum);
  out[4 * threadIdx.x + 1] = __high2float(sum);
  out[4 * threadIdx.x + 2] = __low2float(other);
  out[4 * threadIdx.x + 3] = __high2float(other);
}

// A generator with 64-bit multiplication, points in a circle.
extern "C" __global__ void monte_carlo(int rounds, unsigned long long *out) {
  unsigned long long state = 0x9e3779b97f4a7c15ull * (blockIdx.x * blockDim.x + threadIdx.x + 1);
  unsigned inside = 0;
  for (int i = 0; i < rounds; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const unsigned x = static_cast<unsigned>(state >> 33);
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double a = x / 2147483648.0, b = static_cast<unsigned>(state >> 33) / 2147483648.0;
    inside += a * a + b * b <= 1.0;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = state ^ inside;
}

extern "C" __global__ void heat_in_time(int steps, const double *in, double *out) {
  __shared__ double now[130];
  now[threadIdx.x + 1] = in[threadIdx.x];
  if (threadIdx.x == 0)
    now[0] = now[129] = 0;
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    const double next = now[threadIdx.x + 1] +
                        0.25 * (now[threadIdx.x] - 2 * now[threadIdx.x + 1] + now[threadIdx.x + 2]);
    __syncthreads();
    now[threadIdx.x + 1] = next;
    __syncthreads();
  }
  out[threadIdx.x] = now[threadIdx.x + 1];
}
