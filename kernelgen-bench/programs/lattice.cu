// A lattice-Boltzmann step in two dimensions with nine velocities (BGK), periodic.

#include "check.h"

__constant__ int step_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int step_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                                1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

__global__ void stream_and_collide(const float *from, float *to, int nx, int ny, float omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  float f[9], density = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    int sx = (x - step_x[k] + nx) % nx, sy = (y - step_y[k] + ny) % ny;
    f[k] = from[(k * ny + sy) * nx + sx];
    density += f[k];
    ux += step_x[k] * f[k];
    uy += step_y[k] * f[k];
  }
  ux /= density;
  uy /= density;
  float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    float cu = 3 * (step_x[k] * ux + step_y[k] * uy);
    float equilibrium = weight[k] * density * (1 + cu + 0.5f * cu * cu - square);
    to[(k * ny + y) * nx + x] = f[k] + omega * (equilibrium - f[k]);
  }
}

__global__ void begin(float *f, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < cells)
    for (int k = 0; k < 9; ++k)
      f[static_cast<std::size_t>(k) * cells + i] = weight[k] * (1 + 0.01f * (i % 7));
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 2048;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  const std::size_t values = 9 * static_cast<std::size_t>(n) * n;
  float *a = zeros<float>(values), *b = zeros<float>(values);
  begin<<<(n * n + 255) / 256, 256>>>(a, n * n);
  const dim3 block(64, 4), grid((n + 63) / 64, (n + 3) / 4);
  timed(steps, [&] {
    stream_and_collide<<<grid, block>>>(a, b, n, n, 1.2f);
    stream_and_collide<<<grid, block>>>(b, a, n, n, 1.2f);
  });
  print_hash(a, values);
}
