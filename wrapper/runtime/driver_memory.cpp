// Memory, copies and sets of the Driver API.

#include "wrapper/runtime/driver.h"
#include "wrapper/runtime/textures.h"
#include "wrapper/runtime/toolkit.h"

#include <cstring>
#include <fmt/core.h>
#include <optional>

using namespace ptxasw::wrapper;

namespace {

CUresult allocate(CUdeviceptr *to, std::size_t size, MemoryKind kind, const char *what) {
  return driver([&] {
    if (!to || size == 0)
      return cudaErrorInvalidValue;
    return device().call([&] {
      *to = reinterpret_cast<CUdeviceptr>(
          device().allocations().add(size, kind, fmt::format("{} bytes of {}", size, what)));
      return *to ? cudaSuccess : cudaErrorMemoryAllocation;
    });
  });
}

CUresult copy(void *to, const void *from, std::size_t count, cudaMemcpyKind kind, CUstream stream) {
  return driver([&] { return cudaMemcpyAsync(to, from, count, kind, stream); });
}

CUresult set(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
             std::size_t height, CUstream stream) {
  return driver([&] {
    return device().call([&] {
      const cudaMemsetParams all{host_pointer(to), pitch, value, element, width, height};
      const cudaError_t error = to % element == 0 ? check_set(all) : cudaErrorInvalidValue;
      return error == cudaSuccess ? enqueue(stream, all) : error;
    });
  });
}

/// A side of a copy as a pitched pointer, or an array, whose place counts elements.
bool side_of(CUmemorytype type, const void *host, CUdeviceptr address, CUarray handle,
             std::size_t pitch, std::size_t width, std::size_t height, cudaPitchedPtr &side,
             cudaArray_t &array, cudaPos &at, std::size_t &element) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    array = reinterpret_cast<cudaArray_t>(handle);
    const cudaArray *const known = find_array(array);
    if (!known || at.x % known->element() != 0)
      return false;
    element = known->element();
    at.x /= element;
    return true;
  }
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
    return false;
  side.ptr = type == CU_MEMORYTYPE_HOST ? const_cast<void *>(host) : host_pointer(address);
  side.pitch = pitch == 0 ? width : pitch;
  side.xsize = width;
  side.ysize = height;
  return true;
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
    return cudaMemcpyDefault;
  if (from == CU_MEMORYTYPE_HOST)
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

/// A box to copy as the Runtime API has it; nothing if it is none.
std::optional<cudaMemcpy3DParms> same_copy(const CUDA_MEMCPY3D *box) {
  if (!box)
    return std::nullopt;
  cudaMemcpy3DParms same{};
  same.srcPos = {box->srcXInBytes, box->srcY, box->srcZ};
  same.dstPos = {box->dstXInBytes, box->dstY, box->dstZ};
  same.extent = {box->WidthInBytes, box->Height, box->Depth};
  same.kind = kind_of(box->srcMemoryType, box->dstMemoryType);
  const std::size_t from_width = box->srcXInBytes + box->WidthInBytes,
                    to_width = box->dstXInBytes + box->WidthInBytes;
  std::size_t element = 1;
  if (!side_of(box->srcMemoryType, box->srcHost, box->srcDevice, box->srcArray, box->srcPitch,
               from_width, box->srcHeight, same.srcPtr, same.srcArray, same.srcPos, element) ||
      !side_of(box->dstMemoryType, box->dstHost, box->dstDevice, box->dstArray, box->dstPitch,
               to_width, box->dstHeight, same.dstPtr, same.dstArray, same.dstPos, element) ||
      same.extent.width % element != 0)
    return std::nullopt;
  same.extent.width /= element;
  return same;
}

CUresult copy_box(const CUDA_MEMCPY3D *box, CUstream stream) {
  return driver([&] {
    const auto same = same_copy(box);
    return same ? cudaMemcpy3DAsync(&*same, stream) : cudaErrorInvalidValue;
  });
}

CUresult copy_rectangle(const CUDA_MEMCPY2D *all, CUstream stream) {
  if (!all)
    return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = all->srcXInBytes;
  box.srcY = all->srcY;
  box.srcMemoryType = all->srcMemoryType;
  box.srcHost = all->srcHost;
  box.srcDevice = all->srcDevice;
  box.srcArray = all->srcArray;
  box.srcPitch = all->srcPitch;
  box.srcHeight = all->srcY + all->Height;
  box.dstXInBytes = all->dstXInBytes;
  box.dstY = all->dstY;
  box.dstMemoryType = all->dstMemoryType;
  box.dstHost = all->dstHost;
  box.dstDevice = all->dstDevice;
  box.dstArray = all->dstArray;
  box.dstPitch = all->dstPitch;
  box.dstHeight = all->dstY + all->Height;
  box.WidthInBytes = all->WidthInBytes;
  box.Height = all->Height;
  box.Depth = 1;
  return copy_box(&box, stream);
}

/// Writes a value of an attribute to where it is wanted.
template <class Value> cudaError_t give(void *to, Value value) {
  std::memcpy(to, &value, sizeof value);
  return cudaSuccess;
}

cudaError_t attribute_of(void *to, CUpointer_attribute attribute, CUdeviceptr address) {
  cudaPointerAttributes all{};
  if (const cudaError_t error = cudaPointerGetAttributes(&all, host_pointer(address));
      error != cudaSuccess)
    return error;
  if (all.type == cudaMemoryTypeUnregistered && attribute != CU_POINTER_ATTRIBUTE_MAPPED)
    return cudaErrorInvalidValue;
  const auto range = [&](bool wants_size) {
    return device().call([&] {
      const auto *block = device().allocations().find(host_pointer(address));
      return block ? give(to, wants_size ? block->second.size : block->first)
                   : cudaErrorInvalidValue;
    });
  };
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: {
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    return give(to, reinterpret_cast<std::uintptr_t>(context));
  }
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return give(to, static_cast<unsigned>(all.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST
                                                                         : CU_MEMORYTYPE_DEVICE));
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return give(to, all.devicePointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    return all.hostPointer ? give(to, all.hostPointer) : cudaErrorInvalidValue;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return give(to, static_cast<unsigned>(all.type == cudaMemoryTypeManaged));
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return give(to, all.device);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return range(false);
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return range(true);
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return give(to, static_cast<unsigned>(all.type != cudaMemoryTypeUnregistered));
  default:
    return cudaErrorNotSupported;
  }
}

/// Bytes of an attribute's value.
std::size_t size_of(CUpointer_attribute attribute) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    return 8;
  case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
    return sizeof(CUDA_POINTER_ATTRIBUTE_P2P_TOKENS);
  default:
    return 4;
  }
}

cudaMemLocation location_of(CUmemLocation location) {
  cudaMemLocation same{};
  static_assert(sizeof same == sizeof location);
  std::memcpy(&same, &location, sizeof same);
  return same;
}

CUmemLocation location_of(CUdevice number) {
  CUmemLocation location{};
  location.type = number < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = number < 0 ? 0 : number;
  return location;
}

} // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr *to, std::size_t size) {
  return allocate(to, size, MemoryKind::device, "cuMemAlloc");
}
CUresult cuMemAllocManaged(CUdeviceptr *to, std::size_t size, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return driver([] { return cudaErrorInvalidValue; });
  return allocate(to, size, MemoryKind::managed, "cuMemAllocManaged");
}
CUresult cuMemAllocPitch_v2(CUdeviceptr *to, std::size_t *pitch, std::size_t width,
                            std::size_t height, unsigned element) {
  return driver([&] {
    if (width == 0 || height == 0 || (element != 4 && element != 8 && element != 16))
      return cudaErrorInvalidValue;
    return cudaMallocPitch(reinterpret_cast<void **>(to), pitch, width, height);
  });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return driver([&] { return cudaFree(host_pointer(address)); });
}
CUresult cuMemGetInfo_v2(std::size_t *free, std::size_t *total) {
  return driver([&] { return cudaMemGetInfo(free, total); });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *begin, std::size_t *size, CUdeviceptr address) {
  return driver([&] {
    return device().call([&] {
      const auto *block = device().allocations().find(host_pointer(address));
      if (!block)
        return static_cast<cudaError_t>(CUDA_ERROR_NOT_FOUND);
      if (begin)
        *begin = block->first;
      if (size)
        *size = block->second.size;
      return cudaSuccess;
    });
  });
}

CUresult cuMemAllocHost_v2(void **to, std::size_t size) {
  return driver([&] { return cudaMallocHost(to, size); });
}
CUresult cuMemFreeHost(void *address) {
  return driver([&] { return cudaFreeHost(address); });
}
CUresult cuMemHostAlloc(void **to, std::size_t size, unsigned flags) {
  return driver([&] { return cudaHostAlloc(to, size, flags); });
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *to, void *host, unsigned flags) {
  return driver(
      [&] { return cudaHostGetDevicePointer(reinterpret_cast<void **>(to), host, flags); });
}
CUresult cuMemHostGetFlags(unsigned *flags, void *host) {
  return driver([&] { return cudaHostGetFlags(flags, host); });
}
CUresult cuMemHostRegister_v2(void *address, std::size_t size, unsigned flags) {
  return driver([&] { return cudaHostRegister(address, size, flags); });
}
CUresult cuMemHostUnregister(void *address) {
  return driver([&] { return cudaHostUnregister(address); });
}

CUresult cuPointerGetAttribute(void *to, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver([&] { return to ? attribute_of(to, attribute, address) : cudaErrorInvalidValue; });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **to,
                                CUdeviceptr address) {
  return driver([&] {
    if (!attributes || !to)
      return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; ++i) // what does not apply is null
      if (to[i] && attribute_of(to[i], attributes[i], address) != cudaSuccess)
        std::memset(to[i], 0, size_of(attributes[i]));
    return cudaSuccess;
  });
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr) {
  return driver([&] {
    return value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? cudaSuccess
                                                                  : cudaErrorInvalidValue;
  });
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t count, CUmemLocation location,
                               unsigned flags, CUstream stream) {
  return driver([&] {
    return cudaMemPrefetchAsync_v2(host_pointer(address), count, location_of(location), flags,
                                   stream);
  });
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t count, CUdevice number,
                            CUstream stream) {
  return cuMemPrefetchAsync_v2(address, count, location_of(number), 0, stream);
}
CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t count, CUmem_advise advice,
                        CUmemLocation location) {
  return driver([&] {
    return cudaMemAdvise_v2(host_pointer(address), count, static_cast<cudaMemoryAdvise>(advice),
                            location_of(location));
  });
}
CUresult cuMemAdvise(CUdeviceptr address, std::size_t count, CUmem_advise advice, CUdevice number) {
  return cuMemAdvise_v2(address, count, advice, location_of(number));
}

// ---- pools

CUresult cuMemAllocAsync(CUdeviceptr *to, std::size_t size, CUstream stream) {
  return driver([&] { return cudaMallocAsync(reinterpret_cast<void **>(to), size, stream); });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *to, std::size_t size, CUmemoryPool pool,
                                 CUstream stream) {
  return driver(
      [&] { return cudaMallocFromPoolAsync(reinterpret_cast<void **>(to), size, pool, stream); });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return driver([&] { return cudaFreeAsync(host_pointer(address), stream); });
}
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  return driver([&] {
    return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps *>(properties));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return driver([&] { return cudaMemPoolDestroy(pool); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  return driver([&] { return cudaMemPoolTrimTo(pool, keep); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  return driver([&] {
    return cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value);
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  return driver([&] {
    return cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value);
  });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, std::size_t count) {
  return driver([&] {
    return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc *>(list), count);
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
  return driver([&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags *>(flags), pool,
                                reinterpret_cast<cudaMemLocation *>(location));
  });
}

// ---- copies

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t count, CUstream stream) {
  return copy(host_pointer(to), host_pointer(from), count, cudaMemcpyDefault, stream);
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t count) {
  return cuMemcpyAsync(to, from, count, nullptr);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, std::size_t count,
                              CUstream stream) {
  return copy(host_pointer(to), from, count, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, std::size_t count) {
  return cuMemcpyHtoDAsync_v2(to, from, count, nullptr);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, std::size_t count, CUstream stream) {
  return copy(to, host_pointer(from), count, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, std::size_t count) {
  return cuMemcpyDtoHAsync_v2(to, from, count, nullptr);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t count,
                              CUstream stream) {
  return copy(host_pointer(to), host_pointer(from), count, cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t count) {
  return cuMemcpyDtoDAsync_v2(to, from, count, nullptr);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                           std::size_t count, CUstream stream) {
  return cuMemcpyDtoDAsync_v2(to, from, count, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t count) {
  return cuMemcpyDtoDAsync_v2(to, from, count, nullptr);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *all, CUstream stream) {
  return copy_rectangle(all, stream);
}
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *all) { return copy_rectangle(all, nullptr); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *all) { return copy_rectangle(all, nullptr); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *all, CUstream stream) {
  return copy_box(all, stream);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *all) { return cuMemcpy3DAsync_v2(all, nullptr); }

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, std::size_t *sizes,
                               std::size_t count, CUmemcpyAttributes *, std::size_t *, std::size_t,
                               CUstream stream) {
  return driver([&] {
    return copy_batch(reinterpret_cast<void *const *>(to),
                      reinterpret_cast<const void *const *>(from), sizes, count, stream);
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              std::size_t count, const CUDA_MEMCPY3D *copy, CUcontext) {
  return driver([&] {
    const auto same = same_copy(copy);
    return cudaGraphAddMemcpyNode(node, graph, before, count, same ? &*same : nullptr);
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy) {
  return driver([&] {
    const auto same = same_copy(copy);
    return cudaGraphMemcpyNodeSetParams(node, same ? &*same : nullptr);
  });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D *copy, CUcontext) {
  return driver([&] {
    const auto same = same_copy(copy);
    return cudaGraphExecMemcpyNodeSetParams(executable, node, same ? &*same : nullptr);
  });
}

// ---- sets

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return set(to, count, value, 1, count, 1, stream);
}
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return set(to, count, value, 1, count, 1, nullptr);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return set(to, count * 2, value, 2, count, 1, stream);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return set(to, count * 2, value, 2, count, 1, nullptr);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return set(to, count * 4, value, 4, count, 1, stream);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return set(to, count * 4, value, 4, count, 1, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return set(to, pitch, value, 1, width, height, stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return set(to, pitch, value, 1, width, height, nullptr);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return set(to, pitch, value, 2, width, height, stream);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return set(to, pitch, value, 2, width, height, nullptr);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return set(to, pitch, value, 4, width, height, stream);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                          std::size_t height) {
  return set(to, pitch, value, 4, width, height, nullptr);
}

// ---- nodes that set, and single values, which are sets of one element

static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams) &&
              offsetof(CUDA_MEMSET_NODE_PARAMS, width) == offsetof(cudaMemsetParams, width));

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS *set, CUcontext) {
  return driver([&] {
    return cudaGraphAddMemsetNode(node, graph, before, count,
                                  reinterpret_cast<const cudaMemsetParams *>(set));
  });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *set) {
  return driver([&] {
    return cudaGraphMemsetNodeGetParams(node, reinterpret_cast<cudaMemsetParams *>(set));
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *set) {
  return driver([&] {
    return cudaGraphMemsetNodeSetParams(node, reinterpret_cast<const cudaMemsetParams *>(set));
  });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *set, CUcontext) {
  return driver([&] {
    return cudaGraphExecMemsetNodeSetParams(executable, node,
                                            reinterpret_cast<const cudaMemsetParams *>(set));
  });
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned) {
  return cuMemsetD32Async(to, value, 1, stream);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr to, cuuint64_t value, unsigned) {
  const CUresult low = cuMemsetD32Async(to, static_cast<unsigned>(value), 1, stream);
  return low == CUDA_SUCCESS
             ? cuMemsetD32Async(to + 4, static_cast<unsigned>(value >> 32), 1, stream)
             : low;
}

} // extern "C"
