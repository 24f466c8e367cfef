// A wave in a cube, second order in time, a star of radius 1 in space.

#include "check.h"

__global__ void wave_step(const float *now, float *before, int n, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
    return;
  int i = (z * n + y) * n + x;
  float around = now[i - 1] + now[i + 1] + now[i - n] + now[i + n] + now[i - n * n] + now[i + n * n];
  before[i] = 2 * now[i] - before[i] + c * (around - 6 * now[i]);
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 512;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  const std::size_t points = static_cast<std::size_t>(n) * n * n;
  float *a = random_numbers<float>(points), *b = zeros<float>(points);
  const dim3 block(32, 4, 2), grid((n + 31) / 32, (n + 3) / 4, (n + 1) / 2);
  timed(steps, [&] {
    wave_step<<<grid, block>>>(a, b, n, 0.1f);
    wave_step<<<grid, block>>>(b, a, n, 0.1f);
  });
  print_hash(a, points);
}
