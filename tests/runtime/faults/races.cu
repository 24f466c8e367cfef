// Races: -DFAULT=N has the N-th, without it there is none.
#include <cstdio>
#ifndef FAULT
#define FAULT 0
#endif

__global__ void neighbour(int *to) {
  __shared__ int room[64];
  room[threadIdx.x] = threadIdx.x; // FAULT 1
  if (FAULT != 1)
    __syncthreads();
  to[threadIdx.x] = room[63 - threadIdx.x]; // FAULT 1
}
__global__ void sum(int *to) {
  if (FAULT == 2)
    *to += 1; // FAULT 2
  else
    atomicAdd(to, 1);
}
__global__ void reduce(int *to) {
  __shared__ int room[64];
  room[threadIdx.x] = 1;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half)
      room[threadIdx.x] += room[threadIdx.x + half]; // FAULT 3
    if (FAULT != 3)
      __syncthreads();
  }
  if (threadIdx.x == 0)
    *to = room[0];
}
__global__ void blocks(int *to) {
  const int at = FAULT == 4 ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
  to[at] = blockIdx.x; // FAULT 4
}
__global__ void reuse(int *to) {
  __shared__ int value;
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x == i)
      value = i + 1; // FAULT 5
    __syncthreads();
    to[threadIdx.x] += value; // FAULT 5
    if (FAULT != 5)
      __syncthreads();
  }
}
__global__ void flag(int *data, int *ready) {
  if (blockIdx.x == 0) {
    *data = 5; // FAULT 6
    if (FAULT != 6)
      __threadfence();
    atomicExch(ready, 1);
  } else if (atomicAdd(ready, 0) == 1) {
    if (FAULT != 6)
      __threadfence();
    ready[1] = *data; // FAULT 6
  }
}

int main() {
  int *p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  neighbour<<<1, 64>>>(p);
  sum<<<4, 32>>>(p);
  reduce<<<1, 64>>>(p);
  blocks<<<2, 64>>>(p);
  reuse<<<1, 64>>>(p);
  cudaMemset(p, 0, 4096);
  flag<<<2, 1>>>(p, p + 8);
  cudaDeviceSynchronize();
  cudaFree(p);
  std::puts("end");
  return 0;
}
