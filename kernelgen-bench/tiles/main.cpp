// tiles FOLDER: times the kernels of tiles.cu as FOLDER/original.cubin has them and each other
// cubin of the folder (what
// `--shared=always` made of them), interleaved, and compares all bytes of their results. Prints a
// line a kernel and cubin: milliseconds of the original and of the other (medians of 31), their
// ratio, and the bytes that differ.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int width = 8192, height = 8192, rounds = 31;

struct Kernel {
  const char *name;
  unsigned x, y; ///< block
  unsigned bytes;
};
constexpr Kernel kernels[] = {
    {"row_1", 256, 1, 4}, {"row_2", 256, 1, 4},        {"row_4", 256, 1, 4},
    {"row_8", 256, 1, 4}, {"row_4_double", 256, 1, 8}, {"star_1", 32, 8, 4},
    {"star_4", 32, 8, 4}, {"box_1", 32, 8, 4},         {"box_2", 32, 8, 4},
    {"box_4", 32, 8, 4},  {"box_2_in_16", 16, 16, 4},  {"heat_64", 256, 1, 4},
};

void check(CUresult result) {
  if (result == CUDA_SUCCESS)
    return;
  const char *text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s\n", text);
  std::exit(1);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "tiles FOLDER\n");
    return 2;
  }
  check(cuInit(0));
  CUdevice device;
  check(cuDeviceGet(&device, 0));
  char gpu[100];
  check(cuDeviceGetName(gpu, sizeof gpu, device));
  CUcontext context;
  check(cuDevicePrimaryCtxRetain(&context, device));
  check(cuCtxSetCurrent(context));
  std::map<std::string, CUmodule> modules;
  for (const auto &entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".cubin")
      check(cuModuleLoad(&modules[entry.path().stem()], entry.path().c_str()));
  const std::size_t count = std::size_t{width} * height;
  CUdeviceptr in, out;
  check(cuMemAlloc(&in, count * 8));
  check(cuMemAlloc(&out, count * 8));
  CUevent begin, end;
  check(cuEventCreate(&begin, 0));
  check(cuEventCreate(&end, 0));
  std::printf("%s, %d x %d points\n%-14s %-10s %9s %9s %6s %9s\n", gpu, width, height, "kernel",
              "cubin", "original", "rewritten", "ratio", "different");
  for (const Kernel &kernel : kernels) {
    std::vector<std::uint8_t> data(count * kernel.bytes);
    for (std::size_t i = 0; i < count; i++) {
      const double value = static_cast<double>(i * 2654435761u % 4093) / 4093;
      const float narrow = static_cast<float>(value);
      std::memcpy(&data[i * kernel.bytes],
                  kernel.bytes == 8 ? static_cast<const void *>(&value) : &narrow, kernel.bytes);
    }
    check(cuMemcpyHtoD(in, data.data(), data.size()));
    int w = width, h = height;
    void *arguments[] = {&in, &out, &w, &h};
    const auto launch = [&](CUmodule module) {
      CUfunction function;
      check(cuModuleGetFunction(&function, module, kernel.name));
      check(cuEventRecord(begin, nullptr));
      check(cuLaunchKernel(function, width / kernel.x, height / kernel.y, 1, kernel.x, kernel.y, 1,
                           0, nullptr, arguments, nullptr));
      check(cuEventRecord(end, nullptr));
      check(cuEventSynchronize(end));
      float milliseconds = 0;
      check(cuEventElapsedTime(&milliseconds, begin, end));
      return milliseconds;
    };
    const auto result = [&](CUmodule module) {
      check(cuMemsetD8(out, 0xee, data.size()));
      launch(module);
      std::vector<std::uint8_t> bytes(data.size());
      check(cuMemcpyDtoH(bytes.data(), out, bytes.size()));
      return bytes;
    };
    std::map<std::string, std::vector<float>> times;
    for (int i = 0; i < rounds; i++)
      for (const auto &[name, module] : modules)
        times[name].push_back(launch(module));
    for (auto &[name, list] : times)
      std::nth_element(list.begin(), list.begin() + rounds / 2, list.end());
    const auto right = result(modules.at("original"));
    for (const auto &[name, module] : modules) {
      if (name == "original")
        continue;
      const auto bytes = result(module);
      std::size_t different = 0;
      for (std::size_t i = 0; i < bytes.size(); i++)
        different += bytes[i] != right[i];
      const float before = times["original"][rounds / 2], now = times[name][rounds / 2];
      std::printf("%-14s %-10s %9.4f %9.4f %6.2f %9zu\n", kernel.name, name.c_str(), before, now,
                  before / now, different);
    }
    std::fflush(stdout);
  }
}
