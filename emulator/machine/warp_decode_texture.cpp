// Decoding of what textures and surfaces are read and written by (PTX ISA 9.7.10 and 9.7.11).

#include "emulator/machine/warp_decode.h"

#include "emulator/machine/warp_texture.h"

#include <algorithm>

namespace ptxasw::emulator {
namespace {

/// `a2d`, `cube`: returns false if it is no geometry, or none that is emulated.
bool read_geometry(std::string_view word, TextureUse &to) {
  to.is_layered = word.starts_with('a');
  if (to.is_layered)
    word.remove_prefix(1);
  to.is_cube = word == "cube";
  if (to.is_cube)
    to.axes = 2;
  else if (word.size() == 2 && word[0] >= '1' && word[0] <= '3' && word[1] == 'd')
    to.axes = static_cast<std::uint8_t>(word[0] - '0');
  else
    return false;
  return !(to.is_layered && to.axes == 3);
}

} // namespace

void WarpDecoder::decode_texture() {
  using Kind = TextureUse::Kind;
  const Opcode &opcode = *out_.opcode;
  const Op op = opcode.op;
  out_.action = WarpAction::texture;
  auto use = std::make_shared<TextureUse>();
  use->kind = op == Op::tex    ? Kind::sample
              : op == Op::tld4 ? Kind::gather
              : op == Op::suld ? Kind::load
              : op == Op::sust ? Kind::store
                               : Kind::query;
  const auto is_word = [&](std::string_view word) {
    return std::find(opcode.modifiers.begin(), opcode.modifiers.end(), word) !=
           opcode.modifiers.end();
  };
  if (use->kind == Kind::query) {
    static constexpr std::string_view extents[] = {"width", "height", "depth"};
    const auto *const asked = std::find_if(std::begin(extents), std::end(extents), is_word);
    if (asked == std::end(extents) || operands_.size() != 2)
      return refuse("this form");
    use->axes = static_cast<std::uint8_t>(asked - extents);
    out_.outputs = {output(operands_[0])};
    out_.address = address(operands_[1], StateSpace::generic);
    out_.texture = std::move(use);
    return;
  }
  if (std::none_of(opcode.modifiers.begin(), opcode.modifiers.end(),
                   [&](std::string_view word) { return read_geometry(word, *use); }))
    return refuse("this geometry");
  const bool is_surface = use->kind == Kind::load || use->kind == Kind::store;
  use->type = opcode.type;
  if (is_surface) {
    use->outside = is_word("clamp")  ? TextureUse::Outside::clamp
                   : is_word("zero") ? TextureUse::Outside::zero
                                     : TextureUse::Outside::trap;
    if (is_word("p"))
      return refuse("surfaces by elements");
  } else {
    static constexpr std::string_view components[] = {"r", "g", "b", "a"};
    const auto *const component =
        std::find_if(std::begin(components), std::end(components), is_word);
    if (use->kind == Kind::gather && component != std::end(components))
      use->component = static_cast<std::uint8_t>(component - components);
    use->has_whole_coordinates = opcode.second_type == ScalarType::s32;
    if (bit_width(opcode.type) != 32)
      return refuse("results of 16 bits");
  }
  const unsigned width = bit_width(use->type);
  const bool stores = use->kind == Kind::store;
  if (width < 8 || width > 64 || operands_.size() < 2)
    return refuse("this form");
  const Operand &registers = operands_[stores ? 1 : 0], &place = operands_[stores ? 0 : 1];
  // What follows says which of the levels of detail is meant, and here there is one.
  const bool has_level = is_word("level") || is_word("grad");
  if (operands_.size() != 2 && !has_level)
    return refuse("offsets and depths");
  const auto parts = module_.children(place);
  if (place.kind != Operand::Kind::other || parts.size() != 2 ||
      parts[1].kind != Operand::Kind::vector)
    return refuse("an explicit sampler");
  out_.address = address_of(parts[0], 0, StateSpace::param);
  for (const Operand &coordinate : module_.children(parts[1]))
    use->coordinates.push_back(input(
        coordinate, is_surface || use->has_whole_coordinates ? ScalarType::s32 : ScalarType::f32));
  if (use->coordinates.size() <
      (use->is_layered ? 1u : 0u) + (use->is_cube ? 3u : unsigned{use->axes}))
    return refuse("too few coordinates");
  const std::span<const Operand> all = registers.kind == Operand::Kind::vector
                                           ? module_.children(registers)
                                           : std::span(&registers, 1);
  if (all.empty() || all.size() > 4)
    return refuse("this form");
  for (const Operand &one : all)
    if (stores)
      out_.inputs.push_back(input(one, use->type));
    else
      out_.outputs.push_back(output(one));
  out_.element = static_cast<std::uint8_t>(width / 8);
  out_.texture = std::move(use);
}

} // namespace ptxasw::emulator
