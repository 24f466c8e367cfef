// A mean of each number and its two neighbours, by way of shared memory. It has two bugs, which `ptxasw check` finds: no barrier
// between writing the tile and reading it, and the last thread reads past the end.
//   ptxasw run --no-gpu -- nvcc -arch=sm_90 -lineinfo -g -o blur blur.cu
#include <cstdio>

__global__ void blur(const float *in, float *out, int n) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  const float left = threadIdx.x > 0 ? tile[threadIdx.x - 1] : i > 0 ? in[i - 1] : in[i];
  const float right = threadIdx.x < 255 ? tile[threadIdx.x + 1] : in[i + 1];
  out[i] = (left + tile[threadIdx.x] + right) / 3;
}

int main() {
  const int n = 1024;
  float *in, *out;
  cudaMalloc(&in, n * sizeof *in);
  cudaMalloc(&out, n * sizeof *out);
  cudaMemset(in, 0, n * sizeof *in);
  blur<<<n / 256, 256>>>(in, out, n);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
}
