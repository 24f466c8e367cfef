// The machine's side of translated code: when it is entered, what its calls back do, and which
// memory it knows. Only runs in which nothing is checked, counted or noted instruction by
// instruction use it, under schedules that draw nothing; what such runs limit (turns, steps,
// memory) ends here where it ends in the interpreter, to the instruction.

#include "emulator/machine/warp_machine.h"

#include <algorithm>
#include <cstring>

namespace ptxasw::inline emulator {
namespace {

Translator *current_translator = nullptr;

} // namespace

void set_translator(Translator *translator) { current_translator = translator; }
Translator *translator() { return current_translator; }

const Translation *ProgramTranslations::of(const WarpProgram &program, std::uint32_t function,
                                           LaneLayout layout, std::uint64_t steps) {
  const std::scoped_lock lock(mutex_);
  Entry &entry = entries_[function * lane_layouts + static_cast<std::size_t>(layout)];
  if (!entry.tried && current_translator &&
      steps_ + steps >= current_translator->worth(program.function(function))) {
    entry.tried = true;
    entry.translation = current_translator->translate(program, function, layout);
  }
  return entry.translation.get();
}

bool WarpMachine::can_translate(const WarpOptions &options) {
  return current_translator && options.schedule != WarpSchedule::random && !options.check_races &&
         !options.check_uninitialized && !options.profile && !options.count &&
         !options.note_touched && !options.allowed && !options.tables_only && !options.observer &&
         !options.reals && options.watch == 0;
}

// Asked anew once per block of steps, until there is one.
const Translation *WarpMachine::translation(std::uint32_t function, LaneLayout layout) {
  if (translations_.empty())
    translations_.resize(run_.program.function_count());
  const Translation *&found = translations_[function][static_cast<std::size_t>(layout)];
  if (!found && run_.outcome.steps >= next_question_[static_cast<std::size_t>(layout)]) {
    next_question_[static_cast<std::size_t>(layout)] = run_.outcome.steps + 100'000;
    found = run_.program.translations().of(run_.program, function, layout, run_.outcome.steps);
  }
  return found;
}

namespace {

void put_in_row(const RegisterSlot &slot, const std::uint8_t *slots, LaneMask mask,
                std::uint64_t *row) {
  const std::uint8_t *const at = slots + slot.offset;
  const auto put = [&](auto value) {
    for_each_lane(mask, [&](unsigned lane) {
      std::uint64_t bits = value(lane);
      if (slot.any_nan && (bits & 0x7fffffff) > 0x7f800000)
        bits = 0x7fffffff;
      row[lane] = bits;
    });
  };
  const auto element = [&]<class Element>(Element) {
    put([&](unsigned lane) {
      Element value;
      std::memcpy(&value, at + lane * sizeof value, sizeof value);
      return std::uint64_t{value};
    });
  };
  if (slot.shape == RegisterSlot::Shape::steps) {
    std::uint64_t first = 0;
    std::memcpy(&first, at, sizeof first);
    put([&](unsigned lane) { return (first + lane * slot.step) & mask64(slot.width); });
  } else if (slot.width == 1) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    put([&](unsigned lane) { return std::uint64_t{bits >> lane & 1}; });
  } else if (slot.width == 8) {
    element(std::uint8_t{});
  } else if (slot.width == 16) {
    element(std::uint16_t{});
  } else if (slot.width == 32) {
    element(std::uint32_t{});
  } else {
    element(std::uint64_t{});
  }
}

/// False: the lanes' values are not what the slot can hold.
bool take_from_row(const RegisterSlot &slot, const std::uint64_t *row, LaneMask mask,
                   std::uint8_t *slots) {
  std::uint8_t *const at = slots + slot.offset;
  const auto elements = [&]<class Element>(Element) {
    Element values[warp_lanes];
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      values[lane] = static_cast<Element>(row[lane]);
    std::memcpy(at, values, sizeof values);
  };
  if (slot.shape == RegisterSlot::Shape::steps) {
    const auto chosen = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t first = row[chosen] - chosen * slot.step;
    bool fits = true;
    for_each_lane(mask, [&](unsigned lane) {
      fits &= ((first + lane * slot.step - row[lane]) & mask64(slot.width)) == 0;
    });
    const std::uint64_t value = first & mask64(slot.width);
    std::memcpy(at, &value, sizeof value);
    return fits;
  }
  if (slot.width == 1) {
    std::uint32_t bits = 0;
    for_each_lane(mask, [&](unsigned lane) { bits |= (row[lane] & 1) << lane; });
    std::memcpy(at, &bits, sizeof bits);
  } else if (slot.width == 8) {
    elements(std::uint8_t{});
  } else if (slot.width == 16) {
    elements(std::uint16_t{});
  } else if (slot.width == 32) {
    elements(std::uint32_t{});
  } else {
    elements(std::uint64_t{});
  }
  return true;
}

} // namespace

void WarpMachine::release_held(WarpState &warp) {
  HeldRegisters &held = warp.held;
  const Translation &code = *std::exchange(held.code, nullptr);
  CallLevel &level = warp.levels[held.depth];
  for (std::uint32_t i = code.live_begin[held.pc]; i < code.live_begin[held.pc + 1]; ++i)
    put_in_row(code.slots[code.live[i]], reinterpret_cast<const std::uint8_t *>(held.slots.data()),
               held.mask, &level.registers[std::size_t{code.live[i]} * warp_lanes]);
}

bool WarpMachine::leaves_registers(const WarpInstruction &instruction) {
  return instruction.action == WarpAction::barrier && instruction.guard == no_register &&
         instruction.outputs.empty() &&
         std::none_of(
             instruction.inputs.begin(), instruction.inputs.end(),
             [](const WarpOperand &input) { return input.kind == WarpOperand::Kind::reg; });
}

bool WarpMachine::hold(WarpContext &context, const Fragment &fragment, const Translation &code) {
  HeldRegisters &held = context.warp->held;
  // Since they were put there, nothing was executed that reads or writes registers.
  if (held.code == &code && held.mask == fragment.mask && held.depth == context.depth)
    return true;
  if (held.code)
    release_held(*context.warp);
  const std::uint32_t pc = fragment.stack.back().pc;
  held.slots.resize(std::max<std::size_t>(held.slots.size(), code.slot_bytes / 8));
  for (std::uint32_t i = code.live_begin[pc]; i < code.live_begin[pc + 1]; ++i)
    if (!take_from_row(code.slots[code.live[i]],
                       &context.level->registers[std::size_t{code.live[i]} * warp_lanes],
                       fragment.mask, reinterpret_cast<std::uint8_t *>(held.slots.data())))
      return false;
  return true;
}

void WarpMachine::find_shared_bytes() {
  shared_bytes_.resize(run_.shared_bytes / shared_granule + 1);
  const auto &is_there = run_.shared_variables;
  for (std::uint32_t begin = 0; begin < is_there.size();) {
    std::uint32_t end = begin;
    while (end < is_there.size() && is_there[end])
      ++end;
    for (std::uint32_t at = begin / shared_granule; end > begin && at <= (end - 1) / shared_granule;
         ++at)
      shared_bytes_[at] = {begin, end};
    begin = std::max(begin + 1, end);
  }
}

std::uint64_t WarpMachine::run_translated(WarpState &warp, std::size_t index, std::uint64_t most,
                                          bool to_block_end) {
  Fragment &fragment = warp.fragments[index];
  Activation &where = fragment.stack.back();
  const Translation *code = translation(where.function, layout_);
  if (!code || code->entries[where.pc] == 0)
    return 0;
  const auto lanes = static_cast<std::uint64_t>(std::popcount(fragment.mask));
  most = std::min(most, (run_.options.step_limit - run_.outcome.steps) / lanes);
  if (code->entries[where.pc] > most)
    return 0;
  if (known_.empty()) {
    known_.resize(known_pages);
    find_shared_bytes();
  } else if (known_changes_ != memory_.global().changes()) {
    std::fill(known_.begin(), known_.end(), KnownBytes{});
  }
  known_changes_ = memory_.global().changes();
  WarpContext context = WarpContext::of(run_, warp, fragment);
  if (!hold(context, fragment, *code)) {
    code = translation(where.function, LaneLayout::unshaped);
    if (!code || code->entries[where.pc] == 0 || code->entries[where.pc] > most ||
        !hold(context, fragment, *code))
      return 0;
  }
  if (warp.specials_of != code) {
    warp.specials.resize(code->specials.size() * warp_lanes);
    std::uint64_t *row = warp.specials.data();
    for (const SpecialRegister special : code->specials) {
      const auto axis =
          static_cast<std::size_t>(special) - static_cast<std::size_t>(SpecialRegister::tid_x);
      if (axis < 3 && is_by_lane(special, code->layout)) {
        std::copy(std::begin(warp.tid[axis]), std::end(warp.tid[axis]), row);
        row += warp_lanes;
        continue;
      }
      WarpOperand operand;
      operand.kind = WarpOperand::Kind::special;
      operand.special = special;
      for (unsigned lane = 0; lane < (is_by_lane(special, code->layout) ? warp_lanes : 1); ++lane)
        row[lane] = context.value(operand, lane);
      row += warp_lanes;
    }
    warp.specials_of = code;
  }
  TranslatedFrame frame;
  frame.slots = reinterpret_cast<std::uint8_t *>(warp.held.slots.data());
  frame.specials = warp.specials.data();
  frame.iterations = where.iterations.data();
  frame.parameters = run_.launch.parameters.data();
  frame.known = known_.data();
  frame.shared = warp.block->shared.data();
  frame.shared_bytes = shared_bytes_.data();
  frame.shared_granules = shared_bytes_.size();
  frame.local_base = window::local + context.depth * run_.max_local;
  frame.budget = static_cast<std::int64_t>(most);
  frame.lanes = fragment.mask;
  frame.pc = where.pc;
  frame.by_block = to_block_end || !fragment.partings.empty();
  frame.machine = this;
  frame.context = &context;
  frame.compute = [](TranslatedFrame *at, std::uint32_t pc, std::uint32_t mask) {
    static_cast<WarpMachine *>(at->machine)->compute_in_slots(*at, pc, mask);
  };
  frame.access = [](TranslatedFrame *at, std::uint32_t pc, std::uint32_t mask,
                    const std::uint64_t *addresses, std::uint8_t *values) -> std::uint32_t {
    return static_cast<WarpMachine *>(at->machine)->access(*at, pc, mask, addresses, values);
  };
  frame.access_steps = [](TranslatedFrame *at, std::uint32_t pc, std::uint32_t mask,
                          std::uint64_t first, std::uint64_t step,
                          std::uint8_t *values) -> std::uint32_t {
    std::uint64_t addresses[warp_lanes];
    for (std::uint64_t &address : addresses)
      address = std::exchange(first, first + step);
    return static_cast<WarpMachine *>(at->machine)->access(*at, pc, mask, addresses, values);
  };
  frame.code = code;
  code->code(&frame);
  where.pc = frame.pc;
  warp.held.code = code;
  warp.held.mask = fragment.mask;
  warp.held.depth = context.depth;
  warp.held.pc = frame.pc;
  const std::uint64_t executed = most - static_cast<std::uint64_t>(frame.budget);
  run_.outcome.steps += executed * lanes;
  return executed;
}

void WarpMachine::compute_in_slots(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask) {
  auto &context = *static_cast<WarpContext *>(frame.context);
  const WarpFunction &function = run_.program.function(context.function);
  const WarpInstruction &in = function.code[pc];
  context.instruction = &in;
  const auto row = [&](RegisterId reg) {
    return &context.level->registers[std::size_t{reg} * warp_lanes];
  };
  const auto to_row = [&](RegisterId reg) {
    put_in_row(frame.code->slots[reg], frame.slots, frame.lanes, row(reg));
  };
  const auto from_row = [&](RegisterId reg) {
    take_from_row(frame.code->slots[reg], row(reg), frame.lanes, frame.slots);
  };
  const auto each_output = [&](const auto &visit) {
    for (const WarpOperand &output : in.outputs)
      if (output.kind == WarpOperand::Kind::reg)
        visit(output.reg);
    if (in.second_output.kind == WarpOperand::Kind::reg)
      visit(in.second_output.reg);
    if (in.sets_carry)
      visit(static_cast<RegisterId>(function.function->registers.size()));
  };
  for (const WarpOperand &input : in.inputs)
    if (input.kind == WarpOperand::Kind::reg)
      to_row(input.reg);
  if (in.carries)
    to_row(static_cast<RegisterId>(function.function->registers.size()));
  each_output(to_row);
  if (in.action == WarpAction::move)
    move(context, mask);
  else
    compute(context, mask);
  each_output(from_row);
}

// Global memory by the table of known pages, into which come those that are touched. Close to the
// limit of memory nothing comes into it.
std::uint8_t *WarpMachine::known_global(std::uint64_t address, std::uint64_t size, bool is_store) {
  GlobalMemory &memory = memory_.global();
  KnownBytes &entry = known_[address / GlobalMemory::page_size % known_pages];
  const auto holds = [&] {
    return address >= entry.first && size <= entry.end && address <= entry.end - size &&
           (!is_store || address + size <= entry.store_end);
  };
  if (!holds()) {
    const GlobalMemory::Allocation *allocation = memory.find(address, size);
    if (!allocation || (is_store && allocation->read_only) ||
        memory.bytes_in_use() + warp_lanes * sizeof(GlobalMemory::Page) > run_.options.memory_limit)
      return nullptr;
    entry = {allocation->base, allocation->base + allocation->size};
    if (memory.has_host() && allocation->is_host) {
      entry.store_end = allocation->read_only ? entry.first : entry.end;
    } else {
      const std::uint8_t *at = memory.bytes(address, is_store);
      const std::uint64_t page = address - address % GlobalMemory::page_size;
      entry.first = std::max(entry.first, page);
      entry.end = std::min(entry.end, page + GlobalMemory::page_size);
      entry.store_end = is_store ? entry.end : entry.first;
      entry.to_host = reinterpret_cast<std::uintptr_t>(at) - address;
      entry.tracks = memory.last_tracks();
    }
    if (!holds())
      return nullptr;
  }
  if (entry.tracks) {
    const std::uint64_t offset = address % GlobalMemory::page_size;
    const std::uint64_t bits = ((std::uint64_t{1} << size) - 1) << offset % 64;
    if (is_store)
      entry.tracks->stored[offset / 64] |= bits;
    else
      entry.tracks->read[offset / 64] |= bits & ~entry.tracks->stored[offset / 64];
  }
  return reinterpret_cast<std::uint8_t *>(address + entry.to_host);
}

std::uint8_t *WarpMachine::known_bytes(const WarpContext &context, unsigned lane,
                                       std::uint64_t address, std::uint64_t size, bool is_store) {
  if (address % size != 0)
    return nullptr;
  const StateSpace written = context.instruction->space, actual = space_of(address);
  if (written != StateSpace::generic && written != actual &&
      !(actual == StateSpace::global && written == StateSpace::constant))
    return nullptr;
  if (actual == StateSpace::global)
    return known_global(address, size, is_store);
  if (actual == StateSpace::shared) {
    const std::uint64_t offset = address - window::shared;
    if (offset / shared_granule >= shared_bytes_.size())
      return nullptr;
    const SharedBytes &bytes = shared_bytes_[offset / shared_granule];
    return offset >= bytes.first && offset + size <= bytes.end
               ? context.warp->block->shared.data() + offset
               : nullptr;
  }
  // Of local memory, variables of the function itself.
  const std::uint64_t frame = window::local + context.depth * run_.max_local;
  if (actual != StateSpace::local || address < frame)
    return nullptr;
  for (const VariableBytes &variable : run_.program.function(context.function).locals)
    if (address - frame >= variable.begin && address - frame + size <= variable.end)
      return context.level->local.data() + std::uint64_t{lane} * run_.max_local + (address - frame);
  return nullptr;
}

namespace {

/// Between memory and rows of elements of so many bytes; lane after lane: of stores to one place
/// the last one stays, as in the interpreter.
template <class Element>
void copy_elements(std::uint8_t *const (&bytes)[warp_lanes], LaneMask mask, std::size_t count,
                   bool is_store, std::uint8_t *values) {
  for_each_lane(mask, [&](unsigned lane) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint8_t *const value = values + (i * warp_lanes + lane) * sizeof(Element);
      std::uint8_t *const byte = bytes[lane] + i * sizeof(Element);
      is_store ? std::memcpy(byte, value, sizeof(Element))
               : std::memcpy(value, byte, sizeof(Element));
    }
  });
}

} // namespace

bool WarpMachine::access(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask,
                         const std::uint64_t *addresses, std::uint8_t *values) {
  auto &context = *static_cast<WarpContext *>(frame.context);
  const WarpInstruction &in = run_.program.function(context.function).code[pc];
  context.instruction = &in;
  const bool is_store = in.action == WarpAction::store;
  const std::size_t size = in.element, count = is_store ? in.inputs.size() : in.outputs.size();
  const std::uint64_t whole = size * count;
  std::uint8_t *bytes[warp_lanes];
  for (LaneMask left = mask; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t address = addresses[lane];
    // Most are global, and known.
    const KnownBytes &entry = known_[address / GlobalMemory::page_size % known_pages];
    const std::uint64_t end = is_store ? entry.store_end : entry.end;
    bytes[lane] = address - entry.first < end - entry.first && end - address >= whole &&
                          address % whole == 0 && !entry.tracks && in.space != StateSpace::shared &&
                          in.space != StateSpace::local && in.space != StateSpace::param
                      ? reinterpret_cast<std::uint8_t *>(address + entry.to_host)
                      : known_bytes(context, lane, address, whole, is_store);
    if (!bytes[lane])
      return false;
  }
  switch (size) {
  case 1:
    copy_elements<std::uint8_t>(bytes, mask, count, is_store, values);
    break;
  case 2:
    copy_elements<std::uint16_t>(bytes, mask, count, is_store, values);
    break;
  case 4:
    copy_elements<std::uint32_t>(bytes, mask, count, is_store, values);
    break;
  default:
    copy_elements<std::uint64_t>(bytes, mask, count, is_store, values);
  }
  return true;
}

} // namespace ptxasw::emulator
