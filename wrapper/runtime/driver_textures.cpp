// Arrays, textures and surfaces of the Driver API, over the Runtime API's.

#include "wrapper/runtime/driver.h"
#include "wrapper/runtime/textures.h"

#include <algorithm>

using namespace ptxasw::wrapper;

namespace {

cudaArray *array_of(CUarray array) { return reinterpret_cast<cudaArray *>(array); }

struct Format {
  CUarray_format name;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr Format formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
                              {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
                              {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
                              {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
                              {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
                              {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
                              {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
                              {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat}};

/// No channels where there is no such format.
cudaChannelFormatDesc format_of(CUarray_format name, unsigned channels) {
  const auto *const found = std::find_if(std::begin(formats), std::end(formats),
                                         [&](const Format &one) { return one.name == name; });
  if (found == std::end(formats))
    return {};
  const auto bits = [&](unsigned channel) { return channel < channels ? found->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), found->kind};
}

CUarray_format name_of(const cudaChannelFormatDesc &format) {
  return std::find_if(
             std::begin(formats), std::end(formats),
             [&](const Format &one) { return one.bits == format.x && one.kind == format.f; })
      ->name;
}

cudaError_t make(CUarray *to, CUarray_format format, unsigned channels, cudaExtent extent,
                 unsigned flags) {
  if (!to)
    return cudaErrorInvalidValue;
  const cudaChannelFormatDesc same = format_of(format, channels);
  return device().call([&] {
    cudaArray_t array = nullptr;
    const cudaError_t error = make_array(&array, &same, extent, flags);
    *to = reinterpret_cast<CUarray>(array);
    return error;
  });
}

/// The flags of the two APIs have the same values.
static_assert(CUDA_ARRAY3D_LAYERED == cudaArrayLayered &&
              CUDA_ARRAY3D_SURFACE_LDST == cudaArraySurfaceLoadStore &&
              CUDA_ARRAY3D_CUBEMAP == cudaArrayCubemap &&
              CUDA_ARRAY3D_TEXTURE_GATHER == cudaArrayTextureGather);

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC &from) {
  cudaResourceDesc to{};
  switch (from.resType) {
  case CU_RESOURCE_TYPE_ARRAY:
    to.resType = cudaResourceTypeArray;
    to.res.array.array = array_of(from.res.array.hArray);
    break;
  case CU_RESOURCE_TYPE_LINEAR:
    to.resType = cudaResourceTypeLinear;
    to.res.linear.devPtr = host_pointer(from.res.linear.devPtr);
    to.res.linear.desc = format_of(from.res.linear.format, from.res.linear.numChannels);
    to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
    break;
  case CU_RESOURCE_TYPE_PITCH2D:
    to.resType = cudaResourceTypePitch2D;
    to.res.pitch2D.devPtr = host_pointer(from.res.pitch2D.devPtr);
    to.res.pitch2D.desc = format_of(from.res.pitch2D.format, from.res.pitch2D.numChannels);
    to.res.pitch2D.width = from.res.pitch2D.width;
    to.res.pitch2D.height = from.res.pitch2D.height;
    to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
    break;
  default:
    to.resType = cudaResourceTypeMipmappedArray;
    break;
  }
  return to;
}

int bits_of(const cudaResourceDesc &resource) {
  if (resource.resType == cudaResourceTypeLinear)
    return resource.res.linear.desc.x;
  if (resource.resType == cudaResourceTypePitch2D)
    return resource.res.pitch2D.desc.x;
  const cudaArray *const array =
      resource.resType == cudaResourceTypeArray ? find_array(resource.res.array.array) : nullptr;
  return array ? array->format.x : 0;
}

} // namespace

extern "C" {

CUresult cuArrayCreate_v2(CUarray *to, const CUDA_ARRAY_DESCRIPTOR *of) {
  return driver([&] {
    return of ? make(to, of->Format, of->NumChannels, {of->Width, of->Height, 0}, 0)
              : cudaErrorInvalidValue;
  });
}

CUresult cuArray3DCreate_v2(CUarray *to, const CUDA_ARRAY3D_DESCRIPTOR *of) {
  return driver([&] {
    return of ? make(to, of->Format, of->NumChannels, {of->Width, of->Height, of->Depth}, of->Flags)
              : cudaErrorInvalidValue;
  });
}

CUresult cuArrayDestroy(CUarray array) {
  return driver([&] {
    return device().call(
        [&] { return array ? free_array(array_of(array)) : cudaErrorInvalidResourceHandle; });
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *to, CUarray handle) {
  return driver([&] {
    return device().call([&] {
      const cudaArray *const array = find_array(array_of(handle));
      if (!array || !to)
        return array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
      const cudaChannelFormatDesc &format = array->format;
      *to = {array->extent.width,
             array->extent.height,
             array->extent.depth,
             name_of(format),
             static_cast<unsigned>(array->element() * 8) / static_cast<unsigned>(format.x),
             array->flags};
      return cudaSuccess;
    });
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *to, CUarray handle) {
  CUDA_ARRAY3D_DESCRIPTOR all{};
  const CUresult result = cuArray3DGetDescriptor_v2(to ? &all : nullptr, handle);
  if (result == CUDA_SUCCESS)
    *to = {all.Width, all.Height, all.Format, all.NumChannels};
  return result;
}

CUresult cuTexObjectCreate(CUtexObject *to, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view) {
  return driver([&] {
    if (!to || !resource || !texture)
      return cudaErrorInvalidValue;
    const cudaResourceDesc same = resource_of(*resource);
    cudaTextureDesc how{};
    for (unsigned axis = 0; axis < 3; ++axis)
      how.addressMode[axis] =
          static_cast<cudaTextureAddressMode>(static_cast<int>(texture->addressMode[axis]));
    how.filterMode = static_cast<cudaTextureFilterMode>(static_cast<int>(texture->filterMode));
    // Whole numbers of 32 bits stay what they are.
    how.readMode = (texture->flags & CU_TRSF_READ_AS_INTEGER) != 0 || bits_of(same) == 32
                       ? cudaReadModeElementType
                       : cudaReadModeNormalizedFloat;
    how.normalizedCoords = (texture->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    how.sRGB = (texture->flags & CU_TRSF_SRGB) != 0;
    std::copy(std::begin(texture->borderColor), std::end(texture->borderColor),
              std::begin(how.borderColor));
    const cudaResourceViewDesc some{};
    return cudaCreateTextureObject(to, &same, &how, view ? &some : nullptr);
  });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  return driver([&] { return cudaDestroyTextureObject(handle); });
}

CUresult cuSurfObjectCreate(CUsurfObject *to, const CUDA_RESOURCE_DESC *resource) {
  return driver([&] {
    if (!resource)
      return cudaErrorInvalidValue;
    const cudaResourceDesc same = resource_of(*resource);
    return cudaCreateSurfaceObject(to, &same);
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return driver([&] { return cudaDestroySurfaceObject(handle); });
}

} // extern "C"
