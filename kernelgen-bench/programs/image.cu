// A picture through a few steps: to grey, blurred, its edges, and how many pixels are bright.

#include "check.h"

__global__ void to_grey(const unsigned char *rgb, float *grey, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels)
    grey[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
}

__global__ void blur(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
    return;
  const float *p = in + y * width + x;
  out[y * width + x] = (p[-width - 1] + 2 * p[-width] + p[-width + 1] + 2 * p[-1] + 4 * p[0] +
                        2 * p[1] + p[width - 1] + 2 * p[width] + p[width + 1]) /
                       16;
}

__global__ void edges(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
    return;
  const float *p = in + y * width + x;
  float gx = p[-width + 1] + 2 * p[1] + p[width + 1] - p[-width - 1] - 2 * p[-1] - p[width - 1];
  float gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
  out[y * width + x] = sqrtf(gx * gx + gy * gy);
}

__global__ void bright(const float *in, unsigned *count, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels && in[i] > 100)
    atomicAdd(count, 1u);
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 8192;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  const int pixels = n * n;
  auto *rgb = reinterpret_cast<unsigned char *>(random_numbers<float>((3 * static_cast<std::size_t>(pixels) + 3) / 4));
  float *grey = zeros<float>(pixels), *soft = zeros<float>(pixels), *lines = zeros<float>(pixels);
  unsigned *count = zeros<unsigned>(1);
  const dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  timed(steps, [&] {
    to_grey<<<(pixels + 255) / 256, 256>>>(rgb, grey, pixels);
    blur<<<grid, block>>>(grey, soft, n, n);
    edges<<<grid, block>>>(soft, lines, n, n);
    bright<<<(pixels + 255) / 256, 256>>>(lines, count, pixels);
  });
  print_hash(lines, pixels);
  print_hash(count, 1);
}
