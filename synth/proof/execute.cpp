// The added code of a rewritten function, run on expressions beside one emulation of the original.
// An original register has the value that the emulation probed at this place, or is what a load has
// given; an added one what the added code gave it. A shuffle is a symbol for an expression in
// another lane, a load one for memory.

#include "synth/proof/execute.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "synth/shuffle/candidate.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

[[noreturn]] void stop_at(Obligation obligation, std::string_view why) {
  throw Missing{obligation, why};
}

void understand(bool holds) {
  if (!holds)
    stop_at(Obligation::understood, "an added instruction is not understood");
}

/// The modifiers of a load but for its number of elements.
std::vector<std::string_view> kind_of_load(const Opcode &opcode) {
  std::vector<std::string_view> result = opcode.modifiers;
  std::erase_if(result, [](std::string_view m) { return m == "v2" || m == "v4" || m == "v8"; });
  return result;
}

} // namespace

Expr AddedCode::read_original(RegisterId reg, unsigned width) {
  understand(replacements_.complete(reg));
  const auto probe = probes_.find({at_, reg});
  Expr value = probe == probes_.end() ? nullptr : original_.emulation.probed(probe->second);
  value = value ? original_.emulation.expand(value) : values_.opaque("unreached", width);
  const LoadedElement *const held = replacements_.held(reg);
  if (!held)
    return value;
  const Expr symbol = values_.loaded(*held);
  values_.is_emulated(symbol, value);
  return symbol;
}

// Null where a register is of no plain type.
Expr AddedCode::read(RegisterId reg) {
  const unsigned width = width_of(reg);
  if (width == 0 || width > 64 || function_.registers[reg].vector != 1)
    return nullptr;
  const RegisterId own = match_.registers[reg];
  return own == no_register ? values_.read(reg, replacements_.block(), width)
                            : read_original(own, width);
}

Expr AddedCode::value_of(const Operand &operand, unsigned width) {
  ExprPool &pool = original_.pool();
  switch (operand.kind) {
  case Operand::Kind::reg: {
    const Expr value = operand.selector ? nullptr : read(operand.reg);
    if (!value || value->width < width)
      return nullptr;
    if (operand.negated)
      return value->width == 1 ? pool.bit_not(value) : nullptr;
    return pool.truncate(value, width);
  }
  case Operand::Kind::integer:
    return pool.constant(width, static_cast<std::uint64_t>(operand.value));
  case Operand::Kind::special: {
    const Expr value = original_.emulation.special(module_.text(operand.span));
    return width <= value->width ? pool.truncate(value, width) : pool.zext(value, width);
  }
  default:
    return nullptr;
  }
}

Expr AddedCode::known_value(const Operand &operand, unsigned width) {
  const Expr value = value_of(operand, width);
  understand(value != nullptr);
  return value;
}

void AddedCode::write(const Operand &destination, Expr value, bool is_signed, Expr guard) {
  if (destination.kind == Operand::Kind::sink)
    return;
  understand(destination.kind == Operand::Kind::reg && !destination.selector && value);
  const RegisterId reg = destination.reg, own = match_.registers[reg];
  const unsigned width = width_of(reg);
  understand(value->width <= width && width <= 64 && function_.registers[reg].vector == 1);
  ExprPool &pool = original_.pool();
  value = is_signed ? pool.sext(value, width) : pool.zext(value, width);
  if (own == no_register)
    values_.write(reg, replacements_.block(), guard ? pool.ite(guard, value, read(reg)) : value);
  else if (!replacements_.put(own, value, guard))
    stop_at(Obligation::no_other_effect,
            "an original register is written that is no replaced load's");
}

Expr AddedCode::guard_of(const Instruction &instruction) {
  if (instruction.guard == no_register)
    return nullptr;
  const Expr guard = read(instruction.guard);
  understand(guard && guard->width == 1);
  return instruction.guard_negated ? original_.pool().bit_not(guard) : guard;
}

void AddedCode::execute(std::uint32_t at) {
  at_ = at;
  const Instruction &instruction = function_.instructions[at];
  const Opcode &opcode = module_.opcode(instruction);
  understand(instruction.well_formed && instruction.operand_count != 0);
  const Expr guard = guard_of(instruction);
  if (opcode.op == Op::activemask) {
    if (guard)
      stop_at(Obligation::full_warp, "activemask under a guard");
    understand(opcode.type == ScalarType::b32);
    write(module_.operands(instruction)[0], values_.mask(region_), false, guard);
  } else if (opcode.op == Op::shfl) {
    shuffle(instruction, guard);
  } else if (opcode.op == Op::ld) {
    load(instruction, guard);
  } else if (const auto vectors = vector_move(module_, instruction)) {
    move(*vectors, guard);
  } else {
    compute(instruction, guard);
  }
}

// All lanes of a shuffle's member mask must reach it together, so it may depend on nothing in which
// they differ.
void AddedCode::check_members(Expr members, Expr guard) {
  bool together = values_.is_mask(members, region_);
  if (guard) {
    bool agreed = true;
    for_each_node(guard, [&](Expr node) {
      agreed = agreed && (node->kind != ExprKind::symbol || values_.is_mask(node, region_));
    });
    if (!agreed)
      stop_at(Obligation::full_warp, "a shuffle is guarded by what lanes may not agree on");
    Known known(original_.pool());
    known.assume(guard, true);
    together |=
        members == original_.pool().constant(32, 0xffffffff) && values_.is_full(region_, known);
  }
  if (!together)
    stop_at(Obligation::full_warp, "a shuffle's member mask is not that of the active lanes");
}

// shfl.sync.up, .down and .bfly by a constant over the whole warp (PTX ISA 9.7.9.6).
void AddedCode::shuffle(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  const bool up = opcode.has(Modifier::up), butterfly = opcode.has(Modifier::bfly);
  understand(opcode.modifiers.size() == 3 && opcode.modifiers[0] == "sync" &&
             opcode.modifiers[2] == "b32" && (up || butterfly || opcode.has(Modifier::down)) &&
             operands.size() == 5);
  const Operand &distance = operands[2], &clamp = operands[3];
  understand(distance.kind == Operand::Kind::integer && distance.value >= 1 &&
             distance.value <= 31 && clamp.kind == Operand::Kind::integer &&
             clamp.value == (up ? 0 : 31));
  check_members(known_value(operands[4], 32), guard);
  SourceLane from;
  if (butterfly)
    from.flip = static_cast<unsigned>(distance.value);
  else
    from.delta = static_cast<int>(up ? -distance.value : distance.value);
  const Expr symbol =
      values_.shuffled({known_value(operands[1], 32), from, region_, replacements_.block()});
  if (operands[0].kind != Operand::Kind::pair) {
    write(operands[0], symbol, false, guard);
    return;
  }
  understand(!butterfly);
  ExprPool &pool = original_.pool();
  const auto both = module_.children(operands[0]);
  const Expr lane = original_.emulation.special("%laneid");
  const auto bound = [&](std::uint64_t value) { return pool.constant(32, value); };
  const auto lanes = static_cast<std::uint64_t>(distance.value);
  const Expr outside = up ? pool.ult(lane, bound(lanes)) : pool.ult(bound(31 - lanes), lane);
  write(both[0], symbol, false, guard);
  write(both[1], pool.bit_not(outside), false, guard);
}

// The address that a load reads; null if its base is no register.
Expr AddedCode::address_of(const Operand &operand) {
  const auto base = module_.children(operand);
  understand(base.size() == 1);
  if (base[0].kind != Operand::Kind::reg)
    return nullptr;
  const unsigned width = width_of(base[0].reg);
  understand(width == 32 || width == 64);
  ExprPool &pool = original_.pool();
  const Expr value = values_.as_emulated(known_value(base[0], width));
  const Expr offset = pool.constant(width, static_cast<std::uint64_t>(operand.value));
  return pool.zext(pool.add(value, offset), 64);
}

// True if an added load is of the same kind as a replaced one, and runs only where that would.
bool AddedCode::reads_what(std::uint32_t load, const Instruction &instruction, Expr guard) const {
  const Opcode &opcode = module_.opcode(instruction), &own_opcode = original_.opcode(load);
  const MemoryAccess *const own = original_.access(load);
  if (!own || !own->address || opcode.type != own_opcode.type ||
      kind_of_load(opcode) != kind_of_load(own_opcode))
    return false;
  if (!own->guard)
    return true;
  if (!guard)
    return false;
  Known known = original_.known_in(replacements_.block());
  known.assume(guard, true);
  return known.decide(original_.emulation.expand(own->guard)) == true || known.contradictory();
}

// How many elements behind the beginning of a replaced load another one reads; more than it has if
// that is not known.
std::uint64_t AddedCode::distance(Expr address, std::uint32_t load, const Operand &operand) const {
  constexpr std::uint64_t unknown = ~std::uint64_t{0};
  if (!address) {
    const Operand &own = original_.module.operands(original_.function.instructions[load])[1];
    return original_.module.text(own.span) == module_.text(operand.span) ? 0 : unknown;
  }
  const std::uint64_t size = bit_width(original_.opcode(load).type) / 8;
  const Expr distance =
      original_.pool().sub(address, original_.emulation.expand(original_.access(load)->address));
  return size != 0 && distance->kind == ExprKind::constant && distance->value.low % size == 0
             ? distance->value.low / size
             : unknown;
}

// A load that was added must read what a replaced load in whose place it stands reads, and run only
// where that would (rule 11).
void AddedCode::load(const Instruction &instruction, Expr guard) {
  const auto operands = module_.operands(instruction);
  understand(effect_of(module_.opcode(instruction)) == Effect::load && operands.size() >= 2 &&
             operands[1].kind == Operand::Kind::address &&
             replacements_.block() != AddedValues::entry_block);
  const Expr address = address_of(operands[1]);
  const auto to = elements_of(module_, instruction);
  for (const std::uint32_t i : replacements_.claims()) {
    if (!reads_what(i, instruction, guard))
      continue;
    const auto elements = original_.destinations(i);
    const std::uint64_t first = distance(address, i, operands[1]);
    if (first > elements.size() || first + to.size() > elements.size())
      continue;
    // All are looked at before the first is written: that may complete a load.
    std::vector<Expr> values(to.size(), nullptr);
    for (std::size_t e = 0; e < to.size(); ++e) {
      const LoadedElement element{i, static_cast<unsigned>(first + e)};
      if (to[e].kind == Operand::Kind::sink)
        continue;
      understand(elements[element.element] != no_register && to[e].kind == Operand::Kind::reg &&
                 width_of(to[e].reg) == original_.width(element));
      values[e] = values_.loaded(element);
    }
    for (std::size_t e = 0; e < to.size(); ++e)
      write(to[e], values[e], false, guard);
    return;
  }
  stop_at(Obligation::no_other_effect, "a load was added that no replaced load accounts for");
}

// A mov that packs or unpacks vectors.
void AddedCode::move(const MoveOperands &operands, Expr guard) {
  understand(operands.fits() && operands.width <= 64);
  ExprPool &pool = original_.pool();
  std::vector<Expr> parts;
  for (const Operand &source : operands.sources)
    parts.push_back(known_value(source, operands.source_width()));
  const Expr whole = semantics::pack(pool, Args<ExprPool>(parts));
  for (std::size_t i = 0; i < operands.destinations.size(); ++i)
    write(operands.destinations[i], semantics::unpack(pool, whole, i, operands.destination_width()),
          false, guard);
}

// Everything else computes its result from its operands alone, as the table says.
void AddedCode::compute(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = module_.opcode(instruction);
  const bool moves = opcode.op == Op::mov || opcode.op == Op::cvt;
  const Expr result = evaluate_(instruction, [&](const Operand &operand, unsigned width) {
    const Expr value = value_of(operand, width);
    return moves ? value : values_.as_emulated(value);
  });
  understand(result != nullptr);
  write(module_.operands(instruction)[0], result, is_signed(opcode.type), guard);
}

} // namespace ptxasw::synth
