// Activation functions of a neural network, in single and half precision.

#include "check.h"
#include <cuda_fp16.h>

__global__ void relu(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] > 0 ? in[i] : 0;
}

__global__ void gelu(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    out[i] = 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }
}

__global__ void bias_relu_half(const __half *in, const __half *bias, __half *out, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    __half x = __hadd(in[i], bias[i % width]);
    out[i] = __hgt(x, __float2half(0)) ? x : __float2half(0);
  }
}

__global__ void threshold_bytes(const unsigned char *in, unsigned char *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] > 127 ? 255 : 0;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 26;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  float *x = random_numbers<float>(n), *y = zeros<float>(n), *z = zeros<float>(n);
  auto *h = reinterpret_cast<__half *>(zeros<unsigned short>(n));
  auto *g = reinterpret_cast<__half *>(zeros<unsigned short>(n));
  auto *bytes = reinterpret_cast<unsigned char *>(x);
  unsigned char *cut = zeros<unsigned char>(n);
  const int blocks = (n + 255) / 256;
  timed(steps, [&] {
    relu<<<blocks, 256>>>(x, y, n);
    gelu<<<blocks, 256>>>(x, z, n);
    bias_relu_half<<<blocks, 256>>>(h, h, g, n, 1024);
    threshold_bytes<<<blocks, 256>>>(bytes, cut, n);
  });
  print_hash(y, n);
  print_hash(z, n);
  print_hash(cut, n);
}
