#pragma once
// Every program prints what it did not expect, and `ok` at its end if there was nothing.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline int failures = 0;

inline void expect(bool holds, const char *what, int line) {
  if (!holds) {
    std::printf("line %d: %s\n", line, what);
    ++failures;
  }
}
inline void expect_error(cudaError_t error, cudaError_t wanted, const char *what, int line) {
  if (error != wanted) {
    std::printf("line %d: %s gives %s, not %s\n", line, what, cudaGetErrorName(error),
                cudaGetErrorName(wanted));
    ++failures;
  }
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define RIGHT(call) expect_error(call, cudaSuccess, #call, __LINE__)
#define WRONG(call, wanted) expect_error(call, wanted, #call, __LINE__)

inline int finish() {
  std::puts(failures == 0 ? "ok" : "not ok");
  return failures != 0;
}
