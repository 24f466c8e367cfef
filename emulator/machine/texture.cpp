// Which elements a fetch reads, by the formulas of the CUDA C++ Programming Guide ("Texture
// Fetching"): addressing and filtering go by indices, so that a coordinate far outside is as right
// as one at the edge. The guide says that weights have 8 bits of fraction. How they are rounded,
// and that a row of texels has a neighbouring row in the border, is as an H100 and an H200 have it
// (tests/runtime/device). The encoding is a mark, then the struct as it lies in memory: it stays in
// one process.

#include "emulator/machine/texture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ptxasw::emulator {
namespace {

constexpr char texture_mark[8] = {'p', 't', 'x', 'a', 's', 'w', 'T', 'X'};

using AddressMode = TextureMap::AddressMode;

/// The index that an address mode makes of one; nothing: the border.
std::optional<std::uint64_t> index_of(std::int64_t i, std::uint64_t extent, AddressMode mode) {
  const auto n = static_cast<std::int64_t>(extent);
  switch (mode) {
  case AddressMode::wrap:
    return static_cast<std::uint64_t>((i % n + n) % n);
  case AddressMode::mirror: {
    const std::int64_t at = (i % (2 * n) + 2 * n) % (2 * n);
    return static_cast<std::uint64_t>(std::min(at, 2 * n - 1 - at));
  }
  case AddressMode::border:
    if (i < 0 || i >= n)
      return std::nullopt;
    return static_cast<std::uint64_t>(i);
  default:
    return static_cast<std::uint64_t>(std::clamp(i, std::int64_t{0}, n - 1));
  }
}

std::int64_t whole(double value) {
  constexpr double most = 1ll << 40;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -most, most));
}

/// The face of a cube in a direction, and the place on it from 0 to 1 (the guide's table "Cubemap
/// Fetch").
unsigned face_of(std::span<const double> direction, double (&place)[2]) {
  const double x = direction[0], y = direction[1], z = direction[2];
  const double along_x = std::fabs(x), along_y = std::fabs(y), along_z = std::fabs(z);
  unsigned face = 0;
  double s = 0, t = 0, m = 0;
  if (along_x >= along_y && along_x >= along_z) {
    face = x >= 0 ? 0 : 1, m = along_x;
    s = x >= 0 ? -z : z, t = -y;
  } else if (along_y >= along_z) {
    face = y >= 0 ? 2 : 3, m = along_y;
    s = x, t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5, m = along_z;
    s = z >= 0 ? x : -x, t = -y;
  }
  place[0] = (s / m + 1) / 2;
  place[1] = (t / m + 1) / 2;
  return face;
}

constexpr unsigned whole_weight = 256;

unsigned rounded(unsigned of_65536) { return (of_65536 + 128) / 256; }

/// The weights of eight elements, of which bit 0 of the index says which along x, bit 1 along y and
/// bit 2 along z; `beyond`: the second's share along each axis. They are whole_weight together:
/// what there is along z goes to the second along x, and the rest to the first; each of the two
/// then to its own along y, and the rest to the other.
std::array<unsigned, 8> weights(const std::array<unsigned, 3> &beyond) {
  std::array<unsigned, 8> result{};
  for (const unsigned z : {0u, 4u}) {
    const unsigned along_z = z != 0 ? beyond[2] : whole_weight - beyond[2];
    const unsigned second = rounded(along_z * beyond[0]), first = along_z - second;
    result[z + 3] = rounded(second * beyond[1]);
    result[z + 1] = second - result[z + 3];
    result[z] = rounded(first * (whole_weight - beyond[1]));
    result[z + 2] = first - result[z];
  }
  return result;
}

} // namespace

std::array<std::uint8_t, TextureMap::bytes> encode(const TextureMap &map) {
  static_assert(std::is_trivially_copyable_v<TextureMap> &&
                sizeof texture_mark + sizeof map <= TextureMap::bytes);
  std::array<std::uint8_t, TextureMap::bytes> result{};
  std::memcpy(result.data(), texture_mark, sizeof texture_mark);
  std::memcpy(result.data() + sizeof texture_mark, &map, sizeof map);
  return result;
}

std::optional<TextureMap> decode_texture_map(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < TextureMap::bytes ||
      std::memcmp(bytes.data(), texture_mark, sizeof texture_mark) != 0)
    return std::nullopt;
  TextureMap map;
  std::memcpy(&map, bytes.data() + sizeof texture_mark, sizeof map);
  return map;
}

std::array<TextureSample, 8> samples(const TextureMap &map, std::span<const double> coordinates,
                                     std::int64_t layer, bool filtered, unsigned &count) {
  std::array<TextureSample, 8> result;
  // A row is filtered as a plane at coordinate 0.
  const unsigned axes = filtered ? std::max<unsigned>(map.axes, 2) : map.axes;
  count = filtered ? 1u << axes : 1;
  double place[2];
  if (map.is_cube) {
    layer = layer * 6 + face_of(coordinates, place);
    coordinates = place;
  }
  // Wrapping and mirroring are for coordinates from 0 to 1 alone.
  const auto mode_of = [&](unsigned axis) {
    return map.is_cube || (!map.is_normalized && map.modes[axis] != AddressMode::border)
               ? AddressMode::clamp
               : map.modes[axis];
  };
  const auto extent_of = [&](unsigned axis) { return axis < map.axes ? map.extents[axis] : 1; };
  std::int64_t first[TextureMap::most_axes] = {};
  std::array<unsigned, TextureMap::most_axes> beyond{};
  for (unsigned axis = 0; axis < axes; ++axis) {
    double at = axis < map.axes ? coordinates[axis] : 0;
    if (map.is_normalized || map.is_cube)
      at *= static_cast<double>(extent_of(axis));
    const bool is_number = std::abs(at) <= std::numeric_limits<float>::max();
    if (std::isnan(at) || (!is_number && mode_of(axis) == AddressMode::wrap))
      at = 0;
    if (filtered)
      at -= 0.5;
    first[axis] = whole(std::floor(at));
    if (filtered && std::isfinite(at))
      beyond[axis] = static_cast<unsigned>(std::round((at - std::floor(at)) * whole_weight));
  }
  const auto shares = weights(beyond);
  for (unsigned i = 0; i < count; ++i) {
    TextureSample &sample = result[i];
    if (filtered)
      sample.weight = shares[i];
    std::array<std::uint64_t, TextureMap::most_axes> at{};
    bool is_inside = true;
    for (unsigned axis = 0; axis < axes; ++axis) {
      const bool is_next = (i >> axis & 1) != 0;
      const auto index = index_of(first[axis] + is_next, extent_of(axis), mode_of(axis));
      is_inside &= index.has_value();
      if (axis < map.axes)
        at[axis] = index.value_or(0);
    }
    if (map.is_layered || map.is_cube) // layers are never blended, nor left
      at[map.axes] = *index_of(layer, map.extents[map.axes], AddressMode::clamp);
    if (is_inside)
      sample.at = at;
  }
  return result;
}

} // namespace ptxasw::emulator
