// Faults of memory: -DFAULT=N has the N-th, without it there is none.
#include <cstdio>
#ifndef FAULT
#define FAULT 0
#endif

__global__ void store(int *p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = i; // FAULT 1 2 3 9 12
}
__global__ void load(const char *p, int *to, int at) {
  *to = *reinterpret_cast<const int *>(p + at); // FAULT 4 5 10
}
__global__ void shared_store(int *to, int at) {
  __shared__ int room[32];
  room[threadIdx.x] = threadIdx.x;
  __syncthreads();
  room[at] = 5; // FAULT 6
  __syncthreads();
  to[threadIdx.x] = room[threadIdx.x];
}
__global__ void local_store(int *to, int at) {
  int own[4] = {1, 2, 3, 4};
  own[at] = 7; // FAULT 7
  *to = own[0] + own[at & 3];
}
__constant__ int fixed[4];
__global__ void constant_load(int *to, int at) {
  *to = fixed[at]; // FAULT 8
}
__global__ void heap_store(int *to, int at) {
  int *p = static_cast<int *>(malloc(4 * sizeof(int)));
  p[at] = 1; // FAULT 11
  *to = 1;
  free(p);
}

int main() {
  const int n = 100;
  int *p, *q;
  cudaMalloc(&p, n * sizeof(int)); // MADE 1 2 5 10
  cudaMalloc(&q, n * sizeof(int)); // MADE 3 13 14
  cudaMemset(p, 0, n * sizeof(int));
  store<<<1, 128>>>(p, FAULT == 1 ? n + 1 : n);
  store<<<1, 128>>>(FAULT == 2 ? p - 1 : p, n);
  if (FAULT == 3)
    cudaFree(q);
  store<<<1, 128>>>(q, n);
  load<<<1, 1>>>(reinterpret_cast<char *>(p), q + 1, FAULT == 4 ? 2 : 4);
  load<<<1, 1>>>(reinterpret_cast<char *>(p), q + 1, FAULT == 5 ? n * 4 : 8);
  shared_store<<<1, 32>>>(q, FAULT == 6 ? 32 : 31);
  local_store<<<1, 1>>>(q, FAULT == 7 ? 4 : 3);
  constant_load<<<1, 1>>>(q, FAULT == 8 ? 4 : 3);
  store<<<1, 1>>>(FAULT == 9 ? nullptr : p, 1);
  load<<<1, 1>>>(reinterpret_cast<char *>(p), q, FAULT == 10 ? n * 4 - 3 + 3 : n * 4 - 4);
  heap_store<<<1, 1>>>(q, FAULT == 11 ? 4 : 3);
  int *host = static_cast<int *>(std::malloc(1000));
  store<<<1, 1>>>(FAULT == 12 ? host : p, 1);
  cudaDeviceSynchronize();
  if (FAULT != 3 && FAULT != 14)
    cudaFree(q); // FREED 13
  if (FAULT == 13)
    cudaFree(q); // FAULT 13
  cudaFree(FAULT == 15 ? host : p); // FAULT 15
  if (FAULT == 15)
    cudaFree(p);
  std::free(host);
  std::puts("end");
  return 0;
}
