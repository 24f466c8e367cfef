// A CUDA driver that runs kernels on the host, so that every line of the runner is tested where
// there is no GPU. It has the functions that the runner resolves and nothing more. An "image" is
// the text "host LANGUAGE"; its functions are the kernels of the suite compiled by the host
// compiler, in the language named. The environment variable FAKE_DRIVER_BREAK=LANGUAGE makes every
// kernel of that language write one wrong word, FAKE_DRIVER_ROUND=LANGUAGE makes it round one word
// differently, as another choice of fused operations may, FAKE_DRIVER_NO_DEVICE hides the device.

#include "host_cuda.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Result = int;
using Clock = std::chrono::steady_clock;
constexpr Result success = 0, invalid_value = 1, no_device = 100, invalid_image = 200,
                 not_found = 500;

struct Function {
  host_cuda::Entry entry;
  bool broken = false, rounded = false;
};

void run_threads(const host_cuda::Entry &entry, void **arguments) {
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; threadIdx.z++)
          for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)
            for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
              entry.call(arguments);
}

} // namespace

extern "C" {

Result cuInit(unsigned) { return std::getenv("FAKE_DRIVER_NO_DEVICE") ? no_device : success; }

Result cuGetErrorString(Result result, const char **text) {
  *text = result == not_found       ? "named symbol not found"
          : result == invalid_image ? "device kernel image is invalid"
                                    : "invalid argument";
  return success;
}

Result cuDriverGetVersion(int *version) {
  *version = 13000;
  return success;
}

Result cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return success;
}

Result cuDeviceGetCount(int *count) {
  *count = 1;
  return success;
}

Result cuDeviceGetName(char *name, int length, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return success;
}

Result cuDeviceGetAttribute(int *value, int number, int) {
  switch (number) {
  case 16: // multiprocessors
    *value = 2;
    break;
  case 38: // bytes of L2: small, so that a few sets of small buffers lie beyond it
    *value = 65536;
    break;
  case 39: // threads a multiprocessor
    *value = 2048;
    break;
  case 75: // compute capability 9.0
    *value = 9;
    break;
  case 76:
    *value = 0;
    break;
  default:
    *value = 1000;
  }
  return success;
}

Result cuDeviceTotalMem_v2(std::size_t *bytes, int) {
  *bytes = std::size_t{1} << 30;
  return success;
}

Result cuDevicePrimaryCtxRetain(void **context, int) {
  *context = context;
  return success;
}

Result cuCtxSetCurrent(void *) { return success; }
Result cuCtxSynchronize() { return success; }

Result cuMemGetInfo_v2(std::size_t *free, std::size_t *total) {
  // Little, which also keeps the bandwidth measurement short, unless a test wants room.
  *total = std::size_t{1} << 30;
  *free = std::getenv("FAKE_DRIVER_ROOMY") ? *total : std::size_t{1} << 22;
  return success;
}

Result cuMemAlloc_v2(std::uint64_t *memory, std::size_t bytes) {
  void *host = std::malloc(bytes);
  *memory = reinterpret_cast<std::uint64_t>(host);
  return host ? success : invalid_value;
}

Result cuMemFree_v2(std::uint64_t memory) {
  std::free(reinterpret_cast<void *>(memory));
  return success;
}

Result cuMemcpyDtoH_v2(void *to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return success;
}

Result cuMemcpyHtoD_v2(std::uint64_t to, const void *from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return success;
}

Result cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return success;
}

Result cuModuleLoadData(void **module, const void *image) {
  const std::string text = static_cast<const char *>(image);
  if (text.rfind("host ", 0) != 0)
    return invalid_image;
  *module = new std::string(text.substr(5, text.find_first_of(" \n", 5) - 5));
  return success;
}

Result cuModuleUnload(void *module) {
  delete static_cast<std::string *>(module);
  return success;
}

Result cuModuleGetFunction(void **function, void *module, const char *name) {
  const std::string &language = *static_cast<std::string *>(module);
  const auto entry = host_cuda::entries().find(language + " " + name);
  if (entry == host_cuda::entries().end())
    return not_found;
  const char *broken = std::getenv("FAKE_DRIVER_BREAK");
  const char *rounded = std::getenv("FAKE_DRIVER_ROUND");
  *function =
      new Function{entry->second, broken && language == broken, rounded && language == rounded};
  return success;
}

Result cuFuncGetAttribute(int *value, int number, void *) {
  *value = number == 0 ? 1024 : number == 4 ? 32 : 0;
  return success;
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int threads, std::size_t) {
  *blocks = 2048 / threads;
  return success;
}

Result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned, void *, void **arguments, void **) {
  const Function &what = *static_cast<Function *>(function);
  static int launches = 0;
  if (const char *file = std::getenv("FAKE_MARK"); file && ++launches == 1000)
    std::fclose(std::fopen(file, "w"));
  gridDim = {gx, gy, gz};
  blockDim = {bx, by, bz};
  if (what.entry.each_thread)
    run_threads(what.entry, arguments);
  else
    what.entry.call(arguments);
  // The last argument of every kernel of the suite is a buffer that it writes; the middle of it is
  // no halo.
  if (what.broken || what.rounded) {
    float &word = (*static_cast<float **>(arguments[what.entry.parameters - 1]))[5000];
    word = what.broken ? word + 1.0f : std::nextafter(word, 2 * word);
  }
  return success;
}

Result cuEventCreate(void **event, unsigned) {
  *event = new Clock::time_point;
  return success;
}

Result cuEventRecord(void *event, void *) {
  *static_cast<Clock::time_point *>(event) = Clock::now();
  return success;
}

Result cuEventSynchronize(void *) { return success; }

Result cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  *milliseconds = std::chrono::duration<float, std::milli>(*static_cast<Clock::time_point *>(end) -
                                                           *static_cast<Clock::time_point *>(start))
                      .count();
  return success;
}
}
