// The added code of a rewritten function, run on expressions beside one emulation of the original.
// An original register has the value that the emulation probed at this place; a fresh one what the
// added code gave it, if that certainly ran, and otherwise a symbol that equals nothing. A shuffle
// is a symbol for an expression in another lane, a load one for memory.

#include "synth/proof/prove_implementation.h"

#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::synth {

// The replaced loads that may be under construction here.
std::vector<std::uint32_t> FunctionProver::claims() const {
  std::vector<std::uint32_t> result;
  if (block_ == entry_block)
    return result;
  for (std::uint32_t i = next_; i < cfg().blocks()[block_].end; ++i)
    if (is_replaced(i) && !settled_.contains(i))
      result.push_back(i);
    else if (!is_replaced(i) && !moved_to_.contains(i))
      break;
  return result;
}

// The first of them that writes an original register.
std::uint32_t FunctionProver::claim_writing(RegisterId reg) const {
  for (const std::uint32_t i : claims())
    if (const auto to = destinations(i); std::find(to.begin(), to.end(), reg) != to.end())
      return i;
  return no_index;
}

Expr FunctionProver::read(RegisterId reg) {
  const unsigned width = width_of(fb_, reg);
  if (width == 0 || width > 64 || fb_.registers[reg].vector != 1)
    return nullptr;
  if (!fresh(reg)) {
    const RegisterId own = match_.registers[reg];
    if (pending_.contains(own)) {
      // The destination of a replaced load, read again: it must be complete.
      const std::uint32_t claim = claim_writing(own);
      if (claim == no_index)
        return nullptr;
      settle(claim);
    }
    const auto probe = probe_of_.find({j_, own});
    Expr value = probe == probe_of_.end() ? nullptr : emulation_->probed(probe->second);
    value = value ? emulation_->expand(value) : opaque("unreached", width);
    const auto held = held_.find(own);
    if (held == held_.end())
      return value;
    const Expr symbol = loaded(held->second.load, held->second.element);
    emulated_.try_emplace(symbol, value);
    return symbol;
  }
  const BlockId in = written_in_[reg];
  if (valued_in_[reg] == block_)
    return value_[reg];
  if (in == not_written || in == block_ || !value_[reg])
    return opaque("stale", width);
  if (in == several_blocks) {
    const Expr symbol = opaque("one of several", width);
    if_executed_[symbol] = reg;
    return symbol;
  }
  const LoopId loop = in == entry_block ? no_index : cfg().loop_of(in);
  const bool before = in == entry_block || (block_ != entry_block && cfg().dominates(in, block_));
  if (before && (loop == no_index || cfg().contains(loop, block_)))
    return value_[reg];
  // Written only if that block was passed.
  const Expr symbol = opaque("if-executed", width);
  if_executed_[symbol] = reg;
  return symbol;
}

Expr FunctionProver::value_of(const Operand &operand, unsigned width) {
  switch (operand.kind) {
  case Operand::Kind::reg: {
    const Expr value = operand.selector ? nullptr : read(operand.reg);
    if (!value || value->width < width)
      return nullptr;
    if (operand.negated)
      return value->width == 1 ? pool().bit_not(value) : nullptr;
    return pool().truncate(value, width);
  }
  case Operand::Kind::integer:
    return pool().constant(width, static_cast<std::uint64_t>(operand.value));
  case Operand::Kind::special: {
    const Expr value = emulation_->special(b_.text(operand.span));
    return width <= value->width ? pool().truncate(value, width) : pool().zext(value, width);
  }
  default:
    return nullptr;
  }
}

bool FunctionProver::write(const Operand &destination, Expr value, bool is_signed, Expr guard) {
  if (destination.kind == Operand::Kind::sink)
    return true;
  if (destination.kind != Operand::Kind::reg || destination.selector || !value)
    return false;
  const RegisterId reg = destination.reg;
  const unsigned width = width_of(fb_, reg);
  if (value->width > width || width > 64 || fb_.registers[reg].vector != 1)
    return false;
  value = is_signed ? pool().sext(value, width) : pool().zext(value, width);
  if (fresh(reg)) {
    if (guard)
      value = pool().ite(guard, value, read(reg));
    value_[reg] = value;
    valued_in_[reg] = block_;
    written_as_[reg][block_] = value;
    return true;
  }
  const RegisterId own = match_.registers[reg];
  // A value that is not read before the next replaced load overwrites the register is complete.
  if (const std::uint32_t claim = claim_writing(own);
      claim != no_index && !guard && pending_.contains(own) && fault_of(claim).empty())
    settle(claim);
  if (claim_writing(own) == no_index)
    return fail({Obligation::no_other_effect,
                 "an original register is written that is no replaced load's"});
  Expr &pending = pending_[own];
  if (!pending)
    pending = opaque("old", width);
  pending = guard ? pool().ite(guard, value, pending) : value;
  return true;
}

bool FunctionProver::execute(const Instruction &instruction) {
  const Opcode &opcode = b_.opcode(instruction);
  if (!instruction.well_formed || instruction.operand_count == 0)
    return false;
  Expr guard = nullptr;
  if (instruction.guard != no_register) {
    guard = read(instruction.guard);
    if (!guard || guard->width != 1)
      return false;
    if (instruction.guard_negated)
      guard = pool().bit_not(guard);
  }
  if (opcode.op == Op::activemask) {
    if (guard)
      return fail({Obligation::full_warp, "activemask under a guard"});
    const Expr mask = opaque("activemask", 32);
    masks_[mask] = region_;
    masks_of_[region_].push_back(mask);
    return opcode.type == ScalarType::b32 && write(b_.operands(instruction)[0], mask, false, guard);
  }
  if (opcode.op == Op::shfl)
    return shuffle(instruction, guard);
  if (opcode.op == Op::ld)
    return load(instruction, guard);
  const auto vectors = vector_move(b_, instruction);
  return vectors ? move(*vectors, guard) : compute(instruction, guard);
}

// shfl.sync.up, .down and .bfly by a constant over the whole warp (PTX ISA 9.7.9.6). All lanes of
// the member mask must reach it together, so it may depend on nothing in which they differ.
bool FunctionProver::shuffle(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = b_.opcode(instruction);
  const auto operands = b_.operands(instruction);
  const bool up = opcode.has(Modifier::up), butterfly = opcode.has(Modifier::bfly);
  if (opcode.modifiers.size() != 3 || opcode.modifiers[0] != "sync" ||
      opcode.modifiers[2] != "b32" || (!up && !butterfly && !opcode.has(Modifier::down)) ||
      operands.size() != 5)
    return false;
  const Operand &distance = operands[2], &clamp = operands[3];
  if (distance.kind != Operand::Kind::integer || distance.value < 1 || distance.value > 31 ||
      clamp.kind != Operand::Kind::integer || clamp.value != (up ? 0 : 31))
    return false;
  const auto in_region = [&](Expr symbol) {
    const auto mask = masks_.find(symbol);
    return mask != masks_.end() && mask->second == region_;
  };
  const Expr members = value_of(operands[4], 32);
  if (!members)
    return false;
  bool together = in_region(members);
  if (guard) {
    bool agreed = true;
    for_each_node(guard, [&](Expr node) {
      agreed = agreed && (node->kind != ExprKind::symbol || in_region(node));
    });
    if (!agreed)
      return fail({Obligation::full_warp, "a shuffle is guarded by what lanes may not agree on"});
    Known known(pool());
    known.assume(guard, true);
    const Expr all = pool().constant(32, 0xffffffff);
    for (const Expr mask : masks_of_[region_])
      together |= members == all && known.decide(pool().eq(mask, all)) == true;
  }
  if (!together)
    return fail({Obligation::full_warp, "a shuffle's member mask is not that of the active lanes"});
  SourceLane from;
  if (butterfly)
    from.flip = static_cast<unsigned>(distance.value);
  else
    from.delta = static_cast<int>(up ? -distance.value : distance.value);
  const Expr source = value_of(operands[1], 32);
  if (!source)
    return false;
  const Expr symbol = opaque("shuffled", 32);
  shuffles_[symbol] = {source, from, region_, block_};
  if (operands[0].kind != Operand::Kind::pair)
    return write(operands[0], symbol, false, guard);
  if (butterfly)
    return false;
  const auto both = b_.children(operands[0]);
  const Expr lane = emulation_->special("%laneid");
  const auto bound = [&](std::uint64_t value) { return pool().constant(32, value); };
  const auto lanes = static_cast<std::uint64_t>(distance.value);
  const Expr in_range = up ? pool().bit_not(pool().ult(lane, bound(lanes)))
                           : pool().bit_not(pool().ult(bound(31 - lanes), lane));
  return write(both[0], symbol, false, guard) && write(both[1], in_range, false, guard);
}

// A load that was added must read what a replaced load in whose place it stands reads, and run only
// where that would (rule 11).
bool FunctionProver::load(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = b_.opcode(instruction);
  const auto operands = b_.operands(instruction);
  if (effect_of(opcode) != Effect::load || operands.size() < 2 ||
      operands[1].kind != Operand::Kind::address || block_ == entry_block)
    return false;
  const auto base = b_.children(operands[1]);
  if (base.size() != 1)
    return false;
  const unsigned size = bit_width(opcode.type) / 8;
  Expr address = nullptr;
  if (base[0].kind == Operand::Kind::reg) {
    const unsigned width = width_of(fb_, base[0].reg);
    if (width != 32 && width != 64)
      return false;
    Expr value = value_of(base[0], width);
    if (!value)
      return false;
    value = as_emulated(value);
    address = pool().zext(
        pool().add(value, pool().constant(width, static_cast<std::uint64_t>(operands[1].value))),
        64);
  }
  const auto to =
      operands[0].kind == Operand::Kind::vector ? b_.children(operands[0]) : operands.subspan(0, 1);
  for (const std::uint32_t i : claims()) {
    const MemoryAccess *const own = access(i);
    const Instruction &replaced = fa_.instructions[i];
    const Opcode &own_opcode = a_.opcode(replaced);
    if (!own || !own->address || opcode.type != own_opcode.type)
      continue;
    // The same modifiers except for the number of elements.
    std::vector<std::string_view> mine = opcode.modifiers, theirs = own_opcode.modifiers;
    for (auto *list : {&mine, &theirs})
      std::erase_if(*list, [](std::string_view m) { return m == "v2" || m == "v4" || m == "v8"; });
    if (mine != theirs)
      continue;
    const auto elements = destinations(i);
    std::uint64_t first = 0;
    if (address) {
      const Expr distance = pool().sub(address, emulation_->expand(own->address));
      if (distance->kind != ExprKind::constant || distance->value.low % size != 0)
        continue;
      first = distance->value.low / size;
    } else if (a_.text(a_.operands(replaced)[1].span) != b_.text(operands[1].span)) {
      continue;
    }
    if (first > elements.size() || first + to.size() > elements.size())
      continue;
    if (guard && own->guard) {
      Known known = known_in(block_);
      known.assume(guard, true);
      if (known.decide(emulation_->expand(own->guard)) != true && !known.contradictory())
        continue;
    } else if (own->guard) {
      continue;
    }
    bool written = true;
    std::vector<Expr> values;
    for (std::size_t e = 0; e < to.size(); ++e) {
      const RegisterId element = elements[first + e];
      const bool fits = to[e].kind == Operand::Kind::sink ||
                        (element != no_register && to[e].kind == Operand::Kind::reg &&
                         width_of(fb_, to[e].reg) == width_of(fa_, element));
      written = written && fits;
      values.push_back(fits && to[e].kind == Operand::Kind::reg
                           ? loaded(i, static_cast<unsigned>(first + e))
                           : nullptr);
    }
    for (std::size_t e = 0; e < to.size() && written; ++e)
      written = write(to[e], values[e], false, guard);
    return written;
  }
  return fail({Obligation::no_other_effect, "a load was added that no replaced load accounts for"});
}

// A mov that packs or unpacks vectors.
bool FunctionProver::move(const MoveOperands &operands, Expr guard) {
  if (!operands.fits() || operands.width > 64)
    return false;
  std::vector<Expr> parts;
  for (const Operand &source : operands.sources) {
    parts.push_back(value_of(source, operands.source_width()));
    if (!parts.back())
      return false;
  }
  const Expr whole = semantics::pack(pool(), Args<ExprPool>(parts));
  for (std::size_t i = 0; i < operands.destinations.size(); ++i)
    if (!write(operands.destinations[i],
               semantics::unpack(pool(), whole, i, operands.destination_width()), false, guard))
      return false;
  return true;
}

// Everything else computes its result from its operands alone, as the table says.
bool FunctionProver::compute(const Instruction &instruction, Expr guard) {
  const Opcode &opcode = b_.opcode(instruction);
  const bool moves = opcode.op == Op::mov || opcode.op == Op::cvt;
  const Expr result = (*evaluate_)(instruction, [&](const Operand &operand, unsigned width) {
    const Expr value = value_of(operand, width);
    return moves ? value : as_emulated(value);
  });
  return result && write(b_.operands(instruction)[0], result, is_signed(opcode.type), guard);
}

} // namespace ptxasw::synth
