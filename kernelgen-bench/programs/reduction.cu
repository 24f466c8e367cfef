// A sum by a tree in shared memory.

#include "check.h"

__global__ void block_sums(const float *in, float *sums, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = part[0];
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 26;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  float *x = random_numbers<float>(n);
  const int blocks = (n + 255) / 256;
  float *sums = zeros<float>(blocks), *sums_of_sums = zeros<float>((blocks + 255) / 256);
  timed(steps, [&] {
    block_sums<<<blocks, 256>>>(x, sums, n);
    block_sums<<<(blocks + 255) / 256, 256>>>(sums, sums_of_sums, blocks);
  });
  print_hash(sums_of_sums, (blocks + 255) / 256);
}
