// Prefix sums: in a warp by shuffles, in a block by warps, work-efficient in shared memory.
extern "C" __global__ void scan_warps(const unsigned *in, unsigned *out) {
  __shared__ unsigned totals[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32,
                 warp = threadIdx.x / 32;
  unsigned x = in[i];
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(~0u, x, step);
    if (lane >= step)
      x += other;
  }
  if (lane == 31)
    totals[warp] = x;
  __syncthreads();
  for (unsigned w = 0; w < warp; ++w)
    x += totals[w];
  out[i] = x;
}

// Blelloch's, exclusive.
extern "C" __global__ void scan_tree(const float *in, float *out) {
  __shared__ float tree[256];
  const int t = threadIdx.x;
  tree[2 * t] = in[2 * t];
  tree[2 * t + 1] = in[2 * t + 1];
  int offset = 1;
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0)
    tree[255] = 0;
  for (int d = 1; d < 256; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      const float left = tree[a];
      tree[a] = tree[b];
      tree[b] += left;
    }
  }
  __syncthreads();
  out[2 * t] = tree[2 * t];
  out[2 * t + 1] = tree[2 * t + 1];
}

// The members of a set, in order: ballots and counting below the lane.
extern "C" __global__ void compact(const unsigned *in, unsigned *out, unsigned *counts) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const bool keep = in[i] % 3 == 0;
  const unsigned kept = __ballot_sync(~0u, keep);
  const unsigned place = __popc(kept & ((1u << lane) - 1));
  if (keep)
    out[i / 32 * 32 + place] = in[i];
  if (lane == 0)
    counts[i / 32] = __popc(kept);
}
