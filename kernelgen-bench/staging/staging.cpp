// staging CUBIN
//
// The kernels of kernels.cu as they are and staged
// (`ptxasw siblings kernels.ptx --retile=z8 --stage=4k,16k -o staged.ptx`, then ptxas). Prints a
// line for each launch and version: kernel, its numbers, threads of a block, version, the median of
// nine times in milliseconds of the kernel and of the version, by how much the kernel's is the
// longer, and whether both leave the same bytes. They are run in turn.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <string>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const CUresult error = (call);                                                                 \
    if (error != CUDA_SUCCESS) {                                                                   \
      const char *what = "";                                                                       \
      cuGetErrorString(error, &what);                                                              \
      std::fprintf(stderr, "%s: %s\n", #call, what);                                               \
      return 1;                                                                                    \
    }                                                                                              \
  } while (false)

namespace {

constexpr std::size_t words = std::size_t{64} << 20; ///< of each buffer

/// A launch: pointers to as many buffers, the last of which is written, and numbers behind them.
struct Case {
  const char *name;
  unsigned buffers;
  std::vector<int> numbers;
  std::uint64_t outputs; ///< elements along x, of which each thread has one
  unsigned rows;         ///< blocks along y
  bool floats;
  bool small_number; ///< a real behind the numbers
};

const Case cases[] = {
    {"filter", 3, {1 << 24, 16}, 1 << 24, 1, true, false},
    {"filter", 3, {1 << 24, 64}, 1 << 24, 1, true, false},
    {"filter", 3, {1 << 22, 1024}, 1 << 22, 1, true, false},
    {"nbody", 2, {4096}, 4096, 1, true, true},
    {"nbody", 2, {65536}, 65536, 1, true, true},
    {"bodies", 5, {4096}, 4096, 1, true, true},
    {"bodies", 5, {65536}, 65536, 1, true, true},
    {"matvec", 3, {8000}, 8000, 1, true, false},
    {"matmul", 3, {2048}, 2048, 2048, true, false},
    {"nearest", 3, {1 << 22, 16}, 1 << 22, 1, true, false},
    {"nearest", 3, {1 << 22, 256}, 1 << 22, 1, true, false},
    {"ranks", 3, {1 << 22, 1024}, 1 << 22, 1, false, false},
};

float median(std::vector<float> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Launch {
  const Case &one;
  unsigned block;
  std::vector<CUdeviceptr> buffers;
};

int time_of(CUfunction function, Launch &launch, CUevent begin, CUevent end, float &time) {
  const Case &one = launch.one;
  std::vector<int> numbers = one.numbers;
  float number = 0.001f;
  std::vector<void *> arguments;
  for (unsigned i = 0; i + 1 < one.buffers; ++i)
    arguments.push_back(&launch.buffers[i]);
  arguments.push_back(&launch.buffers.back());
  for (int &value : numbers)
    arguments.push_back(&value);
  if (one.small_number)
    arguments.push_back(&number);
  const unsigned blocks = (unsigned)((one.outputs + launch.block - 1) / launch.block);
  CHECK(cuMemsetD32(launch.buffers.back(), 0, words));
  CHECK(cuCtxSynchronize());
  CHECK(cuEventRecord(begin, nullptr));
  CHECK(cuLaunchKernel(function, blocks, one.rows, 1, launch.block, 1, 1, 0, nullptr,
                       arguments.data(), nullptr));
  CHECK(cuEventRecord(end, nullptr));
  CHECK(cuEventSynchronize(end));
  CHECK(cuEventElapsedTime(&time, begin, end));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: staging CUBIN\n");
    return 2;
  }
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  char name[200];
  CHECK(cuDeviceGetName(name, sizeof name, device));
  std::printf("# %s\n# kernel numbers threads version kernel_ms version_ms gain bytes\n", name);
  CUmodule module;
  CHECK(cuModuleLoad(&module, argv[1]));
  CUevent begin, end;
  CHECK(cuEventCreate(&begin, 0));
  CHECK(cuEventCreate(&end, 0));
  std::vector<CUdeviceptr> reals(4), integers(4);
  std::vector<std::uint32_t> content(words);
  CUdeviceptr output;
  CHECK(cuMemAlloc(&output, words * 4));
  for (unsigned i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < words; ++k) {
      const float number = 1.0f + (float)((k + i) * 7919 % (1021 + 2 * i)) / 1021;
      std::memcpy(&content[k], &number, 4);
    }
    CHECK(cuMemAlloc(&reals[i], words * 4));
    CHECK(cuMemcpyHtoD(reals[i], content.data(), words * 4));
    for (std::size_t k = 0; k < words; ++k)
      content[k] = (std::uint32_t)((k + i) * 2654435761u >> 12);
    CHECK(cuMemAlloc(&integers[i], words * 4));
    CHECK(cuMemcpyHtoD(integers[i], content.data(), words * 4));
  }
  unsigned wrong = 0;
  for (const Case &one : cases)
    for (const unsigned block : {64u, 128u, 256u, 512u, 1024u}) {
      Launch launch{one, block, one.floats ? reals : integers};
      launch.buffers.resize(one.buffers - 1);
      launch.buffers.push_back(output);
      const char *const versions[] = {"", "__ptxasw_stage_4k", "__ptxasw_stage_16k"};
      std::vector<float> times[3];
      std::vector<std::uint32_t> left[3];
      CUfunction functions[3];
      for (int v = 0; v < 3; ++v)
        CHECK(cuModuleGetFunction(&functions[v], module,
                                  (one.name + std::string(versions[v])).c_str()));
      for (int round = 0; round < 10; ++round)
        for (int v = 0; v < 3; ++v) {
          float time = 0;
          if (time_of(functions[v], launch, begin, end, time) != 0)
            return 1;
          if (round > 0) // the first one warms up
            times[v].push_back(time);
          if (round == 0) {
            left[v].resize(std::size_t{1} << 24);
            CHECK(cuMemcpyDtoH(left[v].data(), output, left[v].size() * 4));
          }
        }
      std::string numbers;
      for (const int number : one.numbers)
        numbers += (numbers.empty() ? "" : ",") + std::to_string(number);
      for (int v = 1; v < 3; ++v) {
        const bool same = left[v] == left[0];
        wrong += !same;
        std::printf("%s %s %u %s %.4f %.4f %.3f %s\n", one.name, numbers.c_str(), block,
                    versions[v] + std::strlen("__ptxasw_"), median(times[0]), median(times[v]),
                    median(times[0]) / median(times[v]), same ? "same" : "DIFFER");
      }
      std::fflush(stdout);
    }
  return wrong != 0;
}
