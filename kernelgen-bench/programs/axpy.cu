// BLAS-1 as people write it: one element per thread.

#include "check.h"

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

__global__ void vector_add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

__global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= a;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 26;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  float *x = random_numbers<float>(n), *y = random_numbers<float>(n, 2), *z = zeros<float>(n);
  const int blocks = (n + 255) / 256;
  timed(steps, [&] {
    saxpy<<<blocks, 256>>>(n, 0.01f, x, y);
    vector_add<<<blocks, 256>>>(x, y, z, n);
    scale<<<blocks, 256>>>(y, 0.99f, n);
  });
  print_hash(y, n);
  print_hash(z, n);
}
