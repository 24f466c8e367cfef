// Functions that CUDA 12 has and CUDA 13 has not, or has under another name, and the structures
// that have grown since. Numbers and layouts are those of the CUDA Runtime API's documentation
// of 12.0 to 12.9 (its headers declare the same ones).

#include "wrapper/runtime/device.h"
#include "wrapper/runtime/toolkit.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

/// Not 0 once a function was called by a name of libcudart.so.12.
extern "C" {
__attribute__((visibility("hidden"))) std::atomic<unsigned char> ptxasw_seen_cuda_12{0};
}

namespace ptxasw::wrapper {
namespace {

/// What programs have registered.
struct Noted {
  std::mutex mutex;
  std::vector<FatImage> images; ///< of PTX
};
Noted &noted() {
  static Noted *const noted = new Noted; // programs register themselves before anything else
  return *noted;
}

/// The first number of a text's `.version`.
std::optional<unsigned> ptx_version(std::string_view text) {
  constexpr std::string_view word = ".version";
  std::size_t at = text.find(word);
  if (at == std::string_view::npos)
    return std::nullopt;
  at = std::min(text.find_first_not_of(" \t", at + word.size()), text.size());
  unsigned version = 0;
  const auto read = std::from_chars(text.data() + at, text.data() + text.size(), version);
  return read.ec == std::errc() ? std::optional(version) : std::nullopt;
}

bool decide() {
  constexpr unsigned of_cuda_13 = 9;
  const std::lock_guard lock(noted().mutex);
  for (const FatImage &image : noted().images)
    if (const auto text = image.unpack())
      if (const auto version = ptx_version(*text))
        return *version < of_cuda_13;
  return false;
}

} // namespace

void note_program(const std::vector<FatImage> &images) {
  const std::lock_guard lock(noted().mutex);
  std::copy_if(images.begin(), images.end(), std::back_inserter(noted().images),
               [](const FatImage &image) { return image.kind == FatImage::Kind::ptx; });
}

bool gives_small_structures() { return ptxasw_seen_cuda_12 != 0 || is_of_cuda_12(); }

bool is_of_cuda_12() {
  static const bool is = decide();
  return is;
}

} // namespace ptxasw::wrapper

using namespace ptxasw::wrapper;

namespace {

/// cudaDeviceProp of CUDA 12 has 1032 bytes: CUDA 13's members in the same order, without those
/// behind unifiedFunctionPointers, and eight more numbers. So it is runs of CUDA 13's members, each
/// up to the next.
struct Run {
  std::size_t then, now; ///< offsets in CUDA 12 and 13, bytes
};
constexpr std::size_t bytes_of_properties = 1032;
constexpr Run runs_of_properties[] = {
    {0, 0},
    {388, offsetof(cudaDeviceProp, multiProcessorCount)},
    {396, offsetof(cudaDeviceProp, integrated)},
    {408, offsetof(cudaDeviceProp, maxTexture1D)},
    {420, offsetof(cudaDeviceProp, maxTexture2D)},
    {612, offsetof(cudaDeviceProp, memoryBusWidth)},
    {640, offsetof(cudaDeviceProp, sharedMemPerMultiprocessor)},
    {672, offsetof(cudaDeviceProp, pageableMemoryAccess)},
    {696, offsetof(cudaDeviceProp, sharedMemPerBlockOptin)},
    {780, offsetof(cudaDeviceProp, deviceNumaConfig)},
};
/// The numbers that CUDA 13 dropped and that are not 0 here, by their offset.
constexpr std::pair<std::size_t, cudaDeviceAttr> dropped_properties[] = {
    {348, cudaDevAttrClockRate},
    {384, cudaDevAttrGpuOverlap},
    {608, cudaDevAttrMemoryClockRate},
    {668, cudaDevAttrSingleToDoublePrecisionPerfRatio},
};

void give_properties(const cudaDeviceProp &all, int number, char *to) {
  const char *const from = reinterpret_cast<const char *>(&all);
  std::memset(to, 0, bytes_of_properties);
  for (std::size_t i = 0; i + 1 < std::size(runs_of_properties); ++i) {
    const Run &run = runs_of_properties[i], &next = runs_of_properties[i + 1];
    std::memcpy(to + run.then, from + run.now, std::min(next.now - run.now, next.then - run.then));
  }
  for (const auto &[offset, attribute] : dropped_properties) {
    int value = 0;
    cudaDeviceGetAttribute(&value, attribute, number);
    std::memcpy(to + offset, &value, sizeof value);
  }
}

} // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties_v2(char *to, int number) {
  cudaDeviceProp all{};
  const cudaError_t error = cudaGetDeviceProperties(to ? &all : nullptr, number);
  if (error == cudaSuccess)
    give_properties(all, number, to);
  return error;
}

cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **before, std::size_t *count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, before, nullptr, count);
}
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **before,
                                        const cudaGraphEdgeData **edges, std::size_t *count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, before, edges, count);
}

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadGetLimit(std::size_t *value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *to) { return cudaDeviceGetCacheConfig(to); }
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
/// Devices have had doubles since sm_13.
cudaError_t cudaSetDoubleForDevice(double *) { return Device::remember(cudaSuccess); }
cudaError_t cudaSetDoubleForHost(double *) { return Device::remember(cudaSuccess); }

} // extern "C"
