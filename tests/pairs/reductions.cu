// Sums, maxima, scans and histograms: the obvious kernel against those that people write for speed.
// Each pair below is a launch file between the lines `pair NAME VERDICT OPTIONS` and `end`.

#define KERNEL extern "C" __global__ void
constexpr unsigned whole_warp = 0xffffffff;

/* pair sum-tree agree --reassociate
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1000, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_tree", block = [128] }
end */
KERNEL sum(const float *in, float *out, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += in[blockIdx.x * n + i];
  out[blockIdx.x] = s;
}
KERNEL sum_tree(const float *in, float *out, int n) {
  __shared__ float part[128];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 128) s += in[blockIdx.x * n + i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

/* pair sum-tree-tolerance agree --rtol 1e-4
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1000, range = [1.0, 2.0] }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_tree", block = [128] }
end */
/* pair sum-tree-bits differ
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1000, range = [1.0, 2.0] }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_tree", block = [128] }
end */

/* pair sum-tree-no-barrier differ --reassociate
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1000, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_tree_no_barrier", block = [128] }
end */
KERNEL sum_tree_no_barrier(const float *in, float *out, int n) {
  __shared__ float part[128];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 128) s += in[blockIdx.x * n + i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2)
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

/* pair sum-shuffle agree --reassociate
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1000, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_shuffle", block = [256] }
end */
KERNEL sum_shuffle(const float *in, float *out, int n) {
  __shared__ float part[8];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256) s += in[blockIdx.x * n + i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(whole_warp, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int d = 4; d > 0; d /= 2) s += __shfl_down_sync(whole_warp, s, d);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
  }
}

/* pair sum-shuffle-too-short differ --reassociate
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1000, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_shuffle_too_short", block = [32] }
end */
KERNEL sum_shuffle_too_short(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += in[blockIdx.x * n + i];
  for (int d = 8; d > 0; d /= 2) s += __shfl_down_sync(whole_warp, s, d);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

/* pair sum-vectors agree --reassociate
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1024, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 256 }]
second = { kernel = "sum_vectors", block = [32] }
end */
KERNEL sum_vectors(const float4 *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n / 4; i += 32) {
    const float4 v = in[blockIdx.x * (n / 4) + i];
    s += (v.x + v.y) + (v.z + v.w);
  }
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(whole_warp, s, d);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

/* pair sum-vectors-remainder differ --reassociate
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1024, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_vectors", block = [32] }
end */

/* pair sum-atomic agree --reassociate
kernel = "sum"
grid = [4]
block = [1]
buffer = [{ name = "in", type = "f32", count = 1000, fill = "f32" }, { name = "out", type = "f32", count = 4 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 250 }]
second = { kernel = "sum_atomic", block = [64], grid = [4, 2] }
end */
KERNEL sum_atomic(const float *in, float *out, int n) {
  float s = 0;
  for (int i = threadIdx.x + 64 * blockIdx.y; i < n; i += 128) s += in[blockIdx.x * n + i];
  atomicAdd(&out[blockIdx.x], s);
}

/* pair maximum agree
kernel = "maximum"
block = [1]
buffer = [{ name = "in", type = "s32", count = 500, range = [-1000, 1000] }, { name = "out", type = "s32", count = 1 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 500 }]
second = { kernel = "maximum_redux", block = [64] }
end */
KERNEL maximum(const int *in, int *out, int n) {
  int m = in[0];
  for (int i = 1; i < n; ++i) m = max(m, in[i]);
  *out = m;
}
KERNEL maximum_redux(const int *in, int *out, int n) {
  __shared__ int part[2];
  int m = in[0];
  for (int i = threadIdx.x; i < n; i += 64) m = max(m, in[i]);
  m = __reduce_max_sync(whole_warp, m);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) *out = max(part[0], part[1]);
}

/* pair maximum-from-zero differ
kernel = "maximum"
block = [1]
buffer = [{ name = "in", type = "s32", count = 500, range = [-1000, -1] }, { name = "out", type = "s32", count = 1 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 500 }]
second = { kernel = "maximum_from_zero", block = [32] }
end */
KERNEL maximum_from_zero(const int *in, int *out, int n) {
  int m = 0;
  for (int i = threadIdx.x; i < n; i += 32) m = max(m, in[i]);
  m = __reduce_max_sync(whole_warp, m);
  if (threadIdx.x == 0) *out = m;
}

/* pair scan agree
kernel = "scan"
grid = [3]
block = [1]
buffer = [{ name = "in", type = "s32", count = 384, range = [-9, 9] }, { name = "out", type = "s32", count = 384 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "scan_steps", block = [128] }
end */
KERNEL scan(const int *in, int *out) {
  int s = 0;
  for (int i = 128 * blockIdx.x; i < 128 * (blockIdx.x + 1); ++i) out[i] = s += in[i];
}
KERNEL scan_steps(const int *in, int *out) {
  __shared__ int part[2][128];
  const int i = threadIdx.x;
  int now = 0;
  part[0][i] = in[128 * blockIdx.x + i];
  for (int d = 1; d < 128; d *= 2, now ^= 1) {
    __syncthreads();
    part[now ^ 1][i] = part[now][i] + (i >= d ? part[now][i - d] : 0);
  }
  out[128 * blockIdx.x + i] = part[now][i];
}

/* pair scan-in-place differ
kernel = "scan"
grid = [3]
block = [1]
buffer = [{ name = "in", type = "s32", count = 384, range = [-9, 9] }, { name = "out", type = "s32", count = 384 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "scan_in_place", block = [128] }
end */
KERNEL scan_in_place(const int *in, int *out) {
  __shared__ int part[128];
  const int i = threadIdx.x;
  part[i] = in[128 * blockIdx.x + i];
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    if (i >= d) part[i] += part[i - d];
  }
  out[128 * blockIdx.x + i] = part[i];
}

/* pair scan-shuffles agree
kernel = "scan"
grid = [3]
block = [1]
buffer = [{ name = "in", type = "s32", count = 384, range = [-9, 9] }, { name = "out", type = "s32", count = 384 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "scan_shuffles", block = [128] }
end */
KERNEL scan_shuffles(const int *in, int *out) {
  __shared__ int sums[4];
  const int i = threadIdx.x, lane = i % 32;
  int s = in[128 * blockIdx.x + i];
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(whole_warp, s, d);
    if (lane >= d) s += other;
  }
  if (lane == 31) sums[i / 32] = s;
  __syncthreads();
  for (int w = 0; w < i / 32; ++w) s += sums[w];
  out[128 * blockIdx.x + i] = s;
}

/* pair histogram agree
kernel = "histogram"
grid = [2]
block = [64]
buffer = [{ name = "in", type = "u32", count = 1000, range = [0, 63] }, { name = "out", type = "u32", count = 64 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 1000 }]
second = { kernel = "histogram_shared", block = [128], grid = [3] }
end */
KERNEL histogram(const unsigned *in, unsigned *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&out[in[i]], 1);
}
KERNEL histogram_shared(const unsigned *in, unsigned *out, int n) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

/* pair histogram-without-atomics differ
kernel = "histogram"
grid = [2]
block = [64]
buffer = [{ name = "in", type = "u32", count = 1000, range = [0, 63] }, { name = "out", type = "u32", count = 64 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 1000 }]
second = { kernel = "histogram_lost", block = [128], grid = [3] }
end */
KERNEL histogram_lost(const unsigned *in, unsigned *out, int n) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) ++bins[in[i]];
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

/* pair dot agree --reassociate
kernel = "dot"
block = [1]
buffer = [{ name = "a", type = "f32", count = 300, fill = "f32" }, { name = "b", type = "f32", count = 300, fill = "f32", seed = 1 }, { name = "out", type = "f32", count = 1 }]
argument = [{ buffer = "a" }, { buffer = "b" }, { buffer = "out" }, { value = 300 }]
second = { kernel = "dot_block", block = [64] }
end */
KERNEL dot(const float *a, const float *b, float *out, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += a[i] * b[i];
  *out = s;
}
KERNEL dot_block(const float *a, const float *b, float *out, int n) {
  __shared__ float part[64];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 64) s += a[i] * b[i];
  part[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    part[threadIdx.x] += part[threadIdx.x + 32];
    for (int d = 16; d > 0; d /= 2) {
      __syncwarp();
      const float other = part[threadIdx.x ^ d];
      __syncwarp();
      part[threadIdx.x] += other;
    }
    if (threadIdx.x == 0) *out = part[0];
  }
}

/* pair sort agree
kernel = "by_rank"
block = [64]
buffer = [{ name = "in", type = "s32", count = 64, range = [-50, 50] }, { name = "out", type = "s32", count = 64 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "bitonic" }
end */
KERNEL by_rank(const int *in, int *out) {
  int rank = 0;
  for (int i = 0; i < 64; ++i) rank += in[i] < in[threadIdx.x] || (in[i] == in[threadIdx.x] && i < threadIdx.x);
  out[rank] = in[threadIdx.x];
}
KERNEL bitonic(const int *in, int *out) {
  __shared__ int v[64];
  const int i = threadIdx.x;
  v[i] = in[i];
  for (int size = 2; size <= 64; size *= 2)
    for (int d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      const int other = i ^ d;
      if (other > i && (v[i] > v[other]) == ((i & size) == 0)) {
        const int t = v[i];
        v[i] = v[other];
        v[other] = t;
      }
    }
  __syncthreads();
  out[i] = v[i];
}

/* pair reverse agree
kernel = "reverse"
grid = [2]
block = [64]
buffer = [{ name = "in", type = "s32", count = 128, fill = "random" }, { name = "out", type = "s32", count = 128 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "reverse_shared" }
end */
KERNEL reverse(const int *in, int *out) { out[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + 63 - threadIdx.x]; }
KERNEL reverse_shared(const int *in, int *out) {
  __shared__ int v[64];
  v[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = v[63 - threadIdx.x];
}
