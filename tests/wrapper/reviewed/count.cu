// Counts: the compiler has one lane of a warp add what all found.
__global__ void count_above(const float *values, int n, float limit, int *count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] > limit)
    atomicAdd(count, 1);
}

__global__ void smallest(const int *values, int n, int *least) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicMin(least, values[i]);
}
