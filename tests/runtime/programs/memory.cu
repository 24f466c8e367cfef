// Memory of all kinds, copies and sets.
#include "common.h"

__device__ int numbers[8] = {1, 2, 3, 4};
__constant__ float factors[2];
__managed__ int shared_number = 5;
static __device__ int hidden;

__global__ void add_one(int *p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] += 1;
}
__global__ void use_symbols() {
  numbers[threadIdx.x] *= 2;
  if (threadIdx.x == 0) {
    shared_number += static_cast<int>(factors[1]);
    hidden = 42;
  }
}
__global__ void touch(char *p, std::size_t at) { p[at] = 7; }

int main() {
  const int n = 1000;
  std::vector<int> host(n, 1);
  int *p = nullptr;
  RIGHT(cudaMalloc(&p, n * sizeof(int)));
  RIGHT(cudaMemcpy(p, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  add_one<<<4, 256>>>(p, n);
  RIGHT(cudaMemcpy(host.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    EXPECT(host[i] == 2);
  RIGHT(cudaMemset(p, 0xff, n * sizeof(int)));
  RIGHT(cudaMemcpy(host.data(), p, n * sizeof(int), cudaMemcpyDefault));
  EXPECT(host[n - 1] == -1);

  // What is not an allocation's is refused.
  WRONG(cudaMemcpy(p, host.data(), n * sizeof(int) + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  WRONG(cudaMemcpy(host.data(), host.data() + 1, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  WRONG(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
  WRONG(cudaMemcpy(p, p, 4, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  WRONG(cudaFree(p + 1), cudaErrorInvalidValue);
  WRONG(cudaFree(host.data()), cudaErrorInvalidValue);
  RIGHT(cudaFree(nullptr));
  RIGHT(cudaFree(p));
  WRONG(cudaFree(p), cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaSuccess);

  // The host's memory, in the device's hands.
  int *pinned = nullptr, *mapped = nullptr, *managed = nullptr;
  RIGHT(cudaMallocHost(&pinned, n * sizeof(int)));
  RIGHT(cudaHostGetDevicePointer(&mapped, pinned, 0));
  RIGHT(cudaMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; ++i)
    pinned[i] = managed[i] = i;
  add_one<<<4, 256>>>(mapped, n);
  add_one<<<4, 256>>>(managed, n);
  RIGHT(cudaDeviceSynchronize());
  EXPECT(pinned[999] == 1000 && managed[999] == 1000);
  std::vector<int> own(n, 3);
  RIGHT(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
  RIGHT(cudaHostGetDevicePointer(&mapped, own.data(), 0));
  add_one<<<4, 256>>>(mapped, n);
  RIGHT(cudaDeviceSynchronize());
  EXPECT(own[0] == 4 && own[999] == 4);
  WRONG(cudaHostRegister(own.data(), 4, 0), cudaErrorHostMemoryAlreadyRegistered);
  cudaPointerAttributes attributes;
  RIGHT(cudaPointerGetAttributes(&attributes, managed + 5));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == managed + 5);
  RIGHT(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  RIGHT(cudaPointerGetAttributes(&attributes, own.data() + 5));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == own.data() + 5);
  RIGHT(cudaPointerGetAttributes(&attributes, &attributes));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  RIGHT(cudaHostUnregister(own.data()));
  WRONG(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  RIGHT(cudaFreeHost(pinned));
  RIGHT(cudaFree(managed));

  // Rows and planes.
  char *rows = nullptr;
  std::size_t pitch = 0;
  RIGHT(cudaMallocPitch(&rows, &pitch, 100, 10));
  EXPECT(pitch >= 100 && pitch % 512 == 0);
  std::vector<char> from(1000), to(1000);
  for (int i = 0; i < 1000; ++i)
    from[i] = static_cast<char>(i * 7);
  RIGHT(cudaMemcpy2D(rows, pitch, from.data(), 100, 100, 10, cudaMemcpyHostToDevice));
  RIGHT(cudaMemset2D(rows + 10, pitch, 1, 5, 10));
  RIGHT(cudaMemcpy2D(to.data(), 100, rows, pitch, 100, 10, cudaMemcpyDeviceToHost));
  EXPECT(to[912] == 1 && to[9] == from[9] && to[915] == from[915]);
  WRONG(cudaMemcpy2D(rows, 50, from.data(), 100, 100, 10, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  cudaPitchedPtr box;
  RIGHT(cudaMalloc3D(&box, make_cudaExtent(20, 5, 4)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from.data(), 20, 20, 5);
  copy.dstPtr = box;
  copy.extent = make_cudaExtent(20, 5, 4);
  copy.kind = cudaMemcpyHostToDevice;
  RIGHT(cudaMemcpy3D(&copy));
  std::fill(to.begin(), to.end(), 0);
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(to.data(), 20, 20, 5);
  copy.kind = cudaMemcpyDeviceToHost;
  copy.srcPos.z = 1;
  copy.extent.depth = 3;
  RIGHT(cudaMemcpy3D(&copy));
  EXPECT(std::memcmp(to.data(), from.data() + 100, 300) == 0);

  // Variables.
  const float given[2] = {1, 3};
  RIGHT(cudaMemcpyToSymbol(factors, given, sizeof given));
  use_symbols<<<1, 4>>>();
  int results[8];
  RIGHT(cudaMemcpyFromSymbol(results, numbers, sizeof results));
  EXPECT(results[0] == 2 && results[3] == 8 && results[4] == 0);
  EXPECT(shared_number == 8);
  RIGHT(cudaMemcpyFromSymbol(results, hidden, sizeof(int)));
  EXPECT(results[0] == 42);
  void *address = nullptr;
  std::size_t size = 0;
  RIGHT(cudaGetSymbolAddress(&address, numbers));
  RIGHT(cudaGetSymbolSize(&size, numbers));
  EXPECT(size == 32);
  RIGHT(cudaMemcpy(results, static_cast<int *>(address) + 1, 4, cudaMemcpyDeviceToHost));
  EXPECT(results[0] == 4);
  WRONG(cudaMemcpyFromSymbol(results, numbers, 32, 4), cudaErrorInvalidValue);
  WRONG(cudaGetSymbolSize(&size, results), cudaErrorInvalidSymbol);

  // Large, too large, and pools.
  char *large = nullptr;
  std::size_t free_bytes = 0, total = 0;
  RIGHT(cudaMalloc(&large, std::size_t{5} << 30));
  touch<<<1, 1>>>(large, (std::size_t{5} << 30) - 1);
  char last = 0;
  RIGHT(cudaMemcpy(&last, large + (std::size_t{5} << 30) - 1, 1, cudaMemcpyDeviceToHost));
  EXPECT(last == 7);
  RIGHT(cudaMemGetInfo(&free_bytes, &total));
  EXPECT(total - free_bytes >= std::size_t{5} << 30);
  void *none = &none;
  WRONG(cudaMalloc(&none, total), cudaErrorMemoryAllocation);
  EXPECT(none == nullptr && cudaGetLastError() == cudaErrorMemoryAllocation);
  cudaMemPool_t pool;
  RIGHT(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = 1 << 20, read = 0;
  RIGHT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  RIGHT(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  EXPECT(read == threshold);
  RIGHT(cudaMallocAsync(&p, n * sizeof(int), 0));
  RIGHT(cudaMemsetAsync(p, 0, n * sizeof(int), 0));
  add_one<<<4, 256>>>(p, n);
  RIGHT(cudaMemcpyAsync(host.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, 0));
  RIGHT(cudaFreeAsync(p, 0));
  RIGHT(cudaStreamSynchronize(0));
  EXPECT(host[0] == 1);
  return finish();
}
