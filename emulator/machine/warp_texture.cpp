// tex, tld4, txq, suld, sust and suq (PTX ISA 9.7.10 and 9.7.11) by handles.

#include "emulator/machine/warp_texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/core.h>

namespace ptxasw::inline emulator {
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

/// What a whole number is as a real one, from 0 or -1 to 1.
double as_part(const TextureMap &map, std::uint64_t bits) {
  if (map.channel == TextureMap::Channel::whole_unsigned)
    return static_cast<double>(bits) / static_cast<double>(mask64(map.channel_bits));
  return std::max(-1.0, static_cast<double>(static_cast<std::int32_t>(bits)) /
                            static_cast<double>(mask64(map.channel_bits - 1u)));
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
    const bool is_real = map.channel == TextureMap::Channel::real;
    if (!sample.at) {
      const auto border = std::bit_cast<std::uint32_t>(map.border[i]);
      FloatMode cut;
      cut.rounding = FloatRounding::zero;
      result[i] = is_real || map.gives_reals
                      ? border
                      : floating::to_integer(ScalarType::f32, cut, border, 32,
                                             map.channel == TextureMap::Channel::whole_signed);
      continue;
    }
    const std::uint64_t bits =
        memory_.read(context, lane, place_of(map, *sample.at) + std::uint64_t{i} * size, size,
                     StateSpace::global);
    if (is_real)
      result[i] = size == 4 ? bits : f32(floating::to_double(ScalarType::f16, bits));
    else
      result[i] = map.channel == TextureMap::Channel::whole_signed
                      ? static_cast<std::uint64_t>(as_signed(bits, map.channel_bits)) & mask64(32)
                      : bits;
    if (map.gives_reals && !is_real)
      result[i] = f32(as_part(map, result[i]));
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
      result[i] = read_texel(context, lane, map, all[order[i]])[use.component];
  } else {
    const bool filtered = map.is_filtered && !use.has_whole_coordinates;
    const auto all = samples(map, coordinates, layer, filtered, count);
    if (!filtered) {
      result = read_texel(context, lane, map, all[0]);
    } else {
      double sums[4] = {};
      for (unsigned i = 0; i < count; ++i) {
        if (all[i].weight == 0)
          continue; // it has no part in the sum, not even if it is infinite
        const Texel texel = read_texel(context, lane, map, all[i]);
        for (unsigned c = 0; c < map.channels; ++c)
          sums[c] += all[i].weight * floating::to_double(ScalarType::f32, texel[c]);
      }
      for (unsigned c = 0; c < map.channels; ++c)
        result[c] = f32(sums[c]);
    }
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
