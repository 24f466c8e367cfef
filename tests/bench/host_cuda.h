#pragma once

// Enough of CUDA's language to compile the suite's kernels with a host compiler. A kernel becomes
// a function that is called once per thread, with the variables below saying which.

#include <cmath>
#include <cstdint>
#include <map>
#include <math.h>
#include <string>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))

struct HostDim {
  unsigned x = 0, y = 0, z = 0;
};

inline HostDim threadIdx, blockIdx, blockDim, gridDim;

struct float4 {
  float x, y, z, w;
};

inline unsigned long long atomicAdd(unsigned long long *sum, unsigned long long value) {
  return std::exchange(*sum, *sum + value);
}

namespace host_cuda {

/// A function behind the driver's calling convention: an array of pointers to the arguments.
struct Entry {
  void (*call)(void **arguments) = nullptr;
  int parameters = 0;
  bool each_thread = false; ///< called for every thread of a launch, otherwise once per launch
};

/// All entries by "language name".
inline std::map<std::string, Entry> &entries() {
  static std::map<std::string, Entry> table;
  return table;
}

template <class... Parameters, std::size_t... N>
void call(void (*function)(Parameters...), void **arguments, std::index_sequence<N...>) {
  function(*static_cast<Parameters *>(arguments[N])...);
}

template <class... Parameters> void call(void (*function)(Parameters...), void **arguments) {
  call(function, arguments, std::index_sequence_for<Parameters...>{});
}

/// The same where the launch has arguments that the function does not want: `skipped` of them
/// behind the first `extents`.
template <class... Parameters>
void call(void (*function)(Parameters...), void **arguments, int extents, int skipped) {
  void *kept[sizeof...(Parameters)];
  for (int n = 0; n < static_cast<int>(sizeof...(Parameters)); n++)
    kept[n] = arguments[n < extents ? n : n + skipped];
  call(function, kept);
}

template <class... Parameters> constexpr int count(void (*)(Parameters...)) {
  return static_cast<int>(sizeof...(Parameters));
}

struct Registered {
  Registered(const char *name, Entry entry) { entries()[name] = entry; }
};

} // namespace host_cuda
