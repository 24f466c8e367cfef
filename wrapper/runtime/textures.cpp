// CUDA arrays, and texture and surface objects. An array is pitched memory of the device, and an
// object's handle is the address of what the emulator reads it by (emulator/machine/texture.h).

#include "wrapper/runtime/textures.h"

#include "emulator/machine/texture.h"
#include "emulator/semantics/parameter_layout.h"
#include "wrapper/runtime/stream.h"
#include "wrapper/runtime/toolkit.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <mutex>
#include <set>

namespace ptxasw::wrapper {
namespace {

constexpr std::size_t row_unit = 64;

/// All arrays; copies look for one before they take the device's lock.
struct Arrays {
  std::mutex mutex;
  std::set<std::unique_ptr<cudaArray>> all;

  auto find(cudaArray_const_t handle) {
    return std::find_if(all.begin(), all.end(),
                        [&](const auto &array) { return array.get() == handle; });
  }
};
Arrays &arrays() {
  static Arrays arrays;
  return arrays;
}

/// Bytes of a resource's description: in CUDA 12 up to the end of the longest of what there was
/// then.
std::size_t resource_bytes() {
  return gives_small_structures()
             ? offsetof(cudaResourceDesc, res) + sizeof(cudaResourceDesc::res.pitch2D)
             : sizeof(cudaResourceDesc);
}
cudaResourceDesc copy_of(const cudaResourceDesc &resource) {
  cudaResourceDesc copy{};
  std::memcpy(&copy, &resource, resource_bytes());
  return copy;
}

/// What a handle was made of.
struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};
std::map<unsigned long long, TextureObject> &objects() {
  static std::map<unsigned long long, TextureObject> all;
  return all;
}

/// The channels of a format: one size and kind, 1, 2 or 4 of them.
bool read_format(const cudaChannelFormatDesc &format, TextureMap &map) {
  const int sizes[] = {format.x, format.y, format.z, format.w};
  const auto used = std::find(std::begin(sizes), std::end(sizes), 0) - std::begin(sizes);
  if (used == 0 || used == 3 ||
      !std::all_of(sizes, sizes + used, [&](int bits) { return bits == format.x; }) ||
      std::any_of(sizes + used, std::end(sizes), [](int bits) { return bits != 0; }) ||
      (format.x != 8 && format.x != 16 && format.x != 32))
    return false;
  map.channels = static_cast<std::uint8_t>(used);
  map.channel_bits = static_cast<std::uint8_t>(format.x);
  switch (format.f) {
  case cudaChannelFormatKindSigned:
    map.channel = TextureMap::Channel::whole_signed;
    return true;
  case cudaChannelFormatKindUnsigned:
    map.channel = TextureMap::Channel::whole_unsigned;
    return true;
  case cudaChannelFormatKindFloat:
    map.channel = TextureMap::Channel::real;
    return format.x != 8;
  default:
    return false;
  }
}

void read_array(const cudaArray &array, TextureMap &map) {
  map.is_cube = (array.flags & cudaArrayCubemap) != 0;
  map.is_layered = (array.flags & cudaArrayLayered) != 0;
  const bool has_slices = map.is_cube || map.is_layered;
  map.axes = array.extent.height == 0 ? 1 : array.extent.depth == 0 || has_slices ? 2 : 3;
  map.extents = {array.extent.width, array.rows(), array.slices()};
  if (map.axes == 1 && has_slices)
    map.extents = {array.extent.width, array.slices(), 1};
  map.address = reinterpret_cast<std::uintptr_t>(array.address);
  map.row_pitch = array.pitch;
  map.slice_pitch = array.pitch * array.rows();
}

cudaError_t read_resource(const cudaResourceDesc &resource, const char *asked, TextureMap &map) {
  cudaChannelFormatDesc format{};
  switch (resource.resType) {
  case cudaResourceTypeArray: {
    const cudaArray *const array = find_array(resource.res.array.array);
    if (!array)
      return cudaErrorInvalidResourceHandle;
    format = array->format;
    read_array(*array, map);
    break;
  }
  case cudaResourceTypeLinear:
    format = resource.res.linear.desc;
    map.is_row = true;
    map.address = reinterpret_cast<std::uintptr_t>(resource.res.linear.devPtr);
    break;
  case cudaResourceTypePitch2D:
    format = resource.res.pitch2D.desc;
    map.axes = 2;
    map.address = reinterpret_cast<std::uintptr_t>(resource.res.pitch2D.devPtr);
    map.extents = {resource.res.pitch2D.width, resource.res.pitch2D.height, 1};
    map.row_pitch = resource.res.pitch2D.pitchInBytes;
    break;
  default:
    return Device::refuse(asked, "levels of detail are not emulated");
  }
  if (!read_format(format, map))
    return cudaErrorInvalidChannelDescriptor;
  if (map.is_row)
    map.extents[0] = resource.res.linear.sizeInBytes / map.element_bytes();
  const auto *block =
      device().allocations().find(reinterpret_cast<const void *>(map.address)); // NOLINT
  return block && map.extents[0] != 0 && map.extents[1] != 0 &&
                 map.address % map.element_bytes() == 0
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

cudaError_t make_object(unsigned long long *to, const TextureMap &map,
                        const TextureObject &object) {
  void *const place =
      device().allocations().add(TextureMap::bytes, MemoryKind::device,
                                 map.is_surface ? "a surface object" : "a texture object");
  if (!place)
    return cudaErrorMemoryAllocation;
  const auto bytes = encode(map);
  std::memcpy(place, bytes.data(), bytes.size());
  *to = reinterpret_cast<std::uintptr_t>(place);
  objects()[*to] = object;
  return cudaSuccess;
}

cudaError_t destroy_object(unsigned long long handle) {
  if (objects().erase(handle) == 0)
    return cudaErrorInvalidValue;
  return device().allocations().remove(reinterpret_cast<void *>(handle),
                                       MemoryKind::device); // NOLINT
}

/// A side of a copy that is an array, as pitched memory of bytes.
bool side_without_array(cudaArray_t &handle, cudaPitchedPtr &pointer, cudaPos &at,
                        const cudaExtent &extent) {
  const cudaArray *const array = find_array(handle);
  if (!array || at.x > array->extent.width || extent.width > array->extent.width - at.x ||
      at.y > array->rows() || extent.height > array->rows() - at.y || at.z > array->slices() ||
      extent.depth > array->slices() - at.z)
    return false;
  pointer = {array->address, array->pitch, array->extent.width * array->element(), array->rows()};
  at.x *= array->element();
  handle = nullptr;
  return true;
}

} // namespace

const cudaArray *find_array(cudaArray_const_t handle) {
  const std::scoped_lock lock(arrays().mutex);
  const auto found = arrays().find(handle);
  return found == arrays().all.end() ? nullptr : found->get();
}

cudaError_t make_array(cudaArray_t *to, const cudaChannelFormatDesc *format, cudaExtent extent,
                       unsigned flags) {
  constexpr unsigned known =
      cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
  TextureMap map;
  if ((flags & ~known) != 0)
    return Device::refuse("a sparse or deferred array", "arrays have all of their memory");
  if (!to || !format || extent.width == 0 ||
      (extent.depth != 0 && extent.height == 0 && (flags & cudaArrayLayered) == 0) ||
      ((flags & cudaArrayCubemap) != 0 && (extent.width != extent.height || extent.depth % 6 != 0)))
    return cudaErrorInvalidValue;
  if (!read_format(*format, map))
    return cudaErrorInvalidChannelDescriptor;
  auto array = std::make_unique<cudaArray>();
  array->format = *format;
  array->extent = extent;
  array->flags = flags;
  constexpr std::size_t most = std::size_t{1} << 32;
  if (extent.width > most || extent.height > most || extent.depth > most)
    return cudaErrorInvalidValue;
  array->pitch = align(extent.width * array->element(), row_unit);
  if (array->rows() > device().memory_size() / array->pitch ||
      array->slices() > device().memory_size() / array->pitch / array->rows())
    return cudaErrorMemoryAllocation;
  array->address = static_cast<char *>(device().allocations().add(
      array->pitch * array->rows() * array->slices(), MemoryKind::device,
      fmt::format("an array of {}x{}x{} elements", extent.width, array->rows(), array->slices())));
  if (!array->address)
    return cudaErrorMemoryAllocation;
  *to = array.get();
  const std::scoped_lock lock(arrays().mutex);
  arrays().all.insert(std::move(array));
  return cudaSuccess;
}

cudaError_t free_array(cudaArray_t handle) {
  if (!handle)
    return cudaSuccess;
  const std::scoped_lock lock(arrays().mutex);
  const auto found = arrays().find(handle);
  if (found == arrays().all.end())
    return cudaErrorInvalidResourceHandle;
  const cudaError_t error = device().allocations().remove((*found)->address, MemoryKind::device);
  arrays().all.erase(found);
  return error;
}

void forget_textures() {
  const std::scoped_lock lock(arrays().mutex);
  arrays().all.clear();
  objects().clear();
}

cudaError_t without_arrays(cudaMemcpy3DParms &copy) {
  const cudaArray *const from = find_array(copy.srcArray), *const to = find_array(copy.dstArray);
  if (!copy.srcArray && !copy.dstArray)
    return cudaSuccess;
  const cudaArray *const counted = from ? from : to;
  if (!counted || (from && to && from->element() != to->element()))
    return cudaErrorInvalidValue;
  if ((copy.srcArray &&
       !side_without_array(copy.srcArray, copy.srcPtr, copy.srcPos, copy.extent)) ||
      (copy.dstArray && !side_without_array(copy.dstArray, copy.dstPtr, copy.dstPos, copy.extent)))
    return cudaErrorInvalidValue;
  copy.extent.width *= counted->element();
  return cudaSuccess;
}

} // namespace ptxasw::wrapper

using namespace ptxasw::wrapper;

namespace {

/// A copy of a rectangle between an array and memory, in bytes; cudaErrorInvalidValue where it
/// begins or ends within an element.
cudaError_t copy_rectangle(cudaMemcpy3DParms copy, std::size_t width, std::size_t height,
                           cudaStream_t stream) {
  const cudaArray *const array = find_array(copy.dstArray ? copy.dstArray : copy.srcArray);
  if (!array)
    return Device::remember(cudaErrorInvalidResourceHandle);
  cudaPos &at = copy.dstArray ? copy.dstPos : copy.srcPos;
  if (width % array->element() != 0 || at.x % array->element() != 0)
    return Device::remember(cudaErrorInvalidValue);
  at.x /= array->element();
  if (copy.dstArray && copy.srcArray)
    copy.srcPos.x /= array->element();
  copy.extent = {width / array->element(), height, 1};
  return cudaMemcpy3DAsync(&copy, stream);
}

/// Bytes one after the other to or from rows of an array.
cudaError_t copy_row_by_row(cudaMemcpy3DParms copy, char *memory, std::size_t x, std::size_t y,
                            std::size_t count, cudaStream_t stream) {
  const cudaArray *const array = find_array(copy.dstArray ? copy.dstArray : copy.srcArray);
  if (!array)
    return Device::remember(cudaErrorInvalidResourceHandle);
  const std::size_t row = array->extent.width * array->element();
  if (x >= row || y >= array->rows() || count > (array->rows() - y) * row - x)
    return Device::remember(cudaErrorInvalidValue);
  for (; count != 0; x = 0, ++y) {
    const std::size_t part = std::min(count, row - x);
    (copy.dstArray ? copy.srcPtr : copy.dstPtr) = {memory, part, part, 1};
    (copy.dstArray ? copy.dstPos : copy.srcPos) = {x, y, 0};
    if (const cudaError_t error = copy_rectangle(copy, part, 1, stream); error != cudaSuccess)
      return error;
    memory += part;
    count -= part;
  }
  return cudaSuccess;
}

cudaMemcpy3DParms to_array(cudaArray_t array, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.dstArray = array;
  copy.kind = kind;
  return copy;
}
cudaMemcpy3DParms from_array(cudaArray_const_t array, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.srcArray = const_cast<cudaArray_t>(array); // NOLINT: it is only read
  copy.kind = kind;
  return copy;
}

} // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t *to, const cudaChannelFormatDesc *format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return device().call([&] { return make_array(to, format, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t *to, const cudaChannelFormatDesc *format,
                              cudaExtent extent, unsigned flags) {
  return device().call([&] { return make_array(to, format, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return device().call([&] { return free_array(array); });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned *flags,
                             cudaArray_t handle) {
  return device().call([&] {
    const cudaArray *const array = find_array(handle);
    if (!array)
      return cudaErrorInvalidResourceHandle;
    if (format)
      *format = array->format;
    if (extent)
      *extent = array->extent;
    if (flags)
      *flags = array->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t handle) {
  return device().call([&] {
    const cudaArray *const array = find_array(handle);
    return array && format ? (*format = array->format, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  cudaMemcpy3DParms copy = to_array(to, kind);
  copy.srcPtr = {const_cast<void *>(from), pitch, width, height}; // NOLINT: it is only read
  copy.dstPos = {x, y, 0};
  return copy_rectangle(copy, width, height, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  cudaMemcpy3DParms copy = from_array(from, kind);
  copy.dstPtr = {to, pitch, width, height};
  copy.srcPos = {x, y, 0};
  return copy_rectangle(copy, width, height, stream);
}

cudaError_t cudaMemcpy2DFromArray(void *to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy = from_array(from, kind);
  copy.dstArray = to;
  copy.srcPos = {from_x, from_y, 0};
  copy.dstPos = {to_x, to_y, 0};
  return copy_rectangle(copy, width, height, nullptr);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                   std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  char *const memory = static_cast<char *>(const_cast<void *>(from)); // NOLINT: it is only read
  return copy_row_by_row(to_array(to, kind), memory, x, y, count, stream);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                              std::size_t count, cudaMemcpyKind kind) {
  char *const memory = static_cast<char *>(const_cast<void *>(from)); // NOLINT: it is only read
  return copy_row_by_row(to_array(to, kind), memory, x, y, count, nullptr);
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_row_by_row(from_array(from, kind), static_cast<char *>(to), x, y, count, stream);
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind) {
  return copy_row_by_row(from_array(from, kind), static_cast<char *>(to), x, y, count, nullptr);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *to, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *texture,
                                    const cudaResourceViewDesc *view) {
  return device().call([&] {
    if (!to || !resource || !texture)
      return cudaErrorInvalidValue;
    if (view || texture->sRGB != 0)
      return Device::refuse("cudaCreateTextureObject",
                            "views of resources and sRGB are not emulated");
    TextureMap map;
    if (const cudaError_t error = read_resource(*resource, "cudaCreateTextureObject", map);
        error != cudaSuccess)
      return error;
    for (unsigned axis = 0; axis < TextureMap::most_axes; ++axis) {
      static constexpr TextureMap::AddressMode modes[] = {
          TextureMap::AddressMode::wrap, TextureMap::AddressMode::clamp,
          TextureMap::AddressMode::mirror, TextureMap::AddressMode::border};
      if (texture->addressMode[axis] > cudaAddressModeBorder)
        return cudaErrorInvalidValue;
      map.modes[axis] = modes[texture->addressMode[axis]];
    }
    std::copy(std::begin(texture->borderColor), std::end(texture->borderColor), map.border.begin());
    map.is_filtered = texture->filterMode == cudaFilterModeLinear;
    map.is_normalized = texture->normalizedCoords != 0;
    map.gives_reals = texture->readMode == cudaReadModeNormalizedFloat &&
                      map.channel != TextureMap::Channel::real;
    if (map.gives_reals && map.channel_bits == 32)
      return cudaErrorInvalidNormSetting;
    if (map.is_filtered && !map.gives_reals && map.channel != TextureMap::Channel::real)
      return cudaErrorInvalidFilterSetting;
    return make_object(to, map, {copy_of(*resource), *texture});
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return device().call([&] { return destroy_object(handle); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *to, cudaTextureObject_t handle) {
  return device().call([&] {
    const auto found = objects().find(handle);
    if (!to || found == objects().end())
      return cudaErrorInvalidValue;
    std::memcpy(to, &found->second.resource, resource_bytes());
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *to, cudaTextureObject_t handle) {
  return device().call([&] {
    const auto found = objects().find(handle);
    return to && found != objects().end() ? (*to = found->second.texture, cudaSuccess)
                                          : cudaErrorInvalidValue;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *to, const cudaResourceDesc *resource) {
  return device().call([&] {
    if (!to || !resource || resource->resType != cudaResourceTypeArray)
      return cudaErrorInvalidValue;
    TextureMap map;
    if (const cudaError_t error = read_resource(*resource, "cudaCreateSurfaceObject", map);
        error != cudaSuccess)
      return error;
    if ((find_array(resource->res.array.array)->flags & cudaArraySurfaceLoadStore) == 0)
      return cudaErrorInvalidValue;
    map.is_surface = true;
    return make_object(to, map, {copy_of(*resource), {}});
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
  return device().call([&] { return destroy_object(handle); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *to, cudaSurfaceObject_t handle) {
  return cudaGetTextureObjectResourceDesc(to, handle);
}

// Elements of one channel of 32 bits and less, of a GPU of compute capability 9.0 (CUDA C++
// Programming Guide, "Technical Specifications").
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t *most, const cudaChannelFormatDesc *,
                                                 int number) {
  return device().call([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    return most ? (*most = std::size_t{1} << 28, cudaSuccess) : cudaErrorInvalidValue;
  });
}

} // extern "C"
