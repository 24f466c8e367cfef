// carry CUBIN
//
// Kernels of kernels.cu, as they are and with carried loads, each in turn, from one cubin
// (`ptxasw siblings kernels.ptx --retile=z8 --carry=all -o OUT.ptx`, then ptxas). Prints a line for
// each kernel, block and size: the medians of nine times in milliseconds of the kernel and of the
// version, the kernel's over the version's, whether both leave the same bytes, and registers.

#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 29;
constexpr int rounds = 9;

void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  const char *why = nullptr;
  cuGetErrorString(result, &why);
  std::printf("%s: %s\n", what, why ? why : "unknown error");
  std::exit(1);
}

/// A launch: out, in, in some kernels the taps, and the numbers.
struct Case {
  std::string kernel;
  std::vector<int> numbers;
  unsigned grid[2], block[2];
  bool taps = false;
};

unsigned blocks(long points, unsigned threads) {
  return static_cast<unsigned>((points + threads - 1) / threads);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  constexpr unsigned shapes[][2] = {{32, 8}, {128, 1}, {512, 1}, {32, 16}};
  for (const char *name : {"zmarch", "zmarch_restrict", "zstar4"})
    for (const auto &[x, y] : shapes)
      all.push_back({name, {512, 512, 512}, {blocks(512, x), blocks(512, y)}, {x, y}});
  for (const char *name : {"column", "column5", "smooth", "bytes"})
    for (const long width : {16384L, 262144L})
      for (const unsigned threads : {128U, 256U, 512U}) {
        const bool bytes = std::strcmp(name, "bytes") == 0;
        const long nx = bytes ? 4 * width : width;
        const long ny = static_cast<long>(buffer_bytes) / (bytes ? 1 : 4) / nx;
        all.push_back({name,
                       {static_cast<int>(nx), static_cast<int>(ny)},
                       {blocks(nx, threads), 1},
                       {threads, 1}});
      }
  for (const unsigned threads : {64U, 128U, 256U})
    all.push_back({"row", {2048, 65536}, {blocks(65536, threads), 1}, {threads, 1}});
  for (const unsigned threads : {128U, 256U, 512U})
    for (const int chunk : {32, 256})
      all.push_back({"fir",
                     {static_cast<int>(buffer_bytes / 4), chunk},
                     {blocks(static_cast<long>(buffer_bytes) / 4 / chunk, threads), 1},
                     {threads, 1},
                     true});
  return all;
}

class Bench {
public:
  explicit Bench(const char *cubin) {
    check(cuModuleLoad(&module_, cubin), cubin);
    for (CUdeviceptr *one : {&in_, &out_, &first_})
      check(cuMemAlloc(one, buffer_bytes), "cuMemAlloc");
    check(cuMemAlloc(&taps_, 4096), "cuMemAlloc");
    std::vector<float> values(buffer_bytes / sizeof(float));
    unsigned state = 1;
    for (float &value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(state >> 16) / 65536.0F;
    }
    check(cuMemcpyHtoD(first_, values.data(), buffer_bytes), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(taps_, values.data(), 4096), "cuMemcpyHtoD");
  }

  void run(const Case &one) {
    CUfunction functions[2];
    const std::string names[2] = {one.kernel, one.kernel + "__ptxasw_carry_all"};
    std::vector<float> left[2];
    int registers[2];
    for (int i = 0; i < 2; ++i) {
      check(cuModuleGetFunction(&functions[i], module_, names[i].c_str()), names[i].c_str());
      check(cuFuncGetAttribute(&registers[i], CU_FUNC_ATTRIBUTE_NUM_REGS, functions[i]),
            "cuFuncGetAttribute");
      check(cuMemcpyDtoD(in_, first_, buffer_bytes), "cuMemcpyDtoD");
      if (one.kernel == "smooth") // in place
        check(cuMemcpyDtoD(out_, first_, buffer_bytes), "cuMemcpyDtoD");
      else
        check(cuMemsetD8(out_, 0, buffer_bytes), "cuMemsetD8");
      launch(functions[i], one);
      left[i].resize(buffer_bytes / sizeof(float));
      check(cuMemcpyDtoH(left[i].data(), out_, buffer_bytes), "cuMemcpyDtoH");
    }
    const bool equal = std::memcmp(left[0].data(), left[1].data(), buffer_bytes) == 0;
    std::vector<float> times[2];
    for (int round = 0; round < rounds; ++round)
      for (int i = 0; i < 2; ++i)
        times[i].push_back(time(functions[i], one));
    for (std::vector<float> &all : times)
      std::sort(all.begin(), all.end());
    std::string sizes;
    for (std::size_t i = 0; i < 3; ++i)
      sizes += (i < one.numbers.size() ? std::to_string(one.numbers[i]) : "0") + "\t";
    std::printf("%s\t%ux%u\t%s%.4f\t%.4f\t%.3f\t%s\t%d\t%d\n", one.kernel.c_str(), one.block[0],
                one.block[1], sizes.c_str(), times[0][rounds / 2], times[1][rounds / 2],
                times[0][rounds / 2] / times[1][rounds / 2], equal ? "equal" : "DIFFER",
                registers[0], registers[1]);
    std::fflush(stdout);
  }

private:
  void launch(CUfunction function, const Case &one) {
    std::vector<int> numbers = one.numbers;
    std::vector<void *> arguments{&out_, &in_};
    if (one.taps)
      arguments.push_back(&taps_);
    for (int &number : numbers)
      arguments.push_back(&number);
    check(cuLaunchKernel(function, one.grid[0], one.grid[1], 1, one.block[0], one.block[1], 1, 0,
                         nullptr, arguments.data(), nullptr),
          one.kernel.c_str());
  }

  float time(CUfunction function, const Case &one) {
    CUevent begin, end;
    check(cuEventCreate(&begin, CU_EVENT_DEFAULT), "cuEventCreate");
    check(cuEventCreate(&end, CU_EVENT_DEFAULT), "cuEventCreate");
    check(cuEventRecord(begin, nullptr), "cuEventRecord");
    launch(function, one);
    check(cuEventRecord(end, nullptr), "cuEventRecord");
    check(cuEventSynchronize(end), one.kernel.c_str());
    float milliseconds = 0;
    check(cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
    cuEventDestroy(begin);
    cuEventDestroy(end);
    return milliseconds;
  }

  CUmodule module_ = nullptr;
  CUdeviceptr in_ = 0, out_ = 0, first_ = 0, taps_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: carry CUBIN\n");
    return 2;
  }
  check(cuInit(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  Bench bench(argv[1]);
  std::printf("kernel\tblock\tx\ty\tz\tms\tcarry_ms\tratio\tequal\tregs\tcarry_regs\n");
  for (const Case &one : cases())
    bench.run(one);
}
