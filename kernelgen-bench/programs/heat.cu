// Heat in a plate: a step of Jacobi's method, one point per thread.

#include "check.h"

__global__ void heat_step(const float *now, float *next, int nx, int ny, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    int i = y * nx + x;
    next[i] = now[i] + k * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4 * now[i]);
  }
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 8192;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 500;
  const std::size_t points = static_cast<std::size_t>(n) * n;
  float *now = random_numbers<float>(points), *next = zeros<float>(points);
  const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
  timed(steps, [&] {
    heat_step<<<grid, block>>>(now, next, n, n, 0.1f);
    heat_step<<<grid, block>>>(next, now, n, n, 0.1f);
  });
  print_hash(now, points);
}
