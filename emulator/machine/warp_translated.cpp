// The machine's side of translated code: when it is entered, what its calls back do, and which
// memory it knows. Only runs in which nothing is checked, counted or noted instruction by
// instruction use it, under schedules that draw nothing; what such runs limit (turns, steps,
// memory) ends here where it ends in the interpreter, to the instruction.

#include "emulator/machine/warp_machine.h"

#include "emulator/semantics/parameter_layout.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace ptxasw::emulator {
namespace {

Translator *current_translator = nullptr;

/// Pages whose bytes are known at a time.
constexpr std::uint64_t known_pages = 512;

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

// Rows of one warp are of one plane where planes have whole warps.
LaneLayout WarpMachine::layout_of(const Extents &block) {
  if (block.x % warp_lanes == 0 || (block.y == 1 && block.z == 1))
    return LaneLayout::consecutive;
  for (const LaneLayout rows : {LaneLayout::rows_of_16, LaneLayout::rows_of_8})
    if (block.x == row_lanes(rows) && (block.z == 1 || block.y % (warp_lanes / block.x) == 0))
      return rows;
  return LaneLayout::any;
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
    put([&](unsigned lane) { return (first + slot.more(lane)) & mask64(slot.width); });
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
    const std::uint64_t first = row[chosen] - slot.more(chosen);
    bool fits = true;
    for_each_lane(mask, [&](unsigned lane) {
      fits &= ((first + slot.more(lane) - row[lane]) & mask64(slot.width)) == 0;
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

std::size_t slot_size(const RegisterSlot &slot) {
  return slot.shape == RegisterSlot::Shape::steps || slot.width == 1
             ? 8
             : std::size_t{slot.width} / 8 * warp_lanes;
}

/// Puts the values of some lanes in a slot where there are others; false: it cannot hold both.
bool blend_slot(const RegisterSlot &slot, const std::uint8_t *from, LaneMask lanes,
                std::uint8_t *to) {
  from += slot.offset;
  to += slot.offset;
  if (slot.shape == RegisterSlot::Shape::steps)
    return std::memcmp(from, to, sizeof(std::uint64_t)) == 0;
  if (slot.width == 1) {
    std::uint32_t others = 0, bits = 0;
    std::memcpy(&others, to, sizeof others);
    std::memcpy(&bits, from, sizeof bits);
    bits = (bits & lanes) | (others & ~lanes);
    std::memcpy(to, &bits, sizeof bits);
    return true;
  }
  const auto elements = [&]<class Element>(Element) {
    for_each_lane(lanes, [&](unsigned lane) {
      std::memcpy(to + lane * sizeof(Element), from + lane * sizeof(Element), sizeof(Element));
    });
  };
  if (slot.width == 8)
    elements(std::uint8_t{});
  else if (slot.width == 16)
    elements(std::uint16_t{});
  else if (slot.width == 32)
    elements(std::uint32_t{});
  else
    elements(std::uint64_t{});
  return true;
}

/// For what others may change before the sides of a branch meet, until one says false.
template <class Visit>
bool for_changed_slots(const Translation &code, std::uint32_t branch, Visit visit) {
  for (std::uint32_t i = code.changed_begin[branch]; i < code.changed_begin[branch + 1]; ++i)
    if (!visit(code.slots[code.changed[i]]))
      return false;
  return true;
}

} // namespace

void WarpMachine::release_held(WarpState &warp) {
  HeldRegisters &held = warp.held;
  const Translation &code = *std::exchange(held.code, nullptr);
  CallLevel &level = warp.levels[held.depth];
  if (std::exchange(held.rows_are_blank, false))
    std::fill(level.registers.begin(), level.registers.end(), 0);
  for (std::uint32_t i = code.live_begin[held.pc]; i < code.live_begin[held.pc + 1]; ++i)
    put_in_row(code.slots[code.live[i]], reinterpret_cast<const std::uint8_t *>(held.slots.data()),
               held.mask, &level.registers[std::size_t{code.live[i]} * warp_lanes]);
}

bool WarpMachine::leaves_registers(const WarpInstruction &instruction) {
  return (instruction.action == WarpAction::barrier || instruction.action == WarpAction::exit) &&
         instruction.guard == no_register && instruction.outputs.empty() &&
         std::none_of(
             instruction.inputs.begin(), instruction.inputs.end(),
             [](const WarpOperand &input) { return input.kind == WarpOperand::Kind::reg; });
}

bool WarpMachine::has_stopped(const WarpState &warp, const Fragment &fragment) {
  const HeldRegisters &held = warp.held;
  const std::uint32_t pc = fragment.stack.back().pc;
  return held.code && held.pc == pc && held.mask == fragment.mask &&
         held.depth == fragment.stack.size() - 1 && held.code->entries[pc] == 0;
}

bool WarpMachine::hold(WarpContext &context, const Fragment &fragment, const Translation &code) {
  HeldRegisters &held = context.warp->held;
  // Since they were put there, nothing was executed that reads or writes registers.
  if (held.code == &code && held.mask == fragment.mask && held.depth == context.depth)
    return true;
  if (held.code)
    release_held(*context.warp);
  const std::uint32_t pc = fragment.stack.back().pc;
  held.slots.resize(std::max(held.slots.size(), code.slot_bytes / sizeof(SlotLine)));
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

// Values of the special registers of code, into rows. `of`: which of them are wanted.
namespace {

bool is_of_block(SpecialRegister special) {
  return special >= SpecialRegister::ctaid_x && special <= SpecialRegister::cluster_ctarank &&
         (special < SpecialRegister::nctaid_x || special > SpecialRegister::nctaid_z);
}

std::size_t axis_of(SpecialRegister special, SpecialRegister x) {
  return static_cast<std::size_t>(special) - static_cast<std::size_t>(x);
}

void fill_special(const WarpContext &context, SpecialRegister special, LaneLayout layout,
                  std::uint64_t *row) {
  const std::size_t axis = axis_of(special, SpecialRegister::tid_x);
  const std::size_t lanes = is_by_lane(special, layout) ? warp_lanes : 1;
  if (axis < 3) {
    std::copy_n(context.warp->tid[axis], lanes, row);
    return;
  }
  WarpOperand operand;
  operand.kind = WarpOperand::Kind::special;
  operand.special = special;
  for (unsigned lane = 0; lane < lanes; ++lane)
    row[lane] = context.value(operand, lane);
}

void fill_specials(const WarpContext &context, const Translation &code, std::uint64_t *row) {
  for (const SpecialRegister special : code.specials) {
    fill_special(context, special, code.layout, row);
    row += warp_lanes;
  }
}

} // namespace

void WarpMachine::find_whole_specials(const WarpContext &context, const Translation &code) {
  WholeSpecials &its = whole_specials_;
  its = {};
  its.code = &code;
  its.block = context.warp->block->index;
  its.values.resize(code.specials.size() * warp_lanes);
  fill_specials(context, code, its.values.data());
  for (std::size_t i = 0; i < code.specials.size(); ++i) {
    const SpecialRegister special = code.specials[i];
    const std::size_t row = i * warp_lanes;
    if (is_of_block(special))
      its.of_block.push_back({row, special});
    if (is_of_warp(special) && is_by_lane(special, code.layout))
      its.by_lane.push_back({row, special});
    else if (is_of_warp(special))
      its.of_warp.push_back(row);
  }
  for (const WarpState &warp : context.warp->block->warps)
    for (const std::size_t row : its.of_warp) {
      const SpecialRegister special = code.specials[row / warp_lanes];
      its.of_warps.push_back(special == SpecialRegister::warpid
                                 ? warp.index
                                 : warp.tid[axis_of(special, SpecialRegister::tid_x)][0]);
    }
}

const std::uint64_t *WarpMachine::specials_of_whole(const WarpContext &context,
                                                    const Translation &code) {
  WholeSpecials &its = whole_specials_;
  const WarpState &warp = *context.warp;
  if (its.code != &code)
    find_whole_specials(context, code);
  std::uint64_t *const values = its.values.data();
  if (its.block != warp.block->index) {
    its.block = warp.block->index;
    for (const auto &[row, special] : its.of_block)
      if (special <= SpecialRegister::ctaid_z)
        values[row] = warp.block->ctaid[axis_of(special, SpecialRegister::ctaid_x)];
      else
        fill_special(context, special, code.layout, &values[row]);
  }
  const std::uint64_t *of_warp = its.of_warps.data() + warp.index * its.of_warp.size();
  for (const std::size_t row : its.of_warp)
    values[row] = *of_warp++;
  for (const auto &[row, special] : its.by_lane)
    fill_special(context, special, code.layout, &values[row]);
  return values;
}

std::uint64_t WarpMachine::within_limit(std::uint64_t quantum, LaneMask lanes) const {
  const std::uint64_t left = run_.options.step_limit - run_.outcome.steps;
  return quantum <= left / warp_lanes ? quantum : std::min(quantum, left / lane_count(lanes));
}

void WarpMachine::begin_run(TranslatedFrame &frame, std::uint64_t quantum) {
  run_quantum_ = quantum;
  run_budget_ = within_limit(quantum, frame.lanes);
  frame.budget = static_cast<std::int64_t>(run_budget_);
  frame.run_budget = run_budget_;
  frame.steps_left = run_.options.step_limit - run_.outcome.steps;
  frame.turn_left = turn_.left;
  frame.run_steps = run_.outcome.steps - turn_.before;
}

void WarpMachine::hear_code(TranslatedFrame &frame) {
  run_.outcome.parted |= std::exchange(frame.has_parted, 0) != 0;
  if (std::exchange(frame.has_begun, 0) == 0)
    return;
  run_.outcome.steps = run_.options.step_limit - frame.steps_left;
  turn_ = {frame.turn_left, run_.outcome.steps};
  run_quantum_ = run_budget_ = run_.options.time_slice;
}

void WarpMachine::start_frame(LaneMask lanes, std::uint32_t pc, bool by_block) {
  frame_.lanes = lanes;
  frame_.pc = pc;
  frame_.by_block = by_block;
  frame_.may_part = !by_block && run_.options.schedule == WarpSchedule::reconverge;
  frame_.parked_count = 0;
  frame_.parked_meetings = 0;
  frame_.asks = 0;
  run_ended_ = false;
}

void WarpMachine::count_run(TranslatedFrame &frame) {
  hear_code(frame);
  const std::uint64_t executed = run_budget_ - static_cast<std::uint64_t>(frame.budget);
  run_.outcome.steps += executed * lane_count(frame.lanes);
  run_quantum_ -= executed;
  run_budget_ -= executed;
}

void WarpMachine::make_frame() {
  struct Calls {
    static WarpMachine &machine(TranslatedFrame *at) {
      return *static_cast<WarpMachine *>(at->machine);
    }
    static void compute(TranslatedFrame *at, std::uint32_t pc, std::uint32_t mask) {
      machine(at).compute_in_slots(*at, pc, mask);
    }
    static std::uint32_t access(TranslatedFrame *at, std::uint32_t pc, std::uint32_t mask,
                                const std::uint64_t *addresses, std::uint8_t *values) {
      return machine(at).access(*at, pc, mask, addresses, values);
    }
    static std::uint32_t access_steps(TranslatedFrame *at, std::uint32_t pc, std::uint32_t mask,
                                      std::uint64_t first, std::uint64_t step,
                                      std::uint8_t *values) {
      std::uint64_t addresses[warp_lanes];
      for (std::uint64_t &address : addresses)
        address = std::exchange(first, first + step);
      return machine(at).access(*at, pc, mask, addresses, values);
    }
    static std::uint32_t part(TranslatedFrame *at, std::uint32_t pc, std::uint32_t taken,
                              std::uint32_t executed) {
      return machine(at).part_in_code(*at, pc, taken, executed);
    }
    static std::uint32_t block_ends(TranslatedFrame *at, std::uint32_t to) {
      return machine(at).end_block_in_code(*at, to);
    }
  };
  frame_.parameters = run_.launch.parameters.data();
  known_.resize(known_pages);
  known_by_instruction_.resize(run_.program.function_count());
  known_changes_ = memory_.global().changes();
  find_shared_bytes();
  frame_.compute = &Calls::compute;
  frame_.access = &Calls::access;
  frame_.access_steps = &Calls::access_steps;
  frame_.part = &Calls::part;
  frame_.block_ends = &Calls::block_ends;
  frame_.machine = this;
  frame_.time_slice = run_.options.time_slice;
  frame_.enough_steps = run_.options.time_slice * warp_lanes;
}

void WarpMachine::forget_known_bytes() {
  known_changes_ = memory_.global().changes();
  std::fill(known_.begin(), known_.end(), KnownBytes{});
  for (auto &of_function : known_by_instruction_)
    for (std::vector<KnownAccess> &known : of_function)
      std::fill(known.begin(), known.end(), KnownAccess{});
}

void WarpMachine::prepare_frame(WarpContext &context, const Translation &code) {
  TranslatedFrame &frame = frame_;
  if (!frame.machine)
    make_frame();
  if (known_changes_ != memory_.global().changes())
    forget_known_bytes();
  std::vector<KnownAccess> &known =
      known_by_instruction_[context.function][static_cast<std::size_t>(code.layout)];
  if (known.empty())
    known.resize(code.entries.size());
  frame.known = known.data();
  frame.shared = context.warp->block->shared.data();
  frame.local_base = window::local + context.depth * run_.max_local;
  frame.loops = run_.program.function(context.function).cfg->loops().size();
  frame.context = &context;
  if (frame.code != &code) {
    frame.code = &code;
    frame.parked_room = 0;
  }
}

void WarpMachine::enter(WarpContext &context, const Translation &code, LaneMask lanes,
                        std::uint32_t pc, std::uint32_t *iterations, std::uint64_t quantum,
                        bool by_block) {
  TranslatedFrame &frame = frame_;
  prepare_frame(context, code);
  frame.slots = reinterpret_cast<std::uint8_t *>(context.warp->held.slots.data());
  frame.iterations = iterations;
  start_frame(lanes, pc, by_block);
  begin_run(frame, quantum);
  code.code(&frame);
  hold_what_is_left(context);
}

void WarpMachine::hold_what_is_left(const WarpContext &context) {
  if (!run_ended_)
    count_run(frame_);
  HeldRegisters &held = context.warp->held;
  held.code = frame_.code;
  held.mask = frame_.lanes;
  held.depth = context.depth;
  held.pc = frame_.pc;
}

WarpMachine::Translated WarpMachine::settle(WarpContext &context, std::size_t &index,
                                            std::uint64_t &quantum, bool &to_block_end) {
  WarpState &warp = *context.warp;
  quantum = run_quantum_;
  warp.fragments[index].stack.back().pc = frame_.pc;
  if (frame_.parked_count == 0)
    return Translated::went_on;
  const Translation &code = *frame_.code;
  if (std::exchange(warp.held.rows_are_blank, false)) {
    std::vector<std::uint64_t> &rows = warp.levels[context.depth].registers;
    std::fill(rows.begin(), rows.end(), 0);
  }
  for (std::size_t i = 0; i < frame_.parked_count; ++i) {
    const ParkedLanes &parked = frame_.parked[i];
    const std::uint32_t place = parked.place;
    const std::size_t other = scheduler_.split(
        warp, index,
        parked.took_branch != 0 ? parked.lanes : warp.fragments[index].mask & ~parked.lanes,
        parked.meeting);
    warp.fragments[parked.took_branch ? other : index].stack.back() = place_of(frame_, i);
    if (!parked.took_branch)
      index = other;
    // What others have not changed is in the slots that they have.
    for (std::uint32_t live = code.live_begin[place]; live < code.live_begin[place + 1]; ++live) {
      const RegisterId reg = code.live[live];
      const auto begin = code.changed.begin() + code.changed_begin[parked.branch],
                 end = code.changed.begin() + code.changed_begin[parked.branch + 1];
      put_in_row(code.slots[reg], std::find(begin, end, reg) != end ? parked.slots : frame_.slots,
                 parked.lanes,
                 &warp.levels[context.depth].registers[std::size_t{reg} * warp_lanes]);
    }
  }
  frame_.parked_count = 0;
  to_block_end = true;
  if (run_ended_)
    return Translated::ended;
  return quantum == run_.options.time_slice ? Translated::begins : Translated::went_on;
}

WarpMachine::Translated WarpMachine::run_translated(WarpState &warp, std::size_t &index,
                                                    std::uint64_t &quantum, bool &to_block_end) {
  Fragment &fragment = warp.fragments[index];
  Activation &where = fragment.stack.back();
  const Translation *code = translation(where.function, layout_);
  if (!code || code->entries[where.pc] == 0)
    return Translated::nothing;
  const std::uint64_t most = within_limit(quantum, fragment.mask);
  if (code->entries[where.pc] > most)
    return Translated::nothing;
  WarpContext context = WarpContext::of(run_, warp, fragment);
  if (!hold(context, fragment, *code)) {
    code = translation(where.function, LaneLayout::unshaped);
    if (!code || code->entries[where.pc] == 0 || code->entries[where.pc] > most ||
        !hold(context, fragment, *code))
      return Translated::nothing;
  }
  if (warp.specials_of != code) {
    warp.specials.resize(code->specials.size() * warp_lanes);
    fill_specials(context, *code, warp.specials.data());
    warp.specials_of = code;
  }
  frame_.specials = warp.specials.data();
  const std::uint64_t before = run_.outcome.steps;
  enter(context, *code, fragment.mask, where.pc, where.iterations.data(), quantum,
        to_block_end || !fragment.partings.empty());
  const Translated how = settle(context, index, quantum, to_block_end);
  return run_.outcome.steps == before ? Translated::nothing : how;
}

const Translation *WarpMachine::for_whole_warps() {
  if (!may_translate_ || run_.program.meeting() == WarpMeeting::any || run_.options.lanes_alone ||
      run_.cluster.count() != 1)
    return nullptr;
  const Translation *code = translation(run_.kernel, layout_);
  if (!code || code->entries[0] == 0 || code->live_begin[0] != code->live_begin[1])
    return nullptr;
  find_stops();
  whole_level_.registers.resize(std::size_t{run_.program.max_registers()} * warp_lanes);
  return code;
}

// What is local to lanes is in one place for all whole warps: none of them may wait with it.
void WarpMachine::find_stops() {
  const std::vector<WarpInstruction> &code = run_.program.function(run_.kernel).code;
  const bool may_wait =
      run_.program.function(run_.kernel).local_bytes == 0 && !run_.options.check_barriers;
  const bool may_end = run_.program.meeting() == WarpMeeting::none || !run_.options.check_barriers;
  stops_.assign(code.size(), ends_whole);
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const WarpInstruction &in = code[pc];
    if (in.action == WarpAction::exit && in.guard == no_register && may_end)
      stops_[pc] = ends_warp;
    if (in.action == WarpAction::barrier && may_wait && leaves_registers(in) &&
        in.inputs.size() == 1 && in.inputs[0].kind == WarpOperand::Kind::immediate &&
        in.inputs[0].value < 16 && !in.opcode->has(Modifier::arrive) &&
        !in.opcode->has(Modifier::red))
      stops_[pc] = static_cast<std::uint8_t>(in.inputs[0].value);
  }
}

void WarpMachine::find_whole_code() {
  if (whole_code_)
    return;
  whole_code_ = for_whole_warps();
  const bool has_barriers =
      std::any_of(stops_.begin(), stops_.end(), [](std::uint8_t stop) { return stop < ends_warp; });
  runs_straight_ = whole_code_ && !run_.options.check_barriers && !has_barriers;
  runs_together_ = whole_code_ && !run_.options.check_barriers && has_barriers &&
                   run_.program.function(run_.kernel).local_bytes == 0;
}

bool WarpMachine::may_run_straight() {
  find_whole_code();
  return runs_straight_;
}

// As run_whole() and settle_whole() have it for each warp, but that nothing is written down of one
// that goes from its beginning to its end.
void WarpMachine::run_straight(std::uint32_t blocks) {
  const Translation &code = *whole_code_;
  std::unique_ptr<BlockState> block = start_block(run_.started++);
  WarpContext context{run_, block->warps.data(), &whole_level_,
                      0,    run_.kernel,         run_.program.function(run_.kernel).code.data()};
  const bool has_local = run_.program.function(run_.kernel).local_bytes != 0,
             goes_on = goes_on_with_next(run_.program.function(run_.kernel), code.layout);
  straight_slots_.resize(std::max(straight_slots_.size(), code.slot_bytes / sizeof(SlotLine)));
  straight_iterations_.resize(block->warps[0].at.iterations.size());
  for (;;) {
    prepare_frame(context, code);
    frame_.slots = reinterpret_cast<std::uint8_t *>(straight_slots_.data());
    frame_.iterations = straight_iterations_.data();
    for (std::uint32_t w = 0; w < run_.block_warps;) {
      context.warp = &block->warps[w];
      if (has_local)
        whole_level_.local.assign(std::size_t{run_.max_local} * warp_lanes, 0);
      frame_.specials = specials_of_whole(context, code);
      for (std::size_t loop = 0; loop < straight_iterations_.size(); ++loop)
        straight_iterations_[loop] = 0;
      start_frame(context.warp->all, 0, false);
      turn_ = {run_.options.time_slice, run_.outcome.steps};
      if (goes_on)
        if (const std::uint32_t behind = warps_behind(*context.warp); behind != 0) {
          frame_.next_warps = behind;
          frame_.next_specials =
              whole_specials_.of_warps.data() + std::size_t{w + 1} * whole_specials_.of_warp.size();
          straight_last_ = w + behind;
        }
      begin_run(frame_, run_.options.time_slice);
      code.code(&frame_);
      stay_with_warp(frame_);
      WarpState &warp = *context.warp;
      w = warp.index + 1;
      if (!run_ended_ && frame_.parked_count == 0 && frame_.budget > 0 &&
          stops_[frame_.pc] == ends_warp) {
        count_run(frame_);
        run_.outcome.steps += lane_count(warp.all);
        if (run_.options.turns)
          run_.options.turns->push_back({block->index, warp.index, run_.outcome.steps, true});
        continue;
      }
      for (std::uint32_t other = 0; other < warp.index; ++other)
        block->warps[other].live = 0;
      block->live_warps -= warp.index;
      std::swap(warp.held.slots, straight_slots_);
      warp.at.iterations = straight_iterations_;
      hold_what_is_left(context);
      run_.active.push_back(std::move(block));
      bool has_run = true;
      for (WarpState &other : std::span(&warp, &warp.block->warps.back() + 1))
        run_warp(other, std::exchange(has_run, false));
      end_blocks();
      return;
    }
    if (run_.started == blocks) {
      ended_.push_back(std::move(block));
      return;
    }
    block->index = run_.started++;
    block->first_step = run_.outcome.steps;
    run_.find_next_block(block->index, block->ctaid);
    if (run_.shared_bytes != 0)
      block->shared = shared_at_start_;
  }
}

// None of them may come to the limit of steps, which is looked at in between.
std::uint32_t WarpMachine::warps_behind(const WarpState &warp) const {
  const std::vector<WarpState> &warps = warp.block->warps;
  std::uint32_t end = warp.index;
  while (end < warps.size() && warps[end].all == ~LaneMask{0})
    ++end;
  const std::uint64_t left = run_.options.step_limit - run_.outcome.steps,
                      most = (run_.options.time_slice + 1) * warp_lanes;
  return end == warp.index || left / most < end - warp.index ? 0 : end - warp.index - 1;
}

void WarpMachine::find_straight_warp(TranslatedFrame &frame) {
  if (straight_last_ == no_index)
    return;
  auto &context = *static_cast<WarpContext *>(frame.context);
  context.warp = &context.warp->block->warps[straight_last_ - frame.next_warps];
}

void WarpMachine::stay_with_warp(TranslatedFrame &frame) {
  if (straight_last_ == no_index)
    return;
  find_straight_warp(frame);
  straight_last_ = no_index;
  frame.next_warps = 0;
}

// The same turns as run_warp() gives them, without asking after each of them who waits for whom: at
// one of these barriers wait all lanes of so many warps.
void WarpMachine::run_together(BlockState &block) {
  const Translation &code = *whole_code_;
  WarpContext context{run_, block.warps.data(), &whole_level_,
                      0,    run_.kernel,        run_.program.function(run_.kernel).code.data()};
  prepare_frame(context, code);
  std::uint32_t waiting[16] = {};
  std::uint32_t waited_at = 0; ///< barriers, in bits
  const auto tell_barriers = [&] {
    for (const WarpState &warp : block.warps)
      if (warp.waits) {
        BarrierState &barrier = block.barriers[warp.barrier];
        barrier.used = barrier.awaited = true;
        barrier.arrived[warp.index] = warp.live;
        block.used_barriers |= 1u << warp.barrier;
      }
  };
  const auto release_if_all = [&](unsigned id) {
    if (waiting[id] != block.live_warps)
      return;
    release_together(block, id);
    waiting[id] = 0;
    waited_at &= ~(1u << id);
  };
  for (bool progress = true; std::exchange(progress, false);)
    for (WarpState &warp : block.warps) {
      if (warp.waits || warp.live == 0)
        continue;
      progress = true;
      context.warp = &warp;
      frame_.specials = specials_of_whole(context, code);
      if (warp.held.slots.size() < code.slot_bytes / sizeof(SlotLine))
        warp.held.slots.resize(code.slot_bytes / sizeof(SlotLine));
      frame_.slots = reinterpret_cast<std::uint8_t *>(warp.held.slots.data());
      frame_.iterations = warp.at.iterations.data();
      turn_.left = run_.options.time_slice;
      do {
        start_frame(warp.live, warp.at.pc, false);
        turn_.before = run_.outcome.steps;
        begin_run(frame_, run_.options.time_slice);
        code.code(&frame_);
        const std::uint8_t stop =
            !run_ended_ && frame_.parked_count == 0 && frame_.budget > 0 &&
                    memory_.global().bytes_in_use() <= run_.options.memory_limit
                ? stops_[frame_.pc]
                : ends_whole;
        if (stop == ends_whole) {
          hold_what_is_left(context);
          tell_barriers();
          bool has_run = true;
          for (WarpState &other : std::span(&warp, &block.warps.back() + 1))
            run_warp(other, std::exchange(has_run, false));
          return;
        }
        count_run(frame_);
        run_.outcome.steps += lane_count(warp.live);
        if (stop == ends_warp) {
          warp.live = 0;
          --block.live_warps;
          for (std::uint32_t left = waited_at; left != 0; left &= left - 1)
            release_if_all(static_cast<unsigned>(std::countr_zero(left)));
          break;
        }
        warp.held.code = &code;
        warp.held.mask = warp.live;
        warp.held.depth = 0;
        warp.held.pc = warp.at.pc = frame_.pc;
        warp.waits = true;
        warp.barrier = stop;
        waited_at |= 1u << stop;
        ++waiting[stop];
        release_if_all(stop);
        end_run();
      } while (!warp.waits && turn_.left != 0);
      note_turn(warp);
    }
  tell_barriers();
}

void WarpMachine::release_together(BlockState &block, unsigned barrier) {
  ++block.epoch;
  for (WarpState &warp : block.warps)
    if (warp.waits && warp.barrier == barrier) {
      warp.waits = false;
      scheduler_.move_to(warp.at, warp.at.pc + 1);
    }
}

// A turn goes on until its end or a barrier, and behind that if the warp is the last to come there:
// as the interpreter has it for a warp of one fragment.
void WarpMachine::run_whole(WarpState &warp) {
  const Translation &code = *whole_code_;
  WarpContext context{run_, &warp,       &whole_level_,
                      0,    run_.kernel, run_.program.function(run_.kernel).code.data()};
  if (run_.program.function(run_.kernel).local_bytes != 0)
    whole_level_.local.assign(std::size_t{run_.max_local} * warp_lanes, 0);
  HeldRegisters &held = warp.held;
  if (held.slots.size() < code.slot_bytes / sizeof(SlotLine))
    held.slots.resize(code.slot_bytes / sizeof(SlotLine));
  frame_.specials = specials_of_whole(context, code);
  enter(context, code, warp.live, warp.at.pc, warp.at.iterations.data(), run_.options.time_slice,
        false);
}

WarpMachine::Translated WarpMachine::settle_whole(WarpState &warp, std::size_t &index,
                                                  std::uint64_t &quantum, bool &to_block_end) {
  WarpContext context{run_, &warp,       &whole_level_,
                      0,    run_.kernel, run_.program.function(run_.kernel).code.data()};
  warp.at.pc = frame_.pc;
  const std::uint8_t stop =
      frame_.parked_count == 0 && frame_.budget > 0 ? stops_[frame_.pc] : ends_whole;
  BlockState &block = *warp.block;
  if (stop == ends_warp) {
    run_.outcome.steps += lane_count(warp.live);
    warp.live = 0;
    --block.live_warps;
    if (block.used_barriers != 0)
      barriers_.complete(context);
    return Translated::ended;
  }
  if (stop < ends_warp && (block.barriers[stop].arrived[warp.index] & warp.live) == 0 &&
      memory_.global().bytes_in_use() <= run_.options.memory_limit) {
    run_.outcome.steps += lane_count(warp.live);
    barriers_.arrive(warp, stop);
    end_run();
    return Translated::ended;
  }
  make_fragment(warp);
  context.level = &warp.levels[0];
  return settle(context, index, quantum, to_block_end);
}

void WarpMachine::make_fragment(WarpState &warp) {
  WarpContext context{run_, &warp, &whole_level_, 0, run_.kernel, nullptr};
  const std::uint64_t *const specials = specials_of_whole(context, *whole_code_);
  start_warp(warp, false);
  warp.specials.assign(specials, specials + whole_code_->specials.size() * warp_lanes);
  warp.specials_of = whole_code_;
  Fragment &fragment = warp.fragments[0];
  fragment.stack.back() = warp.at;
  if (warp.waits) {
    fragment.state = Fragment::State::at_barrier;
    fragment.barrier = warp.barrier;
  }
  if (warp.held.code == nullptr) { // it has executed nothing
    start_level(run_, warp.levels[0]);
    return;
  }
  warp.held.rows_are_blank = true;
  if (run_.program.function(run_.kernel).local_bytes != 0)
    warp.levels[0].local = whole_level_.local;
  else
    std::fill(warp.levels[0].local.begin(), warp.levels[0].local.end(), std::uint8_t{0});
}

const Activation &WarpMachine::place_of(const TranslatedFrame &frame, std::size_t parked) {
  Activation &place = parked_room_[parked].place;
  place.function = static_cast<const WarpContext *>(frame.context)->function;
  place.pc = frame.parked[parked].place;
  return place;
}

void WarpMachine::make_room(TranslatedFrame &frame, std::size_t parked) {
  ParkedRoom &room = parked_room_[parked];
  if (room.slots.size() < frame.code->slot_bytes / sizeof(SlotLine))
    room.slots.resize(frame.code->slot_bytes / sizeof(SlotLine));
  room.place.iterations.resize(frame.loops);
  frame.parked[parked].slots = reinterpret_cast<std::uint8_t *>(room.slots.data());
  frame.parked[parked].iterations = room.place.iterations.data();
  frame.parked_room = std::max(frame.parked_room, static_cast<std::uint32_t>(parked) + 1);
}

// Keeps what waiting lanes may read where they meet others; false: not all of it can be kept.
bool WarpMachine::park(const TranslatedFrame &frame, const ParkedLanes &parked, LaneMask lanes) {
  return for_changed_slots(*frame.code, parked.branch, [&](const RegisterSlot &slot) {
    if (parked.lanes != 0)
      return blend_slot(slot, frame.slots, lanes, parked.slots);
    std::memcpy(parked.slots + slot.offset, frame.slots + slot.offset, slot_size(slot));
    return true;
  });
}

// The lanes of a frame have come to where the last of the others wait; false: slots cannot hold
// what both have.
bool WarpMachine::unpark(TranslatedFrame &frame) {
  const ParkedLanes &parked = frame.parked[frame.parked_count - 1];
  if (!for_changed_slots(*frame.code, parked.branch, [&](const RegisterSlot &slot) {
        return blend_slot(slot, parked.slots, parked.lanes, frame.slots);
      }))
    return false;
  frame.lanes |= parked.lanes;
  if (parked.took_branch == 0)
    std::copy(parked.iterations, parked.iterations + frame.loops, frame.iterations);
  if (const std::uint8_t number = frame.code->partings[parked.branch]; number != 0)
    frame.parked_meetings &= ~(std::uint64_t{1} << (number - 1));
  --frame.parked_count;
  return true;
}

bool WarpMachine::take_jump(TranslatedFrame &frame) {
  const std::size_t last = frame.parked_count - 1;
  ParkedLanes &parked = frame.parked[last];
  if (parked.place == parked.meeting)
    return true;
  const std::uint64_t steps = run_.outcome.steps + lane_count(parked.lanes);
  const Activation &place = place_of(frame, last);
  bool is_first = scheduler_.runs_before(place, going_);
  for (std::size_t i = 0; i < last; ++i)
    is_first = is_first && scheduler_.runs_before(place, place_of(frame, i));
  if (!is_first || steps > run_.options.step_limit)
    return false;
  run_.outcome.steps = steps;
  scheduler_.move_to(parked_room_[last].place, parked.meeting);
  parked.place = parked.meeting;
  end_run();
  return turn_.left != 0;
}

// There are few loops: a copy of their numbers is not worth a call.
void WarpMachine::go_from(const TranslatedFrame &frame, std::uint32_t pc) {
  going_.function = static_cast<const WarpContext *>(frame.context)->function;
  going_.pc = pc;
  const std::size_t loops = frame.loops;
  if (going_.iterations.size() != loops)
    going_.iterations.resize(loops);
  for (std::size_t loop = 0; loop < loops; ++loop)
    going_.iterations[loop] = frame.iterations[loop];
}

bool WarpMachine::goes_before_parked(const TranslatedFrame &frame) {
  for (std::size_t i = 0; i < frame.parked_count; ++i)
    if (going_.pc == frame.parked[i].place || !scheduler_.runs_before(going_, place_of(frame, i)))
      return false;
  return true;
}

const std::optional<IdleSide> &WarpMachine::idle_side(std::uint32_t function, std::uint32_t pc) {
  if (idle_sides_.empty())
    idle_sides_.resize(run_.program.function_count());
  std::vector<std::optional<IdleSide>> &sides = idle_sides_[function];
  if (sides.empty()) {
    const WarpFunction &its = run_.program.function(function);
    for (std::uint32_t i = 0; i < its.code.size(); ++i)
      sides.push_back(its.code[i].action == WarpAction::branch ? its.idle_side(i) : std::nullopt);
  }
  return sides[pc];
}

// As the interpreter does it: those that go on are a fragment of their own, with a run of its own
// for each block, and come first, or they leave. Those that wait at one place are one fragment
// there, before the others' if any of its lanes did not take a branch.
std::uint32_t WarpMachine::part_in_code(TranslatedFrame &frame, std::uint32_t pc, LaneMask taken,
                                        std::uint32_t executed) {
  stay_with_warp(frame);
  hear_code(frame);
  const auto &context = *static_cast<const WarpContext *>(frame.context);
  const WarpFunction &function = run_.program.function(context.function);
  if (run_.options.schedule != WarpSchedule::reconverge ||
      (frame.by_block != 0 && frame.parked_count == 0))
    return 0;
  const std::optional<IdleSide> &side = idle_side(context.function, pc);
  go_from(frame, pc);
  const std::size_t count = frame.parked_count;
  std::size_t number = count;
  for (std::size_t i = 0; i < count; ++i)
    if (frame.parked[i].meeting == side->meeting)
      number = i;
  const bool others = number != count;
  if (others ? number != count - 1 : count == most_parked)
    return 0;
  const bool take_and_wait = side->first == function.code[pc].target;
  const LaneMask wait = take_and_wait ? taken : frame.lanes & ~taken;
  const unsigned waiting_lanes = lane_count(wait);
  Activation &waiting = waiting_;
  waiting.function = going_.function;
  waiting.pc = pc;
  if (waiting.iterations.size() != frame.loops)
    waiting.iterations.resize(frame.loops);
  for (std::size_t loop = 0; loop < frame.loops; ++loop)
    waiting.iterations[loop] = frame.iterations[loop];
  scheduler_.move_to(waiting, side->first);
  scheduler_.move_to(going_, side->other);
  const bool jumps_first = side->first != side->meeting && scheduler_.runs_before(waiting, going_);
  if (jumps_first)
    scheduler_.move_to(waiting, side->meeting);
  if (!scheduler_.runs_before(going_, waiting) || !goes_before_parked(frame) ||
      (others && (waiting.pc != side->meeting || frame.parked[number].place != side->meeting ||
                  !scheduler_.are_level(place_of(frame, number), waiting))))
    return 0;
  // If the turn ends here, the interpreter has the branch.
  const std::uint64_t run = run_budget_ - static_cast<std::uint64_t>(frame.budget) + executed;
  const std::uint64_t steps = run * lane_count(frame.lanes);
  if ((run_.outcome.steps + steps - turn_.before) / warp_lanes + 1 + jumps_first >= turn_.left ||
      (jumps_first && run_.outcome.steps + steps + waiting_lanes > run_.options.step_limit))
    return 0;
  ParkedLanes &parked = frame.parked[number];
  if (!others) {
    make_room(frame, number);
    parked.lanes = 0;
    parked.branch = pc;
    parked.meeting = side->meeting;
    parked.took_branch = 1;
  }
  if (!park(frame, parked, wait))
    return 0;
  frame.parked_count += others ? 0 : 1;
  const std::uint8_t meeting = frame.code->partings[pc];
  if (meeting != 0 && frame.code->partings[parked.branch] == meeting)
    frame.parked_meetings |= std::uint64_t{1} << (meeting - 1);
  else
    frame.asks = 1;
  frame.budget -= executed;
  count_run(frame);
  end_run();
  if (jumps_first) {
    run_.outcome.steps += waiting_lanes;
    end_run();
  }
  run_.outcome.parted = true;
  std::copy(waiting.iterations.begin(), waiting.iterations.end(), parked.iterations);
  parked.place = waiting.pc;
  parked.took_branch &= take_and_wait ? 1u : 0u;
  parked.lanes |= wait;
  frame.lanes &= ~wait;
  frame.by_block = 1;
  std::copy(going_.iterations.begin(), going_.iterations.end(), frame.iterations);
  begin_run(frame, run_.options.time_slice);
  return take_and_wait ? 1 : 2;
}

bool WarpMachine::end_block_in_code(TranslatedFrame &frame, std::uint32_t to) {
  if (frame.parked_count == 0)
    return false; // they have parted from others before they came here
  count_run(frame);
  end_run();
  run_ended_ = true;
  if (turn_.left == 0)
    return false;
  go_from(frame, to);
  if (to == frame.parked[frame.parked_count - 1].meeting) {
    if (!take_jump(frame) || !unpark(frame))
      return false;
    go_from(frame, to);
  }
  // The next run begins where code does not go on: not here.
  if (!goes_before_parked(frame) || (frame.parked_count != 0 && frame.code->entries[to] == 0))
    return false;
  if (frame.parked_count == 0)
    frame.by_block = frame.asks = 0;
  run_ended_ = false;
  begin_run(frame, run_.options.time_slice);
  return true;
}

void WarpMachine::compute_in_slots(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask) {
  find_straight_warp(frame);
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
    const KnownBytes bytes = known_shared(address);
    return address >= bytes.first && address + size <= bytes.end
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

/// The same for one element of each lane, within `size` bytes that are at `host` here; `first` is
/// added to what addresses are in these bytes. False, and nothing has happened: not all are there.
template <class Element>
bool copy_within(const std::uint64_t *addresses, std::uint64_t first, std::uint64_t size,
                 std::uint8_t *host, LaneMask mask, bool is_store, std::uint8_t *values) {
  if (size < sizeof(Element))
    return false;
  const std::uint64_t last = size - sizeof(Element);
  bool inside = true;
  std::uint64_t low_bits = 0;
  if (mask == ~LaneMask{0})
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      inside &= addresses[lane] - first <= last;
      low_bits |= addresses[lane];
    }
  else
    for_each_lane(mask, [&](unsigned lane) {
      inside &= addresses[lane] - first <= last;
      low_bits |= addresses[lane];
    });
  if (!inside || low_bits % sizeof(Element) != 0)
    return false;
  const auto copy = [&](unsigned lane) {
    std::uint8_t *const byte = host + (addresses[lane] - first);
    std::uint8_t *const value = values + lane * sizeof(Element);
    is_store ? std::memcpy(byte, value, sizeof(Element))
             : std::memcpy(value, byte, sizeof(Element));
  };
  if (mask == ~LaneMask{0} && !is_store)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      copy(lane);
  else
    for_each_lane(mask, copy);
  return true;
}

} // namespace

KnownBytes WarpMachine::known_shared(std::uint64_t address) const {
  const std::uint64_t base = window::shared, granule = (address - base) / shared_granule;
  if (granule >= shared_bytes_.size())
    return {};
  const SharedBytes bytes = shared_bytes_[granule];
  return {base + bytes.first, base + bytes.end, base + bytes.end};
}

void WarpMachine::know_access(const TranslatedFrame &frame, std::uint32_t pc,
                              const KnownBytes &bytes) {
  const auto &context = *static_cast<const WarpContext *>(frame.context);
  const WarpInstruction &in = run_.program.function(context.function).code[pc];
  const bool is_store = in.action == WarpAction::store;
  const std::uint64_t whole = in.element * (is_store ? in.inputs.size() : in.outputs.size());
  const std::uint64_t end = is_store ? bytes.store_end : bytes.end, span = frame.code->spans[pc];
  KnownAccess &access =
      known_by_instruction_[context.function][static_cast<std::size_t>(frame.code->layout)][pc];
  access = {};
  const std::uint64_t first = align(bytes.first, whole);
  if (bytes.tracks || first < bytes.first || first >= end)
    return;
  access.first = first;
  access.size = end - first;
  access.to_host = bytes.to_host;
  if (span != 0 && access.size >= span)
    access.count = (access.size - span) / whole + 1;
}

// Most find all lanes in one allocation, or in one variable.
bool WarpMachine::access_at_once(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask,
                                 const std::uint64_t *addresses, std::uint8_t *values) {
  const auto &context = *static_cast<const WarpContext *>(frame.context);
  const WarpInstruction &in = run_.program.function(context.function).code[pc];
  const bool is_store = in.action == WarpAction::store;
  if (mask == 0 || (is_store ? in.inputs.size() : in.outputs.size()) != 1)
    return mask == 0;
  const std::uint64_t one = addresses[std::countr_zero(mask)];
  const bool is_shared = in.space == StateSpace::shared;
  const KnownAccess &access =
      known_by_instruction_[context.function][static_cast<std::size_t>(frame.code->layout)][pc];
  if (one - access.first >= access.size) {
    if (is_shared)
      know_access(frame, pc, known_shared(one));
    else if (in.space == StateSpace::global || in.space == StateSpace::constant ||
             in.space == StateSpace::generic)
      know_access(frame, pc, known_[one / GlobalMemory::page_size % known_pages]);
    if (one - access.first >= access.size)
      return false;
  }
  const std::uint64_t first = access.first, size = access.size;
  std::uint8_t *const host = is_shared ? frame.shared + (first - window::shared)
                                       : reinterpret_cast<std::uint8_t *>(first + access.to_host);
  switch (in.element) {
  case 1:
    return copy_within<std::uint8_t>(addresses, first, size, host, mask, is_store, values);
  case 2:
    return copy_within<std::uint16_t>(addresses, first, size, host, mask, is_store, values);
  case 4:
    return copy_within<std::uint32_t>(addresses, first, size, host, mask, is_store, values);
  default:
    return copy_within<std::uint64_t>(addresses, first, size, host, mask, is_store, values);
  }
}

bool WarpMachine::access(TranslatedFrame &frame, std::uint32_t pc, LaneMask mask,
                         const std::uint64_t *addresses, std::uint8_t *values) {
  if (access_at_once(frame, pc, mask, addresses, values))
    return true;
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
    if (left == (left & -left))
      know_access(frame, pc,
                  in.space == StateSpace::shared            ? known_shared(address)
                  : space_of(address) == StateSpace::global ? entry
                                                            : KnownBytes{});
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
