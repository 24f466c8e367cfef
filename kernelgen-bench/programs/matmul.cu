// The product of two matrices, the way it is first written.

#include "check.h"

__global__ void matmul(const float *a, const float *b, float *c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n)
    return;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 2048;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  const std::size_t count = static_cast<std::size_t>(n) * n;
  float *a = random_numbers<float>(count), *b = random_numbers<float>(count, 2), *c = zeros<float>(count);
  const dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  timed(steps, [&] { matmul<<<grid, block>>>(a, b, c, n); });
  print_hash(c, count);
}
