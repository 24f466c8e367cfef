// Copies and sets. All of them are one copy in three dimensions, or one set in two: a range that is
// the device's by the direction of the copy has to lie in one allocation.

#include "wrapper/runtime/device.h"
#include "wrapper/runtime/stream.h"
#include "wrapper/runtime/textures.h"
#include "wrapper/runtime/toolkit.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <initializer_list>
#include <string>

namespace ptxasw::wrapper {
namespace {

/// Where a side of a copy begins, and how far it reaches.
struct Side {
  char *begin = nullptr;
  std::size_t pitch = 0, slice = 0; ///< bytes from row to row, from plane to plane
};

Side side_of(const cudaPitchedPtr &pointer, const cudaPos &at, const cudaExtent &extent) {
  const std::size_t rows = std::max(pointer.ysize, extent.height);
  return {static_cast<char *>(pointer.ptr) + at.x + at.y * pointer.pitch +
              at.z * pointer.pitch * pointer.ysize,
          pointer.pitch, pointer.pitch * rows};
}

std::size_t reach(const Side &side, const cudaExtent &extent) {
  return (extent.depth - 1) * side.slice + (extent.height - 1) * side.pitch + extent.width;
}

bool is_empty(const cudaExtent &extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

/// What is at an address may be copied, as the device's memory if it has to be; `now`: memory of a
/// graph has to be allocated.
bool may_touch(const Side &side, const cudaExtent &extent, bool is_device, bool now) {
  const auto *block = device().allocations().find(side.begin);
  if (block && now && block->second.asleep)
    return false;
  if (!block)
    return side.begin && !is_device;
  return reinterpret_cast<std::uint64_t>(side.begin) - block->first + reach(side, extent) <=
         block->second.size;
}

void define(const void *address, std::size_t size, const void *from) {
  const auto *block = device().allocations().find(address);
  if (!block || !block->second.defined)
    return;
  const auto *source = from ? device().allocations().find(from) : nullptr;
  const std::uint64_t *known = source ? source->second.defined : nullptr;
  const std::uint64_t to = reinterpret_cast<std::uint64_t>(address) - block->first;
  const std::uint64_t begin = known ? reinterpret_cast<std::uint64_t>(from) - source->first : 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t at = begin + i, bit = std::uint64_t{1} << (to + i) % 64;
    if (!known || (known[at / 64] >> at % 64 & 1))
      block->second.defined[(to + i) / 64] |= bit;
    else
      block->second.defined[(to + i) / 64] &= ~bit;
  }
}

bool writes_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}
bool reads_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

} // namespace

cudaMemcpy3DParms row_copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {const_cast<void *>(from), bytes, bytes, 1};
  copy.dstPtr = {to, bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return copy;
}

cudaError_t check_copy(const cudaMemcpy3DParms &asked, bool now) {
  cudaMemcpy3DParms copy = asked;
  if (const cudaError_t error = without_arrays(copy); error != cudaSuccess)
    return error;
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (is_empty(copy.extent))
    return cudaSuccess;
  if (copy.extent.height * copy.extent.depth > 1 &&
      (copy.srcPtr.pitch < copy.extent.width || copy.dstPtr.pitch < copy.extent.width))
    return cudaErrorInvalidPitchValue;
  const Side from = side_of(copy.srcPtr, copy.srcPos, copy.extent),
             to = side_of(copy.dstPtr, copy.dstPos, copy.extent);
  return may_touch(from, copy.extent, reads_device(copy.kind), now) &&
                 may_touch(to, copy.extent, writes_device(copy.kind), now)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

cudaError_t perform_copy(const cudaMemcpy3DParms &asked) {
  if (const cudaError_t error = check_copy(asked, true);
      error != cudaSuccess || is_empty(asked.extent))
    return error;
  cudaMemcpy3DParms copy = asked;
  without_arrays(copy);
  const Side from = side_of(copy.srcPtr, copy.srcPos, copy.extent),
             to = side_of(copy.dstPtr, copy.dstPos, copy.extent);
  for (std::size_t z = 0; z < copy.extent.depth; ++z)
    for (std::size_t y = 0; y < copy.extent.height; ++y) {
      char *const target = to.begin + z * to.slice + y * to.pitch;
      const char *const source = from.begin + z * from.slice + y * from.pitch;
      define(target, copy.extent.width, source);
      std::memmove(target, source, copy.extent.width);
    }
  return cudaSuccess;
}

cudaError_t check_set(const cudaMemsetParams &set, bool now) {
  if (set.elementSize != 1 && set.elementSize != 2 && set.elementSize != 4)
    return cudaErrorInvalidValue;
  if (set.width == 0 || set.height == 0)
    return cudaSuccess;
  const cudaExtent extent{set.width * set.elementSize, set.height, 1};
  if (set.height > 1 && set.pitch < extent.width)
    return cudaErrorInvalidPitchValue;
  return may_touch({static_cast<char *>(set.dst), set.pitch, 0}, extent, true, now)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

cudaError_t perform_set(const cudaMemsetParams &set) {
  if (const cudaError_t error = check_set(set, true); error != cudaSuccess)
    return error;
  for (std::size_t y = 0; y < set.height; ++y) {
    char *const row = static_cast<char *>(set.dst) + y * set.pitch;
    define(row, set.width * set.elementSize, nullptr);
    if (set.elementSize == 1)
      std::memset(row, static_cast<int>(set.value), set.width);
    else
      for (std::size_t x = 0; x < set.width; ++x)
        std::memcpy(row + x * set.elementSize, &set.value, set.elementSize);
  }
  return cudaSuccess;
}

} // namespace ptxasw::wrapper

using namespace ptxasw::wrapper;

namespace {

/// Tells whoever checks of a copy or fill that reaches beyond an allocation.
cudaError_t told(cudaError_t error, std::size_t bytes, std::initializer_list<const void *> sides) {
  Checks &checks = device().checks();
  if (error != cudaErrorInvalidValue || !checks.memory)
    return error;
  std::string beyond;
  CallSite made;
  for (const void *side : sides)
    if (const auto *block = device().allocations().find(side);
        block &&
        reinterpret_cast<std::uint64_t>(side) - block->first + bytes > block->second.size) {
      beyond = fmt::format(", beyond the end of {}", block->second.name);
      made = block->second.made;
    }
  checks.report_call("bad copy",
                     fmt::format("{} bytes are not within memory of the device{}", bytes, beyond),
                     checks.here(), made);
  return error;
}

cudaError_t copy_in(cudaStream_t stream, const cudaMemcpy3DParms &copy) {
  if (const cudaError_t error = check_copy(copy); error != cudaSuccess)
    return told(error, copy.extent.width * copy.extent.height * copy.extent.depth,
                {copy.srcPtr.ptr, copy.dstPtr.ptr});
  return enqueue(stream, copy);
}

cudaError_t copy_rows(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  return device().call([&] {
    if (width > to_pitch || width > from_pitch)
      return cudaErrorInvalidPitchValue;
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {const_cast<void *>(from), from_pitch, width, height};
    copy.dstPtr = {to, to_pitch, width, height};
    copy.extent = {width, height, 1};
    copy.kind = kind;
    return copy_in(stream, copy);
  });
}

cudaError_t set_rows(void *to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     cudaStream_t stream) {
  return device().call([&] {
    const cudaMemsetParams set{to, pitch, static_cast<unsigned>(value), 1, width, height};
    if (const cudaError_t error = check_set(set); error != cudaSuccess)
      return told(error, width * height, {to});
    return enqueue(stream, set);
  });
}

} // namespace

extern "C" {

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return device().call([&] { return copy_in(stream, row_copy(to, from, count, kind)); });
}

cudaError_t cudaMemcpy(void *to, const void *from, std::size_t count, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, count, kind, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                std::size_t count, cudaStream_t stream) {
  return to_device == 0 && from_device == 0
             ? cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream)
             : Device::remember(cudaErrorInvalidDevice);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           std::size_t count) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, count, nullptr);
}

cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream);
}

cudaError_t cudaMemcpy2D(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *copy, cudaStream_t stream) {
  return device().call([&] { return copy ? copy_in(stream, *copy) : cudaErrorInvalidValue; });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *copy) { return cudaMemcpy3DAsync(copy, nullptr); }

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t count,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return device().call([&] {
    char *to = nullptr;
    const cudaError_t error = within(symbol, offset, count, to);
    return error == cudaSuccess ? copy_in(stream, row_copy(to, from, count, kind)) : error;
  });
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, count, offset, kind, nullptr);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, std::size_t count,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return device().call([&] {
    char *from = nullptr;
    const cudaError_t error = within(symbol, offset, count, from);
    return error == cudaSuccess ? copy_in(stream, row_copy(to, from, count, kind)) : error;
  });
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbolAsync(to, symbol, count, offset, kind, nullptr);
}

cudaError_t cudaMemset(void *to, int value, std::size_t count) {
  return set_rows(to, count, value, count, 1, nullptr);
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t count, cudaStream_t stream) {
  return set_rows(to, count, value, count, 1, stream);
}

cudaError_t cudaMemset2D(void *to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return set_rows(to, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void *to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return set_rows(to, pitch, value, width, height, stream);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z)
    if (const cudaError_t error = set_rows(static_cast<char *>(to.ptr) + z * to.pitch * to.ysize,
                                           to.pitch, value, extent.width, extent.height, stream);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return cudaMemset3DAsync(to, value, extent, nullptr);
}

} // extern "C"

cudaError_t ptxasw::wrapper::within(const void *symbol, std::size_t offset, std::size_t count,
                                    char *&place) {
  LoadedModule::Place found;
  if (const cudaError_t error = Registry::get().find_variable(symbol, found); error != cudaSuccess)
    return error;
  if (offset > found.size || count > found.size - offset)
    return cudaErrorInvalidValue;
  place = static_cast<char *>(found.address) + offset;
  return cudaSuccess;
}

cudaError_t ptxasw::wrapper::copy_batch(void *const *to, const void *const *from,
                                        const std::size_t *sizes, std::size_t count,
                                        cudaStream_t stream) {
  return device().call([&] {
    if (count != 0 && (!to || !from || !sizes))
      return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (const cudaError_t error =
              copy_in(stream, row_copy(to[i], from[i], sizes[i], cudaMemcpyDefault));
          error != cudaSuccess)
        return error;
    return cudaSuccess;
  });
}
