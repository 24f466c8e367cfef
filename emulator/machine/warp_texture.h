#pragma once

// The part of the warp emulator for textures and surfaces (PTX ISA 9.7.10, 9.7.11). Which elements
// a fetch reads is texture.h's.

#include "emulator/machine/memory_view.h"
#include "emulator/machine/texture.h"

#include <unordered_map>
#include <vector>

namespace ptxasw::emulator {

/// An instruction of textures or surfaces (PTX ISA 9.7.10, 9.7.11), decoded. The handle is the
/// instruction's address; what is read goes to its outputs, what is stored is in its inputs.
struct TextureUse {
  enum class Kind : std::uint8_t { sample, gather, query, load, store };
  /// What an access of a surface outside of it does.
  enum class Outside : std::uint8_t { trap, clamp, zero };
  Kind kind = Kind::sample;
  Outside outside = Outside::trap;
  std::uint8_t axes = 1; ///< of a query: the extent that it asks for, from 0
  bool is_layered = false, is_cube = false;
  bool has_whole_coordinates = false;   ///< .s32
  std::uint8_t component = 0;           ///< of a gather
  ScalarType type = ScalarType::b32;    ///< of what is read or stored, of each register
  std::vector<WarpOperand> coordinates; ///< with layers first
};

/// Fetches of textures, and accesses of surfaces. Memory is read as by the thread that fetches:
/// what caches of textures keep is not emulated.
class TextureUnit {
public:
  explicit TextureUnit(MemoryView &memory) : memory_(memory) {}

  void execute(WarpContext &context, LaneMask mask);

private:
  using Texel = std::array<std::uint64_t, 4>;

  const TextureMap &map_of(const WarpContext &context, unsigned lane);
  void sample(WarpContext &context, unsigned lane, const TextureMap &map);
  void access(WarpContext &context, unsigned lane, const TextureMap &map);
  /// An element's channels: whole numbers extended to 32 bits, reals as f32.
  Texel read_texel(const WarpContext &context, unsigned lane, const TextureMap &map,
                   const TextureSample &sample);

  MemoryView &memory_;
  std::unordered_map<std::uint64_t, TextureMap> maps_; ///< by handle: no launch changes them
};

} // namespace ptxasw::emulator
