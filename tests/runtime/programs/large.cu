// More than 4 GiB: addresses, sizes and copies beyond 32 bits, and more than there is.
#include "common.h"

__global__ void ends(unsigned char *p, std::size_t n) { p[0] = 1; p[n / 2] = 2; p[n - 1] = 3; }
__global__ void sum(const unsigned char *p, std::size_t n, unsigned *out) { *out = p[0] + 10 * p[n / 2] + 100 * p[n - 1]; }

int main() {
  const std::size_t n = (std::size_t{5} << 30) + 7;
  unsigned char *p = nullptr;
  unsigned *out = nullptr, host = 0;
  RIGHT(cudaMalloc(&p, n));
  RIGHT(cudaMalloc(&out, 4));
  ends<<<1, 1>>>(p, n);
  sum<<<1, 1>>>(p, n, out);
  RIGHT(cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(host == 321);
  unsigned char *q = nullptr;
  RIGHT(cudaMalloc(&q, n));
  RIGHT(cudaMemcpy(q + n - 4, p + n - 4, 4, cudaMemcpyDeviceToDevice));
  RIGHT(cudaMemcpy(&host, q + n - 4, 4, cudaMemcpyDeviceToHost));
  EXPECT(host >> 24 == 3);
  WRONG(cudaMemcpy(&host, q + n - 3, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  void *more = nullptr;
  WRONG(cudaMalloc(&more, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  cudaGetLastError();
  return finish();
}
