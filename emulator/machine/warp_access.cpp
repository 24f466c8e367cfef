// Memory as a lane sees it: state spaces, bounds, alignment, atomics.

#include "emulator/machine/warp_machine.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <set>

namespace ptxasw {
namespace {

bool within(std::uint64_t address, std::uint64_t window) {
  return address >= window && address < window + window::size;
}

} // namespace

StateSpace space_of(std::uint64_t address) {
  return within(address, window::shared)  ? StateSpace::shared
         : within(address, window::local) ? StateSpace::local
         : within(address, window::param) ? StateSpace::param
                                          : StateSpace::global;
}

std::uint64_t WarpMachine::address_of(const WarpAddress &address, unsigned lane) const {
  const std::uint64_t base = value(address.base, lane);
  const std::uint64_t sum = base + static_cast<std::uint64_t>(address.offset);
  // 32-bit addresses stay within 32 bits.
  return address.base.kind == WarpOperand::Kind::reg && address.base.width == 32 ? sum & mask64(32)
                                                                                 : sum;
}

std::uint8_t *WarpMachine::locate(unsigned lane, std::uint64_t address, unsigned size,
                                  StateSpace space, bool is_store) {
  const auto outside = [&] {
    fail(FaultKind::out_of_bounds, lane,
         fmt::format("{} of {} bytes at {:#x} of {} memory", is_store ? "store" : "load", size,
                     address, to_string(space)),
         address);
  };
  if (address % size != 0)
    fail(FaultKind::misaligned, lane,
         fmt::format("{} of {} bytes at {:#x}", is_store ? "store" : "load", size, address),
         address);
  const StateSpace actual = space_of(address);
  if (space != StateSpace::generic && actual != space &&
      !(actual == StateSpace::global && space == StateSpace::constant))
    outside();
  const auto within_bytes = [&](std::vector<std::uint8_t> &bytes, std::uint64_t offset,
                                std::uint64_t end) {
    if (offset + size > end)
      outside();
    return bytes.data() + offset;
  };
  // Reads of what was never written; stores record what was.
  const auto note_written = [&](std::vector<std::uint8_t> &written, std::uint64_t offset) {
    if (written.empty())
      return;
    if (is_store)
      std::memset(written.data() + offset, 1, size);
    else if (std::find(written.data() + offset, written.data() + offset + size, 0) !=
             written.data() + offset + size)
      fail(FaultKind::uninitialized, lane,
           fmt::format("load of {} bytes at {:#x} of {} memory that was never written", size,
                       address, to_string(actual)),
           address);
  };
  if (options_.reals && is_store)
    options_.reals->store(real_space(lane, address), address, size, {});
  switch (actual) {
  case StateSpace::shared: {
    const std::uint64_t offset = address - window::shared;
    std::uint8_t *bytes = within_bytes(warp_->block->shared, offset, shared_bytes_);
    note_written(warp_->block->shared_written, offset);
    if (races_)
      check_race(lane, address, bytes, size, true, is_store);
    return bytes;
  }
  case StateSpace::local: {
    const std::uint64_t depth = max_local_ == 0 ? 0 : (address - window::local) / max_local_;
    if (depth > depth_ || max_local_ == 0)
      outside();
    CallLevel &owner = warp_->levels[depth];
    const std::uint64_t offset = (address - window::local) % max_local_;
    const std::uint64_t base = std::uint64_t{lane} * max_local_;
    std::uint8_t *bytes = within_bytes(owner.local, base + offset, base + max_local_);
    note_written(owner.local_written, base + offset);
    return bytes;
  }
  case StateSpace::param: {
    const std::uint64_t offset = address - window::param;
    if (is_store || offset + size > launch_.parameters.size())
      outside();
    return const_cast<std::uint8_t *>(launch_.parameters.data()) + offset;
  }
  default:
    break;
  }
  const GlobalMemory::Allocation *allocation = memory_.find(address, size);
  if (!allocation)
    outside();
  if (is_store && allocation->read_only)
    fail(FaultKind::read_only, lane,
         fmt::format("store of {} bytes at {:#x}, in `{}`", size, address, allocation->name),
         address);
  if (options_.watch != 0 && is_store && options_.watch - address < size)
    outcome_.watched = place(FaultKind::race, lane, "store", address);
  if (options_.note_touched)
    memory_.note_touched(address, size);
  if (options_.allowed && !is_store)
    for (unsigned i = 0; i < size; ++i)
      if (!options_.allowed->is_touched(address + i))
        fail(FaultKind::out_of_bounds, lane,
             fmt::format("load of {} bytes at {:#x}, which the original never accesses", size,
                         address),
             address);
  std::uint8_t *bytes = memory_.bytes(address, is_store);
  memory_.track(address, size, is_store);
  if (races_)
    check_race(lane, address, bytes, size, false, is_store);
  return bytes;
}

void WarpMachine::check_race(unsigned lane, std::uint64_t address, const std::uint8_t *bytes,
                             unsigned size, bool shared, bool is_store) {
  RaceDetector::Access access;
  static_cast<ThreadMoment &>(access) = moment(lane);
  access.line = instruction_->line;
  access.weak = instruction_->weak || (options_.volatile_races && instruction_->is_volatile);
  access.is_store = is_store;
  std::uint32_t same_bytes = 0; // of which two stores may overlap in part, and agree there
  for (unsigned i = 0; is_store && stored_ && i < std::min(size, 32u); ++i)
    same_bytes |= std::uint32_t{bytes[i] == reinterpret_cast<const std::uint8_t *>(stored_)[i]}
                  << i;
  access.unchanging = is_store && stored_ && std::memcmp(bytes, stored_, size) == 0;
  access.read_only = !shared && !is_store && instruction_->read_only;
  const std::uint32_t memory = shared ? access.block + 1 : 0;
  if (const Opcode &opcode = *instruction_->opcode; !instruction_->weak && is_store)
    races_->release(access, {memory, address}, instruction_->action == WarpAction::atomic,
                    opcode.has(Modifier::release) || opcode.has(Modifier::acq_rel));
  else if (!instruction_->weak)
    races_->acquire(access, {memory, address},
                    opcode.has(Modifier::acquire) || opcode.has(Modifier::acq_rel));
  const auto earlier = races_->note(memory, address, size, is_store, access,
                                    options_.allow_same_value ? same_bytes : 0);
  if (!earlier)
    return;
  const bool changes = !(access.unchanging || (earlier->unchanging && !is_store));
  std::optional<WarpFault> &report = changes ? outcome_.race : outcome_.same_value_race;
  if (report)
    return;
  WarpFault other = place(*earlier);
  report =
      place(changes ? FaultKind::race : FaultKind::same_value_race, lane,
            fmt::format("{} of {:#x} and the {} at {} are not ordered", is_store ? "store" : "load",
                        address, other.message, format_place(other)),
            address);
  report->others.push_back(std::move(other));
}

std::uint64_t WarpMachine::read_memory(unsigned lane, std::uint64_t address, unsigned size,
                                       StateSpace space) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, locate(lane, address, size, space, false), size);
  return bits;
}

void WarpMachine::write_memory(unsigned lane, std::uint64_t address, unsigned size,
                               StateSpace space, std::uint64_t bits) {
  stored_ = &bits;
  std::uint8_t *to = locate(lane, address, size, space, true);
  stored_ = nullptr;
  std::memcpy(to, &bits, size);
}

std::uint8_t *WarpMachine::quick_location(std::uint64_t address, std::uint64_t size,
                                          StateSpace space, bool is_store) {
  if (!is_plain_ || address % size != 0)
    return nullptr;
  if (space == StateSpace::shared) {
    const std::uint64_t offset = address - window::shared;
    return offset < shared_bytes_ && shared_bytes_ - offset >= size
               ? warp_->block->shared.data() + offset
               : nullptr;
  }
  return space == StateSpace::global ? memory_.quick_bytes(address, size, is_store) : nullptr;
}

void WarpMachine::load(LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  const unsigned size = in.element;
  note_access(mask, size * static_cast<unsigned>(in.outputs.size()), Pairing::allowed);
  for_each_lane(mask, [&](unsigned lane) {
    if (in.address.call_parameter) {
      const std::size_t at =
          std::size_t{lane} * max_parameters_ + static_cast<std::size_t>(in.address.offset);
      for (std::size_t i = 0; i < in.outputs.size(); ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, level_->parameters.data() + at + i * size, size);
        assign(in.outputs[i], lane, bits, in.width, in.sign_extends);
        if (options_.reals)
          set_real(in.outputs[i], lane,
                   options_.reals->load(frame_space(lane, depth_),
                                        static_cast<std::uint64_t>(in.address.offset) + i * size,
                                        size));
      }
      return;
    }
    const std::uint64_t address = address_of(in.address, lane);
    const std::uint64_t whole = size * in.outputs.size();
    if (const std::uint8_t *from = quick_location(address, whole, in.space, false)) {
      for (std::size_t i = 0; i < in.outputs.size(); ++i) {
        std::uint64_t read = 0;
        std::memcpy(&read, from + i * size, size);
        assign(in.outputs[i], lane, read, in.width, in.sign_extends);
      }
      return;
    }
    if (address % whole != 0)
      fail(FaultKind::misaligned, lane, fmt::format("load of {} bytes at {:#x}", whole, address),
           address);
    // The address register may be among the destinations: read all first.
    std::uint64_t bits[8];
    for (std::size_t i = 0; i < in.outputs.size(); ++i)
      bits[i] = read_memory(lane, address + i * size, size, in.space);
    for (std::size_t i = 0; i < in.outputs.size(); ++i)
      assign(in.outputs[i], lane, bits[i], in.width, in.sign_extends);
    for (std::size_t i = 0; options_.reals && i < in.outputs.size(); ++i)
      set_real(in.outputs[i], lane,
               options_.reals->load(real_space(lane, address), address + i * size, size));
  });
}

void WarpMachine::store(LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  const unsigned size = in.element;
  const std::size_t count = in.inputs.size();
  note_access(mask, size * static_cast<unsigned>(count), Pairing::never);
  for_each_lane(mask, [&](unsigned lane) {
    if (in.address.call_parameter) {
      const std::size_t at =
          std::size_t{lane} * max_parameters_ + static_cast<std::size_t>(in.address.offset);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = value(in.inputs[i], lane);
        std::memcpy(level_->parameters.data() + at + i * size, &bits, size);
        if (options_.reals)
          options_.reals->store(frame_space(lane, depth_),
                                static_cast<std::uint64_t>(in.address.offset) + i * size, size,
                                real_of(in.inputs[i], lane));
      }
      return;
    }
    const std::uint64_t address = address_of(in.address, lane);
    if (std::uint8_t *to = quick_location(address, size * count, in.space, true)) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = value(in.inputs[i], lane);
        std::memcpy(to + i * size, &bits, size);
      }
      return;
    }
    if (address % (size * count) != 0)
      fail(FaultKind::misaligned, lane,
           fmt::format("store of {} bytes at {:#x}", size * count, address), address);
    for (std::size_t i = 0; i < count; ++i) {
      write_memory(lane, address + i * size, size, in.space, value(in.inputs[i], lane));
      if (options_.reals)
        options_.reals->store(real_space(lane, address), address + i * size, size,
                              real_of(in.inputs[i], lane));
    }
  });
}

namespace {

/// What an atomic writes, from what it read (PTX ISA 9.7.13.5).
std::uint64_t atomic_result(const WarpInstruction &in, std::uint64_t old, std::uint64_t b,
                            std::uint64_t c, bool shared) {
  using Operation = AtomicOperation;
  const ScalarType type = in.opcode->type;
  const unsigned width = in.width;
  old &= mask64(width);
  b &= mask64(width);
  switch (in.atomic) {
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
    if (in.atomic == Operation::add)
      return old + b;
    const bool less = is_signed(type) ? as_signed(old, width) < as_signed(b, width) : old < b;
    return (in.atomic == Operation::min) == less ? old : b;
  }
  const FloatOperation what = in.atomic == Operation::add   ? FloatOperation::add
                              : in.atomic == Operation::min ? FloatOperation::min
                                                            : FloatOperation::max;
  if (type != ScalarType::f16x2 && type != ScalarType::bf16x2) {
    const std::uint64_t arguments[] = {b, old}; // in this order where both are NaN
    FloatMode mode = in.form.mode;
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
    result |= floating::compute(what, half, in.form.mode, arguments) << i;
  }
  return result;
}

} // namespace

void WarpMachine::atomic(LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  note_access(mask, in.element * in.opcode->vector, Pairing::never);
  // The order of lanes is not specified: the random policy starts anywhere.
  const unsigned start =
      options_.schedule == WarpSchedule::random ? static_cast<unsigned>(random_.below(32)) : 0;
  for (unsigned n = 0; n < warp_lanes; ++n) {
    const unsigned lane = (start + n) % warp_lanes;
    if (!(mask >> lane & 1))
      continue;
    const std::uint64_t address = address_of(in.address, lane);
    const std::size_t count = in.opcode->vector;
    if (address % (count * in.element) != 0)
      fail(FaultKind::misaligned, lane,
           fmt::format("atomic of {} bytes at {:#x}", count * in.element, address), address);
    const bool shared = space_of(address) == StateSpace::shared;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t at = address + i * in.element;
      const std::uint64_t old = read_memory(lane, at, in.element, in.space);
      const std::uint64_t b = value(in.inputs[i], lane);
      const std::uint64_t c = count == 1 && in.inputs.size() > 1 ? value(in.inputs[1], lane) : 0;
      const ExactReal before =
          options_.reals ? real_in_memory(lane, at, in.opcode->type, old) : ExactReal();
      const ExactReal after = options_.reals ? atomic_real(before, i, lane) : ExactReal();
      write_memory(lane, at, in.element, in.space, atomic_result(in, old, b, c, shared));
      if (options_.reals)
        options_.reals->store(real_space(lane, at), at, in.element, after);
      if (in.outputs.empty())
        continue;
      assign(in.outputs[i], lane, old, in.width, in.sign_extends);
      if (options_.reals)
        set_real(in.outputs[i], lane, before);
    }
  }
}

void WarpMachine::is_space(LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = value(in.inputs[0], lane);
    StateSpace actual = space_of(address);
    if (actual == StateSpace::global)
      if (const auto *allocation = memory_.find(address, 1); allocation && allocation->read_only)
        actual = StateSpace::constant;
    assign(in.outputs[0], lane, actual == in.space, 1, false);
  });
}

// Sectors of 32 bytes of global memory, and passes beyond the first of shared memory.
void WarpMachine::note_access(LaneMask mask, unsigned bytes, Pairing pairing,
                              const WarpAddress &where, StateSpace written) {
  if ((!options_.profile_memory && !options_.count) || where.call_parameter || bytes == 0)
    return;
  std::set<std::uint64_t> sectors;
  std::vector<SharedAccess> shared;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = address_of(where, lane);
    const StateSpace space = written == StateSpace::generic ? space_of(address) : written;
    if (space == StateSpace::shared)
      shared.push_back({lane, address});
    if (space == StateSpace::global)
      for (std::uint64_t at = address / 32; at <= (address + bytes - 1) / 32; ++at)
        sectors.insert(at);
  });
  const auto conflicts_with = [&](Pairing how) {
    const unsigned wavefronts = shared_wavefronts(shared, bytes, how);
    return wavefronts > 1 ? wavefronts - 1 : 0;
  };
  if (options_.profile_memory) {
    InstructionProfile &profile = profile_of(*instruction_);
    profile.sectors += sectors.size();
    profile.bank_conflicts += conflicts_with(pairing);
  }
  if (options_.count) {
    WarpCount &count = count_of(*warp_);
    count.sectors += sectors.size();
    count.conflicts += conflicts_with(Pairing::never); // as docs/bound.md defines them
  }
}

} // namespace ptxasw
