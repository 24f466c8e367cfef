#include "parts.h"

__device__ int common_number = 5;
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ int plus_one(int x);
static __device__ int own = 20;
static __device__ __noinline__ int helper(int x) { return x + own; }
extern __shared__ int room[];
__global__ void in_other_part(int *to) {
  room[1] = plus_one(common_number);
  *to = helper(room[1]);
}
