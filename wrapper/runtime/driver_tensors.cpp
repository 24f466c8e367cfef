// Tensor maps. NVIDIA's driver encodes them for the copy engine; this one for the emulator's
// (emulator/machine/tensor_map.h), so that a kernel that is handed one finds what it says.

#include "wrapper/runtime/driver.h"

#include "emulator/machine/tensor_map.h"

#include <cstring>
#include <fmt/core.h>

using namespace ptxasw::wrapper;

namespace {

cudaError_t encode_tiled(CUtensorMap &to, const TensorMap &map) {
  if (const auto emulated = map.check_emulated(); !emulated)
    return Device::refuse("cuTensorMapEncodeTiled",
                          (emulated.error() + " is not emulated").c_str());
  if (!map.check())
    return cudaErrorInvalidValue;
  const auto bytes = encode(map);
  static_assert(sizeof to == sizeof bytes);
  std::memcpy(&to, bytes.data(), bytes.size());
  return cudaSuccess;
}

} // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *extents, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  return driver([&] {
    using Element = TensorMap::Element;
    static constexpr Element elements[] = {
        Element::u8,      Element::u16,  Element::u32,     Element::s32, Element::u64,
        Element::s64,     Element::f16,  Element::f32,     Element::f64, Element::bf16,
        Element::f32_ftz, Element::tf32, Element::tf32_ftz};
    if (!to || reinterpret_cast<std::uintptr_t>(to) % 64 != 0 || rank == 0 ||
        rank > TensorMap::most_axes || !extents || (rank > 1 && !strides) || !box || !steps ||
        type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B ||
        swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B || interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
      return cudaErrorInvalidValue;
    TensorMap map;
    map.element =
        type < std::size(elements) ? elements[type] : static_cast<Element>(static_cast<int>(type));
    map.rank = static_cast<std::uint8_t>(rank);
    map.interleave = static_cast<std::uint8_t>(interleave);
    map.swizzle = static_cast<TensorMap::Swizzle>(std::min<int>(swizzle, 3));
    map.atomicity = static_cast<std::uint8_t>(std::max(static_cast<int>(swizzle) - 3, 0));
    map.fills_with_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    map.address = reinterpret_cast<std::uintptr_t>(address);
    for (unsigned axis = 0; axis < rank; ++axis) {
      if (steps[axis] > 8)
        return cudaErrorInvalidValue;
      map.extents[axis] = extents[axis];
      map.box[axis] = box[axis];
      map.steps[axis] = static_cast<std::uint8_t>(steps[axis]);
      if (axis != 0)
        map.strides[axis] = strides[axis - 1];
    }
    return encode_tiled(*to, map);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *of, void *address) {
  return driver([&] {
    auto map = of ? decode_tensor_map({reinterpret_cast<const std::uint8_t *>(of), sizeof *of})
                  : std::nullopt;
    if (!map)
      return cudaErrorInvalidValue;
    map->address = reinterpret_cast<std::uintptr_t>(address);
    return encode_tiled(*of, *map);
  });
}

} // extern "C"
