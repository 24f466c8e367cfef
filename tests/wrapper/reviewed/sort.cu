// Pairs of a bitonic sort, and the prefix sums of a block.
__global__ void exchange(int *keys, int distance, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ distance;
  if (j <= i)
    return;
  const int a = keys[i], b = keys[j];
  if ((a > b) == ((i & length) == 0)) {
    keys[i] = b;
    keys[j] = a;
  }
}

__global__ void prefix(const int *in, int *out) {
  __shared__ int s[2][256];
  int from = 0;
  s[0][threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    s[1 - from][threadIdx.x] = s[from][threadIdx.x] + (threadIdx.x >= d ? s[from][threadIdx.x - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = s[from][threadIdx.x];
}
