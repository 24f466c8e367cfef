// Streaming kernels, one element per thread: what siblings are measured on besides the suite; and
// what the launcher needs to fill and to compare buffers.

#include <cstdint>

template <class T> __device__ void unary(T *out, const T *in, T a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = static_cast<T>(a * in[i]);
}

extern "C" {

__global__ void copy32(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}
__global__ void scale8(uint8_t *out, const uint8_t *in, int n) {
  unary<uint8_t>(out, in, 3, n);
}
__global__ void scale16(uint16_t *out, const uint16_t *in, int n) {
  unary<uint16_t>(out, in, 3, n);
}
__global__ void scale32(float *out, const float *in, int n) { unary<float>(out, in, 3, n); }
__global__ void scale64(double *out, const double *in, int n) { unary<double>(out, in, 3, n); }
__global__ void vecadd(float *c, const float *a, const float *b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}
__global__ void axpy(float *y, const float *x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
__global__ void triad(double *a, const double *b, const double *c, double s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] = b[i] + s * c[i];
}
__global__ void four(float *o, const float *a, const float *b, const float *c, const float *d,
                     int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    o[i] = a[i] * b[i] + c[i] * d[i];
}

// Words that depend on their place and on `seed`: floats or doubles from 0.5 to 1.5, any bits, or
// floats 0 and 1.
__global__ void fill_words(uint32_t *words, uint64_t count, uint32_t seed, int kind) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761u + seed;
    x = (x ^ (x >> 15)) * 2246822519u;
    x = (x ^ (x >> 13)) * 3266489917u;
    x ^= x >> 16;
    const float f = 0.5f + static_cast<float>(x >> 8) * (1.0f / 16777216.0f);
    words[i] = kind == 0   ? __float_as_uint(f)
               : kind == 1 ? x
               : kind == 2 ? __float_as_uint(static_cast<float>(x & 1))
               : (i & 1)   ? (0x3fe00000u | (x & 0xfffffu))
                           : x;
  }
}

__global__ void count_differences(const uint32_t *a, const uint32_t *b, uint64_t count,
                                  unsigned long long *differences) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  unsigned long long mine = 0;
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < count;
       i += step)
    mine += a[i] != b[i];
  if (mine)
    atomicAdd(differences, mine);
}

// A number that depends on every word and on where it stands, and not on the order of the sums.
__global__ void sum_words(const uint32_t *a, uint64_t count, unsigned long long *sum) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  unsigned long long mine = 0;
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    const unsigned long long mixed = (i * 0x9E3779B97F4A7C15ull + a[i]) * 0xD6E8FEB86659FD93ull;
    mine += mixed ^ (mixed >> 32);
  }
  atomicAdd(sum, mine);
}
}
