// A histogram of bytes: a copy for each block in shared memory, added to the result at the end.
__global__ void histogram(const unsigned char *data, int n, unsigned *bins) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
