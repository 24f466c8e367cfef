// Reads of what was never written.
#include "cases.h"

template <bool bad> __global__ void copy(int *to, const int *from) {
  to[threadIdx.x] = from[threadIdx.x] + 1; // FAULT 1 2 3 8
}
static void case_short_copy(bool bad) {
  int *p, *q, host[32] = {};
  cudaMalloc(&p, sizeof host); // MADE 1
  cudaMalloc(&q, sizeof host);
  cudaMemcpy(p, host, bad ? 31 * 4 : 32 * 4, cudaMemcpyHostToDevice);
  LAUNCH(copy, 1, 32, q, p);
}
static void case_through(bool bad) {
  int *p, *q, *r;
  cudaMalloc(&p, 128);
  cudaMalloc(&q, 128); // MADE 2
  cudaMalloc(&r, 128);
  if (!bad)
    cudaMemset(p, 0, 128);
  cudaMemcpy(q, p, 128, cudaMemcpyDeviceToDevice);
  LAUNCH(copy, 1, 32, r, q);
}
static void case_async(bool bad) {
  int *p, *q;
  cudaMallocAsync(&p, 128, nullptr); // MADE 3
  cudaMallocAsync(&q, 128, nullptr);
  if (!bad)
    cudaMemsetAsync(p, 0, 128);
  LAUNCH(copy, 1, 32, q, p);
}

template <bool bad> __global__ void count(int *bins) {
  atomicAdd(&bins[threadIdx.x % 4], 1); // FAULT 4
}
static void case_count(bool bad) {
  int *bins;
  cudaMalloc(&bins, 16); // MADE 4
  if (!bad)
    cudaMemset(bins, 0, 16);
  LAUNCH(count, 1, 32, bins);
}

template <bool bad> __global__ void halo(int *to) {
  __shared__ int room[34];
  room[threadIdx.x + 1] = threadIdx.x;
  if (threadIdx.x == 0)
    room[0] = 0;
  if (!bad && threadIdx.x == 31)
    room[33] = 0;
  __syncthreads();
  to[threadIdx.x] = room[threadIdx.x] + room[threadIdx.x + 2]; // FAULT 5
}
static void case_halo(bool bad) {
  int *p;
  cudaMalloc(&p, 128);
  LAUNCH(halo, 1, 32, p);
}

struct Pair {
  int key;
  char flag;
};
template <bool bad> __global__ void fill(Pair *p) {
  p[threadIdx.x].key = threadIdx.x;
  if (!bad || threadIdx.x != 5)
    p[threadIdx.x].flag = 1;
}
template <bool bad> __global__ void flags(const Pair *p, int *sum) {
  atomicAdd(sum, p[threadIdx.x].flag); // FAULT 6
}
static void case_flags(bool bad) {
  Pair *p;
  int *sum;
  cudaMalloc(&p, 32 * sizeof(Pair)); // MADE 6
  cudaMalloc(&sum, 4);
  cudaMemset(sum, 0, 4);
  LAUNCH(fill, 1, 32, p);
  LAUNCH(flags, 1, 32, p, sum);
}

template <bool bad> __global__ void dynamic(int *to) {
  extern __shared__ int room[];
  if (threadIdx.x % 2 == 0 || !bad)
    room[threadIdx.x] = 1;
  __syncthreads();
  to[threadIdx.x] = room[threadIdx.x ^ 1]; // FAULT 7
}
static void case_dynamic(bool bad) {
  int *p;
  cudaMalloc(&p, 128);
  if (bad)
    dynamic<true><<<1, 32, 128>>>(p);
  else
    dynamic<false><<<1, 32, 128>>>(p);
}

static void case_columns(bool bad) {
  int *p, *q;
  cudaMalloc(&p, 128); // MADE 8
  cudaMalloc(&q, 128);
  cudaMemset2D(p, 16, 0, bad ? 12 : 16, 8);
  LAUNCH(copy, 1, 32, q, p);
}

int main(int argc, char **argv) {
  const Case cases[] = {case_short_copy, case_through, case_async,   case_count,
                        case_halo,       case_flags,   case_dynamic, case_columns};
  return run_case(cases, argc, argv);
}
