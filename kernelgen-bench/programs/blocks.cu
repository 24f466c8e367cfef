// Kernels whose blocks could have any shape, in one that does not suit them: a transpose as it is
// first written, a sum of each row by one thread, and a five-point stencil in square blocks.

#include "check.h"

__global__ void transpose(const float *in, float *out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n)
    out[x * n + y] = in[y * n + x];
}

__global__ void row_sums(const float *in, float *sums, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < columns; ++i)
    sum += in[row * columns + i];
  sums[row] = sum;
}

__global__ void smooth(const float *in, float *out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
    return;
  int i = y * n + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 8192;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  const std::size_t values = static_cast<std::size_t>(n) * n;
  float *a = random_numbers<float>(values), *b = zeros<float>(values), *sums = zeros<float>(n);
  const dim3 flat(32, 8), square(32, 32);
  timed(steps, [&] {
    transpose<<<dim3((n + 31) / 32, (n + 7) / 8), flat>>>(a, b, n);
    row_sums<<<(n + 1023) / 1024, 1024>>>(b, sums, n, 1024 < n ? 1024 : n);
    smooth<<<dim3((n + 31) / 32, (n + 31) / 32), square>>>(b, a, n);
  });
  print_hash(a, values);
  print_hash(sums, n);
}
