#pragma once

// Tensor maps, which `cp.async.bulk.tensor` copies by. Launch files and the runtime's
// cuTensorMapEncodeTiled() write them by encode(), and the copy engine reads them:
//   std::optional<TensorMap> map = decode_tensor_map(bytes); // nothing: encode() did not write it

#include "emulator/semantics/floating.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>

namespace ptxasw::emulator {

/// What a tensor map says (PTX ISA 5.5; CUDA Driver API, cuTensorMapEncodeTiled): a tensor in
/// global memory, the box that a copy moves, and where elements of the box go in shared memory.
/// Fields of an axis count from the fastest, 0.
struct TensorMap {
  /// By number as `tensormap.replace.elemtype` takes them; packed types of less than a byte are not
  /// emulated.
  enum class Element : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f32_ftz,
    f64,
    bf16,
    tf32,
    tf32_ftz
  };
  enum class Swizzle : std::uint8_t { none, by_32, by_64, by_128 };
  static constexpr unsigned most_axes = 5, bytes = 128;
  static constexpr unsigned address_at = 14; ///< where the encoding has the address

  Element element = Element::u8;
  std::uint8_t rank = 1;
  std::uint8_t interleave = 0; ///< 0: none; others are not emulated
  Swizzle swizzle = Swizzle::none;
  std::uint8_t atomicity = 0; ///< of Swizzle::by_128: 0: 16 bytes, 1: 32; others are not emulated
  bool fills_with_nan = false;
  std::uint64_t address = 0;
  std::array<std::uint64_t, most_axes> extents{}; ///< elements
  std::array<std::uint64_t, most_axes> strides{}; ///< bytes from one to the next; [0] is not used
  std::array<std::uint32_t, most_axes> box{};     ///< elements
  std::array<std::uint8_t, most_axes> steps{};    ///< element strides

  /// The scalar type of elements, and bytes of one.
  ScalarType type() const;
  unsigned element_bytes() const { return bit_width(type()) / 8; }
  /// Elements of a box along an axis that are moved.
  std::uint32_t moved(unsigned axis) const {
    return axis == 0 || steps[axis] == 0 ? box[axis] : (box[axis] + steps[axis] - 1) / steps[axis];
  }
  /// Bytes of a box in shared memory: what a copy of it tells its mbarrier.
  std::uint64_t box_bytes() const;
  /// Errors: what is not emulated.
  tl::expected<void, std::string> check_emulated() const;
  /// Errors: what is wrong with it (cuTensorMapEncodeTiled), of what is emulated.
  tl::expected<void, std::string> check() const;
};

/// The 128 bytes by which this emulator knows a tensor map. NVIDIA documents no encoding; this one
/// is our own.
std::array<std::uint8_t, TensorMap::bytes> encode(const TensorMap &map);
/// Nothing if the bytes are not of encode().
std::optional<TensorMap> decode_tensor_map(std::span<const std::uint8_t> bytes);

/// The place of 16 bytes in shared memory that a swizzle puts where `address` would be: bits of the
/// number of the 128-byte line are added to those of the place in it (PTX ISA 5.5.7).
std::uint64_t swizzled(std::uint64_t address, TensorMap::Swizzle swizzle,
                       std::uint8_t atomicity = 0);

} // namespace ptxasw::emulator
