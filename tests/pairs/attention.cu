// Softmax, layer normalisation and attention: in steps, in one pass, and wrong.

#include <cuda_fp16.h>
#include <mma.h>
#define KERNEL extern "C" __global__ void
constexpr unsigned whole_warp = 0xffffffff;

/* pair softmax agree --rtol 1e-5
kernel = "softmax"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 400, range = [-50.0, 50.0] }, { name = "out", type = "f32", count = 400 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 100 }]
second = { kernel = "softmax_warp", block = [32] }
end */
KERNEL softmax(const float *in, float *out, int n) {
  in += blockIdx.x * n;
  float m = in[0], s = 0;
  for (int i = 1; i < n; ++i) m = fmaxf(m, in[i]);
  for (int i = 0; i < n; ++i) s += expf(in[i] - m);
  for (int i = 0; i < n; ++i) out[blockIdx.x * n + i] = expf(in[i] - m) / s;
}
KERNEL softmax_warp(const float *in, float *out, int n) { // maximum and sum in one pass
  in += blockIdx.x * n;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    const float larger = fmaxf(m, in[i]);
    s = s * expf(m - larger) + expf(in[i] - larger);
    m = larger;
  }
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_xor_sync(whole_warp, m, d), sum = __shfl_xor_sync(whole_warp, s, d), larger = fmaxf(m, other);
    s = s * expf(m - larger) + sum * expf(other - larger);
    m = larger;
  }
  for (int i = threadIdx.x; i < n; i += 32) out[blockIdx.x * n + i] = expf(in[i] - m) / s;
}

/* pair softmax-without-maximum differ --rtol 1e-3
kernel = "softmax"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 400, range = [-150.0, 150.0] }, { name = "out", type = "f32", count = 400 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 100 }]
second = { kernel = "softmax_plain", block = [32] }
end */
KERNEL softmax_plain(const float *in, float *out, int n) {
  in += blockIdx.x * n;
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += expf(in[i]);
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(whole_warp, s, d);
  for (int i = threadIdx.x; i < n; i += 32) out[blockIdx.x * n + i] = expf(in[i]) / s;
}

/* pair layer-norm agree --reassociate
kernel = "layer_norm"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 512, range = [-2.0, 3.0] }, { name = "out", type = "f32", count = 512 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "layer_norm_block", block = [64] }
end */
KERNEL layer_norm(const float *in, float *out) {
  in += blockIdx.x * 128;
  float mean = 0, square = 0;
  for (int i = 0; i < 128; ++i) mean += in[i] / 128;
  for (int i = 0; i < 128; ++i) square += (in[i] - mean) * (in[i] - mean) / 128;
  for (int i = 0; i < 128; ++i) out[blockIdx.x * 128 + i] = (in[i] - mean) * rsqrtf(square + 1e-5f);
}
template <bool Synchronized> __device__ void normalise(const float *in, float *out) {
  __shared__ float sums[2][2];
  in += blockIdx.x * 128;
  float s = in[threadIdx.x] + in[threadIdx.x + 64];
  float q = in[threadIdx.x] * in[threadIdx.x] + in[threadIdx.x + 64] * in[threadIdx.x + 64];
  for (int d = 16; d > 0; d /= 2) {
    s += __shfl_xor_sync(whole_warp, s, d);
    q += __shfl_xor_sync(whole_warp, q, d);
  }
  if (threadIdx.x % 32 == 0) {
    sums[0][threadIdx.x / 32] = s;
    sums[1][threadIdx.x / 32] = q;
  }
  if (Synchronized) __syncthreads();
  const float mean = (sums[0][0] + sums[0][1]) / 128, square = (sums[1][0] + sums[1][1]) / 128 - mean * mean;
  for (int i = threadIdx.x; i < 128; i += 64) out[blockIdx.x * 128 + i] = (in[i] - mean) * rsqrtf(square + 1e-5f);
}
KERNEL layer_norm_block(const float *in, float *out) { normalise<true>(in, out); }
/* pair layer-norm-no-barrier differ --rtol 1e-4 --atol 1e-5
kernel = "layer_norm"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 512, range = [-2.0, 3.0] }, { name = "out", type = "f32", count = 512 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "layer_norm_no_barrier", block = [64] }
end */
KERNEL layer_norm_no_barrier(const float *in, float *out) { normalise<false>(in, out); }

/* pair attention agree --rtol 1e-4 --atol 1e-5
kernel = "attention"
grid = [8]
block = [16]
buffer = [{ name = "q", type = "f32", count = 128, range = [-1.0, 1.0] }, { name = "k", type = "f32", count = 512, range = [-1.0, 1.0], seed = 1 }, { name = "v", type = "f32", count = 512, range = [-1.0, 1.0], seed = 2 }, { name = "out", type = "f32", count = 128 }]
argument = [{ buffer = "q" }, { buffer = "k" }, { buffer = "v" }, { buffer = "out" }]
second = { kernel = "attention_online" }
end */
KERNEL attention(const float *q, const float *k, const float *v, float *out) { // 8 queries, 32 keys of 16 numbers
  float score[32], m = -INFINITY, s = 0, sum = 0;
  for (int j = 0; j < 32; ++j) {
    float d = 0;
    for (int i = 0; i < 16; ++i) d += q[blockIdx.x * 16 + i] * k[j * 16 + i];
    score[j] = d / 4;
    m = fmaxf(m, score[j]);
  }
  for (int j = 0; j < 32; ++j) s += expf(score[j] - m);
  for (int j = 0; j < 32; ++j) sum += expf(score[j] - m) / s * v[j * 16 + threadIdx.x];
  out[blockIdx.x * 16 + threadIdx.x] = sum;
}
template <bool Rescales> __device__ void online(const float *q, const float *k, const float *v, float *out) {
  __shared__ float keys[8][16], values[8][16], query[16];
  query[threadIdx.x] = q[blockIdx.x * 16 + threadIdx.x];
  float m = -INFINITY, s = 0, sum = 0;
  for (int tile = 0; tile < 32; tile += 8) {
    for (int j = 0; j < 8; ++j) {
      keys[j][threadIdx.x] = k[(tile + j) * 16 + threadIdx.x];
      values[j][threadIdx.x] = v[(tile + j) * 16 + threadIdx.x];
    }
    __syncthreads();
    for (int j = 0; j < 8; ++j) {
      float d = 0;
      for (int i = 0; i < 16; ++i) d += query[i] * keys[j][i];
      const float larger = fmaxf(m, d / 4), scale = expf(m - larger), p = expf(d / 4 - larger);
      s = s * scale + p;
      sum = sum * (Rescales ? scale : 1) + p * values[j][threadIdx.x];
      m = larger;
    }
    __syncthreads();
  }
  out[blockIdx.x * 16 + threadIdx.x] = sum / s;
}
KERNEL attention_online(const float *q, const float *k, const float *v, float *out) { online<true>(q, k, v, out); }
/* pair attention-not-rescaled differ --rtol 1e-4 --atol 1e-5
kernel = "attention"
grid = [8]
block = [16]
buffer = [{ name = "q", type = "f32", count = 128, range = [-1.0, 1.0] }, { name = "k", type = "f32", count = 512, range = [-1.0, 1.0], seed = 1 }, { name = "v", type = "f32", count = 512, range = [-1.0, 1.0], seed = 2 }, { name = "out", type = "f32", count = 128 }]
argument = [{ buffer = "q" }, { buffer = "k" }, { buffer = "v" }, { buffer = "out" }]
second = { kernel = "attention_not_rescaled" }
end */
KERNEL attention_not_rescaled(const float *q, const float *k, const float *v, float *out) { online<false>(q, k, v, out); }

/* pair attention-wmma agree --rtol 2e-3 --atol 2e-3
kernel = "attention_half"
grid = [1]
block = [16, 16]
buffer = [{ name = "q", type = "f16", count = 256, range = [-1.0, 1.0] }, { name = "k", type = "f16", count = 256, range = [-1.0, 1.0], seed = 1 }, { name = "v", type = "f16", count = 256, range = [-1.0, 1.0], seed = 2 }, { name = "out", type = "f32", count = 256 }]
argument = [{ buffer = "q" }, { buffer = "k" }, { buffer = "v" }, { buffer = "out" }]
second = { kernel = "attention_wmma", block = [32] }
end */
KERNEL attention_half(const half *q, const half *k, const half *v, float *out) { // 16 of each, of 16 numbers
  float score[16], m = -INFINITY, s = 0, sum = 0;
  for (int j = 0; j < 16; ++j) {
    score[j] = 0;
    for (int i = 0; i < 16; ++i) score[j] += __half2float(q[threadIdx.y * 16 + i]) * __half2float(k[j * 16 + i]);
    m = fmaxf(m, score[j]);
  }
  for (int j = 0; j < 16; ++j) s += expf(score[j] - m);
  for (int j = 0; j < 16; ++j) sum += expf(score[j] - m) / s * __half2float(v[j * 16 + threadIdx.x]);
  out[threadIdx.y * 16 + threadIdx.x] = sum;
}
template <bool Waits> __device__ void by_wmma(const half *q, const half *k, const half *v, float *out) {
  using namespace nvcuda::wmma;
  __shared__ float scores[16][16];
  __shared__ half weights[16][16];
  fragment<matrix_a, 16, 16, 16, half, row_major> a;
  fragment<matrix_b, 16, 16, 16, half, col_major> b;
  fragment<matrix_b, 16, 16, 16, half, row_major> values;
  fragment<accumulator, 16, 16, 16, float> s;
  fill_fragment(s, 0.0f);
  load_matrix_sync(a, q, 16);
  load_matrix_sync(b, k, 16);
  mma_sync(s, a, b, s);
  store_matrix_sync(&scores[0][0], s, 16, mem_row_major);
  __syncwarp();
  if (threadIdx.x < 16) {
    float m = -INFINITY, sum = 0;
    for (int j = 0; j < 16; ++j) m = fmaxf(m, scores[threadIdx.x][j]);
    for (int j = 0; j < 16; ++j) sum += expf(scores[threadIdx.x][j] - m);
    for (int j = 0; j < 16; ++j) weights[threadIdx.x][j] = __float2half(expf(scores[threadIdx.x][j] - m) / sum);
  }
  if (Waits) __syncwarp();
  load_matrix_sync(a, &weights[0][0], 16);
  load_matrix_sync(values, v, 16);
  fill_fragment(s, 0.0f);
  mma_sync(s, a, values, s);
  store_matrix_sync(out, s, 16, mem_row_major);
}
KERNEL attention_wmma(const half *q, const half *k, const half *v, float *out) { by_wmma<true>(q, k, v, out); }
/* pair attention-wmma-no-wait differ --rtol 2e-3 --atol 2e-3
kernel = "attention_half"
grid = [1]
block = [16, 16]
buffer = [{ name = "q", type = "f16", count = 256, range = [-1.0, 1.0] }, { name = "k", type = "f16", count = 256, range = [-1.0, 1.0], seed = 1 }, { name = "v", type = "f16", count = 256, range = [-1.0, 1.0], seed = 2 }, { name = "out", type = "f32", count = 256 }]
argument = [{ buffer = "q" }, { buffer = "k" }, { buffer = "v" }, { buffer = "out" }]
second = { kernel = "attention_wmma_no_wait", block = [32] }
end */
KERNEL attention_wmma_no_wait(const half *q, const half *k, const half *v, float *out) { by_wmma<false>(q, k, v, out); }
