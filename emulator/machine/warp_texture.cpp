// tex, tld4, txq, suld, sust and suq (PTX ISA 9.7.10 and 9.7.11) by handles. How sums of filtering
// and colours of the border are rounded is not documented; it is as an H100 and an H200 have it
// (tests/runtime/device).

#include "emulator/machine/warp_texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

std::uint64_t f32(double value) {
  return floating::from_double(ScalarType::f32, value, FloatRounding::nearest_even);
}

std::uint64_t place_of(const TextureMap &map,
                       const std::array<std::uint64_t, TextureMap::most_axes> &at) {
  // A row of layers has no rows in them.
  const bool is_flat = map.axes == 1;
  return map.address + at[0] * map.element_bytes() + (is_flat ? 0 : at[1] * map.row_pitch) +
         (is_flat ? at[1] : at[2]) * map.slice_pitch;
}

/// The most that a whole number can be, which stands for 1.
double most_of(const TextureMap &map) {
  const bool is_signed = map.channel == TextureMap::Channel::whole_signed;
  return static_cast<double>(mask64(map.channel_bits - (is_signed ? 1u : 0u)));
}

/// What a whole number is as a real one, from 0 or -1 to 1.
double as_part(const TextureMap &map, std::uint64_t bits) {
  if (map.channel == TextureMap::Channel::whole_unsigned)
    return static_cast<double>(bits) / most_of(map);
  return std::max(-1.0, static_cast<double>(static_cast<std::int32_t>(bits)) / most_of(map));
}

/// What filtering makes of a sum: as many binary digits as elements have, halves away from zero,
/// and no subnormal f32.
double real_of_sum(const TextureMap &map, double sum) {
  const bool is_half = map.channel_bits == 16;
  if (!std::isfinite(sum) || (!is_half && std::abs(sum) < 0x1p-126))
    return std::isfinite(sum) ? std::copysign(0.0, sum) : sum;
  int exponent = 0;
  std::frexp(sum, &exponent);
  const int unit = is_half ? std::max(exponent - 11, -24) : exponent - 24;
  return std::ldexp(std::round(std::ldexp(sum, -unit)), unit);
}

/// What filtering makes of a sum of whole numbers times weights: a part of 65535, or of 32767.
double part_of_sum(const TextureMap &map, std::int64_t sum) {
  if (map.channel == TextureMap::Channel::whole_unsigned)
    return static_cast<double>(((map.channel_bits == 8 ? sum * 257 : sum) + 128) >> 8) / 65535;
  if (map.channel_bits == 8) // 258 + 1/128 is nearly 32767/127
    sum = sum * 258 + (sum >> 12) * 32;
  return std::max(-1.0, static_cast<double>((sum + 128) >> 8) / 32767);
}

/// The border's colour, as an element of this kind holds it: a whole number, or an f32.
std::uint64_t border_of(const TextureMap &map, float colour) {
  const bool is_signed = map.channel == TextureMap::Channel::whole_signed;
  const std::uint64_t bits = std::bit_cast<std::uint32_t>(colour);
  if (map.channel == TextureMap::Channel::real)
    return map.channel_bits == 32
               ? bits
               : f32(floating::to_double(
                     ScalarType::f16,
                     floating::from_double(ScalarType::f16, colour, FloatRounding::zero)));
  if (!map.gives_reals) {
    FloatMode cut;
    cut.rounding = FloatRounding::zero;
    return floating::to_integer(ScalarType::f32, cut, bits, 32, is_signed);
  }
  const float product =
      std::clamp(colour, is_signed ? -1.0f : 0.0f, 1.0f) * static_cast<float>(most_of(map));
  return floating::to_integer(ScalarType::f32, {}, std::bit_cast<std::uint32_t>(product), 32,
                              is_signed);
}

/// What a fetch gives of an element.
std::uint64_t given(const TextureMap &map, std::uint64_t element) {
  const bool is_part = map.gives_reals && map.channel != TextureMap::Channel::real;
  return is_part ? f32(as_part(map, element)) : element;
}

} // namespace

const TextureMap &TextureUnit::map_of(const WarpContext &context, unsigned lane) {
  const std::uint64_t handle = context.address(context.instruction->address, lane);
  if (const auto known = maps_.find(handle); known != maps_.end())
    return known->second;
  std::array<std::uint8_t, TextureMap::bytes> bytes{};
  if (memory_.global().find(handle, bytes.size()))
    memory_.global().read(handle, bytes);
  const auto map = decode_texture_map(bytes);
  if (!map)
    context.fail(FaultKind::unsupported, lane,
                 fmt::format("`{}` by what is no handle of a texture or surface object",
                             context.instruction->opcode->text),
                 handle);
  return maps_.emplace(handle, *map).first->second;
}

void TextureUnit::execute(WarpContext &context, LaneMask mask) {
  const TextureUse &use = *context.instruction->texture;
  for_each_lane(mask, [&](unsigned lane) {
    const TextureMap &map = map_of(context, lane);
    if (use.kind == TextureUse::Kind::query)
      return context.assign(context.instruction->outputs[0], lane, map.extents[use.axes], 32,
                            false);
    const bool is_surface =
        use.kind == TextureUse::Kind::load || use.kind == TextureUse::Kind::store;
    if (map.is_surface != is_surface)
      context.fail(FaultKind::unsupported, lane,
                   fmt::format("`{}` of a {} object", context.instruction->opcode->text,
                               map.is_surface ? "surface" : "texture"));
    // A face of a cube's surface is a layer of it.
    if (use.axes != map.axes || (!is_surface && use.is_cube != map.is_cube) ||
        use.is_layered != (map.is_layered || (is_surface && map.is_cube)))
      context.fail(FaultKind::unsupported, lane,
                   fmt::format("`{}` of an object of {} axes{}", context.instruction->opcode->text,
                               map.axes,
                               map.is_cube      ? ", a cube"
                               : map.is_layered ? " with layers"
                                                : ""));
    if (is_surface)
      access(context, lane, map);
    else
      sample(context, lane, map);
  });
}

TextureUnit::Texel TextureUnit::read_texel(const WarpContext &context, unsigned lane,
                                           const TextureMap &map, const TextureSample &sample) {
  Texel result{};
  const unsigned size = map.channel_bits / 8;
  for (unsigned i = 0; i < map.channels; ++i) {
    if (!sample.at) {
      result[i] = border_of(map, map.border[i]);
      continue;
    }
    const std::uint64_t bits =
        memory_.read(context, lane, place_of(map, *sample.at) + std::uint64_t{i} * size, size,
                     StateSpace::global);
    if (map.channel == TextureMap::Channel::real)
      result[i] = size == 4 ? bits : f32(floating::to_double(ScalarType::f16, bits));
    else
      result[i] = map.channel == TextureMap::Channel::whole_signed
                      ? static_cast<std::uint64_t>(as_signed(bits, map.channel_bits)) & mask64(32)
                      : bits;
  }
  return result;
}

void TextureUnit::sample(WarpContext &context, unsigned lane, const TextureMap &map) {
  const WarpInstruction &in = *context.instruction;
  const TextureUse &use = *in.texture;
  const std::size_t layers = use.is_layered ? 1 : 0;
  double coordinates[3] = {};
  for (unsigned i = 0; i < 3 && i + layers < use.coordinates.size(); ++i) {
    const std::uint64_t bits = context.value(use.coordinates[i + layers], lane) & mask64(32);
    coordinates[i] = use.has_whole_coordinates ? static_cast<std::int32_t>(bits)
                                               : floating::to_double(ScalarType::f32, bits);
  }
  const std::int64_t layer =
      layers == 0 ? 0 : static_cast<std::int32_t>(context.value(use.coordinates[0], lane));
  Texel result{};
  unsigned count = 0;
  if (map.is_row && (coordinates[0] < 0 || coordinates[0] >= static_cast<double>(map.extents[0]) ||
                     !use.has_whole_coordinates)) {
    if (!use.has_whole_coordinates)
      context.fail(FaultKind::unsupported, lane,
                   "linear memory is fetched by whole numbers (tex1Dfetch)");
  } else if (use.kind == TextureUse::Kind::gather) {
    // The four elements that filtering would blend, from the lower left on against the clock.
    static constexpr unsigned order[] = {2, 3, 1, 0};
    const auto all = samples(map, coordinates, layer, true, count);
    for (unsigned i = 0; i < 4; ++i)
      result[i] = given(map, read_texel(context, lane, map, all[order[i]])[use.component]);
  } else {
    const bool filtered = map.is_filtered && !use.has_whole_coordinates;
    const auto all = samples(map, coordinates, layer, filtered, count);
    double sums[4] = {-0.0, -0.0, -0.0, -0.0};
    std::int64_t whole_sums[4] = {};
    for (unsigned i = 0; i < count; ++i) {
      if (all[i].weight == 0)
        continue; // it has no part in the sum, not even if it is infinite
      const Texel texel = read_texel(context, lane, map, all[i]);
      for (unsigned c = 0; c < map.channels; ++c) {
        result[c] = given(map, texel[c]);
        if (map.channel == TextureMap::Channel::real)
          sums[c] += all[i].weight * floating::to_double(ScalarType::f32, texel[c]);
        else
          whole_sums[c] += all[i].weight * std::int64_t{static_cast<std::int32_t>(texel[c])};
      }
    }
    for (unsigned c = 0; filtered && c < map.channels; ++c)
      result[c] = f32(map.channel == TextureMap::Channel::real ? real_of_sum(map, sums[c] / 256)
                                                               : part_of_sum(map, whole_sums[c]));
  }
  for (unsigned i = 0; i < in.outputs.size(); ++i)
    context.assign(in.outputs[i], lane, result[i], 32, false);
}

// suld.b and sust.b: the first coordinate counts bytes.
void TextureUnit::access(WarpContext &context, unsigned lane, const TextureMap &map) {
  const WarpInstruction &in = *context.instruction;
  const TextureUse &use = *in.texture;
  const bool stores = use.kind == TextureUse::Kind::store;
  const std::size_t layers = use.is_layered ? 1 : 0;
  const unsigned element = bit_width(use.type) / 8;
  const unsigned size =
      element * static_cast<unsigned>(stores ? in.inputs.size() : in.outputs.size());
  std::array<std::uint64_t, TextureMap::most_axes> at{};
  bool is_outside = false;
  const auto take = [&](std::size_t operand, unsigned axis, std::uint64_t last) {
    const auto wanted = static_cast<std::int32_t>(context.value(use.coordinates[operand], lane));
    const bool is_inside = wanted >= 0 && static_cast<std::uint64_t>(wanted) <= last;
    is_outside |= !is_inside;
    at[axis] = is_inside ? static_cast<std::uint64_t>(wanted) : wanted < 0 ? 0 : last;
  };
  const std::uint64_t row = map.extents[0] * map.element_bytes();
  if (size > row)
    context.fail(FaultKind::out_of_bounds, lane,
                 fmt::format("`{}` of {} bytes in rows of {}", in.opcode->text, size, row));
  take(layers, 0, row - size);
  for (unsigned axis = 1; axis < map.axes; ++axis)
    take(layers + axis, axis, map.extents[axis] - 1);
  if (use.is_layered)
    take(0, map.axes, map.extents[map.axes] - 1);
  if (at[0] % size != 0)
    return memory_.refuse(
        context, lane, FaultKind::misaligned,
        fmt::format("`{}` of {} bytes at byte {} of a row", in.opcode->text, size, at[0]),
        map.address);
  if (is_outside && use.outside == TextureUse::Outside::trap)
    context.fail(FaultKind::out_of_bounds, lane,
                 fmt::format("`{}` outside of a surface", in.opcode->text), map.address);
  const bool is_nothing = is_outside && use.outside == TextureUse::Outside::zero;
  TextureMap by_bytes = map;
  by_bytes.channel_bits = 8, by_bytes.channels = 1;
  const std::uint64_t address = place_of(by_bytes, at);
  for (unsigned i = 0; i < (stores ? in.inputs.size() : in.outputs.size()); ++i) {
    const std::uint64_t there = address + std::uint64_t{i} * element;
    if (stores && !is_nothing)
      memory_.write(context, lane, there, element, StateSpace::global,
                    context.value(in.inputs[i], lane));
    else if (!stores)
      context.assign(in.outputs[i], lane,
                     is_nothing ? 0
                                : memory_.read(context, lane, there, element, StateSpace::global),
                     element * 8, false);
  }
}

} // namespace ptxasw::emulator
