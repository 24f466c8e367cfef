// The one device, and what can be asked about it: numbers of the architecture, and of the product
// that is its example.

#include "wrapper/runtime/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>
#include <iterator>
#include <optional>
#include <string_view>

using namespace ptxasw::wrapper;

namespace {

constexpr const char bus_id[] = "0000:00:00.0";
/// The forms in which it may be asked for: whole, without the function, and without the domain.
constexpr std::string_view bus_ids[] = {bus_id, "0000:00:00", "00:00.0"};
constexpr int cache_bytes = 50 << 20, bus_bits = 5120;

bool is_there(int number) { return number == 0; }

cudaDeviceProp properties() {
  const Architecture &all = device().architecture();
  cudaDeviceProp result{};
  const std::string name = fmt::format("ptxasw emulation of {}", all.example);
  std::memcpy(result.name, name.data(), std::min(name.size(), sizeof result.name - 1));
  std::memcpy(&result.uuid, "ptxasw emulation", sizeof result.uuid);
  result.totalGlobalMem = device().memory_size();
  result.sharedMemPerBlock = all.shared_per_block;
  result.regsPerBlock = static_cast<int>(all.registers_per_block);
  result.warpSize = 32;
  result.memPitch = 2147483647;
  result.maxThreadsPerBlock = static_cast<int>(all.threads_per_block);
  const int block[] = {1024, 1024, 64}, grid[] = {2147483647, 65535, 65535};
  std::copy_n(block, 3, result.maxThreadsDim);
  std::copy_n(grid, 3, result.maxGridSize);
  result.totalConstMem = 65536;
  result.major = static_cast<int>(device().sm() / 10);
  result.minor = static_cast<int>(device().sm() % 10);
  result.textureAlignment = result.surfaceAlignment = 512;
  result.texturePitchAlignment = 32;
  result.multiProcessorCount = static_cast<int>(all.multiprocessors);
  result.canMapHostMemory = result.concurrentKernels = result.unifiedAddressing = 1;
  result.asyncEngineCount = 3;
  result.memoryBusWidth = bus_bits;
  result.l2CacheSize = cache_bytes;
  result.maxThreadsPerMultiProcessor = static_cast<int>(all.warps * 32);
  result.streamPrioritiesSupported = result.globalL1CacheSupported = result.localL1CacheSupported =
      1;
  result.sharedMemPerMultiprocessor = all.shared;
  result.regsPerMultiprocessor = static_cast<int>(all.registers);
  result.managedMemory = result.computePreemptionSupported = 1;
  result.concurrentManagedAccess = result.canUseHostPointerForRegisteredMem = 1;
  result.cooperativeLaunch = result.hostRegisterSupported = result.memoryPoolsSupported = 1;
  result.directManagedMemAccessFromHost = 1;
  result.sharedMemPerBlockOptin = all.shared_per_block_opt_in;
  result.maxBlocksPerMultiProcessor = static_cast<int>(all.blocks);
  result.reservedSharedMemPerBlock = all.shared_reserved_per_block;
  result.hostNumaId = -1;
  return result;
}

/// An attribute; nothing if it is none that is known. What the device has not is 0.
std::optional<int> attribute_of(cudaDeviceAttr attribute) {
  const cudaDeviceProp all = properties();
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock:
    return all.maxThreadsPerBlock;
  case cudaDevAttrMaxBlockDimX:
    return all.maxThreadsDim[0];
  case cudaDevAttrMaxBlockDimY:
    return all.maxThreadsDim[1];
  case cudaDevAttrMaxBlockDimZ:
    return all.maxThreadsDim[2];
  case cudaDevAttrMaxGridDimX:
    return all.maxGridSize[0];
  case cudaDevAttrMaxGridDimY:
    return all.maxGridSize[1];
  case cudaDevAttrMaxGridDimZ:
    return all.maxGridSize[2];
  case cudaDevAttrMaxSharedMemoryPerBlock:
    return static_cast<int>(all.sharedMemPerBlock);
  case cudaDevAttrTotalConstantMemory:
    return static_cast<int>(all.totalConstMem);
  case cudaDevAttrWarpSize:
    return all.warpSize;
  case cudaDevAttrMaxPitch:
    return static_cast<int>(all.memPitch);
  case cudaDevAttrMaxRegistersPerBlock:
    return all.regsPerBlock;
  case cudaDevAttrClockRate:
  case cudaDevAttrMemoryClockRate:
    return 1'000'000;
  case cudaDevAttrTextureAlignment:
    return static_cast<int>(all.textureAlignment);
  case cudaDevAttrGpuOverlap:
    return 1;
  case cudaDevAttrMultiProcessorCount:
    return all.multiProcessorCount;
  case cudaDevAttrCanMapHostMemory:
    return all.canMapHostMemory;
  case cudaDevAttrSurfaceAlignment:
    return static_cast<int>(all.surfaceAlignment);
  case cudaDevAttrConcurrentKernels:
    return all.concurrentKernels;
  case cudaDevAttrGlobalMemoryBusWidth:
    return all.memoryBusWidth;
  case cudaDevAttrL2CacheSize:
    return all.l2CacheSize;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    return all.maxThreadsPerMultiProcessor;
  case cudaDevAttrAsyncEngineCount:
    return all.asyncEngineCount;
  case cudaDevAttrUnifiedAddressing:
    return all.unifiedAddressing;
  case cudaDevAttrTexturePitchAlignment:
    return static_cast<int>(all.texturePitchAlignment);
  case cudaDevAttrComputeCapabilityMajor:
    return all.major;
  case cudaDevAttrComputeCapabilityMinor:
    return all.minor;
  case cudaDevAttrStreamPrioritiesSupported:
    return all.streamPrioritiesSupported;
  case cudaDevAttrGlobalL1CacheSupported:
    return all.globalL1CacheSupported;
  case cudaDevAttrLocalL1CacheSupported:
    return all.localL1CacheSupported;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    return static_cast<int>(all.sharedMemPerMultiprocessor);
  case cudaDevAttrMaxRegistersPerMultiprocessor:
    return all.regsPerMultiprocessor;
  case cudaDevAttrManagedMemory:
    return all.managedMemory;
  case cudaDevAttrSingleToDoublePrecisionPerfRatio:
    return 2;
  case cudaDevAttrConcurrentManagedAccess:
    return all.concurrentManagedAccess;
  case cudaDevAttrComputePreemptionSupported:
    return all.computePreemptionSupported;
  case cudaDevAttrCanUseHostPointerForRegisteredMem:
    return all.canUseHostPointerForRegisteredMem;
  case cudaDevAttrCooperativeLaunch:
    return all.cooperativeLaunch;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    return static_cast<int>(all.sharedMemPerBlockOptin);
  case cudaDevAttrHostRegisterSupported:
    return all.hostRegisterSupported;
  case cudaDevAttrDirectManagedMemAccessFromHost:
    return all.directManagedMemAccessFromHost;
  case cudaDevAttrMaxBlocksPerMultiprocessor:
    return all.maxBlocksPerMultiProcessor;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    return static_cast<int>(all.reservedSharedMemPerBlock);
  case cudaDevAttrMemoryPoolsSupported:
    return all.memoryPoolsSupported;
  case cudaDevAttrHostNumaId:
    return all.hostNumaId;
  default:
    break;
  }
  return attribute > 0 && attribute < cudaDevAttrMax ? std::optional<int>(0) : std::nullopt;
}

template <class Value> cudaError_t give(Value *to, Value value) {
  return device().call([&] { return to ? (*to = value, cudaSuccess) : cudaErrorInvalidValue; });
}

/// A call about a device by its number.
template <class Body> cudaError_t about(int number, Body body) {
  return device().call([&] { return is_there(number) ? body() : cudaErrorInvalidDevice; });
}

std::map<int, std::size_t> &limits() {
  static std::map<int, std::size_t> all = {
      {cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 7 << 20},
      {cudaLimitDevRuntimeSyncDepth, 2},    {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 0}};
  return all;
}

} // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int *count) { return give(count, 1); }
cudaError_t cudaGetDevice(int *number) { return give(number, 0); }
cudaError_t cudaSetDevice(int number) {
  return about(number, [] { return cudaSuccess; });
}
cudaError_t cudaInitDevice(int number, unsigned, unsigned) { return cudaSetDevice(number); }
cudaError_t cudaSetValidDevices(int *list, int count) {
  return device().call([&] {
    if (count < 0 || (count > 0 && !list))
      return cudaErrorInvalidValue;
    return std::all_of(list, list + count, is_there) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
cudaError_t cudaChooseDevice(int *number, const cudaDeviceProp *wanted) {
  return wanted ? give(number, 0) : Device::remember(cudaErrorInvalidValue);
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return device().call([&] {
    if (flags & ~unsigned{cudaDeviceMask})
      return cudaErrorInvalidValue;
    device().flags = static_cast<int>(flags);
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  return give(flags, static_cast<unsigned>(device().flags));
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *to, int number) {
  return about(number,
               [&] { return to ? (*to = properties(), cudaSuccess) : cudaErrorInvalidValue; });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int number) {
  return about(number, [&] {
    const auto known = attribute_of(attribute);
    return known && value ? (*value = *known, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int number) {
  return about(number, [&] {
    if (!text || size < static_cast<int>(sizeof bus_id))
      return cudaErrorInvalidValue;
    std::memcpy(text, bus_id, sizeof bus_id);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int *number, const char *text) {
  return device().call([&] {
    if (!number || !text)
      return cudaErrorInvalidValue;
    return std::find(std::begin(bus_ids), std::end(bus_ids), text) != std::end(bus_ids)
               ? (*number = 0, cudaSuccess)
               : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return device().call([] { return cudaSuccess; });
}

cudaError_t cudaDeviceReset() {
  device().reset();
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return device().call([&] {
    if (limit == cudaLimitMallocHeapSize) {
      device().heap_limit = value;
      return cudaSuccess;
    }
    const auto known = limits().find(limit);
    return known != limits().end() ? (known->second = value, cudaSuccess)
                                   : cudaErrorUnsupportedLimit;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t *value, cudaLimit limit) {
  return device().call([&] {
    if (!value)
      return cudaErrorInvalidValue;
    if (limit == cudaLimitMallocHeapSize)
      return *value = device().heap_limit, cudaSuccess;
    const auto known = limits().find(limit);
    return known != limits().end() ? (*value = known->second, cudaSuccess)
                                   : cudaErrorUnsupportedLimit;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *to) {
  return give(to, cudaFuncCachePreferNone);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *to) {
  return give(to, cudaSharedMemBankSizeFourByte);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaDeviceSynchronize(); }
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return cudaDeviceSynchronize();
}

// There is no other device.
cudaError_t cudaDeviceCanAccessPeer(int *can, int number, int peer) {
  return device().call([&] {
    if (!can)
      return cudaErrorInvalidValue;
    *can = 0;
    return is_there(number) && is_there(peer) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return Device::remember(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) { return Device::remember(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceGetP2PAttribute(int *, cudaDeviceP2PAttr, int, int) {
  return Device::remember(cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int *version) { return give(version, CUDART_VERSION); }
cudaError_t cudaRuntimeGetVersion(int *version) { return give(version, CUDART_VERSION); }

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

} // extern "C"
