// staging CUBIN
//
// Those of the kernels of kernels.cu and halos.cu that the cubin has, as they are and staged
// (`ptxasw siblings kernels.ptx --retile=z8 --stage=4k,16k -o staged.ptx`, for the others
// `--halo=b64,...`; then ptxas). Prints a line for each launch and version: kernel, its numbers,
// threads of a block, version, the median of nine times in milliseconds of the kernel and of the
// version, by how much the kernel's is the longer, and whether both leave the same bytes. They are
// run in turn.

#include <algorithm>
#include <array>
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
  std::array<unsigned, 3> outputs; ///< elements along each axis, of which each thread has one
  unsigned axes;                   ///< of its blocks
  bool floats;
  bool small_number; ///< a real behind the numbers
};

using Shape = std::array<unsigned, 3>;

const std::vector<Shape> shapes[] = {
    {{64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {1024, 1, 1}},
    {{32, 4, 1}, {32, 8, 1}, {16, 16, 1}, {64, 8, 1}, {32, 32, 1}},
    {{8, 8, 4}, {32, 4, 2}, {32, 4, 4}, {8, 8, 8}},
};

const Case cases[] = {
    {"filter", 3, {1 << 24, 16}, {1 << 24, 1, 1}, 1, true, false},
    {"filter", 3, {1 << 24, 64}, {1 << 24, 1, 1}, 1, true, false},
    {"filter", 3, {1 << 22, 1024}, {1 << 22, 1, 1}, 1, true, false},
    {"nbody", 2, {4096}, {4096, 1, 1}, 1, true, true},
    {"nbody", 2, {65536}, {65536, 1, 1}, 1, true, true},
    {"bodies", 5, {4096}, {4096, 1, 1}, 1, true, true},
    {"bodies", 5, {65536}, {65536, 1, 1}, 1, true, true},
    {"matvec", 3, {8000}, {8000, 1, 1}, 1, true, false},
    {"matmul", 3, {2048}, {2048, 2048, 1}, 1, true, false},
    {"nearest", 3, {1 << 22, 16}, {1 << 22, 1, 1}, 1, true, false},
    {"nearest", 3, {1 << 22, 256}, {1 << 22, 1, 1}, 1, true, false},
    {"ranks", 3, {1 << 22, 1024}, {1 << 22, 1, 1}, 1, false, false},
    {"row1", 2, {1 << 24}, {1 << 24, 1, 1}, 1, true, false},
    {"row2", 2, {1 << 24}, {1 << 24, 1, 1}, 1, true, false},
    {"row3", 2, {1 << 24}, {1 << 24, 1, 1}, 1, true, false},
    {"row4", 2, {1 << 24}, {1 << 24, 1, 1}, 1, true, false},
    {"row4", 2, {1 << 21}, {1 << 21, 1, 1}, 1, true, false},
    {"row8", 2, {1 << 24}, {1 << 24, 1, 1}, 1, true, false},
    {"row4_double", 2, {1 << 23}, {1 << 23, 1, 1}, 1, true, false},
    {"star1", 2, {4096, 4096}, {4096, 4096, 1}, 2, true, false},
    {"star2", 2, {4096, 4096}, {4096, 4096, 1}, 2, true, false},
    {"star4", 2, {4096, 4096}, {4096, 4096, 1}, 2, true, false},
    {"box1", 2, {4096, 4096}, {4096, 4096, 1}, 2, true, false},
    {"box1", 2, {1024, 1024}, {1024, 1024, 1}, 2, true, false},
    {"box2", 2, {4096, 4096}, {4096, 4096, 1}, 2, true, false},
    {"box3", 2, {4096, 4096}, {4096, 4096, 1}, 2, true, false},
    {"jacobi_loops", 2, {4096, 4096}, {4096, 4096, 1}, 2, true, false},
    {"cube7", 2, {256, 256, 256}, {256, 256, 256}, 3, true, false},
    {"cube13", 2, {256, 256, 256}, {256, 256, 256}, 3, true, false},
    {"cube27", 2, {256, 256, 256}, {256, 256, 256}, 3, true, false},
};

float median(std::vector<float> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// `32x8`.
std::string name_of(const Shape &block) {
  std::string name = std::to_string(block[0]);
  for (int axis = 1; axis < 3 && (block[axis] > 1 || block[2] > 1); ++axis)
    name += "x" + std::to_string(block[axis]);
  return name;
}

struct Launch {
  const Case &one;
  Shape block;
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
  unsigned blocks[3];
  for (int axis = 0; axis < 3; ++axis)
    blocks[axis] = (one.outputs[axis] + launch.block[axis] - 1) / launch.block[axis];
  CHECK(cuMemsetD32(launch.buffers.back(), 0, words));
  CHECK(cuCtxSynchronize());
  CHECK(cuEventRecord(begin, nullptr));
  CHECK(cuLaunchKernel(function, blocks[0], blocks[1], blocks[2], launch.block[0], launch.block[1],
                       launch.block[2], 0, nullptr, arguments.data(), nullptr));
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
    for (const Shape &block : shapes[one.axes - 1]) {
      const std::string shape = name_of(block);
      std::vector<std::string> versions;
      std::vector<CUfunction> functions;
      for (const std::string &version :
           {std::string(), std::string("stage_4k"), std::string("stage_16k"), "halo_b" + shape}) {
        const std::string function = one.name + (version.empty() ? "" : "__ptxasw_" + version);
        CUfunction found;
        if (cuModuleGetFunction(&found, module, function.c_str()) != CUDA_SUCCESS)
          continue;
        versions.push_back(version);
        functions.push_back(found);
      }
      if (versions.size() < 2 || !versions[0].empty())
        continue;
      Launch launch{one, block, one.floats ? reals : integers};
      launch.buffers.resize(one.buffers - 1);
      launch.buffers.push_back(output);
      std::vector<std::vector<float>> times(versions.size());
      std::vector<std::vector<std::uint32_t>> left(versions.size());
      for (int round = 0; round < 10; ++round)
        for (std::size_t v = 0; v < versions.size(); ++v) {
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
      for (std::size_t v = 1; v < versions.size(); ++v) {
        const bool same = left[v] == left[0];
        wrong += !same;
        std::printf("%s %s %s %s %.4f %.4f %.3f %s\n", one.name, numbers.c_str(), shape.c_str(),
                    versions[v].c_str(), median(times[0]), median(times[v]),
                    median(times[0]) / median(times[v]), same ? "same" : "DIFFER");
      }
      std::fflush(stdout);
    }
  return wrong != 0;
}
