// Atomics in shared and global memory; a lock by compare-and-swap; counters that wrap.
extern "C" __global__ void histogram(int n, const unsigned *in, unsigned *bins) {
  __shared__ unsigned local[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&local[in[i] % 64], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    atomicAdd(&bins[i], local[i]);
}

// Lanes with equal keys elect one to add for all.
extern "C" __global__ void histogram_matched(int n, const unsigned *in, unsigned *bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned active = __ballot_sync(~0u, i < n);
  if (i >= n)
    return;
  const unsigned key = in[i] % 16, same = __match_any_sync(active, key);
  if (__ffs(same) - 1 == static_cast<int>(threadIdx.x % 32))
    atomicAdd(&bins[key], __popc(same));
}

extern "C" __global__ void extremes(int n, const int *in, long long *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicMin(&out[0], static_cast<long long>(in[i]) * 3);
  atomicMax(&out[1], static_cast<long long>(in[i]) * 5);
  atomicAdd(reinterpret_cast<unsigned long long *>(&out[2]), static_cast<unsigned>(in[i]));
  atomicXor(reinterpret_cast<unsigned *>(&out[3]), static_cast<unsigned>(in[i]));
  atomicInc(reinterpret_cast<unsigned *>(&out[4]), 10);
  // A product in a loop of compare-and-swap: the order does not matter to it.
  auto *place = reinterpret_cast<unsigned long long *>(&out[5]);
  unsigned long long old = *place, assumed;
  do {
    assumed = old;
    old = atomicCAS(place, assumed, assumed * (2 * i + 1));
  } while (old != assumed);
}
