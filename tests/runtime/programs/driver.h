#pragma once
// Programs of the Driver API print what they did not expect, and `ok` at their end if there was
// nothing.

#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

inline int failures = 0;

inline void expect_result(CUresult result, CUresult wanted, const char *what, int line) {
  if (result != wanted) {
    std::printf("line %d: %s gives %d, not %d\n", line, what, result, wanted);
    ++failures;
  }
}

#define EXPECT(condition)                                                                          \
  do                                                                                               \
    if (!(condition))                                                                              \
      ++failures, std::printf("line %d: %s\n", __LINE__, #condition);                              \
  while (0)
#define GOOD(call) expect_result(call, CUDA_SUCCESS, #call, __LINE__)
#define WRONG(call, wanted) expect_result(call, wanted, #call, __LINE__)

inline int finish() {
  std::puts(failures == 0 ? "ok" : "failed");
  return failures != 0;
}
