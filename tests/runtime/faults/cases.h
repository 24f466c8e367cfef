// What the files of cases share: each is a kernel with a fault (`bad`) or as it should be, chosen
// by number.
#pragma once
#include <cstdio>
#include <cstdlib>

using Case = void (*)(bool bad);

template <int count> int run_case(const Case (&cases)[count], int argc, char **argv) {
  if (argc < 3) {
    std::printf("%d\n", count);
    return 0;
  }
  cases[std::atoi(argv[1]) - 1](std::atoi(argv[2]) != 0);
  cudaDeviceSynchronize();
  std::puts("end");
  return 0;
}
#define LAUNCH(kernel, grid, block, ...)                                                           \
  (bad ? (kernel<true><<<grid, block>>>(__VA_ARGS__), 0)                                           \
       : (kernel<false><<<grid, block>>>(__VA_ARGS__), 0))
