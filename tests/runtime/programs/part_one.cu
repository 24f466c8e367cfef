// Relocatable device code in two files: what each of them calls and names is in the other, and both
// have something of the same name that is theirs alone.
#include "common.h"
#include "parts.h"

static __device__ int own = 10;
static __device__ __noinline__ int helper(int x) { return x + own; }
__device__ int plus_one(int x) { return x + 1; }
extern __shared__ int room[];
__global__ void here(int *to) {
  room[0] = common_number;
  *to = twice(helper(room[0]));
}

int main() {
  int *p = nullptr, value = 0;
  RIGHT(cudaMalloc(&p, sizeof(int)));
  here<<<1, 1, 16>>>(p);
  RIGHT(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 2 * (5 + 10));
  in_other_part<<<1, 1, 16>>>(p);
  RIGHT(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 6 + 20);
  value = 7;
  RIGHT(cudaMemcpyToSymbol(common_number, &value, sizeof value));
  here<<<1, 1, 16>>>(p);
  RIGHT(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 34);
  return finish();
}
