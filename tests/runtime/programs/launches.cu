// Launches of all kinds, what is known about kernels and the device, and what kernels are given by the
// system.
#include "common.h"

#include <cooperative_groups.h>
#include <thread>

struct Parameters {
  int *to;
  char gap;
  double value;
  short list[5];
};
__global__ void structured(char before, Parameters p, long long behind) {
  p.to[0] = before + static_cast<int>(p.value) + p.list[4] + static_cast<int>(behind);
}
__global__ void dynamic(int *to, int n) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = buffer[n - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded(int *to) { to[threadIdx.x] = 1; }
__global__ void meet(int *counts) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0)
    atomicAdd(counts, 1);
  grid.sync();
  if (threadIdx.x == 0)
    counts[1 + blockIdx.x] = counts[0];
}
template <class T> __global__ void templated(T *to) { *to = sizeof(T); }
__global__ void allocate(int **to) {
  to[threadIdx.x] = static_cast<int *>(malloc(sizeof(int)));
  *to[threadIdx.x] = threadIdx.x;
}
__global__ void release(int **from, int *sum) {
  atomicAdd(sum, *from[threadIdx.x]);
  free(from[threadIdx.x]);
}
__global__ void print(float x) { printf("thread %d of %s: %.2f\n", threadIdx.x, "two", x); }
__global__ void count(unsigned *to) { atomicAdd(to, 1u); }

int main() {
  int *p = nullptr;
  RIGHT(cudaMalloc(&p, 4096));
  RIGHT(cudaMemset(p, 0, 4096));
  int host[1024];
  const auto fetch = [&](int n) { RIGHT(cudaMemcpy(host, p, n * sizeof(int), cudaMemcpyDeviceToHost)); };
  structured<<<1, 1>>>(1, Parameters{p, 0, 10.5, {0, 0, 0, 0, 100}}, 1000);
  fetch(1);
  EXPECT(host[0] == 1111);
  dynamic<<<1, 64, 64 * sizeof(int)>>>(p, 64);
  fetch(64);
  EXPECT(host[0] == 63 && host[63] == 0);
  templated<<<1, 1>>>(reinterpret_cast<short *>(p));
  templated<<<1, 1>>>(reinterpret_cast<double *>(p + 2));
  fetch(1);
  EXPECT((host[0] & 0xffff) == 2);

  // Shapes that no device has, and more shared memory than there is without asking.
  dynamic<<<0, 64>>>(p, 64);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  dynamic<<<1, 1025>>>(p, 64);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  bounded<<<1, 256>>>(p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  dynamic<<<1, 32, 100 << 10>>>(p, 32);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  RIGHT(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  dynamic<<<1, 32, 100 << 10>>>(p, 32);
  EXPECT(cudaGetLastError() == cudaSuccess);
  WRONG(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);

  // Launches by functions.
  int n = 32;
  void *arguments[] = {&p, &n};
  RIGHT(cudaLaunchKernel(dynamic, dim3(1), dim3(32), arguments, 128, nullptr));
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.dynamicSmemBytes = 128;
  RIGHT(cudaLaunchKernelEx(&config, dynamic, p, 32));
  fetch(32);
  EXPECT(host[0] == 31);
  RIGHT(cudaMemset(p, 0, 4096));
  void *one[] = {&p};
  RIGHT(cudaLaunchCooperativeKernel(meet, dim3(16), dim3(64), one, 0, nullptr));
  fetch(17);
  for (int i = 0; i <= 16; ++i)
    EXPECT(host[i] == 16);
  WRONG(cudaLaunchCooperativeKernel(meet, dim3(1 << 20), dim3(64), one, 0, nullptr),
        cudaErrorCooperativeLaunchTooLarge);
  WRONG(cudaLaunchKernel(host, dim3(1), dim3(1), one, 0, nullptr), cudaErrorInvalidDeviceFunction);
  cudaGetLastError();

  // What is known.
  cudaFuncAttributes attributes;
  RIGHT(cudaFuncGetAttributes(&attributes, bounded));
  EXPECT(attributes.maxThreadsPerBlock == 128 && attributes.numRegs > 0 && attributes.numRegs < 256);
  int blocks = 0, size = 0, least = 0;
  RIGHT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
  EXPECT(blocks == 16);
  RIGHT(cudaOccupancyMaxPotentialBlockSize(&least, &size, count));
  EXPECT(size == 1024 && least == 2 * 132);
  cudaDeviceProp properties;
  RIGHT(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.major == 9 && properties.multiProcessorCount == 132 && properties.warpSize == 32);
  RIGHT(cudaDeviceGetAttribute(&size, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(size == 227 << 10);
  WRONG(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "illegal address") == 0);

  // The heap lives on from launch to launch.
  int **pointers = nullptr;
  RIGHT(cudaMalloc(&pointers, 32 * sizeof(int *)));
  RIGHT(cudaMemset(p, 0, 4));
  allocate<<<1, 32>>>(pointers);
  release<<<1, 32>>>(pointers, p);
  fetch(1);
  EXPECT(host[0] == 496);
  print<<<1, 2>>>(2.5f);

  // Threads of the host.
  RIGHT(cudaMemset(p, 0, 4));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      cudaStream_t stream;
      RIGHT(cudaStreamCreate(&stream));
      for (int k = 0; k < 10; ++k)
        count<<<4, 32, 0, stream>>>(reinterpret_cast<unsigned *>(p));
      RIGHT(cudaStreamSynchronize(stream));
      RIGHT(cudaStreamDestroy(stream));
    });
  for (std::thread &thread : threads)
    thread.join();
  fetch(1);
  EXPECT(host[0] == 4 * 10 * 128);
  cudaMipmappedArray_t levels = nullptr;
  WRONG(cudaFreeMipmappedArray(levels), cudaErrorNotSupported);
  cudaGetLastError();
  return finish();
}
