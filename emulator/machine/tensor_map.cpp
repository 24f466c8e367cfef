// A tensor map's fields and our encoding of them: a mark, then the fields in the order of the
// struct, little-endian.

#include "emulator/machine/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

constexpr char tensor_map_mark[8] = {'p', 't', 'x', 'a', 's', 'w', 'T', 'M'};

/// Calls `visit(object)` for every field, in the order in which they are encoded.
template <class Map, class Visit> void for_each_field(Map &map, Visit visit) {
  visit(map.element);
  visit(map.rank);
  visit(map.interleave);
  visit(map.swizzle);
  visit(map.atomicity);
  visit(map.fills_with_nan);
  visit(map.address);
  for (unsigned axis = 0; axis < TensorMap::most_axes; ++axis) {
    visit(map.steps[axis]);
    visit(map.box[axis]);
    visit(map.extents[axis]);
    if (axis != 0)
      visit(map.strides[axis]);
  }
}

} // namespace

ScalarType TensorMap::type() const {
  static constexpr ScalarType types[] = {
      ScalarType::u8,   ScalarType::u16, ScalarType::u32, ScalarType::s32, ScalarType::u64,
      ScalarType::s64,  ScalarType::f16, ScalarType::f32, ScalarType::f32, ScalarType::f64,
      ScalarType::bf16, ScalarType::f32, ScalarType::f32};
  return static_cast<std::size_t>(element) < std::size(types)
             ? types[static_cast<std::size_t>(element)]
             : ScalarType::none;
}

std::uint64_t TensorMap::box_bytes() const {
  std::uint64_t elements = 1;
  for (unsigned axis = 0; axis < rank; ++axis)
    elements *= moved(axis);
  return elements * element_bytes();
}

tl::expected<void, std::string> TensorMap::check_emulated() const {
  if (type() == ScalarType::none)
    return tl::unexpected(std::string("elements of less than a byte"));
  if (element == Element::tf32 || element == Element::tf32_ftz)
    return tl::unexpected(std::string("elements of tf32"));
  if (interleave != 0)
    return tl::unexpected(std::string("an interleaved layout"));
  if (swizzle > Swizzle::by_128 || atomicity > 1 || (atomicity != 0 && swizzle != Swizzle::by_128))
    return tl::unexpected(std::string("this swizzle"));
  return {};
}

tl::expected<void, std::string> TensorMap::check() const {
  if (rank < 1 || rank > most_axes)
    return tl::unexpected(fmt::format("{} axes", rank));
  if (address % 16 != 0)
    return tl::unexpected(fmt::format("an address that is no multiple of 16: {:#x}", address));
  for (unsigned axis = 0; axis < rank; ++axis) {
    if (extents[axis] == 0 || extents[axis] > std::uint64_t{1} << 32)
      return tl::unexpected(fmt::format("{} elements along axis {}", extents[axis], axis));
    if (box[axis] == 0 || box[axis] > 256)
      return tl::unexpected(fmt::format("a box of {} elements along axis {}", box[axis], axis));
    if (steps[axis] == 0 || steps[axis] > 8)
      return tl::unexpected(fmt::format("steps of {} elements along axis {}", steps[axis], axis));
    if (axis != 0 && (strides[axis] % 16 != 0 || strides[axis] >= std::uint64_t{1} << 40))
      return tl::unexpected(fmt::format("a stride of {} bytes along axis {}", strides[axis], axis));
  }
  const std::uint64_t row = std::uint64_t{box[0]} * element_bytes();
  if (row % 16 != 0)
    return tl::unexpected(fmt::format("rows of {} bytes in the box, no multiple of 16", row));
  const unsigned most = swizzle == Swizzle::none ? ~0u : 16u << static_cast<unsigned>(swizzle);
  if (row > most)
    return tl::unexpected(
        fmt::format("rows of {} bytes in the box, more than the swizzle's {}", row, most));
  if (fills_with_nan && !is_float(type()))
    return tl::unexpected(
        std::string("elements that are no floating-point numbers, filled with NaN"));
  return {};
}

std::array<std::uint8_t, TensorMap::bytes> encode(const TensorMap &map) {
  std::array<std::uint8_t, TensorMap::bytes> result{};
  std::memcpy(result.data(), tensor_map_mark, sizeof tensor_map_mark);
  std::size_t at = sizeof tensor_map_mark;
  for_each_field(map, [&](const auto &field) {
    std::memcpy(result.data() + at, &field, sizeof field);
    at += sizeof field;
  });
  return result;
}

std::optional<TensorMap> decode_tensor_map(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < TensorMap::bytes ||
      std::memcmp(bytes.data(), tensor_map_mark, sizeof tensor_map_mark) != 0)
    return std::nullopt;
  TensorMap map;
  std::size_t at = sizeof tensor_map_mark;
  for_each_field(map, [&](auto &field) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(field)>, bool>)
      field = bytes[at] != 0;
    else
      std::memcpy(&field, bytes.data() + at, sizeof field);
    at += sizeof field;
  });
  return map;
}

std::uint64_t swizzled(std::uint64_t address, TensorMap::Swizzle swizzle, std::uint8_t atomicity) {
  if (atomicity == 1) // two bits, of 32 bytes each
    return address ^ (address >> 7 & 3) << 5;
  const std::uint64_t lines = (std::uint64_t{1} << static_cast<unsigned>(swizzle)) - 1;
  return address ^ (address >> 7 & lines) << 4;
}

} // namespace ptxasw::emulator
