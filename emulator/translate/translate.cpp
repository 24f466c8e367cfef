// From decoded instructions to IR.
//
// A basic block is cut into segments: runs of instructions that are known here, between those that
// are not. Each segment is an entry. Within one, registers are values of IR; at its end those that
// are read later go to slots (warp_engine.h). So every segment begins with slots and ends with
// slots, and lanes may change between translated code and the interpreter at any place that is not
// inside of one. In front of an instruction in the middle of a segment that the interpreter has to
// do after all (an access that something is wrong with), the code fills the slots that it would
// have filled by then, and returns.
//
// All lanes of the frame's mask execute a segment together, and lanes that part leave. So a
// register that only gets values that are the same in all lanes is the same in all of them, and so
// with what goes up by a constant from lane to lane: whatever way they took, they took it together.
// The shape of a slot is that of all values that it gets, which is found by translating with the
// shapes found so far until none changes. Who fills slots from rows looks if they fit.
//
// Lanes outside of the mask are computed along, as nothing that is computed has an effect, and left
// out of stores. A guard chooses between new and old value, lane by lane. A branch that all lanes
// take, or none, stays within the code, where it counts instructions (the budget) and iterations as
// the interpreter does. One at which they part does, too, if one side is where both meet: those
// lanes wait in the frame, with what others may change before. Code does this by itself where it is
// known of all blocks in between that the others have their turn first, and counts what a run of
// the interpreter would count; the machine is asked where the turn ends with it, the limit of steps
// is near, or nothing has been kept in that place yet. Any other branch is left to the interpreter.
//
// Loads of a segment from one register and numbers are done together where no store is between
// them: near each other, the first asks for the bytes of all; pieces of 16 bytes of each lane,
// wherever these are, are loaded by the first as a whole. If that cannot be, each does what it does
// alone.

#include "emulator/translate/translate.h"

#include "emulator/machine/warp_schedule.h"
#include "emulator/machine/warp_state.h"
#include "emulator/semantics/evaluator.h"
#include "emulator/semantics/parameter_layout.h"
#include "grammar/liveness.h"
#include "grammar/roles.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <set>

namespace ptxasw::emulator {
namespace {

constexpr std::string_view row_type = "<32 x i64>";
constexpr unsigned row_bytes = warp_lanes * 8;
/// Of each lane, that are loaded at once.
constexpr std::uint64_t wide_bytes = 16;

class FunctionTranslator {
public:
  FunctionTranslator(const WarpProgram &program, std::uint32_t function, LaneLayout layout,
                     const HostFeatures &host, bool opaque)
      : function_(program.function(function)), module_(program.module()), layout_(layout),
        may_go_on_(goes_on_with_next(program.function(function), layout)), host_(host),
        text_(opaque), domain_(text_, host, row_lanes(layout)),
        liveness_(module_, *function_.function, *function_.cfg),
        carry_(static_cast<RegisterId>(function_.function->registers.size())),
        slots_((std::size_t{carry_} + 1) * 2) {}

  TranslatedText run();

private:
  struct Row {
    IrValue value;
    bool is_dirty = false; ///< the slot is older
  };
  struct Slot : RegisterSlot {
    NanBits nan = NanBits::canonical; ///< of all values that it gets
    bool is_used = false;
  };
  using Live = std::vector<bool>; ///< by register
  /// Loads from one register and numbers that are near each other, which are asked for together.
  struct NearLoads {
    std::uint32_t leader = 0;         ///< the first of them
    std::int64_t least = 0, most = 0; ///< of the numbers
    std::string is_there;             ///< a bit that says that all of them may be loaded
    std::string host;                 ///< the place of lane 0's bytes at the least of the numbers
    IrValue begin;                    ///< their address
  };

  bool is_known(std::uint32_t pc) const;
  /// Returns true of a load of the kernel's parameters from a constant, right place.
  bool is_parameter(const WarpInstruction &in) const;
  void find_segments();
  void find_live();
  /// Registers that are written by what is not known here may hold anything.
  void start_shapes();
  /// Translates all segments, with the shapes of slots as they are by now.
  void translate_segments();

  void translate_segment(std::uint32_t first);
  void instruction(std::uint32_t pc);
  void compute(std::uint32_t pc);
  bool compute_here(const WarpInstruction &in);
  bool move_here(const WarpInstruction &in);
  void let_machine_compute(std::uint32_t pc, const std::vector<RegisterId> &outputs,
                           const std::string &mask);
  void access(std::uint32_t pc);
  std::vector<IrValue> load(std::uint32_t pc, const IrValue &where, const std::string &mask);
  /// How lanes' addresses lie, of an access that code does without asking lane by lane.
  enum class Shape : std::uint8_t { other, uniform, contiguous, apart };
  /// Has the processor fetch as many bytes as lie before them.
  void fetch_behind(const WarpInstruction &in, const std::string &host, std::uint64_t bytes);
  Shape shape_of(const WarpInstruction &in, const IrValue &where) const;
  /// What is loaded from there, if lane 0's bytes are at `host`.
  std::vector<IrValue> load_in_shape(const WarpInstruction &in, const IrValue &where,
                                     const std::string &host);
  /// Finds loads of a segment from one register and numbers: which read 16 bytes of each lane's
  /// piece by piece, and which are near each other.
  void find_loads_together(std::uint32_t first, std::uint32_t length);
  void find_near_loads(const std::vector<std::uint32_t> &loads);
  void find_wide_loads(const std::vector<std::uint32_t> &loads);
  /// Asks if all of them may be loaded; nothing if they have no shape.
  void ask_for_near(NearLoads &loads);
  void load_near(std::uint32_t pc, const NearLoads &loads);
  /// Loads all of the pieces, if lanes' bytes are neither the same nor side by side.
  void load_wide(std::uint32_t pc, const IrValue &where, const std::string &mask);
  void define_wide_gather(unsigned width);
  void store(std::uint32_t pc, const IrValue &where, const std::string &mask);
  /// Calls the machine for an access; leaves if it cannot do it.
  void let_machine_access(std::uint32_t pc, const IrValue &where, const std::string &mask);
  std::string value_place(const WarpInstruction &in, std::size_t element);
  std::string lies_at(const IrValue &where, const std::string &first, std::uint64_t distance);
  void load_parameter(const WarpInstruction &in);
  /// Bytes that a lane accesses.
  static std::uint64_t access_bytes(const WarpInstruction &in) {
    return in.element * (in.action == WarpAction::store ? in.inputs.size() : in.outputs.size());
  }
  std::string known_field(const WarpInstruction &in, std::size_t offset);
  std::string to_host(const WarpInstruction &in);
  std::string rotated(const std::string &value, int places, std::string_view type);
  /// What host_bytes() is asked for, of an instruction whose lanes' addresses have a shape.
  void note_span(std::uint32_t pc, const IrValue &where, bool is_contiguous);
  std::string host_bytes(const WarpInstruction &in, const std::string &address, std::uint64_t bytes,
                         const std::string &otherwise);
  /// The same for rows that begin at several addresses.
  std::vector<std::string> host_rows(const WarpInstruction &in,
                                     const std::vector<std::string> &begins, std::uint64_t bytes,
                                     const std::string &otherwise) {
    std::vector<std::string> result;
    result.reserve(begins.size());
    for (const std::string &begin : begins)
      result.push_back(host_bytes(in, begin, bytes, otherwise));
    return result;
  }
  std::vector<std::string> load_side_by_side(const std::string &from, unsigned width,
                                             std::size_t count);
  void store_side_by_side(const std::string &to, unsigned width, std::vector<std::string> parts);
  /// Vectors of so many lanes as one.
  std::string joined(std::vector<std::string> parts, unsigned width, std::size_t lanes);
  /// True of addresses that are constants apart, whole elements, and not far.
  bool are_near(const IrValue &where, std::uint64_t element) const;
  std::string load_apart(const std::string &from, const IrValue &where, unsigned width);
  void store_apart(const std::string &to, const IrValue &where, unsigned width,
                   const std::string &stored);
  /// The place of lane 0's bytes, as host_bytes() finds it for those of all lanes.
  std::string host_bytes_apart(const WarpInstruction &in, const IrValue &where,
                               std::uint64_t element, const std::string &otherwise);
  /// Says in an i1 if all lanes' elements have been loaded to %values from where %addresses say.
  std::string gather(const WarpInstruction &in, const std::string &mask, bool is_wide);
  void define_gather(unsigned width);
  /// The beginning of a function for what gather() says, with `bytes` of each lane in one stretch:
  /// what is in %stretch, and the addresses.
  struct Gathering {
    std::string all, one, first, last;
  };
  Gathering begin_gather(const std::string &name, std::uint64_t bytes);
  void end_gather(std::string before);
  void check_gather(const std::string &holds);
  /// Goes on only if none of the lanes that execute it is one of these.
  void check_gather_lanes(const std::string &wrong);
  /// Goes on only if all lanes that execute it load whole elements within the stretch. If these are
  /// few, loads `bytes` of each, lane after lane; goes on for many.
  void gather_few(const Gathering &lanes, unsigned width, std::uint64_t bytes);
  /// The addresses, of lanes that do not execute it those of one that does; all of them are known
  /// to be right.
  void check_each_lane(const Gathering &lanes, std::uint64_t element);
  std::string gathered_place(unsigned lane);
  /// Addresses of the first lanes of rows, if rows are shorter than a warp.
  std::vector<std::string> row_begins(const IrValue &where);
  /// Says in an i1 if each lane's address is that of its row's first lane and so much more from
  /// lane to lane, and if those are whole elements.
  std::string lie_in_rows(const IrValue &where, const std::vector<std::string> &begins,
                          std::uint64_t element);
  void branch(std::uint32_t pc, std::uint32_t length);
  /// Finds branches at which code parts lanes by itself.
  void find_partings();
  /// Returns true if lanes that wait at the meeting of a branch have their turn behind the others
  /// wherever these are on their way there.
  bool wait_behind_all(std::uint32_t pc, const IdleSide &side) const;
  /// Blocks that lanes come to from an instruction on, before another one that begins a block.
  std::vector<BlockId> blocks_before(std::uint32_t first, std::uint32_t meeting) const;
  /// Parts lanes, or goes to `otherwise`, where the machine is asked.
  void part_here(std::uint32_t pc, const std::string &taken, std::uint32_t length,
                 const IdleSide &side, const std::string &otherwise);
  /// Ends the run of the lanes and begins another one; goes to `otherwise` if the turn ends with
  /// it, or the limit of steps is near, or something does not hold.
  void begin_run(std::uint32_t executed, const std::string &holds, const std::string &otherwise);
  /// Lanes come to where others wait, and go on with them.
  void meet_here(std::uint8_t number);
  /// Chooses of what others may have changed the values of some lanes in one place of slots, and
  /// of the others in another, where they then are.
  void blend(const std::vector<RegisterId> &changed, const std::string &lanes,
             const std::string &from, const std::string &to);
  void count_iteration(const std::string &iterations, std::uint32_t from, std::uint32_t to);
  std::string parked_field(const std::string &index, std::size_t offset);
  void set_lanes(const std::string &lanes);
  /// Lanes of which some wait come to the end of a block; does nothing if the machine is to be
  /// asked.
  void end_block_here(std::uint32_t to);
  void set_by_block(const std::string &by_block);
  /// Registers that may be written behind a branch and are read where its sides meet.
  const std::vector<RegisterId> &written_before(std::uint32_t pc, std::uint32_t meeting);
  void go_to(std::uint32_t from, std::uint32_t to);
  /// What there is once: where a warp ends and another begins.
  void begin_next_warp();
  /// Returns in front of an instruction, after so many of its segment.
  void leave(std::uint32_t pc, std::uint32_t executed);
  /// A label where the code leaves in front of the instruction that is being translated.
  std::string leaving(std::uint32_t pc);
  /// Leaves if something is not what it was taken for.
  void leave_if_mistaken(std::uint32_t pc);
  void likely(const std::string &condition, const std::string &then, const std::string &otherwise) {
    text_.line("br i1 {}, label %{}, label %{}, !prof !0", condition, then, otherwise);
  }

  // Registers and operands
  IrValue registered(RegisterId reg);
  IrValue operand(const WarpOperand &operand, unsigned width);
  IrValue address(const WarpAddress &address);
  IrValue resize(const IrValue &a, unsigned width);
  /// Makes a value one of those that the instruction gives.
  void assign(const WarpOperand &operand, IrValue value, unsigned width, bool sign_extends);
  void give(RegisterId reg, IrValue value);
  /// Gives the registers what the instruction gives them.
  void commit();
  void add_shape(RegisterId reg, const IrValue &value);
  std::string slot_address(RegisterId reg);
  IrValue load_slot(RegisterId reg);
  void store_slot(RegisterId reg, const IrValue &value);
  /// Fills the slots of what has changed and is read in front of an instruction or behind a block.
  void fill_slots_before(std::uint32_t pc);
  void fill_slots_behind(BlockId block);
  std::string row_address(std::string_view base, std::size_t index);
  std::string field(std::size_t offset, std::string_view type);
  std::string field_address(std::size_t offset);
  /// The lanes whose guard holds, in the bits of a word.
  std::string guarded_lanes();
  unsigned width_of(RegisterId reg) const;
  std::vector<RegisterId> outputs_of(const WarpInstruction &in) const;
  void subtract(std::uint32_t executed);
  /// Calls a function of the frame; what it returns.
  template <class... Parts>
  std::string call(std::string_view result, std::size_t offset, std::string_view parameters,
                   fmt::format_string<Parts...> form, Parts &&...parts) {
    const std::string type = text_.pointer(fmt::format("{} ({})", result, parameters));
    const std::string function = text_.define("inttoptr i64 {} to {}", field(offset, "i64"), type);
    const std::string line = fmt::format("call {} {}({})", result, function,
                                         fmt::format(form, std::forward<Parts>(parts)...));
    if (result != "void")
      return text_.define("{}", line);
    text_.line("{}", line);
    return {};
  }
  // What is left of the budget, which lanes and whether ends of blocks are told are variables of
  // the code. The machine sees the first and may change all three where it is called for them.
  void tell_machine();
  void hear_machine();

  const WarpFunction &function_;
  const Module &module_;
  const LaneLayout layout_;
  bool may_go_on_; ///< with a warp's successor (Translation)
  const HostFeatures host_;
  IrText text_;
  IrDomain domain_;
  const Liveness liveness_;
  const RegisterId carry_;
  std::vector<std::uint32_t> lengths_; ///< of a segment that begins here; 0: none does
  std::vector<std::uint32_t> spans_;   ///< Translation::spans
  std::vector<Live> live_;             ///< in front of an instruction
  std::vector<SpecialRegister> specials_;
  std::vector<Slot> slots_;         ///< by register
  std::uint32_t slot_bytes_ = 0;    ///< of those that are used
  std::uint32_t number_offset_ = 0; ///< where the next number goes, unless a line begins there
  bool shapes_changed_ = false;
  std::map<std::uint32_t, std::vector<RegisterId>> written_before_; ///< by branch
  /// Where lanes meet that code parts by itself, and what those that wait there have kept.
  struct ConvergencePoint {
    std::uint32_t place = 0;
    std::vector<RegisterId> changed; ///< what is written behind any of the branches
  };
  std::vector<ConvergencePoint> meetings_;
  std::map<std::uint32_t, std::uint8_t> partings_; ///< by branch: the number, from 1 on
  /// Loads that together read as many bytes as are loaded at once, each a part of them.
  struct WideLoad {
    std::uint32_t leader = 0;     ///< the first of them
    std::int64_t from_leader = 0; ///< its address to that of the first part
    std::string is_there;         ///< a bit that says that all parts have been loaded
    std::vector<std::string> parts;
  };
  struct WidePart {
    std::size_t load;
    std::size_t part;
  };
  std::vector<NearLoads> near_loads_; ///< of a segment
  std::map<std::uint32_t, std::size_t> near_by_pc_;
  std::vector<WideLoad> wide_loads_;             ///< of a segment
  std::map<std::uint32_t, WidePart> wide_parts_; ///< by load
  std::string gathering_;           ///< the label of what is written of a function that gathers
  std::set<std::string> functions_; ///< that the text calls, defined in the other
  std::string functions_text_;
  std::map<RegisterId, Row> rows_;
  std::vector<std::pair<RegisterId, IrValue>> given_; ///< by the instruction, not yet in rows_
  std::string stubs_;                                 ///< text of the segment's ways out
  std::string leaving_;                               ///< label of the instruction's way out
  std::string mask_;                                  ///< the lanes that execute the segment
  IrValue guard_;                                     ///< of the instruction; width 0: none
  std::uint32_t executed_ = 0;                        ///< of the segment, before the instruction
};

unsigned FunctionTranslator::width_of(RegisterId reg) const {
  // The carry flag and upper halves of 128 bits lie behind the function's registers.
  return reg < carry_    ? std::min(64u, bit_width(function_.function->registers[reg].type))
         : reg == carry_ ? 1
                         : 64;
}

std::vector<RegisterId> FunctionTranslator::outputs_of(const WarpInstruction &in) const {
  std::vector<RegisterId> result;
  for (const WarpOperand &output : in.outputs)
    if (output.kind == WarpOperand::Kind::reg)
      result.push_back(output.reg);
  if (in.second_output.kind == WarpOperand::Kind::reg)
    result.push_back(in.second_output.reg);
  if (in.sets_carry)
    result.push_back(carry_);
  return result;
}

// Which instructions there are functions for below.
bool FunctionTranslator::is_known(std::uint32_t pc) const {
  const WarpInstruction &in = function_.code[pc];
  if (in.reads_machine)
    return false;
  switch (in.action) {
  case WarpAction::compute:
  case WarpAction::move:
  case WarpAction::active_mask:
  case WarpAction::fence:
  case WarpAction::nothing:
  case WarpAction::branch:
    return true;
  case WarpAction::load:
  case WarpAction::store: {
    if (in.address.call_parameter)
      return false;
    const std::size_t count = in.action == WarpAction::load ? in.outputs.size() : in.inputs.size();
    return count >= 1 && count <= 8;
  }
  default:
    return false;
  }
}

void FunctionTranslator::find_segments() {
  lengths_.assign(function_.code.size(), 0);
  std::uint32_t first = no_index;
  for (std::uint32_t pc = 0; pc < function_.code.size(); ++pc) {
    if (!is_known(pc)) {
      first = no_index;
      continue;
    }
    if (first == no_index || function_.code[pc].starts_block)
      first = pc;
    ++lengths_[first];
  }
}

// Which registers may be read from an instruction on, backwards through each block; where rows may
// have to be written within one.
void FunctionTranslator::find_live() {
  live_.resize(function_.code.size());
  const Function &function = *function_.function;
  for (BlockId b = 0; b < function_.cfg->blocks().size(); ++b) {
    const BasicBlock &block = function_.cfg->blocks()[b];
    Live live(function.registers.size());
    for (RegisterId reg = 0; reg < live.size(); ++reg)
      live[reg] = liveness_.live_out(b, reg);
    for (std::uint32_t pc = block.end; pc-- > block.first;) {
      const Instruction &instruction = function.instructions[pc];
      for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::written)
          live[reg] = false;
      });
      for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::read)
          live[reg] = true;
      });
      live_[pc] = live;
    }
  }
}

std::string FunctionTranslator::field(std::size_t offset, std::string_view type) {
  return text_.load(type, field_address(offset), 4);
}

std::string FunctionTranslator::field_address(std::size_t offset) {
  return text_.define("add i64 %frame, {}", offset);
}

std::string FunctionTranslator::row_address(std::string_view base, std::size_t index) {
  return text_.define("add i64 {}, {}", base, index * row_bytes);
}

void FunctionTranslator::start_shapes() {
  for (std::uint32_t pc = 0; pc < function_.code.size(); ++pc)
    // What ends the function behind its last instruction is made from none; no end writes anything.
    if (!is_known(pc) && function_.code[pc].action != WarpAction::exit &&
        function_.code[pc].action != WarpAction::ret) {
      for (const RegisterId reg :
           written_registers(module_, function_.function->instructions[function_.code[pc].source]))
        add_shape(reg, {{}, width_of(reg), false});
      for (const RegisterId reg : outputs_of(function_.code[pc]))
        add_shape(reg, {{}, width_of(reg), false});
    }
}

void FunctionTranslator::add_shape(RegisterId reg, const IrValue &value) {
  using enum RegisterSlot::Shape;
  Slot &slot = slots_[reg];
  const Slot before = slot;
  if (!value.is_scalar() || layout_ == LaneLayout::unshaped ||
      (slot.shape == steps && slot.steps != value.steps))
    slot.shape = lanes;
  else if (slot.shape == none)
    slot.shape = steps, slot.steps = value.steps;
  const auto kept = [](NanBits nan) { return nan == NanBits::kept; };
  if (kept(value.nan) || kept(slot.nan))
    slot.nan = NanBits::kept;
  else if (value.nan == NanBits::any)
    slot.nan = NanBits::any;
  shapes_changed_ |= slot.shape != before.shape || slot.nan != before.nan;
}

std::string FunctionTranslator::slot_address(RegisterId reg) {
  Slot &slot = slots_[reg];
  slot.width = static_cast<std::uint8_t>(width_of(reg));
  if (!slot.is_used) {
    slot.is_used = true;
    // Lines of the cache: some of numbers, and some for each vector.
    constexpr std::uint32_t line = 64;
    const bool is_number = slot.shape != RegisterSlot::Shape::lanes || slot.width == 1;
    if (is_number && number_offset_ % line != 0) {
      slot.offset = number_offset_;
    } else {
      slot.offset = slot_bytes_;
      slot_bytes_ += is_number ? line : (slot.width / 8 * warp_lanes + line - 1) / line * line;
    }
    if (is_number)
      number_offset_ = slot.offset + 8;
  }
  return text_.define("add i64 %slots, {}", slot.offset);
}

// A register that nothing has written by now is the same in all lanes: 0, or what somebody found.
IrValue FunctionTranslator::load_slot(RegisterId reg) {
  const std::string at = slot_address(reg);
  const Slot &slot = slots_[reg];
  IrValue value;
  if (slot.shape != RegisterSlot::Shape::lanes)
    value = IrDomain::stepping(domain_.trunc({text_.load("i64", at, 8), 64, true}, slot.width).text,
                               slot.width, slot.steps);
  else if (slot.width == 1)
    value = {text_.define("bitcast i32 {} to <32 x i1>", text_.load("i32", at, 8)), 1, false};
  else
    value = {text_.load(IrDomain::type_of(slot.width, false), at, 8), slot.width, false};
  value.nan = slot.nan;
  return value;
}

void FunctionTranslator::store_slot(RegisterId reg, const IrValue &value) {
  const std::string at = slot_address(reg);
  const Slot &slot = slots_[reg];
  const IrValue settled = slot.nan == NanBits::any ? value : domain_.settled(value);
  if (slot.shape != RegisterSlot::Shape::lanes) {
    const IrValue first{settled.text, settled.width};
    text_.store("i64", domain_.zext(first, 64).text, at, 8);
    return;
  }
  const IrValue all = domain_.spread(settled);
  if (slot.width == 1)
    text_.store("i32", text_.define("bitcast <32 x i1> {} to i32", all.text), at, 8);
  else
    text_.store(IrDomain::type_of(all), all.text, at, 8);
}

IrValue FunctionTranslator::registered(RegisterId reg) {
  const auto found = rows_.find(reg);
  if (found != rows_.end())
    return found->second.value;
  IrValue value = load_slot(reg);
  rows_[reg] = {value, false};
  return value;
}

IrValue FunctionTranslator::resize(const IrValue &a, unsigned width) {
  return a.width < width ? domain_.zext(a, width) : domain_.trunc(a, width);
}

IrValue FunctionTranslator::operand(const WarpOperand &from, unsigned width) {
  IrValue value;
  switch (from.kind) {
  case WarpOperand::Kind::reg:
    value = registered(from.reg);
    break;
  case WarpOperand::Kind::immediate: {
    value = domain_.constant(width, Bits{from.negated ? from.value ^ 1 : from.value});
    // Of f32 a number, or the NaN that arithmetic gives.
    const std::uint64_t bits = from.value & mask64(32);
    if (width == 32 && ((bits & 0x7fffffff) <= 0x7f800000 || bits == 0x7fffffff))
      value.nan = NanBits::canonical;
    return value;
  }
  case WarpOperand::Kind::special: {
    if (from.special == SpecialRegister::laneid)
      return resize(IrDomain::stepping("0", 32, {1, 0}), width);
    auto found = std::find(specials_.begin(), specials_.end(), from.special);
    if (found == specials_.end())
      found = specials_.insert(found, from.special);
    const bool by_lane = is_by_lane(from.special, layout_);
    const std::string loaded = text_.load(
        IrDomain::type_of(64, !by_lane),
        row_address("%specials", static_cast<std::size_t>(found - specials_.begin())), 8);
    // Rows that are as long as a warp, or longer, have no other behind them in it.
    const unsigned row = row_lanes(layout_);
    LaneSteps steps;
    if (!by_lane && from.special == SpecialRegister::tid_x)
      steps = {1, row == warp_lanes ? 0 : -std::int64_t{row}};
    else if (!by_lane && from.special == SpecialRegister::tid_y && row != warp_lanes)
      steps = {0, 1};
    // Indices of threads have few bits, and are never negated.
    value = by_lane ? IrValue{loaded, 64, false} : IrDomain::stepping(loaded, 64, steps);
    return resize(value, width);
  }
  case WarpOperand::Kind::local_address:
    value = {text_.define("add i64 %local_base, {}", from.value), 64, true};
    break;
  default:
    return domain_.constant(width, {});
  }
  if (from.negated)
    value = domain_.bit_xor(value, domain_.constant(value.width, {1}));
  return resize(value, width);
}

IrValue FunctionTranslator::address(const WarpAddress &from) {
  const IrValue base = operand(from.base, 64);
  const IrValue sum =
      domain_.add(base, domain_.constant(64, Bits{static_cast<std::uint64_t>(from.offset)}));
  return from.base.kind == WarpOperand::Kind::reg && from.base.width == 32
             ? domain_.zext(domain_.trunc(sum, 32), 64)
             : sum;
}

void FunctionTranslator::give(RegisterId reg, IrValue value) {
  if (guard_.width != 0) {
    IrValue old = registered(reg);
    const NanBits nan = value.nan == NanBits::kept || old.nan == NanBits::kept ? NanBits::kept
                        : value.nan == old.nan                                 ? old.nan
                                                                               : NanBits::any;
    if (nan == NanBits::kept) {
      value = domain_.settled(value);
      old = domain_.settled(old);
    }
    value = domain_.ite(guard_, value, old);
    value.nan = nan;
  }
  given_.emplace_back(reg, std::move(value));
}

void FunctionTranslator::commit() {
  for (auto &[reg, value] : given_) {
    add_shape(reg, value);
    rows_[reg] = {std::move(value), true};
  }
  given_.clear();
}

void FunctionTranslator::assign(const WarpOperand &to, IrValue value, unsigned width,
                                bool sign_extends) {
  if (to.kind != WarpOperand::Kind::reg)
    return;
  value = resize(value, width);
  if (sign_extends && width < to.width)
    value = domain_.sext(value, to.width);
  value = resize(value, to.width);
  give(to.reg, resize(value, width_of(to.reg)));
}

void FunctionTranslator::fill_slots_before(std::uint32_t pc) {
  for (const auto &[reg, row] : rows_)
    if (row.is_dirty && (reg >= carry_ || live_[pc].empty() || live_[pc][reg]))
      store_slot(reg, row.value);
}

void FunctionTranslator::fill_slots_behind(BlockId block) {
  for (const auto &[reg, row] : rows_)
    if (row.is_dirty && (reg >= carry_ || liveness_.live_out(block, reg)))
      store_slot(reg, row.value);
}

void FunctionTranslator::subtract(std::uint32_t executed) {
  text_.store_to("i64", text_.define("sub i64 {}, {}", text_.load_from("i64", "%budget"), executed),
                 "%budget");
}

void FunctionTranslator::tell_machine() {
  text_.store("i64", text_.load_from("i64", "%budget"),
              field_address(offsetof(TranslatedFrame, budget)), 8);
}

void FunctionTranslator::hear_machine() {
  text_.store_to("i64", field(offsetof(TranslatedFrame, budget), "i64"), "%budget");
  text_.store_to("i32", field(offsetof(TranslatedFrame, lanes), "i32"), "%lanes");
  text_.store_to("i32", field(offsetof(TranslatedFrame, by_block), "i32"), "%by_block");
}

void FunctionTranslator::leave(std::uint32_t pc, std::uint32_t executed) {
  if (executed != 0)
    subtract(executed);
  if (may_go_on_ && function_.code[pc].action == WarpAction::exit &&
      function_.code[pc].guard == no_register) {
    const std::string ends = text_.new_label();
    const std::string others =
        text_.define("icmp ne i32 {}, 0", field(offsetof(TranslatedFrame, next_warps), "i32"));
    const std::string in_time =
        text_.define("icmp sgt i64 {}, 0", text_.load_from("i64", "%budget"));
    std::string may = text_.define("and i1 {}, {}", others, in_time);
    if (!partings_.empty()) {
      const std::string together =
          text_.define("icmp eq i32 {}, 0", field(offsetof(TranslatedFrame, parked_count), "i32"));
      // The run that ends has not been subtracted yet, and nobody asks before the next one's.
      const std::string left =
          text_.define("lshr i64 {}, 2", field(offsetof(TranslatedFrame, steps_left), "i64"));
      const std::string enough = text_.define(
          "icmp uge i64 {}, {}", left, field(offsetof(TranslatedFrame, enough_steps), "i64"));
      may = text_.define("and i1 {}, {}", may, text_.define("and i1 {}, {}", together, enough));
    }
    text_.line("br i1 {}, label %next_warp, label %{}", may, ends);
    text_.start(ends);
  }
  tell_machine();
  text_.store("i32", std::to_string(pc), field_address(offsetof(TranslatedFrame, pc)), 4);
  text_.line("ret void");
}

// A warp has come to its end, and all lanes with it; the machine has said that another may begin.
void FunctionTranslator::begin_next_warp() {
  text_.start("next_warp");
  const auto change = [&](std::size_t offset, std::string_view type, const auto &to) {
    const std::string at = field_address(offset);
    text_.store(type, to(text_.load(type, at, 4)), at, 4);
  };
  change(offsetof(TranslatedFrame, next_warps), "i32",
         [&](const std::string &left) { return text_.define("sub i32 {}, 1", left); });
  const std::string budget = text_.load_from("i64", "%budget");
  const std::string slice = field(offsetof(TranslatedFrame, time_slice), "i64");
  const auto set = [&](std::size_t offset, const std::string &to) {
    text_.store("i64", to, field_address(offset), 8);
  };
  // Unless lanes part here, the run of each of them begins with a turn. And the instruction that
  // ends it.
  const std::string began_with =
      partings_.empty() ? slice : field(offsetof(TranslatedFrame, run_budget), "i64");
  const std::string executed =
      text_.define("add i64 {}, 1", text_.define("sub i64 {}, {}", began_with, budget));
  change(offsetof(TranslatedFrame, steps_left), "i64", [&](const std::string &left) {
    return text_.define("sub i64 {}, {}", left, text_.define("shl i64 {}, 5", executed));
  });
  if (!partings_.empty()) {
    set(offsetof(TranslatedFrame, turn_left), slice);
    set(offsetof(TranslatedFrame, run_budget), slice);
    set(offsetof(TranslatedFrame, run_steps), "0");
  }
  text_.store("i32", "1", field_address(offsetof(TranslatedFrame, has_begun)), 4);
  text_.store_to("i64", slice, "%budget");
  std::size_t count = 0;
  const std::string next = field(offsetof(TranslatedFrame, next_specials), "i64");
  for (std::size_t i = 0; i < specials_.size(); ++i)
    if (is_of_warp(specials_[i]))
      text_.store("i64", text_.load("i64", text_.define("add i64 {}, {}", next, 8 * count++), 8),
                  row_address("%specials", i), 8);
  text_.store("i64", text_.define("add i64 {}, {}", next, 8 * count),
              field_address(offsetof(TranslatedFrame, next_specials)), 8);
  for (std::size_t loop = 0; loop < function_.cfg->loops().size(); ++loop)
    text_.store("i32", "0", text_.define("add i64 %iterations, {}", loop * 4), 4);
  text_.line("br label %segment0");
}

// Its text goes behind the segment, as it is rarely come to.
std::string FunctionTranslator::leaving(std::uint32_t pc) {
  if (leaving_.empty()) {
    leaving_ = text_.new_label();
    const std::string body = std::exchange(text_.text, {});
    text_.start(leaving_);
    fill_slots_before(pc);
    leave(pc, executed_);
    stubs_ += std::exchange(text_.text, body);
  }
  return leaving_;
}

void FunctionTranslator::leave_if_mistaken(std::uint32_t pc) {
  const IrValue mistake = domain_.take_mistake();
  if (mistake.width == 0)
    return;
  const std::string right = text_.define("xor i1 {}, true", mistake.text);
  const std::string next = text_.new_label();
  likely(right, next, leaving(pc));
  text_.start(next);
}

std::string FunctionTranslator::guarded_lanes() {
  if (guard_.width == 0)
    return mask_;
  if (guard_.uniform)
    return text_.define("select i1 {}, i32 {}, i32 0", guard_.text, mask_);
  const std::string bits = text_.define("bitcast <32 x i1> {} to i32", domain_.spread(guard_).text);
  return text_.define("and i32 {}, {}", bits, mask_);
}

// What is computed from an instruction's operands by its line of the tables. False: by the machine.
bool FunctionTranslator::compute_here(const WarpInstruction &in) {
  const Line<IrDomain> *integer_line = nullptr;
  const FloatLine<IrDomain> *float_line = nullptr;
  if (in.is_float)
    float_line = find_float_line<IrDomain>(*in.opcode);
  else
    integer_line = find_line<IrDomain>(*in.opcode);
  std::vector<IrValue> arguments;
  // Those of f32 to whose lines it does not matter which NaN a NaN is.
  using enum Op;
  const ScalarType type = in.form.form.source_type == ScalarType::none || in.opcode->op != setp
                              ? in.form.form.type
                              : in.form.form.source_type;
  static constexpr Op of_any_nan[] = {add,  sub,   mul, fma, mad, div, rcp,
                                      sqrt, rsqrt, abs, neg, min, max, setp};
  const bool takes_any = in.is_float && type == ScalarType::f32 &&
                         std::find(std::begin(of_any_nan), std::end(of_any_nan), in.opcode->op) !=
                             std::end(of_any_nan);
  for (std::size_t i = 0; i < in.inputs.size(); ++i) {
    IrValue value = operand(in.inputs[i], in.input_widths[i]);
    if (!takes_any)
      value = domain_.settled(value);
    arguments.push_back(in.is_float && value.has_steps() ? domain_.spread(value) : value);
  }
  if (in.carries)
    arguments.push_back(registered(carry_));
  const auto line = [&](Args<IrDomain> list) {
    return in.is_float ? float_line->evaluate(domain_, in.form, list)
                       : integer_line->evaluate(domain_, in.form.form, list);
  };
  const Args<IrDomain> list(arguments);
  const IrValue result = line(list);
  IrValue carry, second;
  if (in.sets_carry)
    carry = semantics::carry_of(domain_, result, in.width);
  if (in.second_output.kind != WarpOperand::Kind::none)
    second = semantics::second_of(domain_, *in.opcode, result, list, line);
  if (domain_.take_refusal())
    return false;
  assign(in.outputs[0], result, in.width, in.sign_extends);
  if (in.sets_carry)
    give(carry_, carry);
  if (in.second_output.kind != WarpOperand::Kind::none)
    assign(in.second_output, second, 1, false);
  return true;
}

bool FunctionTranslator::move_here(const WarpInstruction &in) {
  if (in.width > 64)
    return false;
  if (in.inputs.size() == 1 && in.outputs.size() == 1) {
    assign(in.outputs[0], operand(in.inputs[0], in.width), in.width, false);
    return true;
  }
  const unsigned width_in = in.width / static_cast<unsigned>(in.inputs.size());
  const unsigned width_out = in.width / static_cast<unsigned>(in.outputs.size());
  std::vector<IrValue> parts;
  for (const WarpOperand &input : in.inputs)
    parts.push_back(domain_.settled(operand(input, width_in)));
  const IrValue whole = semantics::pack(domain_, Args<IrDomain>(parts));
  for (std::size_t i = 0; i < in.outputs.size(); ++i)
    assign(in.outputs[i], semantics::unpack(domain_, whole, i, width_out), width_out, false);
  return true;
}

// The machine reads and writes slots: what has changed of those it reads goes there first, and of
// those it writes, of which it may leave lanes as they are.
void FunctionTranslator::let_machine_compute(std::uint32_t pc,
                                             const std::vector<RegisterId> &outputs,
                                             const std::string &mask) {
  const WarpInstruction &in = function_.code[pc];
  const auto write = [&](RegisterId reg) {
    const auto found = rows_.find(reg);
    if (found != rows_.end() && found->second.is_dirty)
      store_slot(reg, found->second.value);
    else
      slot_address(reg);
  };
  for (const WarpOperand &input : in.inputs)
    if (input.kind == WarpOperand::Kind::reg)
      write(input.reg);
  if (in.carries)
    write(carry_);
  for (const RegisterId reg : outputs)
    write(reg);
  call("void", offsetof(TranslatedFrame, compute), "i64, i32, i32", "i64 %frame, i32 {}, i32 {}",
       pc, mask);
}

void FunctionTranslator::compute(std::uint32_t pc) {
  const WarpInstruction &in = function_.code[pc];
  const std::vector<RegisterId> outputs = outputs_of(in);
  // What is loaded here stays, whoever computes.
  for (const WarpOperand &input : in.inputs)
    if (input.kind == WarpOperand::Kind::reg)
      registered(input.reg);
  if (in.carries)
    registered(carry_);
  for (const RegisterId reg : outputs)
    if (guard_.width != 0)
      registered(reg);
  const std::size_t length_before = text_.text.size();
  const bool is_here = in.action == WarpAction::move ? move_here(in) : compute_here(in);
  const IrValue doubt = domain_.take_doubt();
  if (!is_here) {
    domain_.take_mistake();
    text_.text.resize(length_before);
    given_.clear();
    // Of a register in a slot of 64 bits, lanes that the guard leaves out must be right, too.
    for (const RegisterId reg : outputs)
      add_shape(reg, {{}, width_of(reg), false});
    let_machine_compute(pc, outputs, guarded_lanes());
    for (const RegisterId reg : outputs)
      rows_[reg] = {load_slot(reg), false};
    return;
  }
  leave_if_mistaken(pc);
  if (doubt.width == 0)
    return commit();
  // Where a lane's result may be wrong, the machine computes all of them.
  const std::string bits = text_.define("bitcast <32 x i1> {} to i32", domain_.spread(doubt).text);
  const std::string doubted = text_.define("and i32 {}, {}", bits, guarded_lanes());
  const std::string none = text_.define("icmp eq i32 {}, 0", doubted);
  const std::string slow = text_.new_label(), join = text_.new_label(), fast = text_.new_label();
  likely(none, fast, slow);
  text_.start(fast);
  for (auto &[reg, value] : given_)
    if (!value.uniform || slots_[reg].shape == RegisterSlot::Shape::lanes) {
      const NanBits nan = value.nan;
      value = domain_.spread(value);
      value.nan = nan;
    }
  text_.line("br label %{}", join);
  text_.start(slow);
  let_machine_compute(pc, outputs, guarded_lanes());
  std::vector<IrValue> computed;
  for (const auto &[reg, value] : given_) {
    const IrValue found = load_slot(reg);
    computed.push_back(value.uniform ? found : domain_.spread(found));
  }
  text_.line("br label %{}", join);
  text_.start(join);
  for (std::size_t i = 0; i < given_.size(); ++i) {
    IrValue &value = given_[i].second;
    value.text = text_.define("phi {} [ {}, %{} ], [ {}, %{} ]", IrDomain::type_of(value),
                              value.text, fast, computed[i].text, slow);
  }
  commit();
}

bool FunctionTranslator::is_parameter(const WarpInstruction &in) const {
  if (in.action != WarpAction::load || in.address.base.kind != WarpOperand::Kind::immediate ||
      (in.space != StateSpace::param && in.space != StateSpace::generic))
    return false;
  const std::uint64_t offset =
      in.address.base.value + static_cast<std::uint64_t>(in.address.offset) - window::param;
  const std::uint64_t size = in.element * in.outputs.size();
  const std::uint64_t all = kernel_parameter_bytes(*function_.function);
  return function_.function->is_entry && offset % size == 0 && size <= all && offset <= all - size;
}

// The launch has all bytes of parameters, or it would not run.
void FunctionTranslator::load_parameter(const WarpInstruction &in) {
  const std::uint64_t offset =
      in.address.base.value + static_cast<std::uint64_t>(in.address.offset) - window::param;
  const unsigned width = in.element * 8u;
  for (std::size_t i = 0; i < in.outputs.size(); ++i) {
    const std::string at = text_.define("add i64 %parameters, {}", offset + i * in.element);
    assign(in.outputs[i], {text_.load(IrDomain::type_of(width, true), at, 1), width, true},
           in.width, in.sign_extends);
  }
  commit();
}

// The place in this process of bytes from an address on, whole elements; goes to `otherwise` where
// it is not known that they may be accessed. For as many bytes as the instruction always accesses,
// the machine has said how many elements it may begin with: an address that is not of a whole
// element has ones in front as a number of elements.
std::string FunctionTranslator::host_bytes(const WarpInstruction &in, const std::string &address,
                                           std::uint64_t bytes, const std::string &otherwise) {
  const auto number = static_cast<std::size_t>(&in - function_.code.data());
  const std::string offset =
      text_.define("sub i64 {}, {}", address, known_field(in, offsetof(KnownAccess, first)));
  const std::string next = text_.new_label();
  if (spans_[number] == bytes) {
    const int places = std::countr_zero(access_bytes(in));
    likely(text_.define("icmp ult i64 {}, {}", rotated(offset, places, "i64"),
                        known_field(in, offsetof(KnownAccess, count))),
           next, otherwise);
  } else {
    const std::string size = known_field(in, offsetof(KnownAccess, size));
    const std::string begins = text_.define("icmp ult i64 {}, {}", offset, size);
    const std::string rest = text_.define("sub i64 {}, {}", size, offset);
    const std::string ends = text_.define("icmp uge i64 {}, {}", rest, bytes);
    const std::string within = text_.define("and i1 {}, {}", begins, ends);
    const std::string part = text_.define("and i64 {}, {}", address, access_bytes(in) - 1);
    const std::string aligned = text_.define("icmp eq i64 {}, 0", part);
    likely(text_.define("and i1 {}, {}", within, aligned), next, otherwise);
  }
  text_.start(next);
  return text_.define("add i64 {}, {}", address, to_host(in));
}

std::string FunctionTranslator::known_field(const WarpInstruction &in, std::size_t offset) {
  const auto number = static_cast<std::size_t>(&in - function_.code.data());
  return text_.load("i64",
                    text_.define("add i64 %known, {}", number * sizeof(KnownAccess) + offset), 8);
}

std::string FunctionTranslator::to_host(const WarpInstruction &in) {
  return in.space == StateSpace::shared ? "%shared_to_host"
                                        : known_field(in, offsetof(KnownAccess, to_host));
}

/// Bits to the right, from the last to the first.
std::string FunctionTranslator::rotated(const std::string &value, int places,
                                        std::string_view type) {
  if (places == 0)
    return value;
  const bool is_row = type == row_type;
  const std::string function = fmt::format("@llvm.fshr.{}", is_row ? "v32i64" : "i64");
  text_.declarations.insert(fmt::format("declare {0} {1}({0}, {0}, {0})\n", type, function));
  const std::string by = std::to_string(places);
  return text_.define("call {0} {1}({0} {2}, {0} {2}, {0} {3})", type, function, value,
                      is_row ? domain_.spread({by, 64, true}).text : by);
}

/// The indices of a shufflevector of so many lanes.
std::string shuffle_indices(std::size_t count, auto index) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i)
    list += fmt::format("{}i32 {}", i ? ", " : "", index(i));
  return fmt::format("<{} x i32> <{}>", count, list);
}

// Elements of 32 lanes that lie one behind the other.
std::vector<std::string> FunctionTranslator::load_side_by_side(const std::string &from,
                                                               unsigned width, std::size_t count) {
  const std::string type = fmt::format("<{} x i{}>", warp_lanes * count, width);
  const std::string all = text_.load(type, from, 1);
  if (count == 1)
    return {all};
  std::vector<std::string> parts;
  for (std::size_t part = 0; part < count; ++part)
    parts.push_back(text_.define(
        "shufflevector {0} {1}, {0} undef, {2}", type, all,
        shuffle_indices(warp_lanes, [&](std::size_t lane) { return lane * count + part; })));
  return parts;
}

void FunctionTranslator::store_side_by_side(const std::string &to, unsigned width,
                                            std::vector<std::string> parts) {
  const std::size_t count = parts.size(), lanes = count * warp_lanes;
  const std::string type = fmt::format("<{} x i{}>", lanes, width);
  std::string all = joined(std::move(parts), width, warp_lanes);
  if (count != 1)
    all = text_.define(
        "shufflevector {0} {1}, {0} undef, {2}", type, all,
        shuffle_indices(lanes, [&](std::size_t n) { return n % count * warp_lanes + n / count; }));
  text_.store(type, all, to, 1);
}

// Pairs of vectors are joined until there is one, which has part after part.
std::string FunctionTranslator::joined(std::vector<std::string> parts, unsigned width,
                                       std::size_t lanes) {
  for (; parts.size() > 1; lanes *= 2) {
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(text_.define("shufflevector <{0} x i{1}> {2}, <{0} x i{1}> {3}, {4}", lanes,
                                   width, parts[i], parts[i + 1],
                                   shuffle_indices(2 * lanes, [](std::size_t n) { return n; })));
    parts = pairs;
  }
  return parts[0];
}

bool FunctionTranslator::are_near(const IrValue &where, std::uint64_t element) const {
  constexpr std::int64_t far = std::int64_t{1} << 24;
  const auto is_right = [&](std::int64_t step) {
    return step < far && step > -far && step % static_cast<std::int64_t>(element) == 0;
  };
  return where.has_steps() && is_right(where.steps.lane) && is_right(where.steps.row);
}

// Everything between the first and the last of them has to be there, as with those side by side.
std::string FunctionTranslator::host_bytes_apart(const WarpInstruction &in, const IrValue &where,
                                                 std::uint64_t element,
                                                 const std::string &otherwise) {
  const auto [least, greatest] = domain_.range(where);
  const std::string begin = text_.define("add i64 {}, {}", where.text, least);
  const auto bytes = static_cast<std::uint64_t>(greatest - least) + element;
  return text_.define("sub i64 {}, {}", host_bytes(in, begin, bytes, otherwise), least);
}

// A row whose elements are side by side, or one, is one load.
std::string FunctionTranslator::load_apart(const std::string &from, const IrValue &where,
                                           unsigned width) {
  const std::size_t row = row_lanes(layout_), rows = warp_lanes / row;
  const auto load_at = [&](std::size_t lane, const std::string &type) {
    const std::int64_t more = domain_.more(where, static_cast<unsigned>(lane));
    return text_.load(type, text_.define("add i64 {}, {}", from, more), 1);
  };
  if (where.steps.lane == width / 8) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < rows; ++i)
      parts.push_back(i != 0 && domain_.more(where, static_cast<unsigned>(row)) == 0
                          ? parts[0]
                          : load_at(i * row, fmt::format("<{} x i{}>", row, width)));
    return joined(std::move(parts), width, row);
  }
  const bool by_row = where.steps.lane == 0;
  const std::size_t count = by_row ? rows : warp_lanes;
  const std::string type = fmt::format("<{} x i{}>", count, width);
  std::string all = "undef";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string one = load_at(by_row ? i * row : i, fmt::format("i{}", width));
    all = text_.define("insertelement {} {}, i{} {}, i32 {}", type, all, width, one, i);
  }
  return by_row ? text_.define("shufflevector {0} {1}, {0} undef, {2}", type, all,
                               shuffle_indices(warp_lanes, [&](std::size_t n) { return n / row; }))
                : all;
}

// In the order of lanes: of stores to one place the last one stays.
void FunctionTranslator::store_apart(const std::string &to, const IrValue &where, unsigned width,
                                     const std::string &stored) {
  const std::size_t row = row_lanes(layout_);
  const std::string type = IrDomain::type_of(width, false);
  const bool by_row = where.steps.lane == width / 8;
  for (std::size_t lane = 0; lane < warp_lanes; lane += by_row ? row : 1) {
    const std::int64_t more = domain_.more(where, static_cast<unsigned>(lane));
    const std::string at = text_.define("add i64 {}, {}", to, more);
    if (by_row)
      text_.store(fmt::format("<{} x i{}>", row, width),
                  text_.define("shufflevector {0} {1}, {0} undef, {2}", type, stored,
                               shuffle_indices(row, [&](std::size_t n) { return lane + n; })),
                  at, 1);
    else
      text_.store(IrDomain::type_of(width, true),
                  text_.define("extractelement {} {}, i32 {}", type, stored, lane), at, 1);
  }
}

std::string FunctionTranslator::gather(const WarpInstruction &in, const std::string &mask,
                                       bool is_wide) {
  const unsigned width = in.element * 8u;
  is_wide ? define_wide_gather(width) : define_gather(width);
  const auto number = static_cast<std::size_t>(&in - function_.code.data());
  const std::string known = text_.define("add i64 %known, {}", number * sizeof(KnownAccess));
  return text_.define("call i1 @gather{}{}(i64 {}, i64 {}, i64 %addresses, i64 %values, i32 {})",
                      is_wide ? "_wide" : "", width, known, to_host(in), mask);
}

void FunctionTranslator::check_gather(const std::string &holds) {
  gathering_ = text_.new_label();
  likely(holds, gathering_, "not_here");
  text_.start(gathering_);
}

void FunctionTranslator::check_gather_lanes(const std::string &wrong) {
  const std::string bits = text_.define("bitcast <32 x i1> {} to i32", wrong);
  check_gather(text_.define("icmp eq i32 {}, 0", text_.define("and i32 {}, %mask", bits)));
}

FunctionTranslator::Gathering FunctionTranslator::begin_gather(const std::string &name,
                                                               std::uint64_t bytes) {
  text_.text = fmt::format("define internal i1 {}(i64 %stretch, i64 %to_host, i64 %from, i64 %to, "
                           "i32 %mask) noinline {{\nentry:\n",
                           name);
  const auto member = [&](std::size_t offset) {
    return text_.load("i64", text_.define("add i64 %stretch, {}", offset), 8);
  };
  text_.declarations.insert("declare i32 @llvm.cttz.i32(i32, i1)\n");
  check_gather(text_.define("icmp ne i32 %mask, 0"));
  const std::string lane = text_.define("call i32 @llvm.cttz.i32(i32 %mask, i1 true)");
  const std::string place = text_.define("shl i64 {}, 3", text_.define("zext i32 {} to i64", lane));
  Gathering result;
  result.one = text_.load("i64", text_.define("add i64 %from, {}", place), 8);
  result.first = member(offsetof(KnownAccess, first));
  const std::string size = member(offsetof(KnownAccess, size));
  check_gather(text_.define("icmp uge i64 {}, {}", size, bytes));
  result.last = text_.define("sub i64 {}, {}", size, bytes);
  result.all = text_.load(row_type, "%from", 64);
  return result;
}

void FunctionTranslator::end_gather(std::string before) {
  text_.line("ret i1 true");
  text_.start("not_here");
  text_.line("ret i1 false");
  text_.text += "}\n";
  functions_text_ += std::exchange(text_.text, std::move(before));
}

void FunctionTranslator::gather_few(const Gathering &lanes, unsigned width, std::uint64_t bytes) {
  constexpr unsigned most = 20; ///< from there on all lanes at once are as fast
  const auto splat = [&](const std::string &value) {
    return domain_.spread({value, 64, true}).text;
  };
  // Whole elements in: what an odd place has in its last bits makes a large number.
  const unsigned element = width / 8;
  const int places = std::countr_zero(element);
  const std::string offset = text_.define("sub {} {}, {}", row_type, lanes.all, splat(lanes.first));
  const std::string greatest = text_.define("lshr i64 {}, {}", lanes.last, places);
  check_gather_lanes(text_.define("icmp ugt {} {}, {}", row_type, rotated(offset, places, row_type),
                                  splat(greatest)));
  text_.declarations.insert("declare i32 @llvm.ctpop.i32(i32)\n");
  const std::string before = gathering_, many = text_.new_label(), next_lane = text_.new_label(),
                    end = text_.new_label();
  text_.line("br i1 {}, label %{}, label %{}",
             text_.define("icmp ule i32 {}, {}",
                          text_.define("call i32 @llvm.ctpop.i32(i32 %mask)"), most),
             next_lane, many);
  text_.start(next_lane);
  const std::string rest =
      text_.define("phi i32 [ %mask, %{} ], [ %rest, %{} ]", before, next_lane);
  const std::string lane = text_.define(
      "zext i32 {} to i64", text_.define("call i32 @llvm.cttz.i32(i32 {}, i1 true)", rest));
  const std::string place = text_.define("mul i64 {}, 8", lane);
  const std::string host = text_.define(
      "add i64 {}, %to_host", text_.load("i64", text_.define("add i64 %from, {}", place), 8));
  const std::string to =
      text_.define("add i64 %to, {}", text_.define("mul i64 {}, {}", lane, element));
  for (unsigned at = 0; at < bytes; at += element)
    text_.store(
        IrDomain::type_of(width, true),
        text_.load(IrDomain::type_of(width, true), text_.define("add i64 {}, {}", host, at), 1),
        text_.define("add i64 {}, {}", to, at * warp_lanes), element);
  text_.line("%rest = and i32 {}, {}", rest, text_.define("sub i32 {}, 1", rest));
  text_.line("br i1 {}, label %{}, label %{}", text_.define("icmp eq i32 %rest, 0"), end,
             next_lane);
  text_.start(end);
  text_.line("ret i1 true");
  gathering_ = many;
  text_.start(many);
}

void FunctionTranslator::check_each_lane(const Gathering &lanes, std::uint64_t element) {
  const auto splat = [&](const std::string &value) {
    return domain_.spread({value, 64, true}).text;
  };
  const std::string before = gathering_, some = text_.new_label(), join = text_.new_label();
  text_.line("br i1 {}, label %{}, label %{}", text_.define("icmp eq i32 %mask, -1"), join, some);
  text_.start(some);
  const std::string chosen = text_.define("select <32 x i1> {}, {} {}, {} {}",
                                          text_.define("bitcast i32 %mask to <32 x i1>"), row_type,
                                          lanes.all, row_type, splat(lanes.one));
  text_.store(row_type, chosen, "%from", 64);
  text_.line("br label %{}", join);
  text_.start(join);
  const std::string where =
      text_.define("phi {} [ {}, %{} ], [ {}, %{} ]", row_type, lanes.all, before, chosen, some);
  const std::string offset = text_.define("sub {} {}, {}", row_type, where, splat(lanes.first));
  const std::string beyond =
      text_.define("icmp ugt {} {}, {}", row_type, offset, splat(lanes.last));
  const std::string rest =
      text_.define("and {} {}, {}", row_type, where, splat(std::to_string(element - 1)));
  const std::string odd = text_.define("icmp ne {} {}, zeroinitializer", row_type, rest);
  check_gather_lanes(text_.define("or <32 x i1> {}, {}", beyond, odd));
}

// An address comes from memory faster than out of a vector, where this would be turned into that if
// it were not volatile.
std::string FunctionTranslator::gathered_place(unsigned lane) {
  const std::string pointer = text_.pointer("i64");
  const std::string place =
      text_.define("inttoptr i64 {} to {}", text_.define("add i64 %from, {}", lane * 8), pointer);
  return text_.define("add i64 {}, %to_host",
                      text_.define("load volatile i64, {} {}, align 8", pointer, place));
}

// A function of its own for all loads of one width: their lanes' addresses lie in a row in memory,
// what they load goes to another. Lanes that do not execute it load nothing, or what the first that
// does loads. All of them are in one stretch, or nothing is loaded.
void FunctionTranslator::define_gather(unsigned width) {
  const std::string name = fmt::format("@gather{}", width);
  if (!functions_.insert(name).second)
    return;
  std::string before = std::exchange(text_.text, {});
  const std::uint64_t element = width / 8;
  const Gathering lanes = begin_gather(name, element);
  const auto splat = [&](const std::string &value) {
    return domain_.spread({value, 64, true}).text;
  };
  const std::string type = IrDomain::type_of(width, false);
  gather_few(lanes, width, element);
  if (host_.gathers && width >= 32) {
    const std::string host = text_.define("add {} {}, {}", row_type, lanes.all, splat("%to_host"));
    const std::string number_type = fmt::format("i{}", width),
                      pointers = fmt::format("<32 x {}>", text_.pointer(number_type));
    const std::string function = fmt::format("@llvm.masked.gather.v32{}.v32{}", number_type,
                                             text_.mangled_pointer(number_type));
    text_.declarations.insert(
        fmt::format("declare {0} {1}({2}, i32, <32 x i1>, {0})\n", type, function, pointers));
    const std::string at = text_.define("inttoptr {} {} to {}", row_type, host, pointers);
    const std::string executing = text_.define("bitcast i32 %mask to <32 x i1>");
    text_.store(type,
                text_.define("call {0} {1}({2} {3}, i32 1, <32 x i1> {4}, {0} zeroinitializer)",
                             type, function, pointers, at, executing),
                "%to", 32);
  } else {
    check_each_lane(lanes, element);
    std::string values = "undef";
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const std::string at = gathered_place(lane);
      values = text_.define("insertelement {} {}, i{} {}, i32 {}", type, values, width,
                            text_.load(IrDomain::type_of(width, true), at, 1), lane);
    }
    text_.store(type, values, "%to", 32);
  }
  end_gather(std::move(before));
}

// The same for 16 bytes of each lane, in elements of some width: lane after lane is loaded as a
// whole, and what is loaded transposed. The first elements of all lanes are the first row.
void FunctionTranslator::define_wide_gather(unsigned width) {
  const std::string name = fmt::format("@gather_wide{}", width);
  if (!functions_.insert(name).second)
    return;
  std::string before = std::exchange(text_.text, {});
  const std::uint64_t element = width / 8;
  const Gathering lanes = begin_gather(name, wide_bytes);
  gather_few(lanes, width, wide_bytes);
  check_each_lane(lanes, element);
  // Sixteen lanes at a time: a vector has one of each four, or one of each two.
  constexpr unsigned together = 16;
  const auto count = static_cast<unsigned>(wide_bytes / element);
  const std::string one = fmt::format("<{} x i{}>", count, width);
  for (unsigned begin = 0; begin < warp_lanes; begin += together) {
    std::vector<std::string> vectors;
    for (unsigned first = begin; first < begin + count; ++first) {
      std::vector<std::string> parts;
      for (unsigned lane = first; lane < begin + together; lane += count)
        parts.push_back(text_.load(one, gathered_place(lane), 1));
      vectors.push_back(joined(std::move(parts), width, count));
    }
    // Halves of each 16 bytes change places, until each vector has the same element of all lanes.
    const unsigned all = together;
    for (unsigned apart = 1; apart < count; apart *= 2)
      for (unsigned i = 0; i < count; ++i)
        if ((i & apart) == 0) {
          const auto mixed = [&](bool second) {
            return text_.define(
                "shufflevector <{0} x i{1}> {2}, <{0} x i{1}> {3}, {4}", all, width, vectors[i],
                vectors[i + apart], shuffle_indices(all, [&](std::size_t n) {
                  const bool of_other = (n & apart) != 0;
                  return (of_other ? all : 0u) + ((n & ~std::size_t{apart}) | (second ? apart : 0));
                }));
          };
          const std::string low = mixed(false), high = mixed(true);
          vectors[i] = low;
          vectors[i + apart] = high;
        }
    for (unsigned i = 0; i < count; ++i)
      text_.store(fmt::format("<{} x i{}>", together, width), vectors[i],
                  text_.define("add i64 %to, {}", std::size_t{i} * warp_lanes * element +
                                                      std::size_t{begin} * element),
                  32);
  }
  end_gather(std::move(before));
}

void FunctionTranslator::note_span(std::uint32_t pc, const IrValue &where, bool is_contiguous) {
  if (!where.is_scalar() || spans_[pc] != 0) // it is asked for together with others
    return;
  const WarpInstruction &in = function_.code[pc];
  const auto [least, greatest] = domain_.range(where);
  spans_[pc] = static_cast<std::uint32_t>(
      is_contiguous ? access_bytes(in) * warp_lanes
                    : static_cast<std::uint64_t>(greatest - least) + access_bytes(in));
}

std::vector<std::string> FunctionTranslator::row_begins(const IrValue &where) {
  std::vector<std::string> begins;
  for (unsigned lane = 0; lane < warp_lanes; lane += row_lanes(layout_))
    begins.push_back(text_.define("extractelement {} {}, i32 {}", row_type, where.text, lane));
  return begins;
}

std::string FunctionTranslator::lie_in_rows(const IrValue &where,
                                            const std::vector<std::string> &begins,
                                            std::uint64_t element) {
  const unsigned row = row_lanes(layout_);
  const std::string first =
      text_.define("shufflevector {0} {1}, {0} undef, {2}", row_type, where.text,
                   shuffle_indices(warp_lanes, [&](std::size_t n) { return n / row * row; }));
  std::string steps, bits = begins[0];
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    steps += fmt::format("{}i64 {}", lane ? ", " : "", lane % row * element);
  const std::string expected = text_.define("add {} {}, <{}>", row_type, first, steps);
  const std::string equal = text_.define("icmp eq {} {}, {}", row_type, where.text, expected);
  const std::string lie =
      text_.define("icmp eq i32 {}, -1", text_.define("bitcast <32 x i1> {} to i32", equal));
  for (std::size_t i = 1; i < begins.size(); ++i)
    bits = text_.define("or i64 {}, {}", bits, begins[i]);
  const std::string aligned =
      text_.define("icmp eq i64 {}, 0", text_.define("and i64 {}, {}", bits, element - 1));
  return text_.define("and i1 {}, {}", lie, aligned);
}

// Says if each lane's address is that of lane 0 and so much more from lane to lane.
std::string FunctionTranslator::lies_at(const IrValue &where, const std::string &first,
                                        std::uint64_t distance) {
  const LaneSteps steps{static_cast<std::int64_t>(distance), 0};
  if (where.is_scalar())
    return where.steps == steps ? "true" : "false";
  const IrValue expected = domain_.spread(IrDomain::stepping(first, 64, steps));
  const std::string equal = text_.define("icmp eq {} {}, {}", row_type, where.text, expected.text);
  const std::string bits = text_.define("bitcast <32 x i1> {} to i32", equal);
  return text_.define("icmp eq i32 {}, -1", bits);
}

std::string FunctionTranslator::value_place(const WarpInstruction &in, std::size_t element) {
  return text_.define("add i64 %values, {}", element * warp_lanes * in.element);
}

void FunctionTranslator::let_machine_access(std::uint32_t pc, const IrValue &where,
                                            const std::string &mask) {
  std::string done;
  if (where.is_scalar() && where.steps.row == 0) {
    done = call("i32", offsetof(TranslatedFrame, access_steps), "i64, i32, i32, i64, i64, i64",
                "i64 %frame, i32 {}, i32 {}, i64 {}, i64 {}, i64 %values", pc, mask, where.text,
                where.steps.lane);
  } else {
    text_.store(row_type, domain_.spread(where).text, "%addresses", 64);
    done = call("i32", offsetof(TranslatedFrame, access), "i64, i32, i32, i64, i64",
                "i64 %frame, i32 {}, i32 {}, i64 %addresses, i64 %values", pc, mask);
  }
  const std::string right = text_.define("icmp ne i32 {}, 0", done), go_on = text_.new_label();
  likely(right, go_on, leaving(pc));
  text_.start(go_on);
}

/// Ways to a place where each brings a value.
struct WaysIn {
  struct Way {
    std::string from;
    std::vector<std::string> values;
  };
  std::vector<Way> ways;
  std::string phi(IrText &text, const std::string &type, std::size_t value) const {
    std::string list;
    for (const Way &way : ways)
      list += fmt::format("{}[ {}, %{} ]", list.empty() ? "" : ", ", way.values[value], way.from);
    return text.define("phi {} {}", type, list);
  }
};

// Ways: all 32 lanes side by side in memory, all of them at one address, constants apart, anywhere
// in one stretch, and through the machine, which does what else is right. On the first three, lanes
// that do not execute it load along: that those bytes are there is known.
std::vector<IrValue> FunctionTranslator::load(std::uint32_t pc, const IrValue &where,
                                              const std::string &mask) {
  const WarpInstruction &in = function_.code[pc];
  const std::size_t count = in.outputs.size();
  const unsigned width = in.element * 8u;
  const std::uint64_t whole = in.element * count;
  const bool is_known_space = in.space == StateSpace::global || in.space == StateSpace::constant ||
                              in.space == StateSpace::generic || in.space == StateSpace::shared;
  const bool is_contiguous = where.steps == LaneSteps{static_cast<std::int64_t>(whole), 0};
  const bool is_apart = count == 1 && !is_contiguous && are_near(where, whole);
  const bool has_quick_way = is_known_space && std::has_single_bit(whole) &&
                             (!where.is_scalar() || where.uniform || is_contiguous || is_apart);
  const unsigned row = row_lanes(layout_);
  const bool has_rows = has_quick_way && row != warp_lanes && count == 1 && !where.is_scalar();
  // At one address all lanes find the same, but for the memory that each has for itself.
  const bool is_uniform = where.uniform && has_quick_way && in.space != StateSpace::generic;
  const std::string type = IrDomain::type_of(width, is_uniform);
  const std::string slow = text_.new_label(), join = text_.new_label();
  WaysIn in_all;
  if (has_quick_way)
    note_span(pc, where, is_contiguous);
  if (has_rows) {
    const std::string in_rows = text_.new_label(), others = text_.new_label(),
                      fast = text_.new_label();
    const std::vector<std::string> begins = row_begins(where);
    text_.line("br i1 {}, label %{}, label %{}", lie_in_rows(where, begins, whole), in_rows,
               others);
    text_.start(in_rows);
    std::vector<std::string> parts = host_rows(in, begins, row * whole, slow);
    text_.line("br label %{}", fast);
    text_.start(fast);
    for (std::string &part : parts)
      part = text_.load(fmt::format("<{} x i{}>", row, width), part, 1);
    in_all.ways.push_back({fast, {joined(std::move(parts), width, row)}});
    text_.line("br label %{}", join);
    text_.start(others);
  }
  if (has_quick_way) {
    const std::string first =
        where.is_scalar() ? where.text
                          : text_.define("extractelement {} {}, i32 0", row_type, where.text);
    if (!where.is_scalar()) {
      const std::string rest = text_.define("and i64 {}, {}", first, whole - 1);
      const std::string aligned = text_.define("icmp eq i64 {}, 0", rest);
      const std::string quick = text_.new_label();
      likely(aligned, quick, slow);
      text_.start(quick);
    }
    const std::string one_place = text_.new_label();
    if (is_apart) {
      const std::string bytes = host_bytes_apart(in, where, whole, slow);
      const std::string fast = text_.new_label();
      text_.line("br label %{}", fast);
      text_.start(fast);
      in_all.ways.push_back({fast, {load_apart(bytes, where, width)}});
      text_.line("br label %{}", join);
    } else if (!where.uniform && !has_rows) {
      const std::string side_by_side = text_.new_label(), fast = text_.new_label();
      if (where.is_scalar()) {
        text_.line("br label %{}", side_by_side);
      } else { // lane 1 says which of the two it can be
        const std::string in_line = text_.new_label(), apart = text_.new_label();
        const std::string second =
            text_.define("extractelement {} {}, i32 1", row_type, where.text);
        const std::string distance = text_.define("sub i64 {}, {}", second, first);
        text_.line("br i1 {}, label %{}, label %{}",
                   text_.define("icmp eq i64 {}, {}", distance, whole), in_line, apart);
        text_.start(apart);
        text_.line("br i1 {}, label %{}, label %{}", text_.define("icmp eq i64 {}, 0", distance),
                   one_place, slow);
        text_.start(in_line);
        text_.line("br i1 {}, label %{}, label %{}", lies_at(where, first, whole), side_by_side,
                   slow);
      }
      text_.start(side_by_side);
      const std::string bytes = host_bytes(in, first, whole * warp_lanes, slow);
      text_.line("br label %{}", fast);
      text_.start(fast);
      in_all.ways.push_back({fast, load_side_by_side(bytes, width, count)});
      fetch_behind(in, bytes, whole * warp_lanes);
      text_.line("br label %{}", join);
    } else {
      text_.line("br label %{}", one_place);
    }
    if (where.uniform || !where.is_scalar()) {
      const std::string same = text_.new_label(), fast = text_.new_label();
      text_.start(one_place);
      text_.line("br i1 {}, label %{}, label %{}", lies_at(where, first, 0), same, slow);
      text_.start(same);
      const std::string bytes = host_bytes(in, first, whole, slow);
      text_.line("br label %{}", fast);
      text_.start(fast);
      WaysIn::Way way{fast, {}};
      for (std::size_t i = 0; i < count; ++i) {
        const std::string at = text_.define("add i64 {}, {}", bytes, i * in.element);
        const IrValue one{text_.load(IrDomain::type_of(width, true), at, 1), width, true};
        way.values.push_back(is_uniform ? one.text : domain_.spread(one).text);
      }
      in_all.ways.push_back(std::move(way));
      text_.line("br label %{}", join);
    }
  } else {
    text_.line("br label %{}", slow);
  }
  text_.start(slow);
  const std::string behind = text_.new_label();
  if (count == 1 && is_known_space && !where.is_scalar()) {
    const std::string machine = text_.new_label();
    text_.store(row_type, where.text, "%addresses", 64);
    likely(gather(in, mask, false), behind, machine);
    text_.start(machine);
  }
  let_machine_access(pc, where, mask);
  text_.line("br label %{}", behind);
  text_.start(behind);
  WaysIn::Way way{behind, {}};
  std::string lane;
  if (is_uniform) { // that of a lane that executes it, if there is one
    text_.declarations.insert("declare i32 @llvm.cttz.i32(i32, i1)\n");
    const std::string some = text_.define("or i32 {}, -2147483648", mask);
    const std::string number = text_.define("call i32 @llvm.cttz.i32(i32 {}, i1 true)", some);
    lane = text_.define("zext i32 {} to i64", number);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::string at = value_place(in, i);
    if (is_uniform)
      at = text_.define("add i64 {}, {}", at, text_.define("mul i64 {}, {}", lane, in.element));
    way.values.push_back(text_.load(type, at, is_uniform ? in.element : 32));
  }
  in_all.ways.push_back(std::move(way));
  text_.line("br label %{}", join);
  text_.start(join);
  std::vector<IrValue> loaded;
  for (std::size_t i = 0; i < count; ++i)
    loaded.push_back({in_all.phi(text_, type, i), width, is_uniform});
  return loaded;
}

// With no store in between, and while the register stays what it is.
void FunctionTranslator::find_loads_together(std::uint32_t first, std::uint32_t length) {
  wide_loads_.clear();
  wide_parts_.clear();
  near_loads_.clear();
  near_by_pc_.clear();
  struct Kind {
    RegisterId base;
    StateSpace space;
    std::size_t element, count;
    auto key() const { return std::tuple(base, space, element, count); }
    bool operator<(const Kind &other) const { return key() < other.key(); }
  };
  std::map<Kind, std::vector<std::uint32_t>> found;
  for (std::uint32_t pc = first; pc < first + length; ++pc) {
    const WarpInstruction &in = function_.code[pc];
    const WarpOperand &base = in.address.base;
    if (in.action == WarpAction::load && base.kind == WarpOperand::Kind::reg && !base.negated &&
        (in.space == StateSpace::shared ||
         (base.width == 64 && (in.space == StateSpace::global || in.space == StateSpace::constant ||
                               in.space == StateSpace::generic))))
      found[{base.reg, in.space, in.element, in.outputs.size()}].push_back(pc);
    const std::vector<RegisterId> outputs = outputs_of(in);
    for (auto &[kind, loads] : found)
      if (in.action == WarpAction::store || pc + 1 == first + length ||
          std::find(outputs.begin(), outputs.end(), kind.base) != outputs.end()) {
        find_near_loads(loads);
        find_wide_loads(loads);
        loads.clear();
      }
  }
}

void FunctionTranslator::find_near_loads(const std::vector<std::uint32_t> &loads) {
  constexpr std::int64_t near = 1024; ///< bytes
  NearLoads together;
  std::vector<std::uint32_t> members;
  for (const std::uint32_t pc : loads) {
    const WarpInstruction &in = function_.code[pc];
    const std::int64_t offset = in.address.offset;
    if (members.empty())
      together = {pc, offset, offset, {}, {}, {}};
    const std::int64_t least = std::min(together.least, offset),
                       most = std::max(together.most, offset);
    if (offset > together.least + near || offset < together.most - near ||
        (offset - together.least) % static_cast<std::int64_t>(access_bytes(in)) != 0)
      continue;
    together.least = least;
    together.most = most;
    members.push_back(pc);
  }
  if (members.size() < 2)
    return;
  for (const std::uint32_t pc : members)
    near_by_pc_[pc] = near_loads_.size();
  near_loads_.push_back(std::move(together));
}

void FunctionTranslator::find_wide_loads(const std::vector<std::uint32_t> &loads) {
  std::map<std::int64_t, std::uint32_t> by_offset; ///< the first of those that all lanes execute
  for (const std::uint32_t pc : loads)
    if (const WarpInstruction &in = function_.code[pc];
        in.guard == no_register && in.outputs.size() == 1 && in.address.base.width == 64 &&
        (in.element == 4 || in.element == 8))
      by_offset.try_emplace(in.address.offset, pc);
  for (auto begin = by_offset.begin(); begin != by_offset.end();) {
    const std::uint64_t element = function_.code[begin->second].element;
    const std::size_t count = wide_bytes / element;
    auto end = begin;
    std::size_t parts = 0;
    std::uint32_t leader = no_index;
    const auto place_of = [&](std::int64_t offset) {
      return (static_cast<std::uint64_t>(offset) - static_cast<std::uint64_t>(begin->first)) /
             element;
    };
    while (end != by_offset.end() && parts < count &&
           static_cast<std::uint64_t>(end->first) - static_cast<std::uint64_t>(begin->first) ==
               parts * element) {
      leader = std::min(leader, end->second);
      ++end;
      ++parts;
    }
    if (parts == count) {
      for (auto part = begin; part != end; ++part)
        wide_parts_[part->second] = {wide_loads_.size(), place_of(part->first)};
      wide_loads_.push_back({leader, begin->first - function_.code[leader].address.offset, {}, {}});
    }
    begin = parts == count ? end : std::next(begin);
  }
}

void FunctionTranslator::load_wide(std::uint32_t pc, const IrValue &where,
                                   const std::string &mask) {
  if (where.is_scalar())
    return;
  const WarpInstruction &in = function_.code[pc];
  WideLoad &all = wide_loads_[wide_parts_.at(pc).load];
  const auto at = [&](unsigned lane) {
    return text_.define("extractelement {} {}, i32 {}", row_type, where.text, lane);
  };
  const std::string none = text_.new_label(), distant = text_.new_label(), far = text_.new_label(),
                    have = text_.new_label(), join = text_.new_label();
  const std::string distance = text_.define("sub i64 {}, {}", at(1), at(0));
  text_.line("br i1 {}, label %{}, label %{}", text_.define("icmp eq i64 {}, 0", distance), none,
             distant);
  text_.start(distant);
  text_.line("br i1 {}, label %{}, label %{}",
             text_.define("icmp eq i64 {}, {}", distance, in.element), none, far);
  text_.start(far);
  const IrValue begin =
      domain_.add(where, domain_.constant(64, Bits{static_cast<std::uint64_t>(all.from_leader)}));
  text_.store(row_type, domain_.spread(begin).text, "%addresses", 64);
  text_.line("br i1 {}, label %{}, label %{}", gather(in, mask, true), have, none);
  text_.start(have);
  const std::string type = IrDomain::type_of(in.element * 8u, false);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < wide_bytes / in.element; ++i)
    parts.push_back(text_.load(type, value_place(in, i), 32));
  text_.line("br label %{}", join);
  text_.start(none);
  text_.line("br label %{}", join);
  text_.start(join);
  all.is_there = text_.define("phi i1 [ true, %{} ], [ false, %{} ]", have, none);
  for (const std::string &part : parts)
    all.parts.push_back(text_.define("phi {} [ {}, %{} ], [ undef, %{} ]", type, part, have, none));
}

// Side by side, by all lanes or, of words, by those that execute it; or through the machine.
void FunctionTranslator::store(std::uint32_t pc, const IrValue &where, const std::string &mask) {
  const WarpInstruction &in = function_.code[pc];
  const std::size_t count = in.inputs.size();
  const unsigned width = in.element * 8u;
  const std::uint64_t whole = in.element * count;
  const std::string type = IrDomain::type_of(width, false);
  std::vector<std::string> stored;
  for (std::size_t i = 0; i < count; ++i)
    stored.push_back(domain_.spread(domain_.settled(operand(in.inputs[i], width))).text);
  const std::string slow = text_.new_label(), join = text_.new_label();
  const bool is_contiguous = where.steps == LaneSteps{static_cast<std::int64_t>(whole), 0};
  const bool is_apart = count == 1 && !is_contiguous && are_near(where, whole);
  const bool has_quick_way = (in.space == StateSpace::global || in.space == StateSpace::generic ||
                              in.space == StateSpace::shared) &&
                             std::has_single_bit(whole) &&
                             (!where.is_scalar() || is_contiguous || is_apart);
  const unsigned row = row_lanes(layout_);
  if (has_quick_way && row != warp_lanes && count == 1 && !where.is_scalar()) {
    const std::string in_rows = text_.new_label();
    const std::vector<std::string> begins = row_begins(where);
    const std::string full = text_.define("icmp eq i32 {}, -1", mask);
    text_.line("br i1 {}, label %{}, label %{}",
               text_.define("and i1 {}, {}", full, lie_in_rows(where, begins, whole)), in_rows,
               slow);
    text_.start(in_rows);
    const std::vector<std::string> parts = host_rows(in, begins, row * whole, slow);
    // In their order: of stores to one place the last one stays.
    for (std::size_t i = 0; i < parts.size(); ++i)
      text_.store(fmt::format("<{} x i{}>", row, width),
                  text_.define("shufflevector {0} {1}, {0} undef, {2}", type, stored[0],
                               shuffle_indices(row, [&](std::size_t n) { return i * row + n; })),
                  parts[i], 1);
    text_.line("br label %{}", join);
  } else if (has_quick_way) {
    const std::string first =
        where.is_scalar() ? where.text
                          : text_.define("extractelement {} {}, i32 0", row_type, where.text);
    const std::string full = text_.define("icmp eq i32 {}, -1", mask);
    const bool may_be_masked = count == 1 && width >= 32 && !is_apart;
    const std::string quick = text_.new_label(), side_by_side = text_.new_label(),
                      some = text_.new_label(), all = text_.new_label();
    std::string is_quick = may_be_masked ? "true" : full;
    if (where.is_scalar()) {
      note_span(pc, where, is_contiguous);
    } else {
      const std::string rest = text_.define("and i64 {}, {}", first, whole - 1);
      const std::string aligned = text_.define("icmp eq i64 {}, 0", rest);
      is_quick = may_be_masked ? aligned : text_.define("and i1 {}, {}", aligned, full);
    }
    likely(is_quick, quick, slow);
    text_.start(quick);
    text_.line("br i1 {}, label %{}, label %{}", is_apart ? "true" : lies_at(where, first, whole),
               side_by_side, slow);
    text_.start(side_by_side);
    const std::string bytes = is_apart ? host_bytes_apart(in, where, whole, slow)
                                       : host_bytes(in, first, whole * warp_lanes, slow);
    likely(full, all, some);
    text_.start(all);
    if (!is_apart)
      fetch_behind(in, bytes, whole * warp_lanes);
    if (is_apart)
      store_apart(bytes, where, width, stored[0]);
    else
      store_side_by_side(bytes, width, stored);
    text_.line("br label %{}", join);
    text_.start(some);
    if (may_be_masked) {
      const std::string pointer = text_.pointer(type), name = fmt::format("v32i{}", width);
      const std::string function =
          fmt::format("@llvm.masked.store.{}.{}", name, text_.mangled_pointer(name));
      text_.declarations.insert(
          fmt::format("declare void {}({}, {}, i32, <32 x i1>)\n", function, type, pointer));
      const std::string lanes = text_.define("bitcast i32 {} to <32 x i1>", mask);
      const std::string at = text_.define("inttoptr i64 {} to {}", bytes, pointer);
      text_.line("call void {}({} {}, {} {}, i32 1, <32 x i1> {})", function, type, stored[0],
                 pointer, at, lanes);
    }
    text_.line("br label %{}", join);
  } else {
    text_.line("br label %{}", slow);
  }
  text_.start(slow);
  for (std::size_t i = 0; i < count; ++i)
    text_.store(type, stored[i], value_place(in, i), 32);
  let_machine_access(pc, where, mask);
  text_.line("br label %{}", join);
  text_.start(join);
}

void FunctionTranslator::access(std::uint32_t pc) {
  const WarpInstruction &in = function_.code[pc];
  const auto near = near_by_pc_.find(pc);
  if (near != near_by_pc_.end() && near_loads_[near->second].leader == pc)
    ask_for_near(near_loads_[near->second]);
  if (near != near_by_pc_.end() && !near_loads_[near->second].is_there.empty())
    return load_near(pc, near_loads_[near->second]);
  const IrValue where = address(in.address);
  const std::string mask = guarded_lanes();
  leave_if_mistaken(pc);
  if (in.action == WarpAction::store)
    return store(pc, where, mask);
  const auto wide = wide_parts_.find(pc);
  if (wide != wide_parts_.end() && wide_loads_[wide->second.load].leader == pc)
    load_wide(pc, where, mask);
  std::vector<IrValue> loaded;
  if (wide == wide_parts_.end() || wide_loads_[wide->second.load].is_there.empty()) {
    loaded = load(pc, where, mask);
  } else {
    const WideLoad &all = wide_loads_[wide->second.load];
    const std::string alone = text_.new_label(), have = text_.new_label(), join = text_.new_label();
    likely(all.is_there, have, alone);
    text_.start(alone);
    const IrValue own = load(pc, where, mask)[0];
    const std::string behind = text_.new_label();
    text_.line("br label %{}", behind);
    text_.start(behind);
    text_.line("br label %{}", join);
    text_.start(have);
    text_.line("br label %{}", join);
    text_.start(join);
    loaded = {own};
    loaded[0].text = text_.define("phi {} [ {}, %{} ], [ {}, %{} ]", IrDomain::type_of(own),
                                  all.parts[wide->second.part], have, own.text, behind);
  }
  for (std::size_t i = 0; i < loaded.size(); ++i)
    assign(in.outputs[i], loaded[i], in.width, in.sign_extends);
  commit();
}

// Blocks go through memory in rows that no processor foresees; what lies behind a warp's bytes is
// the next warp's or the next block's, mostly, and not worth a question.
void FunctionTranslator::fetch_behind(const WarpInstruction &in, const std::string &host,
                                      std::uint64_t bytes) {
  if (in.space == StateSpace::shared)
    return;
  const std::string pointer = text_.pointer("i8");
  const std::string function = fmt::format("@llvm.prefetch.{}", text_.mangled_pointer("i8"));
  text_.declarations.insert(fmt::format("declare void {}({}, i32, i32, i32)\n", function, pointer));
  constexpr std::uint64_t line = 64;
  for (std::uint64_t at = 0; at < bytes; at += line)
    text_.line("call void {}({} {}, i32 0, i32 3, i32 1)", function, pointer,
               text_.define("inttoptr i64 {} to {}",
                            text_.define("add i64 {}, {}", host, bytes + at), pointer));
}

FunctionTranslator::Shape FunctionTranslator::shape_of(const WarpInstruction &in,
                                                       const IrValue &where) const {
  const std::uint64_t whole = access_bytes(in);
  if (!where.is_scalar() || !std::has_single_bit(whole))
    return Shape::other;
  if (where.uniform)
    return Shape::uniform;
  if (where.steps == LaneSteps{static_cast<std::int64_t>(whole), 0})
    return Shape::contiguous;
  return whole == in.element && are_near(where, whole) ? Shape::apart : Shape::other;
}

std::vector<IrValue> FunctionTranslator::load_in_shape(const WarpInstruction &in,
                                                       const IrValue &where,
                                                       const std::string &host) {
  const unsigned width = in.element * 8u;
  std::vector<IrValue> loaded;
  const Shape shape = shape_of(in, where);
  if (shape == Shape::contiguous)
    fetch_behind(in, host, access_bytes(in) * warp_lanes);
  if (shape == Shape::contiguous)
    for (const std::string &part : load_side_by_side(host, width, in.outputs.size()))
      loaded.push_back({part, width, false});
  else if (shape == Shape::apart)
    loaded.push_back({load_apart(host, where, width), width, false});
  else
    for (std::size_t i = 0; i < in.outputs.size(); ++i) {
      const std::string at = text_.define("add i64 {}, {}", host, i * in.element);
      const IrValue one{text_.load(IrDomain::type_of(width, true), at, 1), width, true};
      loaded.push_back(in.space == StateSpace::generic ? domain_.spread(one) : one);
    }
  return loaded;
}

// The machine says of the first of them with how many elements all may begin. Each of them asks for
// itself if not all may.
void FunctionTranslator::ask_for_near(NearLoads &loads) {
  const WarpInstruction &in = function_.code[loads.leader];
  registered(in.address.base.reg);
  const IrValue begin = address({in.address.base, loads.least});
  const IrValue mistake = domain_.take_mistake();
  const Shape shape = shape_of(in, begin);
  if (shape == Shape::other)
    return;
  const auto [least, greatest] = domain_.range(begin);
  const std::uint64_t span = shape == Shape::contiguous
                                 ? access_bytes(in) * warp_lanes
                                 : static_cast<std::uint64_t>(greatest - least) + access_bytes(in);
  spans_[loads.leader] =
      static_cast<std::uint32_t>(span + static_cast<std::uint64_t>(loads.most - loads.least));
  const std::int64_t from_lane_0 = shape == Shape::apart ? least : 0;
  const std::string first = text_.define("add i64 {}, {}", begin.text, from_lane_0);
  const std::string offset =
      text_.define("sub i64 {}, {}", first, known_field(in, offsetof(KnownAccess, first)));
  loads.is_there = text_.define("icmp ult i64 {}, {}",
                                rotated(offset, std::countr_zero(access_bytes(in)), "i64"),
                                known_field(in, offsetof(KnownAccess, count)));
  if (mistake.width != 0)
    loads.is_there = text_.define("and i1 {}, {}", loads.is_there,
                                  text_.define("xor i1 {}, true", mistake.text));
  loads.host = text_.define("add i64 {}, {}", begin.text, to_host(in));
  loads.begin = begin;
}

void FunctionTranslator::load_near(std::uint32_t pc, const NearLoads &loads) {
  const WarpInstruction &in = function_.code[pc];
  const std::string mask = guarded_lanes();
  const std::string here = text_.new_label(), alone = text_.new_label(), join = text_.new_label();
  likely(loads.is_there, here, alone);
  text_.start(here);
  std::vector<IrValue> loaded = load_in_shape(
      in, loads.begin, text_.define("add i64 {}, {}", loads.host, in.address.offset - loads.least));
  text_.line("br label %{}", join);
  text_.start(alone);
  const IrValue where = address(in.address);
  leave_if_mistaken(pc);
  const std::vector<IrValue> own = load(pc, where, mask);
  const std::string behind = text_.new_label();
  text_.line("br label %{}", behind);
  text_.start(behind);
  text_.line("br label %{}", join);
  text_.start(join);
  for (std::size_t i = 0; i < loaded.size(); ++i)
    loaded[i].text = text_.define("phi {} [ {}, %{} ], [ {}, %{} ]", IrDomain::type_of(own[i]),
                                  loaded[i].text, here, own[i].text, behind);
  for (std::size_t i = 0; i < loaded.size(); ++i)
    assign(in.outputs[i], loaded[i], in.width, in.sign_extends);
  commit();
}

// The way from one instruction to another that begins a block: counts an iteration of its loop as
// WarpScheduler::move_to does.
void FunctionTranslator::go_to(std::uint32_t from, std::uint32_t to) {
  count_iteration("%iterations", from, to);
  const std::string stop = text_.new_label(), ends = text_.new_label();
  // Those that wait for them where they leave leave with them.
  const std::string next = lengths_[to] != 0 ? fmt::format("segment{}", to) : stop;
  likely(text_.define("icmp eq i32 {}, 0", text_.load_from("i32", "%by_block")), next, ends);
  text_.start(ends);
  if (!partings_.empty() && lengths_[to] != 0)
    end_block_here(to);
  tell_machine();
  const std::string go_on =
      call("i32", offsetof(TranslatedFrame, block_ends), "i64, i32", "i64 %frame, i32 {}", to);
  hear_machine();
  likely(text_.define("icmp ne i32 {}, 0", go_on), next, stop);
  text_.start(stop);
  leave(to, 0);
}

// As WarpScheduler::move_to does.
void FunctionTranslator::count_iteration(const std::string &iterations, std::uint32_t from,
                                         std::uint32_t to) {
  const LoopId loop = function_.header_of[to];
  if (loop == no_index)
    return;
  const std::string at = text_.define("add i64 {}, {}", iterations, loop * 4);
  const bool inside = function_.cfg->contains(loop, function_.cfg->block_of(from));
  const std::string next =
      inside ? text_.define("add i32 {}, 1", text_.load("i32", at, 4)) : std::string("0");
  text_.store("i32", next, at, 4);
}

std::vector<BlockId> FunctionTranslator::blocks_before(std::uint32_t first,
                                                       std::uint32_t meeting) const {
  const ControlFlowGraph &cfg = *function_.cfg;
  const BlockId end = cfg.block_of(meeting);
  std::vector<bool> seen(cfg.blocks().size());
  std::vector<BlockId> found;
  const auto add = [&](BlockId block) {
    if (block == end || seen[block])
      return;
    seen[block] = true;
    found.push_back(block);
  };
  add(cfg.block_of(first));
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const BlockId next : cfg.blocks()[found[i]].successors)
      add(next);
  return found;
}

const std::vector<RegisterId> &FunctionTranslator::written_before(std::uint32_t pc,
                                                                  std::uint32_t meeting) {
  const auto [found, is_new] = written_before_.try_emplace(pc);
  if (!is_new)
    return found->second;
  const ControlFlowGraph &cfg = *function_.cfg;
  std::vector<bool> written(slots_.size());
  for (const BlockId first : cfg.blocks()[cfg.block_of(pc)].successors)
    for (const BlockId number : blocks_before(cfg.blocks()[first].first, meeting)) {
      const BasicBlock &block = cfg.blocks()[number];
      for (std::uint32_t at = block.first; at < block.end; ++at)
        for_each_register(module_, function_.function->instructions[at],
                          [&](RegisterId reg, RegisterUse use) {
                            if (use != RegisterUse::read)
                              written[reg] = true;
                          });
    }
  for (RegisterId reg = 0; reg < slots_.size(); ++reg)
    if (reg >= carry_ || (written[reg] && (live_[meeting].empty() || live_[meeting][reg])))
      found->second.push_back(reg);
  return found->second;
}

// The order is WarpScheduler's. Numbers of iterations are the same in both where they part, but for
// that of a loop that the waiting lanes begin anew where they meet the others: of that they have
// one more. As long as the others come to no header of a loop that the meeting is in, this stays
// so, and the rank of blocks decides.
bool FunctionTranslator::wait_behind_all(std::uint32_t pc, const IdleSide &side) const {
  const ControlFlowGraph &cfg = *function_.cfg;
  const BlockId meeting = cfg.block_of(side.meeting);
  const LoopId begun = function_.header_of[side.meeting];
  const bool goes_round = begun != no_index && cfg.contains(begun, cfg.block_of(pc));
  const std::vector<BlockId> blocks = blocks_before(side.other, side.meeting);
  return std::all_of(blocks.begin(), blocks.end(), [&](BlockId block) {
    const LoopId loop = function_.header_of[cfg.blocks()[block].first];
    if (loop != no_index && cfg.contains(loop, meeting))
      return false;
    if (begun != no_index && cfg.contains(begun, block))
      return goes_round;
    return function_.rank[block] < function_.rank[meeting];
  });
}

void FunctionTranslator::find_partings() {
  constexpr std::size_t most_meetings = 64, most_loops = 8, most_changed = 12;
  const std::vector<Register> &registers = function_.function->registers;
  // The carry flag and upper halves of 128 bits are not of the shapes that they would need.
  if (function_.cfg->loops().size() > most_loops ||
      std::any_of(function_.code.begin(), function_.code.end(),
                  [](const WarpInstruction &in) { return in.sets_carry || in.carries; }) ||
      std::any_of(registers.begin(), registers.end(),
                  [](const Register &reg) { return bit_width(reg.type) > 64; }))
    return;
  for (std::uint32_t pc = 0; pc < function_.code.size(); ++pc) {
    const auto side = function_.idle_side(pc);
    if (!side || side->first != side->meeting || side->other == side->meeting ||
        lengths_[side->meeting] == 0 || lengths_[side->other] == 0 || !wait_behind_all(pc, *side))
      continue;
    auto found =
        std::find_if(meetings_.begin(), meetings_.end(), [&](const ConvergencePoint &meeting) {
          return meeting.place == side->meeting;
        });
    if (found == meetings_.end() && meetings_.size() == most_meetings)
      continue;
    std::vector<RegisterId> changed =
        found == meetings_.end() ? std::vector<RegisterId>() : found->changed;
    for (const RegisterId reg : written_before(pc, side->meeting))
      if (reg < carry_ && std::find(changed.begin(), changed.end(), reg) == changed.end())
        changed.push_back(reg);
    if (changed.size() > most_changed)
      continue;
    if (found == meetings_.end())
      found = meetings_.insert(found, {side->meeting, {}});
    found->changed = std::move(changed);
    partings_[pc] = static_cast<std::uint8_t>(found - meetings_.begin() + 1);
  }
}

std::string FunctionTranslator::parked_field(const std::string &index, std::size_t offset) {
  const std::string first = text_.define(
      "mul i64 {}, {}", text_.define("zext i32 {} to i64", index), sizeof(ParkedLanes));
  return text_.define(
      "add i64 {}, {}", first,
      text_.define("add i64 %frame, {}", offsetof(TranslatedFrame, parked) + offset));
}

void FunctionTranslator::set_lanes(const std::string &lanes) {
  text_.store_to("i32", lanes, "%lanes");
  text_.store("i32", lanes, field_address(offsetof(TranslatedFrame, lanes)), 4);
}

void FunctionTranslator::set_by_block(const std::string &by_block) {
  text_.store_to("i32", by_block, "%by_block");
  text_.store("i32", by_block, field_address(offsetof(TranslatedFrame, by_block)), 4);
}

void FunctionTranslator::blend(const std::vector<RegisterId> &changed, const std::string &lanes,
                               const std::string &from, const std::string &to) {
  const std::string chosen = text_.define("bitcast i32 {} to <32 x i1>", lanes);
  for (const RegisterId reg : changed) {
    slot_address(reg);
    const Slot &slot = slots_[reg];
    const std::string type = slot.width == 1 ? "i32" : IrDomain::type_of(slot.width, false);
    const std::string of = text_.define("add i64 {}, {}", from, slot.offset),
                      at = text_.define("add i64 {}, {}", to, slot.offset);
    const std::string yes = text_.load(type, of, 8), no = text_.load(type, at, 8);
    std::string both;
    if (slot.width == 1) {
      const std::string differ = text_.define("xor i32 {}, {}", yes, no);
      both = text_.define("xor i32 {}, {}", no, text_.define("and i32 {}, {}", differ, lanes));
    } else {
      both = text_.define("select <32 x i1> {}, {} {}, {} {}", chosen, type, yes, type, no);
    }
    text_.store(type, both, at, 8);
  }
}

void FunctionTranslator::begin_run(std::uint32_t executed, const std::string &holds,
                                   const std::string &otherwise) {
  text_.declarations.insert("declare i32 @llvm.ctpop.i32(i32)\n");
  const auto number = [&](std::size_t offset) { return field(offset, "i64"); };
  const std::string lanes = text_.load_from("i32", "%lanes");
  const std::string count = text_.define("call i32 @llvm.ctpop.i32(i32 {})", lanes);
  const std::string run =
      text_.define("add i64 {}, {}",
                   text_.define("sub i64 {}, {}", number(offsetof(TranslatedFrame, run_budget)),
                                text_.load_from("i64", "%budget")),
                   executed);
  const std::string steps =
      text_.define("mul i64 {}, {}", run, text_.define("zext i32 {} to i64", count));
  const std::string all =
      text_.define("add i64 {}, {}", steps, number(offsetof(TranslatedFrame, run_steps)));
  const std::string of_turn = text_.define("add i64 {}, 1", text_.define("lshr i64 {}, 5", all));
  const std::string turn = number(offsetof(TranslatedFrame, turn_left));
  const std::string steps_left =
      text_.define("sub i64 {}, {}", number(offsetof(TranslatedFrame, steps_left)), steps);
  const std::string in_time = text_.define("icmp ult i64 {}, {}", of_turn, turn);
  const std::string enough = text_.define("icmp uge i64 {}, {}", steps_left,
                                          number(offsetof(TranslatedFrame, enough_steps)));
  const std::string here = text_.new_label();
  likely(text_.define("and i1 {}, {}", holds, text_.define("and i1 {}, {}", in_time, enough)), here,
         otherwise);
  text_.start(here);
  const auto set = [&](std::size_t offset, const std::string &to) {
    text_.store("i64", to, field_address(offset), 8);
  };
  const std::string slice = number(offsetof(TranslatedFrame, time_slice));
  set(offsetof(TranslatedFrame, steps_left), steps_left);
  set(offsetof(TranslatedFrame, turn_left), text_.define("sub i64 {}, {}", turn, of_turn));
  set(offsetof(TranslatedFrame, run_steps), "0");
  set(offsetof(TranslatedFrame, run_budget), slice);
  text_.store("i32", "1", field_address(offsetof(TranslatedFrame, has_begun)), 4);
  text_.store_to("i64", slice, "%budget");
}

// What part_in_code of the machine does, of lanes of which it is known who goes before whom.
void FunctionTranslator::part_here(std::uint32_t pc, const std::string &taken, std::uint32_t length,
                                   const IdleSide &side, const std::string &otherwise) {
  const std::uint8_t number = partings_.at(pc);
  const auto word = [&](std::size_t offset) { return field(offset, "i32"); };
  const std::string bit =
      std::to_string(static_cast<std::int64_t>(std::uint64_t{1} << (number - 1)));
  const std::string meetings = field(offsetof(TranslatedFrame, parked_meetings), "i64");
  const std::string joins =
      text_.define("icmp ne i64 {}, 0", text_.define("and i64 {}, {}", meetings, bit));
  const std::string count = word(offsetof(TranslatedFrame, parked_count));
  const std::string index =
      text_.define("sub i32 {}, {}", count, text_.define("zext i1 {} to i32", joins));
  const std::string has_room =
      text_.define("icmp ult i32 {}, {}", index, word(offsetof(TranslatedFrame, parked_room)));
  const std::string may =
      text_.define("icmp ugt i32 {}, {}", word(offsetof(TranslatedFrame, may_part)),
                   word(offsetof(TranslatedFrame, asks)));
  const std::string in_room = text_.new_label();
  likely(text_.define("and i1 {}, {}", has_room, may), in_room, otherwise);
  text_.start(in_room);
  const auto parked = [&](std::size_t offset) { return parked_field(index, offset); };
  const std::string place = parked(offsetof(ParkedLanes, meeting));
  const std::string is_last =
      text_.define("icmp eq i32 {}, {}", text_.load("i32", place, 4), side.meeting);
  begin_run(length, text_.define("or i1 {}, {}", is_last, text_.define("xor i1 {}, true", joins)),
            otherwise);
  const bool take_and_wait = side.first == function_.code[pc].target;
  const std::string wait =
      take_and_wait ? taken
                    : text_.define("and i32 {}, {}", mask_, text_.define("xor i32 {}, -1", taken));
  const auto set = [&](std::size_t offset, const std::string &to) {
    text_.store("i32", to, parked(offset), 4);
  };
  const auto or_if_first = [&](std::size_t offset, const std::string &first) {
    return text_.define("select i1 {}, i32 {}, i32 {}", joins, text_.load("i32", parked(offset), 4),
                        first);
  };
  set(offsetof(ParkedLanes, lanes),
      text_.define("or i32 {}, {}", or_if_first(offsetof(ParkedLanes, lanes), "0"), wait));
  set(offsetof(ParkedLanes, branch),
      or_if_first(offsetof(ParkedLanes, branch), std::to_string(pc)));
  set(offsetof(ParkedLanes, took_branch),
      take_and_wait ? or_if_first(offsetof(ParkedLanes, took_branch), "1") : "0");
  set(offsetof(ParkedLanes, place), std::to_string(side.meeting));
  set(offsetof(ParkedLanes, meeting), std::to_string(side.meeting));
  const std::string iterations = text_.load("i64", parked(offsetof(ParkedLanes, iterations)), 8);
  for (std::size_t loop = 0; loop < function_.cfg->loops().size(); ++loop)
    text_.store("i32", text_.load("i32", text_.define("add i64 %iterations, {}", loop * 4), 4),
                text_.define("add i64 {}, {}", iterations, loop * 4), 4);
  count_iteration(iterations, pc, side.meeting);
  count_iteration("%iterations", pc, side.other);
  blend(meetings_[number - 1u].changed, wait, "%slots",
        text_.load("i64", parked(offsetof(ParkedLanes, slots)), 8));
  text_.store("i32", text_.define("add i32 {}, 1", index),
              field_address(offsetof(TranslatedFrame, parked_count)), 4);
  text_.store("i64", text_.define("or i64 {}, {}", meetings, bit),
              field_address(offsetof(TranslatedFrame, parked_meetings)), 8);
  text_.store("i32", "1", field_address(offsetof(TranslatedFrame, has_parted)), 4);
  set_lanes(text_.define("and i32 {}, {}", mask_, text_.define("xor i32 {}, -1", wait)));
  set_by_block("1");
  text_.line("br label %segment{}", side.other);
}

// What end_block_in_code of the machine does, likewise.
void FunctionTranslator::end_block_here(std::uint32_t to) {
  const std::string asked = text_.new_label();
  const std::string count = field(offsetof(TranslatedFrame, parked_count), "i32");
  const std::string some =
      text_.define("icmp ugt i32 {}, {}", count, field(offsetof(TranslatedFrame, asks), "i32"));
  const std::string known = text_.new_label();
  const auto meeting =
      std::find_if(meetings_.begin(), meetings_.end(),
                   [&](const ConvergencePoint &candidate) { return candidate.place == to; });
  likely(text_.define(
             "and i1 {}, {}", some,
             text_.define("icmp eq i32 {}, 0", field(offsetof(TranslatedFrame, asks), "i32"))),
         known, asked);
  text_.start(known);
  if (meeting == meetings_.end()) {
    begin_run(0, "true", asked);
    text_.line("br label %segment{}", to);
  } else {
    const auto number = static_cast<std::size_t>(meeting - meetings_.begin());
    const std::string bit = std::to_string(static_cast<std::int64_t>(std::uint64_t{1} << number));
    const std::string wait_there =
        text_.define("icmp ne i64 {}, 0",
                     text_.define("and i64 {}, {}",
                                  field(offsetof(TranslatedFrame, parked_meetings), "i64"), bit));
    const std::string last = text_.define("sub i32 {}, 1", count);
    const std::string is_last =
        text_.define("icmp eq i32 {}, {}",
                     text_.load("i32", parked_field(last, offsetof(ParkedLanes, meeting)), 4), to);
    begin_run(0, text_.define("or i1 {}, {}", is_last, text_.define("xor i1 {}, true", wait_there)),
              asked);
    text_.line("br i1 {}, label %meet{}, label %segment{}", wait_there, number + 1, to);
  }
  text_.start(asked);
}

void FunctionTranslator::meet_here(std::uint8_t number) {
  const ConvergencePoint &meeting = meetings_[number - 1u];
  text_.start(fmt::format("meet{}", number));
  const std::string last =
      text_.define("sub i32 {}, 1", field(offsetof(TranslatedFrame, parked_count), "i32"));
  const auto parked = [&](std::size_t offset, std::string_view type) {
    return text_.load(type, parked_field(last, offset), 4);
  };
  const std::string waited = parked(offsetof(ParkedLanes, lanes), "i32");
  blend(meeting.changed, waited, parked(offsetof(ParkedLanes, slots), "i64"), "%slots");
  const std::string keep =
      text_.define("icmp ne i32 {}, 0", parked(offsetof(ParkedLanes, took_branch), "i32"));
  const std::string iterations = parked(offsetof(ParkedLanes, iterations), "i64");
  for (std::size_t loop = 0; loop < function_.cfg->loops().size(); ++loop) {
    const std::string at = text_.define("add i64 %iterations, {}", loop * 4);
    const std::string others =
        text_.load("i32", text_.define("add i64 {}, {}", iterations, loop * 4), 4);
    text_.store(
        "i32", text_.define("select i1 {}, i32 {}, i32 {}", keep, text_.load("i32", at, 4), others),
        at, 4);
  }
  set_lanes(text_.define("or i32 {}, {}", text_.load_from("i32", "%lanes"), waited));
  text_.store("i32", last, field_address(offsetof(TranslatedFrame, parked_count)), 4);
  const std::string meetings = field(offsetof(TranslatedFrame, parked_meetings), "i64");
  text_.store("i64",
              text_.define("and i64 {}, {}", meetings,
                           static_cast<std::int64_t>(~(std::uint64_t{1} << (number - 1)))),
              field_address(offsetof(TranslatedFrame, parked_meetings)), 8);
  set_by_block(text_.define("zext i1 {} to i32", text_.define("icmp ne i32 {}, 0", last)));
  text_.line("br label %segment{}", meeting.place);
}

void FunctionTranslator::branch(std::uint32_t pc, std::uint32_t length) {
  const WarpInstruction &in = function_.code[pc];
  if (guard_.width == 0) {
    subtract(length);
    go_to(pc, in.target);
    return;
  }
  if (guard_.uniform) {
    const std::string jump = text_.new_label(), stay = text_.new_label();
    text_.line("br i1 {}, label %{}, label %{}", guard_.text, jump, stay);
    text_.start(stay);
    subtract(length);
    go_to(pc, pc + 1);
    text_.start(jump);
    subtract(length);
    go_to(pc, in.target);
    return;
  }
  const std::string taken = guarded_lanes();
  const std::string none = text_.define("icmp eq i32 {}, 0", taken);
  const std::string all = text_.define("icmp eq i32 {}, {}", taken, mask_);
  const std::string some = text_.new_label(), stay = text_.new_label(), jump = text_.new_label(),
                    part = text_.new_label();
  text_.line("br i1 {}, label %{}, label %{}", none, stay, some);
  text_.start(some);
  text_.line("br i1 {}, label %{}, label %{}", all, jump, part);
  text_.start(part);
  const auto side = function_.idle_side(pc);
  if (partings_.contains(pc)) {
    const std::string asked = text_.new_label();
    // What another branch to this meeting has its lanes wait with counts here, too.
    for (const RegisterId reg : meetings_[partings_.at(pc) - 1u].changed) {
      shapes_changed_ |= slots_[reg].shape != RegisterSlot::Shape::lanes;
      slots_[reg].shape = RegisterSlot::Shape::lanes;
    }
    part_here(pc, taken, length, *side, asked);
    text_.start(asked);
  }
  // The interpreter reads the guard.
  if (const auto found = rows_.find(in.guard); found != rows_.end() && found->second.is_dirty)
    store_slot(in.guard, found->second.value);
  // Where one side has nothing to do, its lanes may wait, and the others go on.
  if (side) {
    // Those that wait have what they had, whatever the others write.
    for (const RegisterId reg : written_before(pc, side->meeting))
      if (reg < carry_) {
        shapes_changed_ |= slots_[reg].shape != RegisterSlot::Shape::lanes;
        slots_[reg].shape = RegisterSlot::Shape::lanes;
      }
    tell_machine();
    const std::string parted = call("i32", offsetof(TranslatedFrame, part), "i64, i32, i32, i32",
                                    "i64 %frame, i32 {}, i32 {}, i32 {}", pc, taken, length);
    hear_machine();
    const std::string go_on = text_.new_label(), leaves = text_.new_label();
    likely(text_.define("icmp ne i32 {}, 0", parted), go_on, leaves);
    text_.start(go_on);
    if (lengths_[side->other] != 0)
      text_.line("br label %segment{}", side->other);
    else
      leave(side->other, 0);
    text_.start(leaves);
  }
  leave(pc, length - 1);
  text_.start(stay);
  subtract(length);
  go_to(pc, pc + 1);
  text_.start(jump);
  subtract(length);
  go_to(pc, in.target);
}

void FunctionTranslator::instruction(std::uint32_t pc) {
  const WarpInstruction &in = function_.code[pc];
  switch (in.action) {
  case WarpAction::compute:
  case WarpAction::move:
    return compute(pc);
  case WarpAction::load:
  case WarpAction::store:
    return is_parameter(in) ? load_parameter(in) : access(pc);
  case WarpAction::active_mask:
    assign(in.outputs[0], {guarded_lanes(), 32, true}, 32, false);
    return commit();
  default: // fences order nothing where nobody looks for races
    return;
  }
}

void FunctionTranslator::translate_segment(std::uint32_t first) {
  const std::uint32_t length = lengths_[first];
  rows_.clear();
  find_loads_together(first, length);
  text_.text += std::exchange(stubs_, {});
  text_.start(fmt::format("segment{}", first));
  mask_ = text_.load_from("i32", "%lanes");
  const std::string budget = text_.load_from("i64", "%budget");
  const std::string enough = text_.define("icmp sge i64 {}, {}", budget, length);
  const std::string body = text_.new_label(), stop = text_.new_label();
  likely(enough, body, stop);
  text_.start(stop);
  leave(first, 0);
  text_.start(body);
  for (executed_ = 0; executed_ < length; ++executed_) {
    const std::uint32_t pc = first + executed_;
    const WarpInstruction &in = function_.code[pc];
    guard_ = {};
    leaving_.clear();
    if (in.guard != no_register) {
      guard_ = registered(in.guard);
      if (in.guard_negated)
        guard_ = domain_.bit_not(guard_);
    }
    if (in.action != WarpAction::branch) {
      instruction(pc);
      continue;
    }
    // A branch ends its block.
    fill_slots_behind(function_.cfg->block_of(pc));
    return branch(pc, length);
  }
  const std::uint32_t next = first + length;
  if (function_.code[next].starts_block) {
    fill_slots_behind(function_.cfg->block_of(next - 1));
    subtract(length);
    go_to(next - 1, next);
  } else {
    fill_slots_before(next);
    leave(next, length);
  }
}

void FunctionTranslator::translate_segments() {
  slot_bytes_ = number_offset_ = 0;
  for (Slot &slot : slots_)
    slot.is_used = false;
  text_.text.clear();
  text_.declarations.clear();
  functions_.clear();
  functions_text_.clear();
  spans_.assign(lengths_.size(), 0);
  for (std::uint32_t pc = 0; pc < lengths_.size(); ++pc)
    if (lengths_[pc] != 0)
      translate_segment(pc);
  text_.text += std::exchange(stubs_, {});
  for (std::size_t i = 0; i < meetings_.size(); ++i)
    meet_here(static_cast<std::uint8_t>(i + 1));
  if (may_go_on_)
    begin_next_warp();
}

TranslatedText FunctionTranslator::run() {
  find_segments();
  may_go_on_ = may_go_on_ && !lengths_.empty() && lengths_[0] != 0; // a warp begins there
  find_live();
  find_partings();
  start_shapes();
  do {
    shapes_changed_ = false;
    translate_segments();
  } while (shapes_changed_);
  const std::string body = std::exchange(text_.text, {});
  text_.text += fmt::format("define void @translated(i64 %frame) {{\nentry:\n");
  const auto argument = [&](std::string_view name, std::size_t offset, std::string_view type) {
    text_.line("%{} = add {} 0, {}", name, type, field(offset, type));
  };
  argument("slots", offsetof(TranslatedFrame, slots), "i64");
  argument("specials", offsetof(TranslatedFrame, specials), "i64");
  argument("iterations", offsetof(TranslatedFrame, iterations), "i64");
  argument("parameters", offsetof(TranslatedFrame, parameters), "i64");
  argument("known", offsetof(TranslatedFrame, known), "i64");
  text_.line("%shared_to_host = sub i64 {}, {}", field(offsetof(TranslatedFrame, shared), "i64"),
             window::shared);
  argument("local_base", offsetof(TranslatedFrame, local_base), "i64");
  text_.line("%budget = alloca i64");
  text_.line("%lanes = alloca i32");
  text_.line("%by_block = alloca i32");
  hear_machine();
  text_.line("%address_row = alloca [32 x i64], align 64");
  text_.line("%value_rows = alloca [256 x i64], align 64");
  text_.line("%addresses = ptrtoint {} %address_row to i64", text_.pointer("[32 x i64]"));
  text_.line("%values = ptrtoint {} %value_rows to i64", text_.pointer("[256 x i64]"));
  std::string entries;
  for (std::uint32_t pc = 0; pc < lengths_.size(); ++pc)
    if (lengths_[pc] != 0)
      entries += fmt::format("i32 {0}, label %segment{0} ", pc);
  text_.line("switch i32 {}, label %nowhere [ {}]", field(offsetof(TranslatedFrame, pc), "i32"),
             entries);
  text_.text += "nowhere:\n  ret void\n" + body + "}\n" + functions_text_;
  text_.text += "!0 = !{!\"branch_weights\", i32 1000, i32 1}\n";
  for (const std::string &declaration : text_.declarations)
    text_.text += declaration;
  TranslatedText result{text_.text, lengths_, spans_, specials_, {}, slot_bytes_,
                        {},         {},       {},     {},        {}};
  for (const Slot &slot : slots_) {
    result.slots.push_back(slot);
    result.slots.back().any_nan = slot.nan == NanBits::any;
    result.slots.back().row_size = static_cast<std::uint8_t>(row_lanes(layout_));
    if (!slot.is_used)
      result.slots.back().shape = RegisterSlot::Shape::none;
    else if (slot.shape == RegisterSlot::Shape::none) // it is never written
      result.slots.back().shape = RegisterSlot::Shape::steps;
  }
  for (const Live &live : live_) {
    result.live_begin.push_back(static_cast<std::uint32_t>(result.live.size()));
    for (RegisterId reg = 0; reg < slots_.size(); ++reg)
      if (slots_[reg].is_used && (reg >= carry_ || live.empty() || live[reg]))
        result.live.push_back(reg);
  }
  result.live_begin.push_back(static_cast<std::uint32_t>(result.live.size()));
  result.partings.resize(lengths_.size());
  for (const auto &[pc, number] : partings_)
    result.partings[pc] = number;
  for (std::uint32_t pc = 0; pc <= lengths_.size(); ++pc) {
    result.changed_begin.push_back(static_cast<std::uint32_t>(result.changed.size()));
    if (const auto side = pc < lengths_.size() ? function_.idle_side(pc) : std::nullopt)
      for (const RegisterId reg : partings_.contains(pc) ? meetings_[partings_[pc] - 1u].changed
                                                         : written_before(pc, side->meeting))
        if (slots_[reg].is_used)
          result.changed.push_back(reg);
  }
  return result;
}

} // namespace

TranslatedText translated_text(const WarpProgram &program, std::uint32_t function,
                               LaneLayout layout, const HostFeatures &host, bool opaque) {
  return FunctionTranslator(program, function, layout, host, opaque).run();
}

} // namespace ptxasw::emulator
