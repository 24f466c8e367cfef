// Accesses that nothing orders.
#include "cases.h"
#include <cooperative_groups.h>

static int *memory(int words) {
  int *p;
  cudaMalloc(&p, words * 4);
  cudaMemset(p, 0, words * 4);
  return p;
}

template <bool bad> __global__ void histogram(int *bins) {
  if (bad)
    bins[threadIdx.x % 4] += 1; // FAULT 1
  else
    atomicAdd(&bins[threadIdx.x % 4], 1);
}
static void case_histogram(bool bad) { LAUNCH(histogram, 1, 32, memory(4)); }

template <bool bad> __global__ void shift(int *p) {
  const int value = p[threadIdx.x + 1]; // FAULT 2
  if (!bad)
    __syncthreads();
  p[threadIdx.x] = value + 1; // FAULT 2
}
static void case_shift(bool bad) { LAUNCH(shift, 1, 64, memory(65)); }

template <bool bad> __global__ void last_block(int *partial, int *done, int *sum) {
  partial[blockIdx.x] = blockIdx.x; // FAULT 3
  if (!bad)
    __threadfence();
  if (atomicAdd(done, 1) == gridDim.x - 1) {
    if (!bad)
      __threadfence();
    for (int i = 0; i < gridDim.x; ++i)
      *sum += partial[i]; // FAULT 3
  }
}
static void case_last_block(bool bad) {
  int *p = memory(16);
  LAUNCH(last_block, 4, 1, p, p + 8, p + 9);
}

template <bool bad> __global__ void warps(int *to) {
  __shared__ int sums[2];
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = threadIdx.x; // FAULT 4
  if (bad)
    __syncwarp();
  else
    __syncthreads();
  to[threadIdx.x] = sums[1 - threadIdx.x / 32]; // FAULT 4
}
static void case_warps(bool bad) { LAUNCH(warps, 1, 64, memory(64)); }

template <bool bad> __global__ void lanes(int *to) {
  __shared__ int room[32];
  room[threadIdx.x] = threadIdx.x; // FAULT 5
  if (!bad)
    __syncwarp();
  to[threadIdx.x] = room[31 - threadIdx.x]; // FAULT 5
}
static void case_lanes(bool bad) { LAUNCH(lanes, 1, 32, memory(32)); }

template <bool bad> __global__ void scan(int *to) {
  __shared__ int room[64];
  room[threadIdx.x] = 1;
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    const int value = threadIdx.x >= step ? room[threadIdx.x - step] : 0; // FAULT 6
    if (!bad)
      __syncthreads();
    room[threadIdx.x] += value; // FAULT 6
    __syncthreads();
  }
  to[threadIdx.x] = room[threadIdx.x];
}
static void case_scan(bool bad) { LAUNCH(scan, 1, 64, memory(64)); }

template <bool bad> __global__ void any(int *found, const int *from) {
  if (from[threadIdx.x] == 0) {
    if (bad)
      *found = threadIdx.x; // FAULT 7
    else
      atomicMin(found, int(threadIdx.x));
  }
}
static void case_any(bool bad) {
  int *p = memory(40);
  LAUNCH(any, 1, 32, p + 32, p);
}

template <bool bad> __global__ void whole_grid(int *p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  p[i] = i; // FAULT 8
  if (bad)
    __syncthreads();
  else
    cooperative_groups::this_grid().sync();
  p[n + i] = p[n - 1 - i]; // FAULT 8
}
static void case_whole_grid(bool bad) {
  int *p = memory(128);
  void *arguments[] = {&p};
  cudaLaunchCooperativeKernel(bad ? reinterpret_cast<void *>(whole_grid<true>) : reinterpret_cast<void *>(whole_grid<false>), 2, 32,
                              arguments, 0, nullptr);
}

template <bool bad> __global__ void halves(int *p) {
  short *const parts = reinterpret_cast<short *>(p);
  if (threadIdx.x == 0)
    *(bad ? p : p + 1) = 1; // FAULT 9
  else
    parts[1] = 1; // FAULT 9
}
static void case_halves(bool bad) { LAUNCH(halves, 1, 2, memory(2)); }

template <bool bad> __global__ void spin(int *lock, int *value) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  __threadfence();
  *value += 1; // FAULT 10
  if (!bad)
    __threadfence();
  atomicExch(lock, 0);
}
static void case_spin(bool bad) {
  int *p = memory(2);
  LAUNCH(spin, 4, 1, p, p + 1);
}

int main(int argc, char **argv) {
  const Case cases[] = {case_histogram, case_shift, case_last_block, case_warps,      case_lanes,
                        case_scan,      case_any,   case_whole_grid, case_halves, case_spin};
  return run_case(cases, argc, argv);
}
