// Barriers that not all reach: -DFAULT=N has the N-th, without it there is none.
#include <cstdio>
#ifndef FAULT
#define FAULT 0
#endif

__global__ void half(int *to) {
  if (FAULT != 1 || threadIdx.x < 16)
    __syncthreads(); // FAULT 1
  to[threadIdx.x] = 1;
}
__global__ void early(int *to) {
  if (FAULT == 2 && threadIdx.x >= 40)
    return;
  __syncthreads(); // FAULT 2
  to[threadIdx.x] = 1;
}
__global__ void lanes(int *to) {
  int value = threadIdx.x;
  if (threadIdx.x < 16)
    value = __shfl_xor_sync(FAULT == 3 ? 0xffffffff : 0xffff, value, FAULT == 3 ? 16 : 1); // FAULT 3
  else
    to[threadIdx.x] = 1;
  to[threadIdx.x] += value;
}

int main() {
  int *p;
  cudaMalloc(&p, 256);
  cudaMemset(p, 0, 256);
  half<<<1, 64>>>(p);
  early<<<1, 64>>>(p);
  lanes<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
  std::puts("end");
  return 0;
}
