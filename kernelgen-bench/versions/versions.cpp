// versions CUBIN...
//
// The benchmarks of COpPER's evaluation, as they are and in each version that stands beside them in
// a cubin (`ptxasw siblings IN.ptx --meld=all --meld=costly --promote=all -o OUT.ptx`, or with
// `--stage=4k,16k`; then ptxas).
// Prints a table, tab-separated, with a line for each kernel, launch and version: cubin, kernel,
// the numbers that follow the buffers, blocks, threads of a block, version, the median of nine
// times in milliseconds of the kernel and of the version, their ratio, and whether both leave the
// same bytes in all buffers. They are run in turn.

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

constexpr std::size_t words = std::size_t{80} << 20; ///< of each of three buffers
constexpr unsigned blocks_of_warps = 2112;           ///< 16 for each of an H100's multiprocessors

/// A launch: the extents of the problem follow the buffers.
struct Benchmark {
  const char *name;
  unsigned buffers;
  unsigned threads; ///< of the grid; blocks divide it
  std::vector<int> numbers;
  bool floats, races;
};

const Benchmark benchmarks[] = {
    {"addSub0", 2, blocks_of_warps * 32, {512, 1}, false, false},
    {"addSub0", 2, 32, {512, 1}, false, false},
    {"addSub2", 2, blocks_of_warps * 32, {blocks_of_warps * 32, 512}, false, false},
    {"addSub2", 2, 32, {32, 512}, false, false},
    // The numbers of rows of COpPER's Table 2.
    {"addSub2", 2, 32, {32, 1000}, false, false},
    {"addSub2", 2, 32, {32, 2000}, false, false},
    {"addSub2", 2, 32, {32, 3000}, false, false},
    {"addSub2", 2, 32, {32, 4000}, false, false},
    {"addSub2", 2, 32, {32, 5000}, false, false},
    {"addSub2", 2, 32, {32, 6000}, false, false},
    {"addSub2", 2, 32, {32, 7000}, false, false},
    {"addSub2", 2, 32, {32, 8000}, false, false},
    {"addSub2", 2, 32, {32, 9000}, false, false},
    {"addSub2", 2, 32, {32, 10000}, false, false},
    {"dmvm", 3, blocks_of_warps * 32, {512, blocks_of_warps * 32}, true, false},
    {"dvmm", 3, blocks_of_warps * 32, {blocks_of_warps * 32, 512}, true, false},
    {"dvmm", 3, 1024, {1024, 512}, true, false},
    {"elementWise", 3, blocks_of_warps * 32, {64}, true, false},
    {"elementWise", 3, 1024, {64}, true, false},
    {"conv1D", 3, 1u << 24, {}, true, false},
    {"conv1D", 3, 1u << 16, {}, true, false},
    {"rank", 2, 32768, {32768}, false, false},
    {"rank", 2, 1024, {1024}, false, false},
    {"synBrdis", 1, blocks_of_warps * 32, {128, 128, 3}, false, true},
    {"synBrdis", 1, 32, {128, 128, 3}, false, true},
};

const char *const versions[] = {"meld_all", "meld_costly", "promote_all", "stage_4k", "stage_16k"};

/// Buffers, and what is in them at first.
struct Memory {
  CUdeviceptr buffers[3] = {};
  std::vector<std::uint32_t> first, after[2];
};

float median(std::vector<float> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// One launch from fresh buffers; the time in milliseconds.
int launch(CUfunction function, const Benchmark &one, unsigned block, Memory &memory,
           std::vector<CUdeviceptr> &pristine, std::size_t bytes, float &time) {
  for (unsigned i = 0; i < one.buffers; ++i)
    CHECK(cuMemcpyDtoD(memory.buffers[i], pristine[one.floats ? 1 : 0], bytes));
  std::vector<void *> arguments;
  // The order of the parameters: what is read, then what is written, which is the last buffer.
  for (unsigned i = 0; i < one.buffers; ++i)
    arguments.push_back(&memory.buffers[i]);
  std::vector<int> numbers = one.numbers;
  for (int &number : numbers)
    arguments.push_back(&number);
  CUevent begin, end;
  CHECK(cuEventCreate(&begin, 0));
  CHECK(cuEventCreate(&end, 0));
  CHECK(cuCtxSynchronize());
  CHECK(cuEventRecord(begin, nullptr));
  CHECK(cuLaunchKernel(function, one.threads / block, 1, 1, block, 1, 1, 0, nullptr,
                       arguments.data(), nullptr));
  CHECK(cuEventRecord(end, nullptr));
  CHECK(cuEventSynchronize(end));
  CHECK(cuEventElapsedTime(&time, begin, end));
  CHECK(cuEventDestroy(begin));
  CHECK(cuEventDestroy(end));
  return 0;
}

/// All bytes of the buffers that a benchmark has, added up in order on the host.
int contents(const Benchmark &one, Memory &memory, std::size_t bytes,
             std::vector<std::uint32_t> &to) {
  to.resize(one.buffers * bytes / 4);
  for (unsigned i = 0; i < one.buffers; ++i)
    CHECK(cuMemcpyDtoH(to.data() + i * bytes / 4, memory.buffers[i], bytes));
  return 0;
}

/// Bytes of each buffer that a launch may touch.
std::size_t reach(const Benchmark &one) {
  const std::size_t threads = one.threads, most = std::max<std::size_t>(512, (1u << 24) / threads);
  std::size_t product = threads;
  for (const int number : one.numbers)
    product = std::max(product, threads * std::min((std::size_t)number, most));
  return std::min(words, product + 1024) * 4;
}

} // namespace

int main(int argc, char **argv) {
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  Memory memory;
  std::vector<CUdeviceptr> pristine(2);
  for (CUdeviceptr &buffer : memory.buffers)
    CHECK(cuMemAlloc(&buffer, words * 4));
  memory.first.resize(words);
  for (int floats = 0; floats < 2; ++floats) {
    for (std::size_t i = 0; i < words; ++i) {
      const float number = 1.0f + (float)(i * 7919 % 1021) / 1021;
      std::memcpy(&memory.first[i], &number, 4);
      if (!floats)
        memory.first[i] = (std::uint32_t)(i * 2654435761u >> 20);
    }
    CHECK(cuMemAlloc(&pristine[floats], words * 4));
    CHECK(cuMemcpyHtoD(pristine[floats], memory.first.data(), words * 4));
  }
  std::printf("module\tkernel\tnumbers\tblocks\tthreads\tversion\tas_it_is_ms\tversion_"
              "ms\tspeedup\tequal\n");
  for (int file = 1; file < argc; ++file) {
    CUmodule module;
    CHECK(cuModuleLoad(&module, argv[file]));
    for (const Benchmark &one : benchmarks)
      for (const char *version : versions)
        for (const unsigned block : {32u, 128u, 256u, 512u, 1024u}) {
          CUfunction functions[2];
          const std::string name = std::string(one.name) + "__ptxasw_" + version;
          if (one.threads % block != 0 ||
              cuModuleGetFunction(&functions[0], module, one.name) != CUDA_SUCCESS ||
              cuModuleGetFunction(&functions[1], module, name.c_str()) != CUDA_SUCCESS)
            continue;
          std::vector<float> times[2];
          const std::size_t bytes = reach(one);
          for (int round = 0; round < 10; ++round)
            for (int which = 0; which < 2; ++which) {
              float time = 0;
              if (launch(functions[which], one, block, memory, pristine, bytes, time) != 0)
                return 1;
              if (round > 0)
                times[which].push_back(time);
              else if (contents(one, memory, bytes, memory.after[which]) != 0)
                return 1;
            }
          const bool equal = memory.after[0] == memory.after[1];
          std::string numbers;
          for (const int number : one.numbers)
            numbers += (numbers.empty() ? "" : ",") + std::to_string(number);
          const float before = median(times[0]), after = median(times[1]);
          std::printf("%s\t%s\t%s\t%u\t%u\t%s\t%.4f\t%.4f\t%.3f\t%s\n", argv[file], one.name,
                      numbers.c_str(), one.threads / block, block, version, before, after,
                      before / after,
                      one.races ? "races"
                      : equal   ? "equal"
                                : "DIFFER");
          std::fflush(stdout);
        }
    CHECK(cuModuleUnload(module));
  }
  return 0;
}
