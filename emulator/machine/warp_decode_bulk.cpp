// Decoding of what the copy engine does (PTX ISA 9.7.9.25 to 9.7.9.28), and of what blocks of a
// cluster do among each other.

#include "emulator/machine/warp_decode.h"

#include "emulator/machine/bulk_copy.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace ptxasw::emulator {
namespace {

/// The state spaces among the modifiers, in order: of a copy, where to and where from.
std::vector<StateSpace> spaces_of(const Opcode &opcode) {
  std::vector<StateSpace> result;
  for (const std::string_view word : opcode.modifiers)
    if (const StateSpace space = state_space(word); space != StateSpace::generic)
      result.push_back(space);
  return result;
}

} // namespace

void WarpDecoder::decode_bulk_copy() {
  const Opcode &opcode = *out_.opcode;
  if (opcode.has(Modifier::commit_group) || opcode.has(Modifier::wait_group) ||
      opcode.has(Modifier::prefetch)) {
    out_.action = WarpAction::nothing; // the copies have happened
    return;
  }
  out_.action = WarpAction::copy_bulk;
  if (opcode.has(Modifier::ignore_oob))
    return refuse("copies that leave out what is out of bounds");
  const std::vector<StateSpace> spaces = spaces_of(opcode);
  auto copy = std::make_shared<BulkCopy>();
  copy->tells_mbarrier = opcode.has(Modifier::mbarrier_complete_tx_bytes);
  copy->reduces = opcode.has(Modifier::reduce);
  if (spaces.size() != 2 || copy->tells_mbarrier == opcode.has(Modifier::bulk_group))
    return refuse("this form");
  copy->to = spaces[0];
  copy->from = spaces[1];
  if (copy->tells_mbarrier != (copy->to == StateSpace::shared))
    return refuse("this form");
  if (copy->reduces) {
    out_.atomic = atomic_operation(opcode);
    out_.form = {decode(opcode), {}, &opcode};
    if (out_.atomic == AtomicOperation::none)
      return refuse("this operation");
  }
  out_.space = copy->to;
  std::span<const Operand> rest = operands_;
  const auto take = [&]() -> const Operand * {
    if (rest.empty()) {
      refuse("too few operands");
      return nullptr;
    }
    const Operand *const operand = &rest[0];
    rest = rest.subspan(1);
    return operand;
  };
  const auto take_address = [&](WarpAddress &to, StateSpace space) {
    if (const Operand *const operand = take())
      to = address(*operand, space);
  };
  const auto take_tensor = [&] {
    const Operand *const operand = take();
    if (!operand)
      return;
    const auto parts = module_.children(*operand);
    if (operand->kind != Operand::Kind::other || parts.size() != 2 ||
        parts[1].kind != Operand::Kind::vector)
      return refuse("a tensor of this shape");
    copy->map = address_of(parts[0], 0, StateSpace::param);
    for (const Operand &coordinate : module_.children(parts[1]))
      copy->coordinates.push_back(input(coordinate, ScalarType::s32));
  };
  if (opcode.has(Modifier::tensor)) {
    const auto axes =
        std::find_if(opcode.modifiers.begin(), opcode.modifiers.end(), [](std::string_view word) {
          return word.size() == 2 && word[1] == 'd' && word[0] >= '1' && word[0] <= '5';
        });
    copy->axes = axes == opcode.modifiers.end() ? 0 : static_cast<unsigned>((*axes)[0] - '0');
    const bool rows = opcode.has(Modifier::gather4) || opcode.has(Modifier::scatter4);
    copy->mode = rows ? BulkCopy::Mode::rows : BulkCopy::Mode::tile;
    for (const std::string_view word : opcode.modifiers)
      if (word.starts_with("im2col"))
        return refuse("tensors by im2col");
    if (opcode.has(Modifier::cta_group_2))
      return refuse("barriers of pairs of blocks");
    if (copy->to == StateSpace::global) {
      take_tensor();
      take_address(out_.second_address, copy->from);
    } else {
      take_address(out_.address, copy->to);
      take_tensor();
      take_address(out_.third_address, StateSpace::shared);
    }
    if (copy->coordinates.size() != (rows ? 5 : copy->axes))
      return refuse("another number of coordinates");
  } else {
    take_address(out_.address, copy->to);
    take_address(out_.second_address, copy->from);
    if (const Operand *const size = take())
      out_.inputs = {input(*size, ScalarType::u32)};
    if (copy->tells_mbarrier)
      take_address(out_.third_address, StateSpace::shared);
  }
  if (opcode.has(Modifier::multicast_cluster))
    if (const Operand *const blocks = take())
      copy->blocks = input(*blocks, ScalarType::u16);
  if (opcode.has(Modifier::L2_cache_hint))
    take();
  if (opcode.has(Modifier::cp_mask))
    if (const Operand *const kept = take())
      copy->kept = input(*kept, ScalarType::u16);
  if (!rest.empty())
    refuse("too many operands");
  out_.bulk = std::move(copy);
}

// st.async and red.async (PTX ISA 9.7.9.12, 9.7.13.7): a store or a reduction, and perhaps an
// mbarrier behind the value.
void WarpDecoder::decode_async_access() {
  const Opcode &opcode = *out_.opcode;
  const bool tells = opcode.has(Modifier::mbarrier_complete_tx_bytes);
  out_.action = WarpAction::async_access;
  const unsigned width = bit_width(opcode.type);
  if (width < 8 || width > 64 || operands_.size() != (tells ? 3u : 2u) ||
      opcode.has(Modifier::mmio))
    return refuse("this form");
  out_.space = opcode.space;
  out_.element = static_cast<std::uint8_t>(width / 8);
  out_.width = static_cast<std::uint8_t>(width);
  out_.weak = opcode.op == Op::st && !opcode.has(Modifier::release);
  out_.address = address(operands_[0], out_.space);
  const std::span<const Operand> values = operands_[1].kind == Operand::Kind::vector
                                              ? module_.children(operands_[1])
                                              : operands_.subspan(1, 1);
  for (const Operand &value : values)
    out_.inputs.push_back(input(value, opcode.type));
  if (out_.inputs.size() != opcode.vector)
    return refuse("another number of values");
  if (tells)
    out_.third_address = address(operands_[2], StateSpace::shared);
  if (opcode.op != Op::st) {
    out_.form.form = decode(opcode);
    decode_atomic();
  }
}

// st.bulk (PTX ISA 9.7.9.13): zeros, and nothing else.
void WarpDecoder::decode_store_zeros() {
  out_.action = WarpAction::store_zeros;
  if (operands_.size() != 3 || operands_[2].kind != Operand::Kind::integer ||
      operands_[2].value != 0)
    return refuse("this form");
  out_.space = StateSpace::shared;
  out_.address = address(operands_[0], out_.space);
  out_.inputs = {input(operands_[1], ScalarType::u64)};
}

// tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.7.9.28, 9.7.13.15).
void WarpDecoder::decode_tensor_map() {
  const Opcode &opcode = *out_.opcode;
  out_.action = WarpAction::tensor_map;
  if (operands_.size() < 2)
    return refuse("this form");
  if (opcode.has(Modifier::cp_fenceproxy)) {
    out_.address = address(operands_[0], StateSpace::global);
    out_.second_address = address(operands_[1], StateSpace::shared);
    return;
  }
  if (!opcode.has(Modifier::replace) || !opcode.has(Modifier::tile))
    return refuse("this form");
  out_.address = address(operands_[0], opcode.space);
  for (const Operand &operand : operands_.subspan(1))
    out_.inputs.push_back(input(operand, ScalarType::u64));
}

void WarpDecoder::decode_map_address() {
  out_.action = WarpAction::map_address;
  const bool maps = out_.opcode->op == Op::mapa;
  if (operands_.size() != (maps ? 3u : 2u))
    return refuse("this form");
  out_.outputs = {output(operands_[0])};
  out_.inputs = {input(operands_[1], out_.opcode->type)};
  if (maps)
    out_.inputs.push_back(input(operands_[2], ScalarType::u32));
}

void WarpDecoder::decode_cancel() {
  const Opcode &opcode = *out_.opcode;
  out_.action = WarpAction::cancel_launch;
  if (operands_.size() != 2)
    return refuse("this form");
  if (opcode.has(Modifier::try_cancel)) {
    out_.space = StateSpace::shared;
    out_.address = address(operands_[0], StateSpace::shared);
    out_.third_address = address(operands_[1], StateSpace::shared);
    return;
  }
  const std::span<const Operand> results = operands_[0].kind == Operand::Kind::vector
                                               ? module_.children(operands_[0])
                                               : operands_.subspan(0, 1);
  for (const Operand &result : results)
    out_.outputs.push_back(output(result));
  add_pieces(operands_[1], false, ScalarType::b128, out_.inputs);
  if (out_.inputs.size() != 2 || !opcode.has(Modifier::query_cancel))
    refuse("this form");
}

// multimem (PTX ISA 9.7.9.15): of an object that one device is in, so there is one copy of what its
// addresses name.
void WarpDecoder::decode_multimem() {
  const Opcode &opcode = *out_.opcode;
  const bool loads = opcode.has(Modifier::ld_reduce), stores = opcode.has(Modifier::st);
  out_.action = loads ? WarpAction::load : stores ? WarpAction::store : WarpAction::atomic;
  const unsigned width = bit_width(opcode.type);
  if ((!loads && !stores && !opcode.has(Modifier::red)) || width < 16 || width > 64)
    return refuse("this form");
  out_.space = StateSpace::global;
  out_.element = static_cast<std::uint8_t>(width / 8);
  out_.width = static_cast<std::uint8_t>(width);
  out_.sign_extends = is_signed(opcode.type);
  out_.weak = opcode.has(Modifier::weak);
  out_.form.form = decode(opcode);
  if (operands_.size() != 2)
    return refuse("this form");
  out_.address = address(operands_[loads ? 1 : 0], out_.space);
  const Operand &value = operands_[loads ? 0 : 1];
  const std::span<const Operand> values =
      value.kind == Operand::Kind::vector ? module_.children(value) : std::span(&value, 1);
  for (const Operand &part : values)
    (loads ? out_.outputs : out_.inputs).push_back(loads ? output(part) : input(part, opcode.type));
  if (!loads && !stores) {
    if (opcode.type >= ScalarType::e4m3)
      return refuse("sums of short floating-point numbers");
    decode_atomic();
  }
}

} // namespace ptxasw::emulator
