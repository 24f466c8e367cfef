// Kernels that synchronise otherwise than by whole blocks: fences between blocks, barriers of some warps, mbarriers.

#define KERNEL extern "C" __global__ void
constexpr unsigned whole_warp = 0xffffffff;

/* pair sum-last-block agree --reassociate
kernel = "sum_all"
block = [1]
buffer = [{ name = "in", type = "f32", count = 512, fill = "f32" }, { name = "part", type = "f32", count = 8, compare = false }, { name = "counter", type = "u32", count = 1 }, { name = "out", type = "f32", count = 1 }]
argument = [{ buffer = "in" }, { buffer = "out" }, { value = 512 }]
[second]
kernel = "sum_last_block"
grid = [4]
block = [64]
argument = [{ buffer = "in" }, { buffer = "part" }, { buffer = "counter" }, { buffer = "out" }]
end */
KERNEL sum_all(const float *in, float *out, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += in[i];
  *out = s;
}
KERNEL sum_last_block(const float *in, float *part, unsigned *counter, float *out) {
  __shared__ float warps[2];
  __shared__ bool last;
  const int i = blockIdx.x * 64 + threadIdx.x;
  float s = in[i] + in[i + 256];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(whole_warp, s, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = warps[0] + warps[1];
    __threadfence();
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += part[b];
    *out = all;
  }
}
/* pair hand-over agree
kernel = "square_all"
block = [64]
buffer = [{ name = "in", type = "s32", count = 256, range = [-99, 99] }, { name = "out", type = "s32", count = 256 }]
argument = [{ buffer = "in" }, { buffer = "out" }]
second = { kernel = "hand_over", block = [64] }
end */
KERNEL square_all(const int *in, int *out) {
  for (int i = threadIdx.x; i < 256; i += 64) out[i] = in[i] * in[i];
}
KERNEL hand_over(const int *in, int *out) { // the first warp loads, the second computes
  __shared__ int v[32];
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 256; i += 32) {
    if (threadIdx.x < 32) {
      if (i > 0) asm volatile("bar.sync 2, 64;" ::: "memory"); // it is empty
      v[lane] = in[i + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory"); // it is full
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      const int x = v[31 - lane];
      if (i + 32 < 256) asm volatile("bar.arrive 2, 64;" ::: "memory");
      out[i + 31 - lane] = x * x;
    }
  }
}
