// A sum: warps add up by shuffles, one lane of each updates the result.
__global__ void sum(const float *in, int n, float *out) {
  float x = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x += in[i];
  for (int d = 16; d > 0; d /= 2)
    x += __shfl_down_sync(~0u, x, d);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, x);
}

__global__ void sum_of_block(const double *in, double *out) {
  __shared__ double s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k)
      s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(out, s[0]);
}
