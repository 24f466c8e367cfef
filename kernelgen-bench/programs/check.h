#pragma once

// What every program here prints: a hash of its result, and how long the GPU took.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t result_ = (call);                                                            \
    if (result_ != cudaSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(result_));        \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

/// Device memory with numbers from -1 to 1 that are always the same.
template <typename T> T *random_numbers(std::size_t count, unsigned seed = 1) {
  std::vector<T> host(count);
  for (T &value : host) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<double>(seed >> 8) / (1 << 23) - 1);
  }
  T *device = nullptr;
  CHECK(cudaMalloc(&device, count * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <typename T> T *zeros(std::size_t count) {
  T *device = nullptr;
  CHECK(cudaMalloc(&device, count * sizeof(T)));
  CHECK(cudaMemset(device, 0, count * sizeof(T)));
  return device;
}

/// Prints a hash of the bytes that a result has.
template <typename T> void print_hash(const T *device, std::size_t count) {
  std::vector<unsigned char> bytes(count * sizeof(T));
  CHECK(cudaMemcpy(bytes.data(), device, bytes.size(), cudaMemcpyDeviceToHost));
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3u;
  std::printf("hash %016llx\n", static_cast<unsigned long long>(hash));
}

/// Calls `step` this many times, or TIMES as often, and prints how long the GPU took, after a few
/// calls that do not count.
template <typename Step> void timed(int count, Step step) {
  const char *const times = std::getenv("TIMES");
  count *= times ? std::atoi(times) : 1;
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < 5; ++i)
    step();
  CHECK(cudaEventRecord(start));
  for (int i = 0; i < count; ++i)
    step();
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaGetLastError());
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  std::printf("milliseconds %.3f\n", milliseconds);
}
