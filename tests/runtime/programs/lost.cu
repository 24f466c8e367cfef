// After a kernel that fails, nothing works until the device is reset. The word says how it fails.
#include "common.h"

#include <cassert>

__global__ void fail(int *p, char how) {
  if (how == 'b')
    p[1 << 20] = 1;
  if (how == 'm')
    *reinterpret_cast<int *>(reinterpret_cast<char *>(p) + 1) = 1;
  if (how == 't')
    asm volatile("trap;");
  if (how == 'a')
    assert(p == nullptr);
  if (how == 'n')
    *static_cast<volatile int *>(nullptr) = 1;
  if (how == 'e')
    while (*static_cast<volatile int *>(p) == 0) {
    }
}

int main(int, char **words) {
  const char how = words[1][0];
  int *p = nullptr;
  cudaStream_t stream = nullptr;
  RIGHT(cudaStreamCreate(&stream));
  RIGHT(cudaMalloc(&p, 4096));
  RIGHT(cudaMemset(p, 0, 4096));
  fail<<<1, 32>>>(p, how);
  const cudaError_t wanted = how == 'b' || how == 'n' ? cudaErrorIllegalAddress
                             : how == 'm'             ? cudaErrorMisalignedAddress
                             : how == 't'             ? cudaErrorLaunchFailure
                             : how == 'a'             ? cudaErrorAssert
                                                      : cudaErrorLaunchTimeout;
  WRONG(cudaDeviceSynchronize(), wanted);
  WRONG(cudaMalloc(&p, 4), wanted);
  EXPECT(cudaGetLastError() == wanted);
  RIGHT(cudaDeviceReset());
  WRONG(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle); // it is gone
  RIGHT(cudaMalloc(&p, 4));
  return finish();
}
