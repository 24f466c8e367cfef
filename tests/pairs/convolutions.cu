// Convolutions and stencils: from global memory, from tiles with halos, from registers, separated.

#define KERNEL extern "C" __global__ void
__constant__ float weights[7];

/* pair convolution agree
kernel = "convolve"
grid = [4]
block = [64]
buffer = [{ name = "in", type = "f32", count = 256, fill = "f32" }, { name = "out", type = "f32", count = 256 }]
variable = [{ name = "weights", type = "f32", values = [0.5, -1.0, 2.0, 3.0, 1.5, -0.25, 1.0] }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 256 }]
second = { kernel = "convolve_tile" }
end */
KERNEL convolve(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int j = -3; j <= 3; ++j) s = fmaf(weights[j + 3], i + j >= 0 && i + j < n ? in[i + j] : 0, s);
  if (i < n) out[i] = s;
}
template <int Halo, bool Waits> __device__ void from_tile(const float *in, float *out, int n) {
  __shared__ float tile[64 + 6];
  const int first = blockIdx.x * 64 - 3;
  for (int i = threadIdx.x; i < 64 + Halo; i += 64) tile[i] = first + i >= 0 && first + i < n ? in[first + i] : 0;
  if (Waits) __syncthreads();
  float s = 0;
  for (int j = 0; j < 7; ++j) s = fmaf(weights[j], tile[threadIdx.x + j], s);
  if (blockIdx.x * 64 + threadIdx.x < n) out[blockIdx.x * 64 + threadIdx.x] = s;
}
KERNEL convolve_tile(const float *in, float *out, int n) { from_tile<6, true>(in, out, n); }
/* pair convolution-short-halo differ
kernel = "convolve"
grid = [4]
block = [64]
buffer = [{ name = "in", type = "f32", count = 256, fill = "f32" }, { name = "out", type = "f32", count = 256 }]
variable = [{ name = "weights", type = "f32", values = [0.5, -1.0, 2.0, 3.0, 1.5, -0.25, 1.0] }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 256 }]
second = { kernel = "convolve_short_halo" }
end */
KERNEL convolve_short_halo(const float *in, float *out, int n) { from_tile<5, true>(in, out, n); }
/* pair convolution-no-barrier differ
kernel = "convolve"
grid = [4]
block = [64]
buffer = [{ name = "in", type = "f32", count = 256, fill = "f32" }, { name = "out", type = "f32", count = 256 }]
variable = [{ name = "weights", type = "f32", values = [0.5, -1.0, 2.0, 3.0, 1.5, -0.25, 1.0] }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 256 }]
second = { kernel = "convolve_no_barrier" }
end */
KERNEL convolve_no_barrier(const float *in, float *out, int n) { from_tile<6, false>(in, out, n); }
/* pair convolution-four-a-thread agree
kernel = "convolve"
grid = [4]
block = [64]
buffer = [{ name = "in", type = "f32", count = 256, fill = "f32" }, { name = "out", type = "f32", count = 256 }]
variable = [{ name = "weights", type = "f32", values = [0.5, -1.0, 2.0, 3.0, 1.5, -0.25, 1.0] }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 256 }]
second = { kernel = "convolve_four", grid = [2], block = [32] }
end */
KERNEL convolve_four(const float *in, float *out, int n) {
  const int first = 4 * (blockIdx.x * 32 + threadIdx.x);
  float window[10], s[4] = {};
  for (int i = 0; i < 10; ++i) window[i] = first + i - 3 >= 0 && first + i - 3 < n ? in[first + i - 3] : 0;
  for (int r = 0; r < 4; ++r)
    for (int j = 0; j < 7; ++j) s[r] = fmaf(weights[j], window[r + j], s[r]);
  *reinterpret_cast<float4 *>(out + first) = make_float4(s[0], s[1], s[2], s[3]);
}
/* pair convolution-four-at-the-end differ
kernel = "convolve"
grid = [4]
block = [64]
buffer = [{ name = "in", type = "f32", count = 256, fill = "f32" }, { name = "out", type = "f32", count = 256 }]
variable = [{ name = "weights", type = "f32", values = [0.5, -1.0, 2.0, 3.0, 1.5, -0.25, 1.0] }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 254 }]
second = { kernel = "convolve_four", grid = [2], block = [32] }
end */

/* pair box-separated agree --reassociate
kernel = "box"
grid = [2, 2]
block = [16, 16]
buffer = [{ name = "in", type = "f32", count = 1024, fill = "f32" }, { name = "out", type = "f32", count = 1024 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "box_separated" }
end */
KERNEL box(const float *in, float *out) { // sums of 3 x 3 of 32 x 32, which wraps around
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) s += in[(y + j & 31) * 32 + (x + i & 31)];
  out[y * 32 + x] = s;
}
KERNEL box_separated(const float *in, float *out) {
  __shared__ float rows[18][16];
  const int x = blockIdx.x * 16 + threadIdx.x;
  for (int j = threadIdx.y; j < 18; j += 16) {
    const float *row = in + (blockIdx.y * 16 + j - 1 & 31) * 32;
    rows[j][threadIdx.x] = row[x - 1 & 31] + row[x] + row[x + 1 & 31];
  }
  __syncthreads();
  out[(blockIdx.y * 16 + threadIdx.y) * 32 + x] =
      rows[threadIdx.y][threadIdx.x] + rows[threadIdx.y + 1][threadIdx.x] + rows[threadIdx.y + 2][threadIdx.x];
}
/* pair box-shuffles-without-corner differ --reassociate
kernel = "box"
grid = [2, 2]
block = [16, 16]
buffer = [{ name = "in", type = "f32", count = 1024, fill = "f32" }, { name = "out", type = "f32", count = 1024 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "box_shuffled" }
end */
KERNEL box_shuffled(const float *in, float *out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int j = -1; j <= 1; ++j) {
    const float v = in[(y + j & 31) * 32 + x];
    s += v + __shfl_up_sync(0xffffffff, v, 1) + __shfl_down_sync(0xffffffff, v, 1);
  }
  out[y * 32 + x] = s;
}

/* pair stencil-rolling agree
kernel = "stencil"
grid = [2, 8]
block = [16, 4]
buffer = [{ name = "in", type = "f32", count = 1024, fill = "f32" }, { name = "out", type = "f32", count = 1024 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "stencil_rolling", grid = [1], block = [32] }
end */
KERNEL stencil(const float *in, float *out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (y > 0 && y < 31) out[y * 32 + x] = in[(y - 1) * 32 + x] + 2 * in[y * 32 + x] + in[(y + 1) * 32 + x];
}
KERNEL stencil_rolling(const float *in, float *out) {
  float above = in[threadIdx.x], here = in[32 + threadIdx.x];
  for (int y = 1; y < 31; ++y) {
    const float below = in[(y + 1) * 32 + threadIdx.x];
    out[y * 32 + threadIdx.x] = above + 2 * here + below;
    above = here;
    here = below;
  }
}
