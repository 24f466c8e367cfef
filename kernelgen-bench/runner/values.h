#pragma once

// The values that buffers are filled with: a hash of index and seed, so that host and device agree
// on every bit without a copy. Compiled by nvcc for tools.cu and by the host compiler.

#include <cstdint>

#ifdef __CUDACC__
#define KERNELGEN_HOST_DEVICE __host__ __device__
#else
#define KERNELGEN_HOST_DEVICE
#endif

namespace kernelgen {

/// How the values of a buffer are drawn.
enum class Fill : std::int32_t {
  uniform, ///< [0.5, 1.5)
  unit,    ///< [0, 1)
  binary,  ///< 0 or 1
  poison,  ///< one NaN, for results that are yet to be written
};

/// The value at `index` of a buffer with the given seed.
KERNELGEN_HOST_DEVICE inline float draw(Fill fill, std::uint32_t seed, std::uint64_t index) {
  // The finalizer of a 64-bit multiplicative hash: every input bit reaches the top bits.
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15ULL ^ (std::uint64_t{seed} << 32);
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  const std::uint32_t bits = static_cast<std::uint32_t>(x) >> 8;
  const float unit = static_cast<float>(bits) * (1.0f / 16777216.0f);
  switch (fill) {
  case Fill::uniform:
    return 0.5f + unit;
  case Fill::unit:
    return unit;
  case Fill::binary:
    return bits & 1 ? 1.0f : 0.0f;
  case Fill::poison:
    break;
  }
  return __builtin_nanf("");
}

} // namespace kernelgen
