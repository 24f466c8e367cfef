// What a reviewer says stands at the lines. Integers that all add to one address are fine: the compiler combines them.
__global__ void total(const float *in, int n, float *sum, float *of_block, int *count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicAdd(sum, in[i]);                   // lint: contended-atomic
  atomicAdd(&of_block[blockIdx.x], in[i]); // lint: contended-atomic
  atomicAdd(count, 1);
}

__global__ void scatter(float *grid, const int *cell, const float *mass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&grid[cell[i]], mass[i]); // lint: uncoalesced
}

__global__ void largest(const unsigned long long *in, int n, unsigned long long *best) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicMax(best, in[i]); // lint: contended-atomic
}
