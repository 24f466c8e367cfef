// Jacobi's method on a small plate, in many steps of a few microseconds each.

#include "check.h"

__global__ void relax(const float *old, float *now, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
    return;
  int i = y * n + x;
  now[i] = 0.25f * (old[i - 1] + old[i + 1] + old[i - n] + old[i + n]);
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 20000;
  const std::size_t points = static_cast<std::size_t>(n) * n;
  float *a = random_numbers<float>(points), *b = zeros<float>(points);
  const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
  timed(steps, [&] {
    relax<<<grid, block>>>(a, b, n);
    relax<<<grid, block>>>(b, a, n);
  });
  print_hash(a, points);
}
