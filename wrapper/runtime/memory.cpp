// Allocating, freeing, and asking about memory. Pools have no memory of their own: what is asked of
// one comes from the device, at once.

#include "emulator/semantics/parameter_layout.h"
#include "wrapper/runtime/stream.h"
#include "wrapper/runtime/toolkit.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

using namespace ptxasw::wrapper;

/// A pool: its attributes.
struct CUmemPoolHandle_st {
  std::map<int, std::uint64_t> attributes;
};

namespace {

constexpr std::size_t pitch_unit = 512;

CUmemPoolHandle_st &default_pool() {
  static CUmemPoolHandle_st pool;
  return pool;
}
CUmemPoolHandle_st *&current_pool() {
  static CUmemPoolHandle_st *pool = &default_pool();
  return pool;
}

cudaError_t allocate(void **to, std::size_t size, MemoryKind kind, const char *what,
                     unsigned flags = 0) {
  if (!to)
    return cudaErrorInvalidValue;
  *to = nullptr;
  if (size == 0)
    return kind == MemoryKind::managed ? cudaErrorInvalidValue : cudaSuccess;
  *to = device().allocations().add(size, kind, fmt::format("{} bytes of {}", size, what), flags);
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t allocate_pitched(void **to, std::size_t *pitch, std::size_t width, std::size_t rows,
                             const char *what) {
  if (!pitch)
    return cudaErrorInvalidValue;
  *pitch = align(width, pitch_unit);
  if (rows != 0 && *pitch > ~std::size_t{0} / rows)
    return cudaErrorMemoryAllocation;
  return allocate(to, *pitch * rows, MemoryKind::device, what);
}

/// A range that is one allocation's.
bool is_allocated(const void *address, std::size_t size) {
  const auto *block = device().allocations().find(address);
  return block &&
         reinterpret_cast<std::uint64_t>(address) - block->first + size <= block->second.size;
}

cudaError_t managed_range(const void *address, std::size_t size) {
  const auto *block = device().allocations().find(address);
  return block && block->second.kind == MemoryKind::managed && is_allocated(address, size)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

} // namespace

cudaError_t ptxasw::wrapper::allocate_in_graph(void **to, std::size_t size) {
  if (!to || size == 0)
    return cudaErrorInvalidValue;
  *to = device().allocations().reserve(size, fmt::format("{} bytes of a graph", size));
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}

extern "C" {

cudaError_t cudaMalloc(void **to, std::size_t size) {
  return device().call([&] { return allocate(to, size, MemoryKind::device, "cudaMalloc"); });
}

cudaError_t cudaMallocManaged(void **to, std::size_t size, unsigned flags) {
  return device().call([&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
      return cudaErrorInvalidValue;
    return allocate(to, size, MemoryKind::managed, "cudaMallocManaged");
  });
}

cudaError_t cudaMallocPitch(void **to, std::size_t *pitch, std::size_t width, std::size_t height) {
  return device().call(
      [&] { return allocate_pitched(to, pitch, width, height, "cudaMallocPitch"); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *to, cudaExtent extent) {
  return device().call([&] {
    if (!to)
      return cudaErrorInvalidValue;
    to->xsize = extent.width;
    to->ysize = extent.height;
    return allocate_pitched(&to->ptr, &to->pitch, extent.width, extent.height * extent.depth,
                            "cudaMalloc3D");
  });
}

cudaError_t cudaFree(void *address) {
  return device().call([&] {
    return address ? device().allocations().remove(address, MemoryKind::device) : cudaSuccess;
  });
}

cudaError_t cudaHostAlloc(void **to, std::size_t size, unsigned flags) {
  return device().call([&] {
    if (flags & ~unsigned{cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined})
      return cudaErrorInvalidValue;
    return allocate(to, size, MemoryKind::host, "cudaHostAlloc", flags);
  });
}

cudaError_t cudaMallocHost(void **to, std::size_t size) {
  return device().call(
      [&] { return allocate(to, size, MemoryKind::host, "cudaMallocHost", cudaHostAllocMapped); });
}

cudaError_t cudaFreeHost(void *address) {
  return device().call([&] {
    return address ? device().allocations().remove(address, MemoryKind::host) : cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void *address, std::size_t size, unsigned flags) {
  return device().call([&] {
    if (!address || size == 0)
      return cudaErrorInvalidValue;
    return device().allocations().add_host(address, size, flags);
  });
}

cudaError_t cudaHostUnregister(void *address) {
  return device().call([&] {
    return address ? device().allocations().remove(address, MemoryKind::registered)
                   : cudaErrorInvalidValue;
  });
}

cudaError_t cudaHostGetDevicePointer(void **to, void *host, unsigned flags) {
  return device().call([&] {
    const auto *block = device().allocations().find(host);
    if (!to || flags != 0 || !block ||
        (block->second.kind != MemoryKind::host && block->second.kind != MemoryKind::registered))
      return cudaErrorInvalidValue;
    *to = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  return device().call([&] {
    const auto *block = device().allocations().find(host);
    if (!flags || !block || block->second.kind != MemoryKind::host)
      return cudaErrorInvalidValue;
    *flags = block->second.flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total) {
  return device().call([&] {
    if (!free || !total)
      return cudaErrorInvalidValue;
    *total = device().memory_size();
    *free = *total - device().allocations().device_bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *address) {
  return device().call([&] {
    if (!attributes)
      return cudaErrorInvalidValue;
    // CUDA 12 has no reserved numbers.
    std::memset(attributes, 0,
                gives_small_structures() ? offsetof(cudaPointerAttributes, reserved)
                                         : sizeof *attributes);
    void *const same = const_cast<void *>(address);
    const auto *block = device().allocations().find(address);
    const MemoryKind kind = block ? block->second.kind : MemoryKind::device;
    attributes->device = block ? 0 : -2;
    attributes->type = !block                        ? cudaMemoryTypeUnregistered
                       : kind == MemoryKind::managed ? cudaMemoryTypeManaged
                       : kind == MemoryKind::host || kind == MemoryKind::registered
                           ? cudaMemoryTypeHost
                           : cudaMemoryTypeDevice;
    if (block)
      attributes->devicePointer = same;
    if (attributes->type != cudaMemoryTypeDevice)
      attributes->hostPointer = same;
    return cudaSuccess;
  });
}

// Where managed memory is makes no difference here.
cudaError_t cudaMemPrefetchAsync_v2(const void *address, std::size_t size, cudaMemLocation,
                                    unsigned, cudaStream_t stream) {
  return device().call([&] {
    return find_stream(stream) ? managed_range(address, size) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaMemAdvise_v2(const void *address, std::size_t size, cudaMemoryAdvise,
                             cudaMemLocation) {
  return device().call([&] { return managed_range(address, size); });
}

cudaError_t cudaMallocAsync(void **to, std::size_t size, cudaStream_t handle) {
  return device().call([&] {
    CUstream_st *const stream = find_stream(handle);
    if (!stream)
      return cudaErrorInvalidResourceHandle;
    if (!stream->capture)
      return allocate(to, size, MemoryKind::device, "cudaMallocAsync");
    const cudaError_t error = allocate_in_graph(to, size);
    return error == cudaSuccess ? enqueue(handle, Allocate{*to, size}) : error;
  });
}

cudaError_t cudaMallocFromPoolAsync(void **to, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return pool ? cudaMallocAsync(to, size, stream) : Device::remember(cudaErrorInvalidValue);
}

cudaError_t cudaFreeAsync(void *address, cudaStream_t handle) {
  return device().call([&] {
    const CUstream_st *const stream = find_stream(handle);
    if (!stream)
      return cudaErrorInvalidResourceHandle;
    if (!address)
      return cudaSuccess;
    if (!stream->capture)
      return device().allocations().remove(address, MemoryKind::device);
    return may_release(*stream->capture->into, address) ? enqueue(handle, Release{address})
                                                        : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int number) {
  return device().call([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    return pool ? (*pool = &default_pool(), cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int number) {
  return device().call([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    return pool ? (*pool = current_pool(), cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t pool) {
  return device().call([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    return pool ? (current_pool() = pool, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
  return device().call([&] {
    if (!pool || !properties)
      return cudaErrorInvalidValue;
    *pool = new CUmemPoolHandle_st;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return device().call([&] {
    if (!pool || pool == &default_pool())
      return cudaErrorInvalidValue;
    if (current_pool() == pool)
      current_pool() = &default_pool();
    delete pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
  return device().call([&] {
    if (!pool || !value)
      return cudaErrorInvalidValue;
    const bool is_wide = attribute >= cudaMemPoolAttrReleaseThreshold;
    std::uint64_t bits = 0;
    std::memcpy(&bits, value, is_wide ? 8 : 4);
    pool->attributes[attribute] = bits;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
  return device().call([&] {
    if (!pool || !value)
      return cudaErrorInvalidValue;
    const bool is_wide = attribute >= cudaMemPoolAttrReleaseThreshold;
    const auto found = pool->attributes.find(attribute);
    const std::uint64_t bits = found != pool->attributes.end() ? found->second : is_wide ? 0 : 1;
    std::memcpy(value, &bits, is_wide ? 8 : 4);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return Device::remember(pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list,
                                 std::size_t count) {
  return Device::remember(pool && (list || count == 0) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 cudaMemLocation *location) {
  return device().call([&] {
    if (!flags || !pool || !location)
      return cudaErrorInvalidValue;
    *flags = location->type == cudaMemLocationTypeDevice && location->id == 0
                 ? cudaMemAccessFlagsProtReadWrite
                 : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolAddress(void **to, const void *symbol) {
  return device().call([&] {
    LoadedModule::Place place;
    if (!to)
      return cudaErrorInvalidValue;
    const cudaError_t error = Registry::get().find_variable(symbol, place);
    if (error == cudaSuccess)
      *to = place.address;
    return error;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t *size, const void *symbol) {
  return device().call([&] {
    LoadedModule::Place place;
    if (!size)
      return cudaErrorInvalidValue;
    const cudaError_t error = Registry::get().find_variable(symbol, place);
    if (error == cudaSuccess)
      *size = place.size;
    return error;
  });
}

} // extern "C"
