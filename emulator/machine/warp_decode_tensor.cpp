// Decoding of tcgen05 (PTX ISA 9.7.16).

#include "emulator/machine/warp_decode.h"

#include "emulator/machine/tensor_memory.h"

#include <charconv>
#include <utility>

namespace ptxasw::emulator {
namespace {

/// `16x64b`: rows and bits of each.
bool read_tensor_shape(std::string_view word, TensorMemoryUse &to) {
  unsigned rows = 0, bits = 0;
  const char *const end = word.data() + word.size();
  const auto first = std::from_chars(word.data(), end, rows);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x')
    return false;
  const auto second = std::from_chars(first.ptr + 1, end, bits);
  if (second.ec != std::errc() || second.ptr == end || *second.ptr != 'b')
    return false;
  const std::string_view rest(second.ptr + 1, end);
  if (!rest.empty() && rest != "x2")
    return false;
  to.rows = rows, to.bits = bits, to.is_split = !rest.empty();
  return true;
}

} // namespace

void WarpDecoder::decode_tensor_memory() {
  using Kind = TensorMemoryUse::Kind;
  const Opcode &opcode = *out_.opcode;
  if (opcode.modifiers.empty())
    return refuse("this form");
  if (opcode.modifiers[0].starts_with("wait") || opcode.modifiers[0].starts_with("fence")) {
    out_.action = WarpAction::nothing; // all has happened
    return;
  }
  auto use = std::make_shared<TensorMemoryUse>();
  static constexpr std::pair<Modifier, Kind> kinds[] = {
      {Modifier::alloc, Kind::allocate},
      {Modifier::dealloc, Kind::release},
      {Modifier::relinquish_alloc_permit, Kind::relinquish},
      {Modifier::ld, Kind::load},
      {Modifier::st, Kind::store},
      {Modifier::cp, Kind::copy},
      {Modifier::shift, Kind::shift},
      {Modifier::mma, Kind::multiply},
      {Modifier::commit, Kind::commit}};
  bool is_known = false;
  for (const auto &[modifier, kind] : kinds)
    if (opcode.has(modifier)) {
      use->kind = kind;
      is_known = true;
    }
  if (!is_known)
    return refuse("this form");
  out_.action = use->is_collective() ? WarpAction::tensor_memory : WarpAction::tensor_core;
  // A pair of blocks does what one does, except where it computes and copies.
  const bool is_pair = opcode.has(Modifier::cta_group_2);
  std::span<const Operand> rest = operands_;
  const auto take = [&](auto f) {
    if (rest.empty())
      return refuse("too few operands");
    f(rest[0]);
    rest = rest.subspan(1);
  };
  const auto take_input = [&](ScalarType type) {
    take([&](const Operand &operand) { out_.inputs.push_back(input(operand, type)); });
  };
  const auto take_address = [&](WarpAddress &to, StateSpace space) {
    take([&](const Operand &operand) { to = address(operand, space); });
  };
  switch (use->kind) {
  case Kind::allocate:
    out_.space = opcode.space;
    take_address(out_.address, out_.space);
    take_input(ScalarType::u32);
    break;
  case Kind::release:
    take_input(ScalarType::u32);
    take_input(ScalarType::u32);
    break;
  case Kind::relinquish:
    break;
  case Kind::load:
  case Kind::store: {
    bool has_shape = false;
    unsigned repetitions = 0;
    for (const std::string_view word : opcode.modifiers) {
      has_shape |= read_tensor_shape(word, *use);
      if (word[0] == 'x')
        std::from_chars(word.data() + 1, word.data() + word.size(), repetitions);
    }
    use->packs = opcode.has(Modifier::pack_16b) || opcode.has(Modifier::unpack_16b);
    if (!has_shape || repetitions == 0 || opcode.has(Modifier::red))
      return refuse("this form");
    const auto take_registers = [&] {
      take([&](const Operand &operand) {
        const std::span<const Operand> all = operand.kind == Operand::Kind::vector
                                                 ? module_.children(operand)
                                                 : std::span(&operand, 1);
        for (const Operand &reg : all)
          use->registers.push_back(use->kind == Kind::load ? output(reg)
                                                           : input(reg, ScalarType::b32));
      });
    };
    if (use->kind == Kind::load)
      take_registers();
    take_address(out_.address, StateSpace::generic);
    if (use->is_split)
      take_input(ScalarType::u32);
    if (use->kind == Kind::store)
      take_registers();
    const unsigned each = use->rows == 32 || use->is_split ? 1 : use->rows * use->bits / 1024;
    if (use->registers.size() != std::size_t{each} * repetitions)
      return refuse("another number of registers");
    break;
  }
  case Kind::copy: {
    bool has_shape = false;
    for (const std::string_view word : opcode.modifiers)
      has_shape |= read_tensor_shape(word, *use);
    if (!has_shape || is_pair || use->rows == 4)
      return refuse(is_pair ? "copies of pairs of blocks" : "this form");
    for (const std::string_view word : opcode.modifiers)
      if (word.starts_with("b8x16") || word.starts_with("b6x16") || word.starts_with("b4x16"))
        return refuse("copies that widen elements");
    use->copies = opcode.has(Modifier::warpx4)                                               ? 4
                  : opcode.has(Modifier::warpx2_02_13) || opcode.has(Modifier::warpx2_01_23) ? 2
                                                                                             : 1;
    use->interleaved = opcode.has(Modifier::warpx2_02_13);
    take_address(out_.address, StateSpace::generic);
    take([&](const Operand &operand) { use->b_descriptor = input(operand, ScalarType::b64); });
    break;
  }
  case Kind::shift:
    if (is_pair)
      return refuse("shifts of pairs of blocks");
    take_address(out_.address, StateSpace::generic);
    break;
  case Kind::multiply: {
    if (opcode.has(Modifier::sp))
      return refuse("sparse matrices");
    if (opcode.has(Modifier::block_scale))
      return refuse("scaled blocks");
    if (opcode.has(Modifier::ws))
      return refuse("products of a warp");
    if (is_pair)
      return refuse("products of pairs of blocks");
    for (const std::string_view word : opcode.modifiers) {
      use->type = word == "kind::f16"      ? MatrixType::f16
                  : word == "kind::tf32"   ? MatrixType::tf32
                  : word == "kind::f8f6f4" ? MatrixType::e4m3
                  : word == "kind::i8"     ? MatrixType::s8
                                           : use->type;
      if (word == "ashift")
        return refuse("shifted matrices");
    }
    if (use->type == MatrixType::none)
      return refuse("this kind");
    take_address(use->d, StateSpace::generic);
    take([&](const Operand &operand) {
      if (operand.kind == Operand::Kind::address)
        use->a = address(operand, StateSpace::generic);
      else
        use->a_descriptor = input(operand, ScalarType::b64);
    });
    take([&](const Operand &operand) { use->b_descriptor = input(operand, ScalarType::b64); });
    take([&](const Operand &operand) { use->how = input(operand, ScalarType::b32); });
    if (!rest.empty() && rest[0].kind == Operand::Kind::vector)
      take([&](const Operand &operand) {
        for (const Operand &mask : module_.children(operand))
          use->masked.push_back(input(mask, ScalarType::b32));
      });
    take([&](const Operand &operand) { use->adds = input(operand, ScalarType::pred); });
    if (!rest.empty())
      return refuse("a sum that is scaled");
    break;
  }
  case Kind::commit:
    out_.weak = false;
    take_address(out_.address, StateSpace::shared);
    if (opcode.has(Modifier::multicast_cluster))
      take([&](const Operand &operand) { use->blocks = input(operand, ScalarType::u16); });
    break;
  }
  if (!rest.empty())
    return refuse("too many operands");
  out_.tensor = std::move(use);
}

} // namespace ptxasw::emulator
