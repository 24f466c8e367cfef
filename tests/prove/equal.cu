// Pairs of kernels that compute the same, for `prove` of two inputs. Each is a launch file between the
// lines `pair NAME OPTIONS` and `end`; with `unknown` in front of the options no proof is expected.

#define KERNEL extern "C" __global__ void
constexpr unsigned whole_warp = 0xffffffff;

/* pair sum-backwards --reals
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 128, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "sum_backwards" }
end */
/* pair sum-tree --reals
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 128, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "sum_tree", block = [32] }
end */
/* pair sum-four-at-a-time --reals
kernel = "sum_backwards"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 128, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "sum_four" }
end */
/* pair sum-warp --reals
kernel = "sum_tree"
grid = [4]
block = [32]
buffer = [{ name = "in", type = "f32", count = 128, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "sum_warp" }
end */
KERNEL sum(const float *in, float *out) {
  float s = 0;
  for (int i = 0; i < 32; ++i) s += in[blockIdx.x * 32 + i];
  out[blockIdx.x] = s;
}
KERNEL sum_backwards(const float *in, float *out) {
  float s = 0;
  for (int i = 31; i >= 0; --i) s += in[blockIdx.x * 32 + i];
  out[blockIdx.x] = s;
}
KERNEL sum_tree(const float *in, float *out) {
  __shared__ float part[32];
  part[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
KERNEL sum_four(const float *in, float *out) {
  float s[4] = {};
  for (int i = 0; i < 32; i += 4)
    for (int k = 0; k < 4; ++k) s[k] += in[blockIdx.x * 32 + i + k];
  out[blockIdx.x] = (s[0] + s[1]) + (s[2] + s[3]);
}
KERNEL sum_warp(const float *in, float *out) {
  float s = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(whole_warp, s, d);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

/* pair sum-of-integers
kernel = "isum"
grid = [2]
block = [1]
buffer = [{ name = "in", type = "s32", count = 64, fill = "random" }, { name = "out", type = "s32", count = 2 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "isum_tree", block = [32] }
end */
/* pair sum-of-integers-atomic
kernel = "isum"
grid = [2]
block = [1]
buffer = [{ name = "in", type = "s32", count = 64, fill = "random" }, { name = "out", type = "s32", count = 2 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "isum_atomic", block = [32] }
end */
KERNEL isum(const int *in, int *out) {
  int s = 0;
  for (int i = 0; i < 32; ++i) s += in[blockIdx.x * 32 + i];
  out[blockIdx.x] = s;
}
KERNEL isum_tree(const int *in, int *out) {
  __shared__ int part[32];
  part[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
KERNEL isum_atomic(const int *in, int *out) { atomicAdd(&out[blockIdx.x], in[blockIdx.x * 32 + threadIdx.x]); }

/* pair maximum --reals
kernel = "largest"
grid = [2]
block = [1]
buffer = [{ name = "in", type = "f32", count = 64, fill = "f32" }, { name = "out", type = "f32", count = 2 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "largest_warp", block = [32] }
end */
KERNEL largest(const float *in, float *out) {
  float m = in[blockIdx.x * 32];
  for (int i = 1; i < 32; ++i) m = fmaxf(m, in[blockIdx.x * 32 + i]);
  out[blockIdx.x] = m;
}
KERNEL largest_warp(const float *in, float *out) {
  float m = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(whole_warp, m, d));
  if (threadIdx.x == 0) out[blockIdx.x] = m;
}

/* pair product-tiled
kernel = "product"
grid = [2, 2]
block = [8, 8]
buffer = [{ name = "a", type = "f32", count = 256, fill = "f32" }, { name = "b", type = "f32", count = 256, fill = "f32" }, { name = "c", type = "f32", count = 256 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }]
second = { kernel = "product_tiled" }
end */
/* pair product-halves --reals
kernel = "product_tiled"
grid = [2, 2]
block = [8, 8]
buffer = [{ name = "a", type = "f32", count = 256, fill = "f32" }, { name = "b", type = "f32", count = 256, fill = "f32" }, { name = "c", type = "f32", count = 256 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }]
second = { kernel = "product_halves" }
end */
KERNEL product(const float *a, const float *b, float *c) {
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float s = 0;
  for (int k = 0; k < 16; ++k) s += a[y * 16 + k] * b[k * 16 + x];
  c[y * 16 + x] = s;
}
KERNEL product_tiled(const float *a, const float *b, float *c) {
  __shared__ float p[8][8], q[8][8];
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float s = 0;
  for (int tile = 0; tile < 16; tile += 8) {
    p[threadIdx.y][threadIdx.x] = a[y * 16 + tile + threadIdx.x];
    q[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * 16 + x];
    __syncthreads();
    for (int k = 0; k < 8; ++k) s += p[threadIdx.y][k] * q[k][threadIdx.x];
    __syncthreads();
  }
  c[y * 16 + x] = s;
}
KERNEL product_halves(const float *a, const float *b, float *c) {
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float s = 0, t = 0;
  for (int k = 0; k < 16; k += 2) {
    s = fmaf(a[y * 16 + k], b[k * 16 + x], s);
    t = fmaf(a[y * 16 + k + 1], b[(k + 1) * 16 + x], t);
  }
  c[y * 16 + x] = s + t;
}

/* pair three-products --reals
kernel = "left_first"
grid = [1]
block = [6, 6]
buffer = [{ name = "a", type = "f32", count = 36, fill = "f32" }, { name = "b", type = "f32", count = 36, fill = "f32" }, { name = "c", type = "f32", count = 36, fill = "f32" }, { name = "out", type = "f32", count = 36 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "c" }, { buffer = "out" }]
second = { kernel = "right_first" }
end */
KERNEL left_first(const float *a, const float *b, const float *c, float *out) {
  float s = 0;
  for (int j = 0; j < 6; ++j) {
    float t = 0;
    for (int k = 0; k < 6; ++k) t += a[threadIdx.y * 6 + k] * b[k * 6 + j];
    s += t * c[j * 6 + threadIdx.x];
  }
  out[threadIdx.y * 6 + threadIdx.x] = s;
}
KERNEL right_first(const float *a, const float *b, const float *c, float *out) {
  float s = 0;
  for (int k = 0; k < 6; ++k) {
    float t = 0;
    for (int j = 0; j < 6; ++j) t += b[k * 6 + j] * c[j * 6 + threadIdx.x];
    s += a[threadIdx.y * 6 + k] * t;
  }
  out[threadIdx.y * 6 + threadIdx.x] = s;
}

/* pair softmax-fused --reals
kernel = "softmax"
grid = [2]
block = [1]
buffer = [{ name = "in", type = "f32", count = 64, fill = "f32" }, { name = "out", type = "f32", count = 64 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "softmax_fused", block = [32] }
end */
/* pair softmax-online --reals
kernel = "softmax"
grid = [2]
block = [1]
buffer = [{ name = "in", type = "f32", count = 64, fill = "f32" }, { name = "out", type = "f32", count = 64 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "softmax_online", block = [1] }
end */
/* pair softmax-exact-exponential --reals
kernel = "softmax_expf"
grid = [2]
block = [1]
buffer = [{ name = "in", type = "f32", count = 64, fill = "f32" }, { name = "out", type = "f32", count = 64 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "softmax_expf_warp", block = [32] }
end */
KERNEL softmax(const float *in, float *out) {
  in += blockIdx.x * 32;
  float m = in[0], s = 0;
  for (int i = 1; i < 32; ++i) m = fmaxf(m, in[i]);
  for (int i = 0; i < 32; ++i) s += __expf(in[i] - m);
  for (int i = 0; i < 32; ++i) out[blockIdx.x * 32 + i] = __expf(in[i] - m) / s;
}
KERNEL softmax_fused(const float *in, float *out) {
  const float x = in[blockIdx.x * 32 + threadIdx.x];
  float m = x;
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(whole_warp, m, d));
  const float e = __expf(x - m);
  float s = e;
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(whole_warp, s, d);
  out[blockIdx.x * 32 + threadIdx.x] = e * (1 / s);
}
KERNEL softmax_online(const float *in, float *out) {
  in += blockIdx.x * 32;
  float m = in[0], s = 1;
  for (int i = 1; i < 32; ++i) {
    const float larger = fmaxf(m, in[i]);
    s = s * __expf(m - larger) + __expf(in[i] - larger);
    m = larger;
  }
  for (int i = 0; i < 32; ++i) out[blockIdx.x * 32 + i] = __expf(in[i] - m) / s;
}
KERNEL softmax_expf(const float *in, float *out) {
  in += blockIdx.x * 32;
  float m = in[0], s = 0;
  for (int i = 1; i < 32; ++i) m = fmaxf(m, in[i]);
  for (int i = 0; i < 32; ++i) s += expf(in[i] - m);
  for (int i = 0; i < 32; ++i) out[blockIdx.x * 32 + i] = expf(in[i] - m) / s;
}
KERNEL softmax_expf_warp(const float *in, float *out) {
  const float x = in[blockIdx.x * 32 + threadIdx.x];
  float m = x;
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(whole_warp, m, d));
  const float e = expf(x - m);
  float s = e;
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(whole_warp, s, d);
  out[blockIdx.x * 32 + threadIdx.x] = e / s;
}

/* pair variance --reals
kernel = "variance"
grid = [2]
block = [1]
buffer = [{ name = "in", type = "f32", count = 32, fill = "f32" }, { name = "out", type = "f32", count = 2 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "variance_of_squares" }
end */
KERNEL variance(const float *in, float *out) {
  float mean = 0, v = 0;
  for (int i = 0; i < 16; ++i) mean += in[blockIdx.x * 16 + i];
  mean /= 16;
  for (int i = 0; i < 16; ++i) v += (in[blockIdx.x * 16 + i] - mean) * (in[blockIdx.x * 16 + i] - mean);
  out[blockIdx.x] = v / 16;
}
KERNEL variance_of_squares(const float *in, float *out) {
  float mean = 0, v = 0;
  for (int i = 0; i < 16; ++i) {
    const float x = in[blockIdx.x * 16 + i];
    mean += x;
    v += x * x;
  }
  out[blockIdx.x] = v * 0.0625f - mean * 0.0625f * (mean * 0.0625f);
}

/* pair polynomial --reals
kernel = "powers"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "f64", count = 32, fill = "f64" }, { name = "y", type = "f64", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "horner" }
end */
KERNEL powers(const double *x, double *y) {
  const double v = x[threadIdx.x];
  y[threadIdx.x] = 2 * v * v * v - 0.5 * v * v + 7 * v - 1;
}
KERNEL horner(const double *x, double *y) {
  const double v = x[threadIdx.x];
  y[threadIdx.x] = fma(fma(fma(2.0, v, -0.5), v, 7.0), v, -1.0);
}

/* pair average
kernel = "average"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "u32", count = 64, fill = "random" }, { name = "y", type = "u32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "average_by_bits" }
end */
KERNEL average(const unsigned *x, unsigned *y) {
  y[threadIdx.x] = (unsigned)(((unsigned long long)x[threadIdx.x] + x[threadIdx.x + 32]) >> 1);
}
KERNEL average_by_bits(const unsigned *x, unsigned *y) {
  const unsigned a = x[threadIdx.x], b = x[threadIdx.x + 32];
  y[threadIdx.x] = (a & b) + ((a ^ b) >> 1);
}

/* pair bytes-swapped
kernel = "swap_by_shifts"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "u32", count = 32, fill = "random" }, { name = "y", type = "u32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "swap_by_permutation" }
end */
KERNEL swap_by_shifts(const unsigned *x, unsigned *y) {
  const unsigned v = x[threadIdx.x];
  y[threadIdx.x] = v << 24 | (v & 0xff00) << 8 | (v >> 8 & 0xff00) | v >> 24;
}
KERNEL swap_by_permutation(const unsigned *x, unsigned *y) { y[threadIdx.x] = __byte_perm(x[threadIdx.x], 0, 0x0123); }

/* pair bits-counted unknown
kernel = "count_by_instruction"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "u32", count = 32, fill = "random" }, { name = "y", type = "u32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "count_by_halves" }
end */
KERNEL count_by_instruction(const unsigned *x, unsigned *y) { y[threadIdx.x] = __popc(x[threadIdx.x]); }
KERNEL count_by_halves(const unsigned *x, unsigned *y) {
  unsigned v = x[threadIdx.x];
  v = v - (v >> 1 & 0x55555555);
  v = (v & 0x33333333) + (v >> 2 & 0x33333333);
  v = v + (v >> 4) & 0x0f0f0f0f;
  v = v + (v >> 8);
  y[threadIdx.x] = v + (v >> 16) & 63;
}

/* pair clamp
kernel = "clamp_by_branches"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "s32", count = 32, fill = "random" }, { name = "y", type = "s32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "clamp_by_minimum" }
end */
KERNEL clamp_by_branches(const int *x, int *y) {
  const int v = x[threadIdx.x];
  y[threadIdx.x] = v < -100 ? -100 : v > 100 ? 100 : v;
}
KERNEL clamp_by_minimum(const int *x, int *y) { y[threadIdx.x] = max(min(x[threadIdx.x], 100), -100); }

/* pair stencil-shared
kernel = "stencil"
grid = [3]
block = [16]
buffer = [{ name = "x", type = "f32", count = 50, fill = "f32" }, { name = "y", type = "f32", count = 50 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "stencil_shared" }
end */
KERNEL stencil(const float *x, float *y) {
  const int i = blockIdx.x * 16 + threadIdx.x + 1;
  y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
}
KERNEL stencil_shared(const float *x, float *y) {
  __shared__ float tile[18];
  const int i = blockIdx.x * 16 + threadIdx.x + 1;
  tile[threadIdx.x + 1] = x[i];
  if (threadIdx.x < 2) tile[threadIdx.x * 17] = x[blockIdx.x * 16 + threadIdx.x * 17];
  __syncthreads();
  y[i] = 0.25f * tile[threadIdx.x] + 0.5f * tile[threadIdx.x + 1] + 0.25f * tile[threadIdx.x + 2];
}

/* pair transpose
kernel = "transpose"
grid = [2, 2]
block = [8, 8]
buffer = [{ name = "x", type = "u16", count = 256, fill = "random" }, { name = "y", type = "u16", count = 256 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "transpose_shared" }
end */
KERNEL transpose(const unsigned short *x, unsigned short *y) {
  const int i = blockIdx.x * 8 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  y[i * 16 + j] = x[j * 16 + i];
}
KERNEL transpose_shared(const unsigned short *x, unsigned short *y) {
  __shared__ unsigned short tile[8][9];
  tile[threadIdx.y][threadIdx.x] = x[(blockIdx.y * 8 + threadIdx.y) * 16 + blockIdx.x * 8 + threadIdx.x];
  __syncthreads();
  y[(blockIdx.x * 8 + threadIdx.y) * 16 + blockIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

/* pair scan
kernel = "scan"
grid = [1]
block = [1]
buffer = [{ name = "x", type = "u32", count = 32, fill = "random" }, { name = "y", type = "u32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "scan_warp", block = [32] }
end */
KERNEL scan(const unsigned *x, unsigned *y) {
  unsigned s = 0;
  for (int i = 0; i < 32; ++i) y[i] = s += x[i];
}
KERNEL scan_warp(const unsigned *x, unsigned *y) {
  unsigned s = x[threadIdx.x];
  for (int d = 1; d < 32; d *= 2) {
    const unsigned before = __shfl_up_sync(whole_warp, s, d);
    if (threadIdx.x >= d) s += before;
  }
  y[threadIdx.x] = s;
}

/* pair vectors
kernel = "axpy"
grid = [2]
block = [32]
buffer = [{ name = "x", type = "f32", count = 64, fill = "f32" }, { name = "y", type = "f32", count = 64, fill = "f32" }]
argument = [{ buffer = "x" }, { buffer = "y" }, { value = 2.5 }]
second = { kernel = "axpy_four", grid = [1], block = [16] }
end */
KERNEL axpy(const float *x, float *y, float a) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  y[i] = a * x[i] + y[i];
}
KERNEL axpy_four(const float4 *x, float4 *y, float a) {
  const float4 v = x[threadIdx.x], w = y[threadIdx.x];
  y[threadIdx.x] = make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w);
}

/* pair structures
kernel = "lengths"
grid = [1]
block = [32]
buffer = [{ name = "p", type = "f32", count = 96, fill = "f32" }, { name = "out", type = "f32", count = 32 }]
argument = [{ buffer = "p" }, { buffer = "out" }]
second = { kernel = "lengths_shared" }
end */
KERNEL lengths(const float *p, float *out) {
  const float x = p[3 * threadIdx.x], y = p[3 * threadIdx.x + 1], z = p[3 * threadIdx.x + 2];
  out[threadIdx.x] = sqrtf(x * x + y * y + z * z);
}
KERNEL lengths_shared(const float *p, float *out) {
  __shared__ float all[96];
  for (int i = threadIdx.x; i < 96; i += 32) all[i] = p[i];
  __syncwarp();
  const float x = all[3 * threadIdx.x], y = all[3 * threadIdx.x + 1], z = all[3 * threadIdx.x + 2];
  out[threadIdx.x] = sqrtf(x * x + y * y + z * z);
}

/* pair branches unknown
kernel = "positive"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "s32", count = 32, fill = "random" }, { name = "y", type = "s32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "positive" }
end */
KERNEL positive(const int *x, int *y) {
  if (x[threadIdx.x] > 0) y[threadIdx.x] = x[threadIdx.x];
}

/* pair rounded-by-hand unknown --reals
kernel = "rounded"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "f32", count = 32, range = [0.0, 1e-3] }, { name = "y", type = "f32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "y" }]
second = { kernel = "not_rounded" }
end */
KERNEL rounded(const float *x, float *y) { y[threadIdx.x] = (x[threadIdx.x] + 12582912.0f) - 12582912.0f; }
KERNEL not_rounded(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }

/* pair convolution-sliding
kernel = "convolution"
grid = [1]
block = [32]
buffer = [{ name = "x", type = "f32", count = 36, fill = "f32" }, { name = "w", type = "f32", count = 5, fill = "f32" }, { name = "y", type = "f32", count = 32 }]
argument = [{ buffer = "x" }, { buffer = "w" }, { buffer = "y" }]
second = { kernel = "convolution_sliding", block = [4] }
end */
KERNEL convolution(const float *x, const float *w, float *y) {
  float s = 0;
  for (int k = 0; k < 5; ++k) s += w[k] * x[threadIdx.x + k];
  y[threadIdx.x] = s;
}
KERNEL convolution_sliding(const float *x, const float *w, float *y) {
  const int first = threadIdx.x * 8;
  float window[5];
  for (int k = 0; k < 4; ++k) window[k + 1] = x[first + k];
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 4; ++k) window[k] = window[k + 1];
    window[4] = x[first + i + 4];
    float s = 0;
    for (int k = 0; k < 5; ++k) s += w[k] * window[k];
    y[first + i] = s;
  }
}

/* pair dot-butterfly --reals
kernel = "dot"
grid = [2]
block = [1]
buffer = [{ name = "x", type = "f32", count = 64, fill = "f32" }, { name = "y", type = "f32", count = 64, fill = "f32" }, { name = "out", type = "f32", count = 2 }]
argument = [{ buffer = "x" }, { buffer = "y" }, { buffer = "out" }]
second = { kernel = "dot_butterfly", block = [32] }
end */
KERNEL dot(const float *x, const float *y, float *out) {
  float s = 0;
  for (int i = 0; i < 32; ++i) s += x[blockIdx.x * 32 + i] * y[blockIdx.x * 32 + i];
  out[blockIdx.x] = s;
}
KERNEL dot_butterfly(const float *x, const float *y, float *out) {
  float s = x[blockIdx.x * 32 + threadIdx.x] * y[blockIdx.x * 32 + threadIdx.x];
  for (int d = 1; d < 32; d *= 2) s += __shfl_xor_sync(whole_warp, s, d);
  if (threadIdx.x == 31) out[blockIdx.x] = s;
}

/* pair columns-by-rows --reals
kernel = "column_sums"
grid = [1]
block = [16]
buffer = [{ name = "m", type = "f32", count = 128, fill = "f32" }, { name = "out", type = "f32", count = 16 }]
argument = [{ buffer = "m" }, { buffer = "out" }]
second = { kernel = "column_sums_shared", block = [16, 4] }
end */
KERNEL column_sums(const float *m, float *out) {
  float s = 0;
  for (int row = 0; row < 8; ++row) s += m[row * 16 + threadIdx.x];
  out[threadIdx.x] = s;
}
KERNEL column_sums_shared(const float *m, float *out) {
  __shared__ float part[4][16];
  float s = 0;
  for (int row = threadIdx.y; row < 8; row += 4) s += m[row * 16 + threadIdx.x];
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y == 0)
    out[threadIdx.x] = part[0][threadIdx.x] + part[1][threadIdx.x] + part[2][threadIdx.x] + part[3][threadIdx.x];
}
