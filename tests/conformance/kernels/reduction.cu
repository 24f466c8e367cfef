// Sums, minima and positions by shuffles within warps and shared memory across them.
template <class T, class Combine> __device__ T reduce_block(T value, Combine combine) {
  __shared__ T partial[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 16; step > 0; step /= 2)
    value = combine(value, __shfl_down_sync(~0u, value, step));
  if (lane == 0)
    partial[warp] = value;
  __syncthreads();
  value = partial[threadIdx.x < blockDim.x / 32 ? threadIdx.x : 0];
  if (warp == 0)
    for (int step = 16; step > 0; step /= 2) {
      const T other = __shfl_down_sync(~0u, value, step);
      if (threadIdx.x + step < blockDim.x / 32)
        value = combine(value, other);
    }
  return value;
}

extern "C" __global__ void reduce_f32(int n, const float *in, float *out) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  sum = reduce_block(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_s64(int n, const unsigned *in, long long *out) {
  long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += static_cast<long long>(in[i]) * (i % 3 - 1);
  sum = reduce_block(sum, [](long long a, long long b) { return a + b; });
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_f64(int n, const double *in, double *out) {
  double least = 1e300;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    least = fmin(least, in[i] / (1.0 + i));
  least = reduce_block(least, [](double a, double b) { return fmin(a, b); });
  if (threadIdx.x == 0)
    out[0] = least;
}

// Butterflies: every lane ends with the same, by integers and by redux.
extern "C" __global__ void butterfly(const unsigned *in, unsigned *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i], largest = x;
  for (int mask = 1; mask < 32; mask *= 2)
    largest = max(largest, __shfl_xor_sync(~0u, largest, mask));
  out[4 * i] = largest;
  out[4 * i + 1] = __reduce_add_sync(~0u, x);
  out[4 * i + 2] = __reduce_min_sync(~0u, static_cast<int>(x));
  out[4 * i + 3] = __reduce_xor_sync(~0u, x);
}
