// Loads, stores and atomics, lane by lane.

#include "emulator/machine/warp_access.h"

#include "emulator/machine/warp_real.h"

#include <cstring>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace {

LaneMask lanes_from(unsigned first, unsigned count) {
  return (~LaneMask{0} >> (warp_lanes - count)) << first;
}

/// One result of a load, of so many lanes from one on; its place in the first lane, and how far the
/// next lane's is.
template <class Element>
void assign_lanes(WarpContext &context, const WarpOperand &output, unsigned first, unsigned count,
                  const std::uint8_t *from, std::size_t step) {
  const WarpInstruction &in = *context.instruction;
  if (output.kind != WarpOperand::Kind::reg)
    return;
  const bool is_plain = in.width == 8 * sizeof(Element) && output.width >= in.width &&
                        (!in.sign_extends || output.width == in.width);
  std::uint64_t *const row =
      &context.level->registers[std::size_t{output.reg} * warp_lanes] + first;
  for (unsigned lane = 0; lane < count; ++lane) {
    Element bits;
    std::memcpy(&bits, from + lane * step, sizeof bits);
    if (is_plain)
      row[lane] = bits;
    else
      context.assign(output, first + lane, bits, in.width, in.sign_extends);
  }
}

void assign_lanes(WarpContext &context, std::size_t result, unsigned first, unsigned count,
                  const std::uint8_t *from, std::size_t step) {
  const WarpInstruction &in = *context.instruction;
  const WarpOperand &output = in.outputs[result];
  from += result * in.element;
  switch (in.element) {
  case 1:
    return assign_lanes<std::uint8_t>(context, output, first, count, from, step);
  case 2:
    return assign_lanes<std::uint16_t>(context, output, first, count, from, step);
  case 4:
    return assign_lanes<std::uint32_t>(context, output, first, count, from, step);
  default:
    return assign_lanes<std::uint64_t>(context, output, first, count, from, step);
  }
}

/// Of the frame's parameter bytes.
void load_call_parameter(WarpContext &context, unsigned lane) {
  const WarpInstruction &in = *context.instruction;
  const unsigned size = in.element;
  const std::size_t at =
      std::size_t{lane} * context.run.max_parameters + static_cast<std::size_t>(in.address.offset);
  for (std::size_t i = 0; i < in.outputs.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, context.level->parameters.data() + at + i * size, size);
    context.assign(in.outputs[i], lane, bits, in.width, in.sign_extends);
    if (context.run.options.reals)
      context.set_real(in.outputs[i], lane,
                       context.run.options.reals->load(
                           context.frame_space(lane, context.depth),
                           static_cast<std::uint64_t>(in.address.offset) + i * size, size));
  }
}

void load_lane(WarpContext &context, MemoryView &memory, unsigned lane, std::uint64_t address) {
  const WarpInstruction &in = *context.instruction;
  const unsigned size = in.element;
  const std::uint64_t whole = size * in.outputs.size();
  const bool aligned = memory.is_aligned(context, lane, address, whole, "load");
  // The address register may be among the destinations: read all first.
  std::uint64_t bits[8] = {};
  for (std::size_t i = 0; aligned && i < in.outputs.size(); ++i)
    bits[i] = memory.read(context, lane, address + i * size, size, in.space);
  for (std::size_t i = 0; i < in.outputs.size(); ++i)
    context.assign(in.outputs[i], lane, bits[i], in.width, in.sign_extends);
  for (std::size_t i = 0; context.run.options.reals && i < in.outputs.size(); ++i)
    context.set_real(in.outputs[i], lane,
                     aligned ? context.run.options.reals->load(context.real_space(lane, address),
                                                               address + i * size, size)
                             : ExactReal());
}

void store_call_parameter(WarpContext &context, unsigned lane) {
  const WarpInstruction &in = *context.instruction;
  const unsigned size = in.element;
  const std::size_t at =
      std::size_t{lane} * context.run.max_parameters + static_cast<std::size_t>(in.address.offset);
  for (std::size_t i = 0; i < in.inputs.size(); ++i) {
    const std::uint64_t bits = context.value(in.inputs[i], lane);
    std::memcpy(context.level->parameters.data() + at + i * size, &bits, size);
    if (context.run.options.reals)
      context.run.options.reals->store(context.frame_space(lane, context.depth),
                                       static_cast<std::uint64_t>(in.address.offset) + i * size,
                                       size, context.real_of(in.inputs[i], lane));
  }
}

void store_lane(WarpContext &context, MemoryView &memory, unsigned lane, std::uint64_t address) {
  const WarpInstruction &in = *context.instruction;
  const unsigned size = in.element;
  const std::size_t count = in.inputs.size();
  if (!memory.is_aligned(context, lane, address, size * count, "store"))
    return;
  for (std::size_t i = 0; i < count; ++i)
    memory.write(context, lane, address + i * size, size, in.space,
                 context.value(in.inputs[i], lane), context.real_of(in.inputs[i], lane));
}

} // namespace

void execute_load(WarpContext &context, MemoryView &memory, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const unsigned whole = in.element * static_cast<unsigned>(in.outputs.size());
  memory.note_access(context, mask, whole, Pairing::allowed);
  if (in.address.call_parameter)
    return for_each_lane(mask, [&](unsigned lane) { load_call_parameter(context, lane); });
  if (const std::uint8_t *const from = memory.launch_parameter(in, whole)) {
    for_each_lane(mask, [&](unsigned lane) {
      for (std::size_t i = 0; i < in.outputs.size(); ++i)
        assign_lanes(context, i, lane, 1, from, 0);
    });
    return;
  }
  std::uint64_t addresses[warp_lanes];
  context.addresses(in.address, mask, addresses);
  while (mask != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const MemoryView::Together found =
        memory.locate_together(context, mask, addresses, whole, nullptr);
    for (std::size_t i = 0; found.lanes != 0 && i < in.outputs.size(); ++i)
      assign_lanes(context, i, first, found.lanes, found.bytes, found.same ? 0 : whole);
    if (found.lanes == 0)
      load_lane(context, memory, first, addresses[first]);
    mask &= ~lanes_from(first, std::max(found.lanes, 1u));
  }
}

void execute_store(WarpContext &context, MemoryView &memory, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const unsigned whole = in.element * static_cast<unsigned>(in.inputs.size());
  memory.note_access(context, mask, whole, Pairing::never);
  if (in.address.call_parameter)
    return for_each_lane(mask, [&](unsigned lane) { store_call_parameter(context, lane); });
  std::uint64_t addresses[warp_lanes];
  context.addresses(in.address, mask, addresses);
  // What each lane stores, behind each other.
  std::uint8_t stored[warp_lanes * MemoryView::most_bytes];
  if (whole > MemoryView::most_bytes)
    return for_each_lane(
        mask, [&](unsigned lane) { store_lane(context, memory, lane, addresses[lane]); });
  for_each_lane(mask, [&](unsigned lane) {
    for (std::size_t i = 0; i < in.inputs.size(); ++i) {
      const std::uint64_t bits = context.value(in.inputs[i], lane);
      std::memcpy(stored + std::size_t{lane} * whole + i * in.element, &bits, in.element);
    }
  });
  while (mask != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const MemoryView::Together found = memory.locate_together(context, mask, addresses, whole,
                                                              stored + std::size_t{first} * whole);
    if (found.lanes == 0)
      store_lane(context, memory, first, addresses[first]);
    else
      std::memcpy(found.bytes, stored + std::size_t{first} * whole,
                  std::size_t{found.lanes} * whole);
    mask &= ~lanes_from(first, std::max(found.lanes, 1u));
  }
}

std::uint64_t atomic_result(AtomicOperation operation, ScalarType type, FloatMode mode,
                            std::uint64_t old, std::uint64_t b, std::uint64_t c, bool shared) {
  using Operation = AtomicOperation;
  const unsigned width = bit_width(type);
  old &= mask64(width);
  b &= mask64(width);
  switch (operation) {
  case Operation::exchange:
    return b;
  case Operation::compare_and_swap:
    return old == b ? c : old;
  case Operation::bit_and:
    return old & b;
  case Operation::bit_or:
    return old | b;
  case Operation::bit_xor:
    return old ^ b;
  case Operation::increment:
    return old >= b ? 0 : old + 1;
  case Operation::decrement:
    return old == 0 || old > b ? b : old - 1;
  default: // add, min, max
    break;
  }
  if (!is_float(type)) {
    if (operation == Operation::add)
      return old + b;
    const bool less = is_signed(type) ? as_signed(old, width) < as_signed(b, width) : old < b;
    return (operation == Operation::min) == less ? old : b;
  }
  const FloatOperation what = operation == Operation::add   ? FloatOperation::add
                              : operation == Operation::min ? FloatOperation::min
                                                            : FloatOperation::max;
  if (type != ScalarType::f16x2 && type != ScalarType::bf16x2) {
    const std::uint64_t arguments[] = {b, old};      // in this order where both are NaN
    mode.flush = type == ScalarType::f32 && !shared; // by where the memory is (PTX ISA 9.7.13.5)
    const std::uint64_t result = floating::compute(what, type, mode, arguments);
    // Global memory leaves a NaN of 64 bits as it is.
    if (type == ScalarType::f64 && !shared)
      for (const std::uint64_t operand : {b, old})
        if (floating::classify(type, operand) == floating::NumberClass::nan)
          return operand;
    return result;
  }
  const ScalarType half = type == ScalarType::f16x2 ? ScalarType::f16 : ScalarType::bf16;
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 32; i += 16) {
    const std::uint64_t arguments[] = {old >> i & 0xffff, b >> i & 0xffff};
    result |= floating::compute(what, half, mode, arguments) << i;
  }
  return result;
}

void execute_atomic(WarpContext &context, MemoryView &memory, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  memory.note_access(context, mask, in.element * in.opcode->vector, Pairing::never);
  // The order of lanes is not specified: the random policy starts anywhere.
  const unsigned start = context.run.options.schedule == WarpSchedule::random
                             ? static_cast<unsigned>(context.run.random.below(32))
                             : 0;
  for (unsigned n = 0; n < warp_lanes; ++n) {
    const unsigned lane = (start + n) % warp_lanes;
    if (!(mask >> lane & 1))
      continue;
    const std::uint64_t address = context.address(in.address, lane);
    const std::size_t count = in.opcode->vector;
    if (!memory.is_aligned(context, lane, address, count * in.element, "atomic")) {
      for (const WarpOperand &output : in.outputs)
        context.assign(output, lane, 0, in.width, false);
      continue;
    }
    const bool shared = space_of(address) == StateSpace::shared;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t at = address + i * in.element;
      const std::uint64_t old = memory.read(context, lane, at, in.element, in.space);
      const std::uint64_t b = context.value(in.inputs[i], lane);
      const std::uint64_t c =
          count == 1 && in.inputs.size() > 1 ? context.value(in.inputs[1], lane) : 0;
      const ExactReal before = context.run.options.reals
                                   ? real_in_memory(context, lane, at, in.opcode->type, old)
                                   : ExactReal();
      const ExactReal after =
          context.run.options.reals ? atomic_real(context, before, i, lane) : ExactReal();
      memory.write(context, lane, at, in.element, in.space,
                   atomic_result(in.atomic, in.opcode->type, in.form.mode, old, b, c, shared),
                   after);
      if (in.outputs.empty())
        continue;
      context.assign(in.outputs[i], lane, old, in.width, in.sign_extends);
      if (context.run.options.reals)
        context.set_real(in.outputs[i], lane, before);
    }
  }
}

void execute_is_space(WarpContext &context, MemoryView &memory, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = context.value(in.inputs[0], lane);
    StateSpace actual = space_of(address);
    if (actual == StateSpace::global)
      if (const auto *allocation = memory.global().find(address, 1);
          allocation && allocation->read_only)
        actual = StateSpace::constant;
    bool is_there = actual == in.space;
    // .shared::cluster is the window of all blocks of the cluster, .shared one's own part of it.
    if (is_there && actual == StateSpace::shared && !in.opcode->has(Modifier::shared_cluster)) {
      const BlockState &own = *context.warp->block;
      is_there = context.run.shared_place(*context.warp->block, address).first == &own;
    }
    context.assign(in.outputs[0], lane, is_there, 1, false);
  });
}

} // namespace ptxasw::emulator
