// Registers are numbers, as the machine has them, or expressions. An instruction whose operands are
// all numbers gives a number, and the machine says which. One that is not in the list below stops
// everything: then nothing is said of the launch.
//
// A result that should be a number here is compared with the machine's where it decides anything.

#include "analysis/prove/symbolic_run.h"

#include "emulator/semantics/evaluator.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

/// Stands in a register that holds a number; null stands for one that was never written.
const ExprNode a_number{};

/// Expressions beyond which nothing more is followed.
constexpr std::size_t most_terms = 6'000'000;

std::uint64_t block_number(const WarpStep &step, const Extents &grid) {
  return (std::uint64_t{step.block[2]} * grid.y + step.block[1]) * grid.x + step.block[0];
}

} // namespace

Expr SymbolicInputs::element(const NamedMemory &memory, std::uint64_t index) {
  Expr &symbol = elements_[{memory.name, index}];
  if (!symbol) {
    const unsigned width = bit_width(memory.type);
    symbol = terms_.symbol(fmt::format("{}[{}]", memory.name, index), width);
    known_.emplace(symbol, Element{memory.name, index, width / 8});
  }
  return symbol;
}

Expr SymbolicInputs::undecided(unsigned side, std::size_t number, unsigned width) {
  Expr &symbol = undecided_[{side, number, width}];
  if (!symbol)
    symbol = terms_.symbol(fmt::format("order{}.{}", side, number), width);
  return symbol;
}

const SymbolicInputs::Element *SymbolicInputs::of(Expr symbol) const {
  const auto found = known_.find(symbol);
  return found == known_.end() ? nullptr : &found->second;
}

SymbolicRun::SymbolicRun(FloatTerms &terms, SymbolicInputs &inputs, unsigned side,
                         const PreparedLaunch &launch, GlobalMemory &memory,
                         std::vector<NamedMemory> named)
    : terms_(terms), inputs_(inputs), side_(side), launch_(launch), memory_(memory),
      named_(std::move(named)) {}

void SymbolicRun::obstruct(const WarpInstruction &in, std::string reason) {
  if (!obstacle_)
    obstacle_ = ProofObstacle{in.line, std::move(reason)};
}

SymbolicRun::Warp &SymbolicRun::warp_of(const WarpStep &step) {
  auto &warp = warps_[block_number(step, launch_.launch.grid) << 8 | step.warp];
  if (!warp)
    warp = std::make_unique<Warp>();
  return *warp;
}

Expr &SymbolicRun::shadow(Warp &warp, const WarpOperand &operand, unsigned lane) {
  const std::size_t at = std::size_t{operand.reg} * 32 + lane;
  if (at >= warp.registers.size())
    warp.registers.resize(at + 32);
  return warp.registers[at];
}

// Nothing: an obstacle was found.
std::optional<SymbolicRun::Operand> SymbolicRun::read(const WarpStep &step, Warp &warp,
                                                      const WarpOperand &operand, unsigned lane) {
  const WarpInstruction &in = *step.instruction;
  switch (operand.kind) {
  case WarpOperand::Kind::immediate:
    return Operand{nullptr, operand.negated ? operand.value ^ 1 : operand.value};
  case WarpOperand::Kind::local_address: // no function has been called
    return Operand{nullptr, window::local + operand.value};
  case WarpOperand::Kind::none:
    return Operand{};
  case WarpOperand::Kind::special:
    obstruct(in, "a special register beside data");
    return std::nullopt;
  case WarpOperand::Kind::reg:
    break;
  }
  const std::uint64_t bits = step.registers[std::size_t{operand.reg} * 32 + lane];
  const Expr value = shadow(warp, operand, lane);
  if (!value) {
    obstruct(in, "it reads a register that was not written");
    return std::nullopt;
  }
  if (value == &a_number || value->kind == ExprKind::constant) {
    if (value != &a_number && value->value != Bits(bits)) {
      obstruct(in, "the machine has another number than expressions say");
      return std::nullopt;
    }
    return Operand{nullptr, operand.negated ? bits ^ 1 : bits};
  }
  return Operand{operand.negated ? terms_.bit_not(value) : value, 0};
}

std::optional<std::uint64_t> SymbolicRun::number(const WarpStep &step, Warp &warp,
                                                 const WarpOperand &operand, unsigned lane,
                                                 const char *what) {
  const auto value = read(step, warp, operand, lane);
  if (value && value->expr)
    obstruct(*step.instruction, fmt::format("{} depends on the data", what));
  return value && !value->expr ? std::optional(value->bits) : std::nullopt;
}

Expr SymbolicRun::as_expr(const Operand &operand, unsigned width) {
  return !operand.expr                 ? terms_.constant(width, truncate({operand.bits}, width))
         : operand.expr->width > width ? terms_.truncate(operand.expr, width)
                                       : terms_.zext(operand.expr, width);
}

// As WarpContext::address().
std::optional<std::uint64_t> SymbolicRun::address(const WarpStep &step, Warp &warp, unsigned lane) {
  const WarpAddress &where = step.instruction->address;
  if (where.call_parameter) {
    obstruct(*step.instruction, "a call");
    return std::nullopt;
  }
  const auto base = number(step, warp, where.base, lane, "its address");
  if (!base)
    return std::nullopt;
  const std::uint64_t sum = *base + static_cast<std::uint64_t>(where.offset);
  return where.base.kind == WarpOperand::Kind::reg && where.base.width == 32 ? sum & mask64(32)
                                                                             : sum;
}

void SymbolicRun::set_number(Warp &warp, const WarpOperand &operand, unsigned lane) {
  if (operand.kind == WarpOperand::Kind::reg)
    shadow(warp, operand, lane) = &a_number;
}

// As WarpContext::assign(); where `guard` does not hold the register keeps `old`.
void SymbolicRun::assign(Warp &warp, const WarpOperand &operand, unsigned lane, Expr value,
                         unsigned width, bool sign_extends, Expr guard,
                         std::optional<Operand> old) {
  if (operand.kind != WarpOperand::Kind::reg)
    return;
  value = value->width > width ? terms_.truncate(value, width) : value;
  value = operand.width < value->width ? terms_.truncate(value, operand.width)
          : sign_extends               ? terms_.sext(value, operand.width)
                                       : terms_.zext(value, operand.width);
  if (guard)
    value = terms_.ite(guard, value,
                       old->expr ? old->expr : terms_.constant(operand.width, {old->bits}));
  shadow(warp, operand, lane) = value;
}

void SymbolicRun::before(const WarpStep &step) {
  if (obstacle_)
    return;
  const WarpInstruction &in = *step.instruction;
  Warp &warp = warp_of(step);
  complete_shuffles(warp, step.lanes);
  if (step.function != launch_.kernel)
    return obstruct(in, "a call");
  if (terms_.size() > most_terms)
    return obstruct(in, "too many values to follow");
  for (std::uint32_t rest = step.lanes; rest != 0 && !obstacle_; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    Expr guard = nullptr;
    if (in.guard != no_register) {
      WarpOperand predicate;
      predicate.kind = WarpOperand::Kind::reg;
      predicate.reg = in.guard;
      predicate.width = 1;
      predicate.negated = in.guard_negated;
      const auto holds = read(step, warp, predicate, lane);
      if (!holds)
        return;
      if (!holds->expr && (holds->bits & 1) == 0)
        continue;
      guard = holds->expr;
    }
    execute(step, warp, lane, guard);
  }
}

void SymbolicRun::execute(const WarpStep &step, Warp &warp, unsigned lane, Expr guard) {
  const WarpInstruction &in = *step.instruction;
  if (in.reads_machine)
    return obstruct(in, "what it reads is the machine's choice");
  if (guard && in.action != WarpAction::compute && in.action != WarpAction::move)
    return obstruct(in, in.action == WarpAction::branch ? "which way it goes depends on the data"
                                                        : "its predicate depends on the data");
  switch (in.action) {
  case WarpAction::compute:
    return compute(step, warp, lane, guard);
  case WarpAction::move:
    return move(step, warp, lane, guard);
  case WarpAction::load:
    return load(step, warp, lane);
  case WarpAction::store:
    return store(step, warp, lane);
  case WarpAction::atomic:
    return atomic(step, warp, lane);
  case WarpAction::shuffle:
    return come_to_shuffle(step, warp, lane);
  case WarpAction::barrier:
    // Which arrivals make up a phase of a counted barrier may be the schedule's choice.
    if (in.opcode->has(Modifier::arrive) ||
        in.inputs.size() > (in.opcode->has(Modifier::red) ? 2 : 1))
      return obstruct(in, "a barrier of a part of a block");
    return numbers_only(step, warp, lane);
  case WarpAction::vote:
  case WarpAction::match:
  case WarpAction::reduce:
  case WarpAction::warp_sync:
  case WarpAction::branch_table:
  case WarpAction::is_space:
    return numbers_only(step, warp, lane);
  case WarpAction::branch:
  case WarpAction::ret:
  case WarpAction::exit:
  case WarpAction::fence:
  case WarpAction::nothing:
  case WarpAction::trap:    // a fault of the run
  case WarpAction::refused: // another one
    return;
  default:
    return obstruct(in, fmt::format("`{}` is not followed", in.opcode->text));
  }
}

// What the machine does with numbers alone.
void SymbolicRun::numbers_only(const WarpStep &step, Warp &warp, unsigned lane) {
  const WarpInstruction &in = *step.instruction;
  for (const WarpOperand &input : in.inputs)
    if (input.kind != WarpOperand::Kind::special &&
        !number(step, warp, input, lane, "what it does"))
      return;
  for (const WarpOperand &output : in.outputs)
    set_number(warp, output, lane);
  set_number(warp, in.second_output, lane);
}

void SymbolicRun::compute(const WarpStep &step, Warp &warp, unsigned lane, Expr guard) {
  const WarpInstruction &in = *step.instruction;
  const bool rounds = terms_.over_reals() && in.is_float;
  if (std::any_of(in.inputs.begin(), in.inputs.end(), [](const WarpOperand &input) {
        return input.kind == WarpOperand::Kind::special;
      })) {
    if (guard || rounds)
      return obstruct(in, "a special register beside data");
    return numbers_only(step, warp, lane);
  }
  std::vector<Expr> arguments;
  bool all_numbers = !guard;
  for (std::size_t i = 0; i < in.inputs.size(); ++i) {
    const unsigned width = in.input_widths[i];
    const auto value = read(step, warp, in.inputs[i], lane);
    if (!value)
      return;
    all_numbers &= !value->expr;
    arguments.push_back(as_expr(*value, width));
  }
  if (all_numbers && !rounds && !(in.is_float && in.form.mode.approximate)) {
    set_number(warp, in.outputs[0], lane);
    return set_number(warp, in.second_output, lane);
  }
  if (in.carries || in.sets_carry)
    return obstruct(in, "a carry flag that depends on the data");
  std::optional<Operand> old, second_old;
  if (guard) {
    old = read(step, warp, in.outputs[0], lane);
    second_old = read(step, warp, in.second_output, lane);
    if (!old || !second_old)
      return;
  }
  const auto [entry, is_new] = lines_.try_emplace(&in);
  TableLine &line = entry->second;
  if (is_new && in.is_float)
    line.real = find_float_line<FloatTerms>(*in.opcode);
  else if (is_new)
    line.integer = find_line<ExprPool>(*in.opcode);
  if (!line.real && !line.integer)
    return obstruct(in, fmt::format("`{}` is not followed", in.opcode->text));
  const auto evaluate = [&](std::span<const Expr> list) {
    return line.real ? line.real->evaluate(terms_, in.form, list)
                     : line.integer->evaluate(terms_, in.form.form, list);
  };
  const Expr result = evaluate(arguments);
  const Expr second =
      in.second_output.kind == WarpOperand::Kind::none
          ? nullptr
          : semantics::second_of<FloatTerms>(terms_, *in.opcode, result, arguments, evaluate);
  assign(warp, in.outputs[0], lane, result, in.width, in.sign_extends, guard, old);
  if (second)
    assign(warp, in.second_output, lane, second, 1, false, guard, second_old);
}

// As WarpMachine::move().
void SymbolicRun::move(const WarpStep &step, Warp &warp, unsigned lane, Expr guard) {
  const WarpInstruction &in = *step.instruction;
  const unsigned width_in = in.width / static_cast<unsigned>(in.inputs.size());
  const unsigned width_out = in.width / static_cast<unsigned>(in.outputs.size());
  std::vector<Expr> parts;
  bool all_numbers = !guard;
  for (const WarpOperand &input : in.inputs) {
    const auto value = read(step, warp, input, lane);
    if (!value)
      return;
    all_numbers &= !value->expr;
    parts.push_back(as_expr(*value, width_in));
  }
  if (all_numbers) {
    for (const WarpOperand &output : in.outputs)
      set_number(warp, output, lane);
    return;
  }
  std::vector<std::optional<Operand>> old(in.outputs.size());
  for (std::size_t i = 0; guard && i < old.size(); ++i)
    if (!(old[i] = read(step, warp, in.outputs[i], lane)))
      return;
  const Expr whole = semantics::pack<FloatTerms>(terms_, parts);
  for (std::size_t i = 0; i < in.outputs.size(); ++i)
    assign(warp, in.outputs[i], lane, semantics::unpack<FloatTerms>(terms_, whole, i, width_out),
           width_out, false, guard, old[i]);
}

void SymbolicRun::load(const WarpStep &step, Warp &warp, unsigned lane) {
  const WarpInstruction &in = *step.instruction;
  const auto from = address(step, warp, lane);
  if (!from)
    return;
  if (!in.weak && !in.is_volatile)
    return obstruct(in, "an access by which threads may communicate");
  const std::uint64_t space = space_key(step, *from, lane);
  for (std::size_t i = 0; i < in.outputs.size(); ++i) {
    const Expr value = read_memory(space, *from + i * in.element, in.element);
    if (!value)
      return obstruct(in, "it reads what nothing is known of");
    assign(warp, in.outputs[i], lane, value, in.width, in.sign_extends, nullptr, std::nullopt);
  }
}

void SymbolicRun::store(const WarpStep &step, Warp &warp, unsigned lane) {
  const WarpInstruction &in = *step.instruction;
  const auto to = address(step, warp, lane);
  if (!to)
    return;
  if (!in.weak && !in.is_volatile)
    return obstruct(in, "an access by which threads may communicate");
  const std::uint64_t space = space_key(step, *to, lane);
  for (std::size_t i = 0; i < in.inputs.size(); ++i) {
    const auto value = read(step, warp, in.inputs[i], lane);
    if (!value)
      return;
    write_memory(space, *to + i * in.element, in.element, as_expr(*value, 8 * in.element));
  }
}

// Whole numbers may be added in any order. Over the reals, real ones as well. What an atomic
// returns, and what others leave, depends on the order. A word for atomics of two kinds does, too.
void SymbolicRun::atomic(const WarpStep &step, Warp &warp, unsigned lane) {
  const WarpInstruction &in = *step.instruction;
  const auto to = address(step, warp, lane);
  if (!to)
    return;
  const Opcode &opcode = *in.opcode;
  if (opcode.vector != 1)
    return obstruct(in, fmt::format("`{}` is not followed", opcode.text));
  const auto given = read(step, warp, in.inputs[0], lane);
  if (!given)
    return;
  const unsigned width = in.width;
  const std::uint64_t space = space_key(step, *to, lane);
  const std::uint64_t kind = std::uint64_t{static_cast<std::uint8_t>(in.atomic)} << 16 |
                             std::uint64_t{static_cast<std::uint8_t>(opcode.type)} << 8 |
                             in.element;
  for (std::uint64_t word = *to / 4; word <= (*to + in.element - 1) / 4; ++word)
    if (!atomics_.try_emplace({space, word}, kind).second && atomics_.at({space, word}) != kind)
      return obstruct(in, "atomics of different kinds on one word");
  const Expr old = read_memory(space, *to, in.element);
  if (!old)
    return obstruct(in, "it reads what nothing is known of");
  const Expr b = as_expr(*given, width);
  const bool is_integer = !is_float(opcode.type);
  FloatForm form = in.form;
  form.mode = {};
  const Expr list[] = {old, b};
  const auto least = [&](bool minimum) {
    const Expr less = is_signed(opcode.type) ? terms_.slt(old, b) : terms_.ult(old, b);
    return minimum ? terms_.ite(less, old, b) : terms_.ite(less, b, old);
  };
  Expr result = nullptr;
  switch (in.atomic) {
  case AtomicOperation::bit_and:
    result = terms_.bit_and(old, b);
    break;
  case AtomicOperation::bit_or:
    result = terms_.bit_or(old, b);
    break;
  case AtomicOperation::bit_xor:
    result = terms_.bit_xor(old, b);
    break;
  case AtomicOperation::add:
  case AtomicOperation::min:
  case AtomicOperation::max:
    if (is_integer)
      result = in.atomic == AtomicOperation::add ? terms_.add(old, b)
                                                 : least(in.atomic == AtomicOperation::min);
    else if (terms_.over_reals() && is_real_type(opcode.type))
      result = terms_.floating(in.atomic == AtomicOperation::add   ? FloatOperation::add
                               : in.atomic == AtomicOperation::min ? FloatOperation::min
                                                                   : FloatOperation::max,
                               form, list);
    break;
  default:
    break;
  }
  if (!result)
    result = inputs_.undecided(side_, undecided_++, width);
  write_memory(space, *to, in.element, result);
  if (!in.outputs.empty() && in.outputs[0].kind == WarpOperand::Kind::reg)
    assign(warp, in.outputs[0], lane, inputs_.undecided(side_, undecided_++, width), width,
           in.sign_extends, nullptr, std::nullopt);
}

void SymbolicRun::come_to_shuffle(const WarpStep &step, Warp &warp, unsigned lane) {
  const WarpInstruction &in = *step.instruction;
  const auto value = read(step, warp, in.inputs[0], lane);
  const auto choice = number(step, warp, in.inputs[1], lane, "the lane that it reads");
  const auto clamp = number(step, warp, in.inputs[2], lane, "the lane that it reads");
  const auto members = number(step, warp, in.inputs.back(), lane, "its member mask");
  if (!value || !choice || !clamp || !members)
    return;
  warp.shuffles[lane] = {&in,
                         value->expr,
                         value->bits,
                         static_cast<std::uint32_t>(*choice),
                         static_cast<std::uint32_t>(*clamp),
                         static_cast<std::uint32_t>(*members)};
  warp.waiting |= 1u << lane;
}

// Lanes that go on have been given what they waited for, with all others of their mask.
void SymbolicRun::complete_shuffles(Warp &warp, std::uint32_t lanes) {
  for (std::uint32_t rest = lanes & warp.waiting; rest != 0 && !obstacle_; rest &= warp.waiting) {
    const Shuffle &first = warp.shuffles[static_cast<unsigned>(std::countr_zero(rest))];
    std::uint32_t group = 0;
    for (std::uint32_t others = warp.waiting; others != 0; others &= others - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(others));
      if (warp.shuffles[lane].at == first.at && warp.shuffles[lane].members == first.members)
        group |= 1u << lane;
    }
    complete_shuffle(warp, group);
    warp.waiting &= ~group;
  }
}

// As Collectives::shuffle().
void SymbolicRun::complete_shuffle(Warp &warp, std::uint32_t group) {
  for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Shuffle &own = warp.shuffles[lane];
    const WarpInstruction &in = *own.at;
    const Opcode &opcode = *in.opcode;
    const unsigned b = own.choice & 31, clamp = own.clamp & 31, segment = own.clamp >> 8 & 31;
    const auto highest = static_cast<int>((lane & segment) | (clamp & ~segment));
    int from = opcode.has(Modifier::up)     ? static_cast<int>(lane) - static_cast<int>(b)
               : opcode.has(Modifier::down) ? static_cast<int>(lane + b)
               : opcode.has(Modifier::bfly) ? static_cast<int>(lane ^ b)
                                            : static_cast<int>((lane & segment) | (b & ~segment));
    const bool inside = opcode.has(Modifier::up) ? from >= highest : from <= highest;
    if (!inside)
      from = static_cast<int>(lane);
    if ((group >> from & 1) == 0)
      return obstruct(in, "it reads a lane that takes no part");
    const Shuffle &source = warp.shuffles[static_cast<unsigned>(from)];
    if (source.value)
      assign(warp, in.outputs[0], lane, source.value, 32, false, nullptr, std::nullopt);
    else
      set_number(warp, in.outputs[0], lane);
    set_number(warp, in.second_output, lane);
  }
}

std::uint64_t SymbolicRun::space_key(const WarpStep &step, std::uint64_t address,
                                     unsigned lane) const {
  const std::uint64_t block = block_number(step, launch_.launch.grid);
  switch (space_of(address)) {
  case StateSpace::shared:
    return 1 + block;
  case StateSpace::local:
    return std::uint64_t{1} << 63 | block << 11 | std::uint64_t{step.warp} << 5 | lane;
  default:
    return 0;
  }
}

SymbolicRun::Cell &SymbolicRun::cell(std::uint64_t space, std::uint64_t address) {
  auto &page = pages_[{space, address / page_bytes}];
  if (!page)
    page = std::make_unique<Page>();
  return (*page)[address % page_bytes];
}

// A byte of global or parameter memory before the launch.
bool SymbolicRun::begin_with_contents(std::uint64_t address, Cell &cell) {
  if (space_of(address) == StateSpace::param) {
    const std::uint64_t offset = address - window::param;
    if (offset >= launch_.launch.parameters.size())
      return false;
    cell.value = terms_.constant(8, {launch_.launch.parameters[offset]});
    return true;
  }
  const auto next =
      std::upper_bound(named_.begin(), named_.end(), address,
                       [](std::uint64_t a, const NamedMemory &m) { return a < m.address; });
  if (next == named_.begin())
    return false;
  const NamedMemory &memory = *std::prev(next);
  const std::uint64_t offset = address - memory.address;
  if (offset >= memory.size)
    return false;
  if (memory.is_given) {
    std::uint8_t byte = 0;
    memory_.read(address, {&byte, 1});
    cell.value = terms_.constant(8, {byte});
    return true;
  }
  const unsigned step = bit_width(memory.type) / 8;
  cell.value = inputs_.element(memory, offset / step);
  cell.at = static_cast<std::uint8_t>(offset % step);
  return true;
}

Expr SymbolicRun::read_memory(std::uint64_t space, std::uint64_t address, unsigned bytes) {
  Expr result = nullptr;
  for (unsigned i = 0; i < bytes;) {
    Cell &first = cell(space, address + i);
    if (!first.value && (space != 0 || !begin_with_contents(address + i, first)))
      return nullptr;
    unsigned end = i + 1; // bytes that follow each other in one value
    for (; end < bytes && first.at + (end - i) < first.value->width / 8u; ++end) {
      Cell &next = cell(space, address + end);
      if (!next.value && (space != 0 || !begin_with_contents(address + end, next)))
        return nullptr;
      if (next.value != first.value || next.at != first.at + (end - i))
        break;
    }
    const Expr part = terms_.extract(first.value, 8u * first.at, 8 * (end - i));
    result = result ? terms_.concat(part, result) : part;
    i = end;
  }
  return result;
}

void SymbolicRun::write_memory(std::uint64_t space, std::uint64_t address, unsigned bytes,
                               Expr value) {
  for (unsigned i = 0; i < bytes; ++i)
    cell(space, address + i) = {value, static_cast<std::uint8_t>(i), true};
}

Expr SymbolicRun::contents(std::uint64_t address, unsigned bytes) {
  return read_memory(0, address, bytes);
}

std::set<std::uint64_t> SymbolicRun::written(const NamedMemory &memory, unsigned step) const {
  std::set<std::uint64_t> elements;
  const std::uint64_t end = memory.address + memory.size;
  for (std::uint64_t number = memory.address / page_bytes; number * page_bytes < end; ++number) {
    const auto page = pages_.find({0, number});
    for (unsigned i = 0; page != pages_.end() && i < page_bytes; ++i)
      if (const std::uint64_t address = number * page_bytes + i;
          (*page->second)[i].is_written && address >= memory.address && address < end)
        elements.insert((address - memory.address) / step);
  }
  return elements;
}

} // namespace ptxasw::analysis
