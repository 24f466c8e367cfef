// The copy engine (PTX ISA 9.7.9.25 to 9.7.9.28).
//
// A copy happens at once, and an mbarrier hears of it at once: a program that waits sees what it
// would see later. What is read or written counts as done by the thread that asked for it, so that
// races with accesses that nothing orders are found.

#include "emulator/machine/warp_bulk.h"

#include "emulator/machine/warp_access.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

/// The instruction as one that accesses memory with order: an mbarrier, or an atomic.
WarpInstruction strong(const WarpInstruction &in, WarpAction action) {
  WarpInstruction result = in;
  result.weak = false;
  result.action = action;
  return result;
}

/// What elements outside of a tensor are, where they are not zeros: the low bits of this, whatever
/// their type. So an H200 has it.
constexpr std::uint64_t nan_fill = 0x7ff77ff77ff77ff7;

} // namespace

template <class F>
void BulkUnit::for_each_block(const WarpContext &context, unsigned lane, const BulkCopy &copy,
                              F f) {
  const WarpInstruction &in = *context.instruction;
  const std::uint64_t to = context.address(in.address, lane);
  const std::uint64_t barrier =
      copy.tells_mbarrier ? context.address(in.third_address, lane) : std::uint64_t{0};
  if (copy.blocks.kind == WarpOperand::Kind::none)
    return f(to, barrier);
  const std::uint64_t blocks = context.value(copy.blocks, lane) & 0xffff;
  for (unsigned rank = 0; rank < 16; ++rank) {
    if (!(blocks >> rank & 1))
      continue;
    if (rank >= run_.cluster.count())
      context.fail(
          FaultKind::out_of_bounds, lane,
          fmt::format("a copy to block {} of a cluster of {}", rank, run_.cluster.count()));
    f(run_.shared_of_rank(rank, to), run_.shared_of_rank(rank, barrier));
  }
}

void BulkUnit::copy(WarpContext &context, LaneMask mask) {
  const BulkCopy &copy = *context.instruction->bulk;
  for_each_lane(mask, [&](unsigned lane) {
    if (copy.mode == BulkCopy::Mode::bytes)
      copy_bytes(context, lane, copy);
    else
      copy_tensor(context, lane, copy);
  });
}

void BulkUnit::copy_bytes(const WarpContext &context, unsigned lane, const BulkCopy &copy) {
  const WarpInstruction &in = *context.instruction;
  const std::uint64_t from = context.address(in.second_address, lane);
  const std::uint64_t size = context.value(in.inputs[0], lane) & mask64(32);
  const WarpInstruction signal = strong(in, WarpAction::mbarrier);
  for_each_block(context, lane, copy, [&](std::uint64_t to, std::uint64_t barrier) {
    if (to % 16 != 0 || from % 16 != 0 || size % 16 != 0)
      memory_.refuse(
          context, lane, FaultKind::misaligned,
          fmt::format("a bulk copy of {} bytes from {:#x} to {:#x}, not all multiples of 16", size,
                      from, to),
          to);
    else
      move(context, lane, copy, from, to, size);
    if (!copy.tells_mbarrier)
      return;
    WarpContext at_barrier = context;
    at_barrier.instruction = &signal;
    async_.complete_transactions(at_barrier, lane, barrier, size);
  });
}

void BulkUnit::move(const WarpContext &context, unsigned lane, const BulkCopy &copy,
                    std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  const WarpInstruction &in = *context.instruction;
  if (copy.reduces) {
    const WarpInstruction atomic = strong(in, WarpAction::atomic);
    WarpContext there = context;
    there.instruction = &atomic;
    const unsigned step = bit_width(in.opcode->type) / 8;
    for (std::uint64_t i = 0; i < size; i += step)
      write_element(there, lane, copy, in.opcode->type, to + i,
                    memory_.read(context, lane, from + i, step, copy.from));
    return;
  }
  if (copy.kept.kind != WarpOperand::Kind::none) {
    const std::uint64_t kept = context.value(copy.kept, lane);
    for (std::uint64_t i = 0; i < size; ++i)
      if (kept >> i % 16 & 1)
        memory_.write(context, lane, to + i, 1, copy.to,
                      memory_.read(context, lane, from + i, 1, copy.from));
    return;
  }
  for (std::uint64_t i = 0; i < size; i += 8)
    memory_.write(context, lane, to + i, 8, copy.to,
                  memory_.read(context, lane, from + i, 8, copy.from));
  if (run_.options.reals)
    run_.options.reals->copy(context.real_space(lane, from), from, context.real_space(lane, to), to,
                             size);
}

void BulkUnit::write_element(const WarpContext &context, unsigned lane, const BulkCopy &copy,
                             ScalarType type, std::uint64_t address, std::uint64_t bits) {
  const unsigned size = bit_width(type) / 8;
  if (copy.reduces) // of f32, subnormal numbers stay, as in shared memory
    bits = atomic_result(context.instruction->atomic, type, context.instruction->form.mode,
                         memory_.read(context, lane, address, size, copy.to), bits, 0,
                         copy.to == StateSpace::shared || type == ScalarType::f32);
  memory_.write(context, lane, address, size, copy.to, bits);
}

TensorMap BulkUnit::read_map(const WarpContext &context, unsigned lane, std::uint64_t address) {
  if (address % 64 != 0)
    context.fail(FaultKind::misaligned, lane, fmt::format("a tensor map at {:#x}", address),
                 address);
  std::array<std::uint8_t, TensorMap::bytes> bytes;
  for (unsigned i = 0; i < TensorMap::bytes; ++i)
    bytes[i] =
        static_cast<std::uint8_t>(memory_.read(context, lane, address + i, 1, StateSpace::generic));
  const auto map = decode_tensor_map(bytes);
  if (!map)
    context.fail(FaultKind::unsupported, lane,
                 fmt::format("no tensor map that this emulator made is at {:#x}", address),
                 address);
  if (const auto emulated = map->check_emulated(); !emulated)
    context.fail(FaultKind::unsupported, lane,
                 "a tensor map with " + emulated.error() + " is not emulated", address);
  if (const auto valid = map->check(); !valid)
    context.fail(FaultKind::out_of_bounds, lane, "a tensor map with " + valid.error(), address);
  return *map;
}

void BulkUnit::copy_tensor(const WarpContext &context, unsigned lane, const BulkCopy &copy) {
  const WarpInstruction &in = *context.instruction;
  const TensorMap map = read_map(context, lane, context.address(copy.map, lane));
  if (map.rank != copy.axes)
    context.fail(FaultKind::unsupported, lane,
                 fmt::format("a copy of {} axes by a tensor map of {}", copy.axes, map.rank));
  std::array<std::int64_t, TensorMap::most_axes> corner{};
  for (std::size_t i = 0; i < copy.coordinates.size(); ++i)
    corner[i] = static_cast<std::int32_t>(context.value(copy.coordinates[i], lane));
  const bool rows = copy.mode == BulkCopy::Mode::rows;
  // What these do on an H200 is an illegal instruction.
  if (corner[0] * std::int64_t{map.element_bytes()} % 16 != 0)
    context.fail(FaultKind::misaligned, lane,
                 fmt::format("a box that begins at element {} of the first axis, at no multiple of "
                             "16 bytes",
                             corner[0]));
  if (copy.to == StateSpace::global &&
      std::any_of(corner.begin(), corner.end(), [](std::int64_t at) { return at < 0; }))
    context.fail(FaultKind::out_of_bounds, lane,
                 "a box that is stored begins before the tensor: it may only end behind it");
  if (rows && (map.rank != 2 || map.box[1] != 1))
    context.fail(FaultKind::unsupported, lane, "four rows by a tensor map of other boxes");
  const auto all_boxes = [&](std::uint64_t shared) {
    if (shared % 128 != 0 && map.swizzle != TensorMap::Swizzle::none)
      context.fail(FaultKind::misaligned, lane,
                   fmt::format("a swizzled box at {:#x}, no multiple of 128", shared), shared);
    if (shared % 16 != 0)
      context.fail(FaultKind::misaligned, lane, fmt::format("a box at {:#x}", shared), shared);
    for (unsigned row = 0; row < (rows ? 4 : 1); ++row) {
      const std::array<std::int64_t, 2> at{corner[0], corner[row + 1]};
      copy_box(context, lane, copy, map,
               rows ? std::span<const std::int64_t>(at) : std::span<const std::int64_t>(corner),
               shared + row * map.box_bytes());
    }
  };
  if (copy.to == StateSpace::global)
    return all_boxes(context.address(in.second_address, lane));
  const WarpInstruction signal = strong(in, WarpAction::mbarrier);
  for_each_block(context, lane, copy, [&](std::uint64_t to, std::uint64_t barrier) {
    all_boxes(to);
    WarpContext at_barrier = context;
    at_barrier.instruction = &signal;
    async_.complete_transactions(at_barrier, lane, barrier, map.box_bytes() * (rows ? 4 : 1));
  });
}

// The box lies in shared memory row by row, a swizzled one in rows of the swizzle's length,
// whatever part of these it fills; 16 bytes of it at a time are where the swizzle puts them. So an
// H200 does.
void BulkUnit::copy_box(const WarpContext &context, unsigned lane, const BulkCopy &copy,
                        const TensorMap &map, std::span<const std::int64_t> corner,
                        std::uint64_t shared) {
  const WarpInstruction atomic = strong(*context.instruction, WarpAction::atomic);
  WarpContext at_tensor = context;
  if (copy.reduces)
    at_tensor.instruction = &atomic;
  const bool loads = copy.to == StateSpace::shared;
  const unsigned size = map.element_bytes(), per_piece = 16 / size;
  std::array<std::uint32_t, TensorMap::most_axes> at{};
  const std::uint64_t pitch = map.swizzle == TensorMap::Swizzle::none
                                  ? std::uint64_t{map.box[0]} * size
                                  : 16ul << static_cast<unsigned>(map.swizzle);
  std::uint64_t begin = shared;
  for (bool done = false; !done; begin += pitch) {
    // A row: along the first axis.
    std::uint64_t row = map.address;
    bool inside = true;
    for (unsigned axis = 1; axis < map.rank; ++axis) {
      const std::int64_t place = corner[axis] + std::int64_t{at[axis]} * map.steps[axis];
      inside &= place >= 0 && static_cast<std::uint64_t>(place) < map.extents[axis];
      row += static_cast<std::uint64_t>(place) * map.strides[axis];
    }
    for (std::uint32_t first = 0; first < map.box[0]; first += per_piece) {
      const std::uint64_t piece =
          swizzled(begin + std::uint64_t{first} * size, map.swizzle, map.atomicity);
      const std::int64_t end = corner[0] + first + per_piece;
      if (!loads && inside && end > static_cast<std::int64_t>(map.extents[0]) &&
          end - per_piece < static_cast<std::int64_t>(map.extents[0]))
        context.fail(FaultKind::unsupported, lane,
                     "a store of 16 bytes of which some are outside of the tensor");
      std::uint64_t words[2] = {};
      for (unsigned half = 0; half < 2 && !loads; ++half)
        words[half] = memory_.read(context, lane, piece + 8ul * half, 8, copy.from);
      for (unsigned i = 0; i < per_piece; ++i) {
        const std::int64_t place = corner[0] + first + i;
        const bool is_there =
            inside && place >= 0 && static_cast<std::uint64_t>(place) < map.extents[0];
        const std::uint64_t address = row + static_cast<std::uint64_t>(place) * size;
        const unsigned shift = i * size % 8 * 8;
        std::uint64_t &word = words[i * size / 8];
        if (!loads) {
          if (is_there)
            write_element(at_tensor, lane, copy, map.type(), address,
                          word >> shift & mask64(size * 8));
          continue;
        }
        std::uint64_t bits = map.fills_with_nan ? nan_fill & mask64(size * 8) : 0;
        if (is_there)
          bits = memory_.read(context, lane, address, size, StateSpace::global);
        if (map.element == TensorMap::Element::f32_ftz && (bits & 0x7f800000) == 0)
          bits &= 0x80000000;
        word |= bits << shift;
      }
      for (unsigned half = 0; half < 2 && loads; ++half)
        memory_.write(context, lane, piece + 8ul * half, 8, copy.to, words[half]);
    }
    done = true;
    for (unsigned axis = 1; axis < map.rank && done; ++axis)
      done = ++at[axis] == map.moved(axis) && (at[axis] = 0, true);
  }
}

void BulkUnit::access(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  if (in.opcode->op == Op::st)
    execute_store(context, memory_, mask);
  else
    execute_atomic(context, memory_, mask);
  if (in.third_address.base.kind == WarpOperand::Kind::none)
    return;
  const WarpInstruction signal = strong(in, WarpAction::mbarrier);
  WarpContext at_barrier = context;
  at_barrier.instruction = &signal;
  for_each_lane(mask, [&](unsigned lane) {
    async_.complete_transactions(at_barrier, lane, context.address(in.third_address, lane),
                                 std::uint64_t{in.element} * in.opcode->vector);
  });
}

void BulkUnit::store_zeros(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t to = context.address(in.address, lane);
    const std::uint64_t size = context.value(in.inputs[0], lane);
    if (to % 8 != 0 || size % 8 != 0)
      return memory_.refuse(context, lane, FaultKind::misaligned,
                            fmt::format("st.bulk of {} bytes at {:#x}", size, to), to);
    for (std::uint64_t i = 0; i < size; i += 8)
      memory_.write(context, lane, to + i, 8, StateSpace::shared, 0);
  });
}

void BulkUnit::change_map(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const Opcode &opcode = *in.opcode;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = context.address(in.address, lane);
    if (opcode.has(Modifier::cp_fenceproxy)) {
      const std::uint64_t from = context.address(in.second_address, lane);
      // One copy, of all lanes together.
      if (lane == static_cast<unsigned>(std::countr_zero(mask)))
        for (unsigned i = 0; i < TensorMap::bytes; i += 8)
          memory_.write(context, lane, address + i, 8, StateSpace::generic,
                        memory_.read(context, lane, from + i, 8, StateSpace::shared));
      return;
    }
    std::array<std::uint8_t, TensorMap::bytes> bytes;
    for (unsigned i = 0; i < TensorMap::bytes; ++i)
      bytes[i] = static_cast<std::uint8_t>(
          memory_.read(context, lane, address + i, 1, StateSpace::generic));
    auto map = decode_tensor_map(bytes);
    if (!map)
      context.fail(FaultKind::unsupported, lane,
                   fmt::format("no tensor map that this emulator made is at {:#x}", address),
                   address);
    const std::uint64_t value = context.value(in.inputs.back(), lane);
    const auto is = [&](std::string_view field) { return opcode.has(field); };
    const bool of_axis = in.inputs.size() == 2;
    const std::uint64_t axis = of_axis ? context.value(in.inputs[0], lane) : 0;
    if (axis >= TensorMap::most_axes || (is("global_stride") && axis + 1 >= TensorMap::most_axes))
      context.fail(FaultKind::unsupported, lane, fmt::format("axis {} of a tensor map", axis));
    const auto small = static_cast<std::uint8_t>(value);
    if (is("global_address"))
      map->address = value;
    else if (is("rank"))
      map->rank = static_cast<std::uint8_t>(small + 1);
    else if (is("box_dim"))
      map->box[axis] = static_cast<std::uint32_t>(value);
    else if (is("global_dim"))
      map->extents[axis] = value & mask64(32);
    else if (is("global_stride"))
      map->strides[axis + 1] = value;
    else if (is("element_stride"))
      map->steps[axis] = small;
    else if (is("elemtype"))
      map->element = static_cast<TensorMap::Element>(small);
    else if (is("interleave_layout"))
      map->interleave = small;
    else if (is("swizzle_mode"))
      map->swizzle = static_cast<TensorMap::Swizzle>(small);
    else if (is("swizzle_atomicity"))
      map->atomicity = small;
    else
      map->fills_with_nan = small != 0;
    const auto changed = encode(*map);
    for (unsigned i = 0; i < TensorMap::bytes; ++i)
      memory_.write(context, lane, address + i, 1, StateSpace::generic, changed[i]);
  });
}

} // namespace ptxasw::emulator
