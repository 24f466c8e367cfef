// Barriers, shuffles and votes that not all reach.
#include "cases.h"

static int *memory() {
  int *p;
  cudaMalloc(&p, 1024);
  cudaMemset(p, 0, 1024);
  return p;
}

template <bool bad> __global__ void rim(int *p, int n) {
  const int i = threadIdx.x;
  if (bad && i >= n)
    return;
  p[i] = i;
  __syncthreads(); // FAULT 1
  p[64 + i] = p[(i + 1) % n];
}
static void case_rim(bool bad) { LAUNCH(rim, 1, 64, memory(), bad ? 60 : 64); }

template <bool bad> __global__ void loop(int *p) {
  for (int i = 0; i < (bad ? 1 + threadIdx.x / 32 : 2); ++i)
    __syncthreads(); // FAULT 2
  p[threadIdx.x] = 1;
}
static void case_loop(bool bad) { LAUNCH(loop, 1, 64, memory()); }

template <bool bad> __global__ void branch(int *p) {
  if (bad ? threadIdx.x % 2 : blockIdx.x % 2)
    __syncthreads(); // FAULT 3
  p[threadIdx.x] = 1;
}
static void case_branch(bool bad) { LAUNCH(branch, 1, 64, memory()); }

template <bool bad> __global__ void vote(int *p) {
  if (threadIdx.x < 20)
    p[threadIdx.x] = __any_sync(bad ? 0xffffffff : 0xfffff, p[threadIdx.x]); // FAULT 4
  else
    p[threadIdx.x] = __ballot_sync(bad ? 0xffffffff : 0xfff00000, p[threadIdx.x]); // FAULT 4
}
static void case_vote(bool bad) { LAUNCH(vote, 1, 32, memory()); }

template <bool bad> __global__ void tree(int *p) {
  int value = p[threadIdx.x];
  if (!bad || threadIdx.x < 31)
    for (int step = 16; step > 0; step /= 2)
      value += __shfl_down_sync(0xffffffff, value, step); // FAULT 5
  p[threadIdx.x] = value;
}
static void case_tree(bool bad) { LAUNCH(tree, 1, 32, memory()); }

template <bool bad> __global__ void pick(int *p) {
  int value = threadIdx.x;
  if (threadIdx.x >= 4)
    value = __shfl_sync(bad ? 0xffffffe0 : 0xfffffff0, value, 5); // FAULT 6
  p[threadIdx.x] = value;
}
static void case_pick(bool bad) { LAUNCH(pick, 1, 32, memory()); }

template <bool bad> __global__ void counted(int *p) {
  const int sum = bad && threadIdx.x >= 32 ? 0 : __syncthreads_count(threadIdx.x % 3 == 0); // FAULT 7
  p[threadIdx.x] = sum;
}
static void case_counted(bool bad) { LAUNCH(counted, 1, 64, memory()); }

template <bool bad> __global__ void meet(int *p) {
  if (threadIdx.x < 8)
    __syncwarp(bad ? 0x7f : 0xff); // FAULT 8
  p[threadIdx.x] = 1;
}
static void case_meet(bool bad) { LAUNCH(meet, 1, 32, memory()); }

int main(int argc, char **argv) {
  const Case cases[] = {case_rim, case_loop, case_branch, case_vote, case_tree, case_pick, case_counted, case_meet};
  return run_case(cases, argc, argv);
}
