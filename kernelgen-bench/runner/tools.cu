// What the runner itself does on the device: fill buffers, compare them bit for bit, copy.
#include "values.h"

/// Writes draw(fill, seed, index) to every value.
extern "C" __global__ void tool_fill(float *values, std::uint64_t count, std::int32_t fill,
                                     std::uint32_t seed) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t n = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; n < count;
       n += stride)
    values[n] = kernelgen::draw(static_cast<kernelgen::Fill>(fill), seed, n);
}

/// Adds the number of words that differ to *different.
extern "C" __global__ void tool_compare(const std::uint32_t *a, const std::uint32_t *b,
                                        std::uint64_t count, unsigned long long *different) {
  unsigned long long found = 0;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t n = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; n < count;
       n += stride)
    found += a[n] != b[n];
  if (found)
    atomicAdd(different, found);
}

/// Copies 16 bytes per thread and step: what the DRAM can do at best under an ordinary kernel.
extern "C" __global__ void tool_copy(const float4 *in, float4 *out, std::uint64_t count) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t n = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; n < count;
       n += stride)
    out[n] = in[n];
}
