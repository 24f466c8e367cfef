#pragma once

// Textures and surfaces: how an object is described, and which elements a fetch of one reads. The
// runtime without a GPU writes objects by encode(); the machine reads them again (warp_texture.h).
//   samples(*decode_texture_map(object), coordinates) // elements, each with its weight

#include "grammar/types.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace ptxasw::emulator {

/// What a texture or surface object says (PTX ISA 5.3; CUDA C++ Programming Guide, "Texture and
/// Surface Memory" and "Texture Fetching"): where elements lie, and how they are sampled. Its
/// handle is the address of encode()'s bytes.
struct TextureMap {
  enum class Channel : std::uint8_t { whole_unsigned, whole_signed, real };
  enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
  static constexpr unsigned bytes = 128, most_axes = 3;

  Channel channel = Channel::real;
  std::uint8_t channel_bits = 32; ///< 8, 16 or 32; of real ones 16 or 32
  std::uint8_t channels = 1;      ///< 1, 2 or 4
  std::uint8_t axes = 1;          ///< that coordinates are of, without layers and faces
  bool is_layered = false;
  bool is_cube = false;       ///< six layers are the faces of a cube
  bool is_surface = false;    ///< it is read and written, but not sampled
  bool is_filtered = false;   ///< linear filtering; else the nearest element
  bool is_normalized = false; ///< coordinates are from 0 to 1
  bool gives_reals = false;   ///< whole numbers are read as reals from 0 or -1 to 1
  bool is_row = false;        ///< linear memory: elements outside of it are zeros
  std::array<AddressMode, most_axes> modes{};
  std::array<float, 4> border{};
  std::uint64_t address = 0;
  std::array<std::uint64_t, most_axes> extents{1, 1, 1}; ///< elements; of layers and faces the last
  std::uint64_t row_pitch = 0, slice_pitch = 0;          ///< bytes

  unsigned element_bytes() const { return channel_bits / 8u * channels; }
};

/// The 128 bytes by which this emulator knows a texture or surface object. NVIDIA documents no
/// encoding; this one is our own.
std::array<std::uint8_t, TextureMap::bytes> encode(const TextureMap &map);
/// Nothing if the bytes are not of encode().
std::optional<TextureMap> decode_texture_map(std::span<const std::uint8_t> bytes);

/// An element that sampling asks for, with its weight; nothing where it is the border.
struct TextureSample {
  std::optional<std::array<std::uint64_t, TextureMap::most_axes>> at;
  unsigned weight = 256; ///< of 256, which all have together
};

/// The elements that a fetch reads. `coordinates`: along the axes, of cubes the direction; `layer`
/// counts cubes. Without filtering it is one.
std::array<TextureSample, 8> samples(const TextureMap &map, std::span<const double> coordinates,
                                     std::int64_t layer, bool filtered, unsigned &count);

} // namespace ptxasw::emulator
