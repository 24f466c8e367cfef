// Reads of what was never written: -DFAULT=N has the N-th, without it there is none.
#include <cstdio>
#ifndef FAULT
#define FAULT 0
#endif

__global__ void add(int *to, const int *from, int n) {
  const int i = threadIdx.x;
  if (i < n)
    to[i] = from[i] + 1; // FAULT 1 2 5
}
__global__ void use_shared(int *to) {
  __shared__ int room[64];
  if (FAULT != 3 || threadIdx.x < 63)
    room[threadIdx.x] = 1;
  __syncthreads();
  to[threadIdx.x] = room[63 - threadIdx.x]; // FAULT 3
}
__global__ void use_heap(int *to) {
  int *p = static_cast<int *>(malloc(8));
  if (FAULT != 4)
    p[1] = 1;
  *to = p[1]; // FAULT 4
  free(p);
}

int main() {
  int *p, *q;
  cudaMalloc(&p, 256); // MADE 1 2
  cudaMalloc(&q, 256); // MADE 5
  if (FAULT != 1)
    cudaMemset(p, 0, FAULT == 2 ? 252 : 256);
  add<<<1, 64>>>(q, p, FAULT == 5 ? 32 : 64);
  add<<<1, 64>>>(p, q, 64);
  use_shared<<<1, 64>>>(q);
  use_heap<<<1, 1>>>(q);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(q);
  std::puts("end");
  return 0;
}
