#pragma once

// A table of siblings beside kernels whose siblings are written by hand.

#include <cstddef>
#include <cstdint>

template <std::size_t N> struct Table { unsigned char bytes[16 + N]; };

template <std::size_t N> constexpr Table<N - 1> table(const char (&text)[N]) {
  Table<N - 1> result{{'P', 'T', 'X', 'A', 'S', 'W', 'S', 0, 1, 0, 0, 0}};
  for (int i = 0; i < 4; ++i)
    result.bytes[12 + i] = static_cast<unsigned char>((N - 1) >> 8 * i);
  for (std::size_t i = 0; i + 1 < N; ++i)
    result.bytes[16 + i] = static_cast<unsigned char>(text[i]);
  return result;
}

#define TABLE(kernel, text)                                                                        \
  extern "C" {                                                                                     \
  __device__ Table<sizeof(text) - 1> kernel##__ptxasw_siblings = table(text);                      \
  }

#define NEVER "\"cooperative\":false,\"cluster\":false"
